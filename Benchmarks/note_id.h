/* The IDs of new notes, as Hesper's clients create them. */
#ifndef NOTE_ID_H
#define NOTE_ID_H

#include <stdint.h>
#include <time.h>

/* Turns 16 random bytes into a UUID of version 7 (RFC 9562), which begins with the time in milliseconds. */
static inline void make_note_id(uint8_t id[16]) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t milliseconds = time.tv_sec * 1000ULL + time.tv_nsec / 1000000;
    for (int i = 0; i < 6; i++) id[i] = milliseconds >> (40 - 8 * i);
    id[6] = (id[6] & 0x0f) | 0x70;
    id[8] = (id[8] & 0x3f) | 0x80;
}

#endif
