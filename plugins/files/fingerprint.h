/*
 * fingerprint.h - a hash of the bytes before a place of a file: the same place of the same file has
 * it, whatever the file is called now.
 *
 * A file that only grows keeps it. A file that was truncated and written again, or replaced, does
 * not. Any thread.
 */
#ifndef FINGERPRINT_H
#define FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

/* The most bytes that are hashed: logs that begin alike, or repeat themselves, differ in so
 * many. */
#define FINGERPRINT_MAX ((uint32_t)64 * 1024)

struct fingerprint {
    uint64_t end;  /* of the hashed bytes in the file */
    uint32_t size; /* of the hashed bytes; 0 = none: every file has it */
    uint64_t hash; /* of up to 256 bytes: as weir_key, as positions of format 1 have it */
};

/* Hashes the last bytes before `end`. False: they cannot be read. */
bool fingerprint_take(int descriptor, uint64_t end, struct fingerprint *out);
/* 1: the file has these bytes at that place; 0: it has others, or ends before; -1: they cannot be
 * read, and errno says why. */
int fingerprint_compare(int descriptor, const struct fingerprint *print);

#endif
