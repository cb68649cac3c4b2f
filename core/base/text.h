/* SPDX-License-Identifier: MIT */
/*
 * base/text.h - parses numbers with units, guesses misspelt names, and stores texts.
 *
 * No function here is synchronised.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/host.h>

/* --- values: whole texts, no blanks around them ---------------------------------------------- */

enum text_verdict {
    TEXT_OK = 0,
    TEXT_MALFORMED, /* not a value of this kind */
    TEXT_TOO_LARGE, /* well-formed, but out of range */
    TEXT_NO_UNIT,   /* a duration without its unit */
};

/* Each leaves *out unchanged unless it returns TEXT_OK. Decimal only, without leading zeros. */
enum text_verdict text_parse_bool(const char *text, bool *out);
enum text_verdict text_parse_u64(const char *text, uint64_t *out);
enum text_verdict text_parse_i64(const char *text, int64_t *out);
/* Finite; no hexadecimal, no `inf`, no `nan`; the point is a point in every locale. */
enum text_verdict text_parse_f64(const char *text, double *out);
/* Bytes: plain, or with B, KiB, MiB, GiB, TiB. */
enum text_verdict text_parse_size(const char *text, uint64_t *out);
/* Milliseconds: with ms, s, m, h, d; 0 needs no unit. */
enum text_verdict text_parse_duration(const char *text, uint64_t *out);

/* Cuts an incomplete character of UTF-8 off the end of a text that was cut by its bytes. */
void text_end_at_character(char *text);

/* The shortest exact form, such as `64KiB`, `1500ms`. Truncated at `size`. */
void text_format_size(uint64_t bytes, char *text, size_t size);
void text_format_duration(uint64_t milliseconds, char *text, size_t size);

/* --- did you mean ----------------------------------------------------------------------------- */

/*
 * Finds the candidate nearest to a word; of equally near ones the first. Borrows all. The work is
 * bounded: with very many long candidates the last ones are skipped.
 */
struct text_guess {
    const char *word;
    const char *best; /* the nearest candidate within the limit */
    /* of the best candidate; before, one more than the limit; SIZE_MAX = the word is too long */
    size_t distance;
    size_t work; /* so far */
};

void text_guess_init(struct text_guess *guess, const char *word);
void text_guess_offer(struct text_guess *guess, const char *candidate);
/* NULL when no candidate is near enough. */
const char *text_guess_best(const struct text_guess *guess);

/* --- keeping ---------------------------------------------------------------------------------- */

/*
 * Memory for texts that are freed together. Life: text_store_init .. finish. Everything taken from
 * it is borrowed until then.
 */
struct text_store {
    struct text_block *blocks;
    size_t room; /* of the next block; 0 = of the first */
};

void text_store_init(struct text_store *store);
void text_store_finish(struct text_store *store);

/* Zeroed bytes, aligned for any type; NULL when memory is out. `size` 0 gives a valid pointer. */
void *text_store_take(struct text_store *store, size_t size);
/* `count` elements, as calloc. */
void *text_store_take_array(struct text_store *store, size_t count, size_t size);
/* Copies; NULL when memory is out. */
char *text_store_copy(struct text_store *store, const char *text);
char *text_store_copy_size(struct text_store *store, const char *text, size_t size);
WEIR_PRINTF(2, 3) char *text_store_format(struct text_store *store, const char *format, ...);

#endif
