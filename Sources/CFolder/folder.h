// System calls, mostly for files, that Foundation and the module of Glibc lack.
#ifndef HESPER_FOLDER_H
#define HESPER_FOLDER_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __APPLE__
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#else
#include <malloc.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#endif

enum folder_kind { folder_kind_other, folder_kind_file, folder_kind_folder, folder_kind_link };

/// What is known of a file without reading it. Times are in nanoseconds since 1970.
struct folder_file {
    enum folder_kind kind;
    uint64_t size;
    /// The file system.
    uint64_t device;
    uint64_t inode;
    int64_t modified;
    int64_t changed;
    /// 0 if the file system does not store it.
    int64_t born;
};

static inline enum folder_kind folder_kind(unsigned mode) {
    // The values are the same everywhere.
    switch (mode & 0170000) {
    case 0100000: return folder_kind_file;
    case 0040000: return folder_kind_folder;
    case 0120000: return folder_kind_link;
    default: return folder_kind_other;
    }
}

#ifdef __APPLE__
static inline int64_t folder_time(struct timespec time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int folder_stat(int folder, const char *name, struct folder_file *file) {
    struct stat status;
    int failed = *name ? fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) : fstat(folder, &status);
    if (failed) return failed;
    file->kind = folder_kind(status.st_mode);
    file->size = (uint64_t)status.st_size;
    file->device = (uint64_t)status.st_dev;
    file->inode = status.st_ino;
    file->modified = folder_time(status.st_mtimespec);
    file->changed = folder_time(status.st_ctimespec);
    file->born = folder_time(status.st_birthtimespec);
    return 0;
}

static inline int folder_exchange(int folder, const char *name, int other_folder, const char *other) {
    return renameatx_np(folder, name, other_folder, other, RENAME_SWAP);
}

static inline int folder_move(int folder, const char *name, int other_folder, const char *other) {
    return renameatx_np(folder, name, other_folder, other, RENAME_EXCL);
}

static inline ssize_t folder_list_attributes(int file, char *names, size_t size) {
    return flistxattr(file, names, size, 0);
}
static inline ssize_t folder_get_attribute(int file, const char *name, void *value, size_t size) {
    return fgetxattr(file, name, value, size, 0, 0);
}
static inline int folder_set_attribute(int file, const char *name, const void *value, size_t size) {
    return fsetxattr(file, name, value, size, 0, 0);
}
#else
static inline int64_t folder_time(struct statx_timestamp time) {
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/// Reads the state of a file, without following a link. An empty name stands for the open file `folder` itself.
static inline int folder_stat(int folder, const char *name, struct folder_file *file) {
    struct statx status;
    int flags = 0x100 | (*name ? 0 : 0x1000);  // AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH
    if (syscall(SYS_statx, folder, name, flags, STATX_BASIC_STATS | STATX_BTIME, &status)) return -1;
    file->kind = folder_kind(status.stx_mode);
    file->size = status.stx_size;
    file->device = (uint64_t)status.stx_dev_major << 32 | status.stx_dev_minor;
    file->inode = status.stx_ino;
    file->modified = folder_time(status.stx_mtime);
    file->changed = folder_time(status.stx_ctime);
    file->born = status.stx_mask & STATX_BTIME ? folder_time(status.stx_btime) : 0;
    return 0;
}

/// Exchanges two files atomically.
static inline int folder_exchange(int folder, const char *name, int other_folder, const char *other) {
    return (int)syscall(SYS_renameat2, folder, name, other_folder, other, 2);  // RENAME_EXCHANGE
}

/// Renames a file, unless there is one with the new name.
static inline int folder_move(int folder, const char *name, int other_folder, const char *other) {
    int failed = (int)syscall(SYS_renameat2, folder, name, other_folder, other, 1);  // RENAME_NOREPLACE
    if (!failed || (errno != EINVAL && errno != ENOSYS)) return failed;
    // Network file systems only have links, which do not replace anything either.
    if (linkat(folder, name, other_folder, other, 0)) return -1;
    return unlinkat(folder, name, 0);
}

static inline ssize_t folder_list_attributes(int file, char *names, size_t size) {
    return syscall(SYS_flistxattr, file, names, size);
}
static inline ssize_t folder_get_attribute(int file, const char *name, void *value, size_t size) {
    return syscall(SYS_fgetxattr, file, name, value, size);
}
static inline int folder_set_attribute(int file, const char *name, const void *value, size_t size) {
    return (int)syscall(SYS_fsetxattr, file, name, value, size, 0);
}
#endif

/// Copies the extended attributes of an open file to another, as far as the file system and the permissions allow it.
static inline void folder_copy_attributes(int from, int to) {
    static const size_t limit = 1 << 16;
    char *names = malloc(limit), *value = malloc(limit);
    ssize_t length = names && value ? folder_list_attributes(from, names, limit) : 0;
    for (char *name = names; length > 0 && name < names + length; name += strlen(name) + 1) {
        ssize_t size = folder_get_attribute(from, name, value, limit);
        if (size >= 0) folder_set_attribute(to, name, value, (size_t)size);
    }
    free(names);
    free(value);
}

/// Makes all threads allocate from one heap. By default, glibc has several, each of which keeps the most that it ever needed.
static inline void folder_use_one_heap(void) {
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

#endif
