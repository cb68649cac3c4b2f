/* SPDX-License-Identifier: MIT */
/*
 * base/secrets.h - values that came from `${file:...}`, and texts in which they are hidden.
 *
 * What a text has in common with a value is replaced by `${file:...}`: the value itself, and a part
 * of it of SECRETS_PART bytes or more, since messages shorten what they quote. A value of fewer
 * than SECRETS_MIN bytes is not hidden: it would be found in any text. The time to hide grows with
 * the text alone.
 *
 * Zeroed memory has none. Not synchronised.
 */
#ifndef BASE_SECRETS_H
#define BASE_SECRETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECRETS_MIN 4
#define SECRETS_PART 12  /* more than `https://`, less than what messages quote */
#define SECRETS_GROWTH 3 /* a text has at most so many times its bytes when they are hidden */

struct secrets {
    uint64_t *parts; /* owned: a hash table of the hashes of each SECRETS_PART bytes; 0 = free */
    size_t part_count;
    size_t capacity;             /* 0, or a power of two */
    char (*words)[SECRETS_PART]; /* owned: the values that are shorter, each with a NUL */
    size_t word_count;
};

/* Overwrites the values. */
void secrets_finish(struct secrets *secrets);

/* Copies a value, which has no NUL; it is hidden as it is, and as a log line quotes it.
 * WEIR_ENOMEM: some of it. */
int secrets_add(struct secrets *secrets, const char *value, size_t size);
/* Copies all values. WEIR_ENOMEM: some of them. */
int secrets_add_all(struct secrets *secrets, const struct secrets *from);

bool secrets_has_any(const struct secrets *secrets);

/* Hides them in `text`, of `length` bytes and a NUL, in a buffer of `size` bytes; it cuts off what
 * does not fit. Returns the new length. */
size_t secrets_hide(const struct secrets *secrets, char *text, size_t length, size_t size);
/* Likewise, with memory of `length` bytes for a copy, which it overwrites: safe in a signal
 * handler. */
size_t secrets_hide_by(const struct secrets *secrets, char *text, size_t length, size_t size,
                       char *copy);

#endif
