/* Measures fdatasync: `fdatasync FILE` appends 4 KiB and syncs 200 times, and prints the median in ms. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 200 };

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    static char page[4096] = "a page";
    double took[TIMES];
    if (count != 2) fprintf(stderr, "usage: fdatasync FILE\n"), exit(2);
    int file = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < TIMES; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_MONOTONIC, &before);
        if (write(file, page, sizeof page) != sizeof page || fdatasync(file)) perror(arguments[1]), exit(1);
        clock_gettime(CLOCK_MONOTONIC, &after);
        took[i] = (after.tv_sec - before.tv_sec) * 1e3 + (after.tv_nsec - before.tv_nsec) / 1e6;
    }
    unlink(arguments[1]);
    qsort(took, TIMES, sizeof *took, ascending);
    printf("%.4f\n", took[TIMES / 2]);
    return 0;
}
