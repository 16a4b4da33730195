#include "notes.h"

#include "note_id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static uint64_t random_state[2];

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

void seed_random(void) {
    if (getrandom(random_state, sizeof random_state, 0) != sizeof random_state) perror("getrandom"), exit(1);
}

uint64_t next_random(void) { /* xorshift128+ */
    uint64_t a = random_state[0], b = random_state[1];
    random_state[0] = b;
    a ^= a << 23;
    random_state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return random_state[1] + b;
}

void put_uuid(Buffer *buffer) {
    uint64_t a = next_random(), b = next_random();
    print(buffer, "%08x-%04x-4%03x-%04x-%012llx", (uint32_t)(a >> 32), (uint32_t)(a >> 16) & 0xffff,
          (uint32_t)a & 0xfff, (uint32_t)((b >> 48) & 0x3fff) | 0x8000, (unsigned long long)b & 0xffffffffffffULL);
}

void put_note_id(Buffer *buffer) {
    uint8_t id[16];
    uint64_t random[2] = {next_random(), next_random()};
    memcpy(id, random, sizeof id);
    make_note_id(id);
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) put(buffer, "-", 1);
        put(buffer, (char[2]){"0123456789abcdef"[id[i] >> 4], "0123456789abcdef"[id[i] & 15]}, 2);
    }
}

void put_text(Buffer *buffer, int bytes) {
    static const char *words[] = {"milk", "bread", "the", "train", "leaves", "at", "seven", "and", "a", "letter", "from",
                                  "Paris", "about", "nothing", "in", "particular"};
    size_t end = buffer->length + bytes;
    while (buffer->length < end) {
        const char *word = words[next_random() & 15];
        put(buffer, word, strlen(word));
        put(buffer, " ", 1);
    }
    buffer->length = end;
}

void stamp(char date[32], unsigned *counter) {
    static int64_t last;
    static unsigned used;
    static char text[32];
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    int64_t milliseconds = time.tv_sec * 1000LL + time.tv_nsec / 1000000;
    if (milliseconds > last) {
        last = milliseconds, used = 0;
        time_t second = milliseconds / 1000;
        struct tm parts;
        gmtime_r(&second, &parts);
        size_t length = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
        snprintf(text + length, sizeof text - length, ".%03dZ", (int)(milliseconds % 1000));
    }
    *counter = used++ & 0xffff;
    strcpy(date, text);
}

int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
