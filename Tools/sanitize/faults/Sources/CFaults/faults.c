#include "faults.h"

#include <limits.h>
#include <stdlib.h>

int overflow(void) {
    volatile int greatest = INT_MAX;
    return greatest + 1;
}

void forget(void) {
    // More than one, because a register or the stack may still hold the last pointer.
    for (int count = 0; count < 100; count++) {
        volatile char *bytes = malloc(77);
        if (bytes) bytes[0] = 1;
    }
}
