/* Data for load generators: time, random numbers, notes. */
#ifndef NOTES_H
#define NOTES_H

#include "http.h"

#include <stdint.h>

/* A monotonic time in seconds. */
double now(void);
void seed_random(void);
uint64_t next_random(void);
/* Appends a random UUID, version 4. */
void put_uuid(Buffer *buffer);
/* Appends a UUID that begins with the time, version 7, as Hesper's clients create them for notes. */
void put_note_id(Buffer *buffer);
/* Appends a text of `bytes` bytes that consists of words, so that it compresses like a note. */
void put_text(Buffer *buffer, int bytes);
/* The current date, and a counter that is unique within a millisecond. */
void stamp(char date[32], unsigned *counter);
/* Compares doubles, for qsort. */
int ascending(const void *a, const void *b);

#endif
