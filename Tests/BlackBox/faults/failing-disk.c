/* A preloaded library that makes system calls fail with EIO while the file named by FAILING_DISK exists. The file contains
   the calls that fail: any of "read", "write", "sync". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(const char *call) {
    const char *path = getenv("FAILING_DISK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    char calls[32] = "";
    ssize_t count = read(file, calls, sizeof calls - 1);
    close(file);
    if (count <= 0 || !strstr(calls, call)) return 0;
    errno = EIO;
    return 1;
}

int fsync(int file) { return fails("sync") ? -1 : syscall(SYS_fsync, file); }
int fdatasync(int file) { return fails("sync") ? -1 : syscall(SYS_fdatasync, file); }

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return fails("write") ? -1 : syscall(SYS_pwrite64, file, bytes, count, offset);
}
ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return fails("write") ? -1 : syscall(SYS_pwrite64, file, bytes, count, offset);
}
ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    return fails("read") ? -1 : syscall(SYS_pread64, file, bytes, count, offset);
}
ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    return fails("read") ? -1 : syscall(SYS_pread64, file, bytes, count, offset);
}
