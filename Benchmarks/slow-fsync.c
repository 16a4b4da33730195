/* When preloaded, makes fsync and fdatasync take at least 4 ms, as on a typical cloud disk. They are still executed. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const long COST = 4000000; /* nanoseconds */

static int slowly(long call, int file) {
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    int result = syscall(call, file);
    clock_gettime(CLOCK_MONOTONIC, &after);
    long took = (after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec;
    if (took < COST) {
        struct timespec rest = {0, COST - took};
        nanosleep(&rest, NULL);
    }
    return result;
}

int fsync(int file) { return slowly(SYS_fsync, file); }
int fdatasync(int file) { return slowly(SYS_fdatasync, file); }
