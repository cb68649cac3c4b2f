/* SPDX-License-Identifier: MIT */
/*
 * base/plural.h - the form of a word that fits a number: "1 worker is", "2 workers are".
 *
 * Every text for people that counts something takes the word from here; tests/style checks it.
 */
#ifndef BASE_PLURAL_H
#define BASE_PLURAL_H

#include <stdint.h>

/* `one` for 1, else `many`: also for 0. */
static inline const char *plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

#endif
