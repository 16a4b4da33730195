/* What load generators send: the time, randomness, notes. */
#ifndef NOTES_H
#define NOTES_H

#include "http.h"

#include <stdint.h>

/* Seconds, from some moment on. */
double now(void);
void seed_random(void);
uint64_t next_random(void);
void put_uuid(Buffer *buffer);
/* Words, so that what is stored and sent is like a note and not like one letter; `bytes` long. */
void put_text(Buffer *buffer, int bytes);
/* The present moment as a date, and a counter that is never used twice in one millisecond. */
void stamp(char date[32], unsigned *counter);
/* For qsort, of doubles. */
int ascending(const void *a, const void *b);

#endif
