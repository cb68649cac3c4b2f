/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- values ----------------------------------------------------------------------------------- */

enum text_verdict text_parse_bool(const char *text, bool *out)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return TEXT_MALFORMED;
    *out = text[0] == 't';
    return TEXT_OK;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads digits up to `*end`. After an overflow it skips the remaining digits, to find the unit. */
static enum text_verdict parse_digits(const char *text, const char **end, uint64_t *out)
{
    uint64_t value = 0;
    bool fits = true;
    const char *at = text;

    while (is_digit(*at)) {
        uint64_t digit = (uint64_t)(*at++ - '0');

        fits = fits && value <= (UINT64_MAX - digit) / 10;
        value = fits ? value * 10 + digit : value;
    }
    *end = at;
    if (at == text || (text[0] == '0' && at - text > 1))
        return TEXT_MALFORMED;
    if (!fits)
        return TEXT_TOO_LARGE;
    *out = value;
    return TEXT_OK;
}

enum text_verdict text_parse_u64(const char *text, uint64_t *out)
{
    const char *end;
    uint64_t value = 0;
    enum text_verdict verdict = parse_digits(text, &end, &value);

    if (verdict == TEXT_MALFORMED || *end)
        return TEXT_MALFORMED;
    if (verdict == TEXT_OK)
        *out = value;
    return verdict;
}

enum text_verdict text_parse_i64(const char *text, int64_t *out)
{
    bool negative = text[0] == '-';
    uint64_t magnitude = 0;
    enum text_verdict verdict = text_parse_u64(text + negative, &magnitude);

    if (verdict != TEXT_OK)
        return verdict;
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return TEXT_TOO_LARGE;
    /* The smallest number has no positive counterpart, so this counts up from below. */
    *out = negative && magnitude ? -(int64_t)(magnitude - 1) - 1 : (int64_t)magnitude;
    return TEXT_OK;
}

/* Accepts only digits, one point and one exponent: strtod accepts more forms than a configuration
 * should have. */
static bool is_plain_number(const char *text)
{
    const char *at = text + (text[0] == '-');
    size_t digits = strspn(at, "0123456789");
    size_t decimals = 0;

    at += digits;
    if (*at == '.') {
        decimals = strspn(at + 1, "0123456789");
        at += 1 + decimals;
    }
    if (digits + decimals == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '+' || at[1] == '-');
        if (!is_digit(*at))
            return false;
        at += strspn(at, "0123456789");
    }
    return *at == '\0';
}

enum text_verdict text_parse_f64(const char *text, double *out)
{
    locale_t plain;
    double value;

    if (!is_plain_number(text))
        return TEXT_MALFORMED;
    plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return TEXT_TOO_LARGE;
    value = strtod_l(text, NULL, plain);
    freelocale(plain);
    if (!isfinite(value))
        return TEXT_TOO_LARGE;
    *out = value;
    return TEXT_OK;
}

struct unit {
    const char *name;
    uint64_t factor;
};

/* From large to small; the last has factor 1. */
static const struct unit size_units[] = {
    { "TiB", UINT64_C(1) << 40 },
    { "GiB", UINT64_C(1) << 30 },
    { "MiB", UINT64_C(1) << 20 },
    { "KiB", UINT64_C(1) << 10 },
    { "B", 1 },
    { NULL, 0 },
};

static const struct unit duration_units[] = {
    { "d", 86400000 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 }, { NULL, 0 },
};

static enum text_verdict parse_with_unit(const char *text, const struct unit *units, uint64_t *out)
{
    const char *end;
    uint64_t number = 0;
    enum text_verdict verdict = parse_digits(text, &end, &number);

    if (verdict == TEXT_MALFORMED)
        return verdict;
    if (*end == '\0') {
        if (verdict == TEXT_OK)
            *out = number;
        return verdict == TEXT_OK && number ? TEXT_NO_UNIT : verdict;
    }
    while (units->name && strcmp(units->name, end) != 0)
        units++;
    if (!units->name)
        return TEXT_MALFORMED;
    if (verdict == TEXT_TOO_LARGE || number > UINT64_MAX / units->factor)
        return TEXT_TOO_LARGE;
    *out = number * units->factor;
    return TEXT_OK;
}

enum text_verdict text_parse_size(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    enum text_verdict verdict = parse_with_unit(text, size_units, &value);

    if (verdict == TEXT_NO_UNIT)
        verdict = TEXT_OK; /* bytes need no unit */
    if (verdict == TEXT_OK)
        *out = value;
    return verdict;
}

enum text_verdict text_parse_duration(const char *text, uint64_t *out)
{
    uint64_t value = 0;
    enum text_verdict verdict = parse_with_unit(text, duration_units, &value);

    if (verdict == TEXT_OK)
        *out = value;
    return verdict;
}

static const struct unit *largest_divisor(const struct unit *units, uint64_t value)
{
    while (value % units->factor != 0)
        units++;
    return units;
}

void text_format_size(uint64_t bytes, char *text, size_t size)
{
    const struct unit *unit = largest_divisor(size_units, bytes);

    if (bytes == 0 || unit->factor == 1)
        (void)snprintf(text, size, "%llu", (unsigned long long)bytes);
    else
        (void)snprintf(text, size, "%llu%s", (unsigned long long)(bytes / unit->factor),
                       unit->name);
}

void text_format_duration(uint64_t milliseconds, char *text, size_t size)
{
    const struct unit *unit = largest_divisor(duration_units, milliseconds);

    if (milliseconds == 0)
        unit = &duration_units[3]; /* 0s, not 0d */
    (void)snprintf(text, size, "%llu%s", (unsigned long long)(milliseconds / unit->factor),
                   unit->name);
}

/* --- did you mean ----------------------------------------------------------------------------- */

/* of a compared word: names are shorter, and the limit bounds the time */
#define GUESS_LENGTH_MAX 63
/* pairs of letters for one word: enough for some thousands of names */
#define GUESS_WORK_MAX 150000u

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Two words, and the largest distance of interest. */
struct comparison {
    const char *a, *b;
    size_t a_length, b_length;
    size_t bound;
    size_t work; /* pairs of letters compared */
};

/* Fills a band around the diagonal: a cell further away than the bound has a larger distance. */
static size_t fill_row(struct comparison *comparison, size_t i, const size_t *before,
                       const size_t *last, size_t *row)
{
    const char *a = comparison->a;
    const char *b = comparison->b;
    size_t first = i > comparison->bound ? i - comparison->bound : 1;
    size_t end = smaller(comparison->b_length, i + comparison->bound);
    size_t least = i;

    row[0] = i;
    if (first > 1)
        row[first - 1] = SIZE_MAX / 2;
    for (size_t j = first; j <= end; j++) {
        row[j] = smaller(smaller(last[j], row[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
            row[j] = smaller(row[j], before[j - 2] + 1);
        least = smaller(least, row[j]);
    }
    if (end < comparison->b_length)
        row[end + 1] = SIZE_MAX / 2;
    comparison->work += end + 1 - first;
    return least;
}

/*
 * The optimal string alignment distance: insertions, deletions, substitutions, and swaps of
 * neighbours, each 1. Any larger number when it exceeds the bound. Both words are at most
 * GUESS_LENGTH_MAX long.
 */
static size_t edit_distance(struct comparison *comparison)
{
    size_t rows[3][GUESS_LENGTH_MAX + 2];
    size_t *before = rows[0];
    size_t *last = rows[1];
    size_t *row = rows[2];
    size_t least_before = 0;

    for (size_t j = 0; j <= comparison->b_length; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= comparison->a_length; i++) {
        size_t least = fill_row(comparison, i, before, last, row);
        size_t *oldest = before;

        /* A swap skips one row, never two. */
        if (least > comparison->bound && least_before > comparison->bound)
            return SIZE_MAX;
        least_before = least;
        before = last;
        last = row;
        row = oldest;
    }
    return last[comparison->b_length];
}

/* One mistake in three letters is a typo; more makes another word. */
static size_t slips_allowed(size_t length)
{
    size_t allowed = length < 3 ? 1 : length / 3;

    return allowed < length ? allowed : 0;
}

void text_guess_init(struct text_guess *guess, const char *word)
{
    size_t length = strnlen(word, GUESS_LENGTH_MAX + 1);

    *guess = (struct text_guess){ .word = word, .distance = SIZE_MAX };
    if (length <= GUESS_LENGTH_MAX && length > 0)
        guess->distance = slips_allowed(length) + 1;
}

void text_guess_offer(struct text_guess *guess, const char *candidate)
{
    struct comparison comparison = { .a = guess->word, .b = candidate };
    size_t distance;

    if (guess->distance == SIZE_MAX || guess->distance == 0 || guess->work > GUESS_WORK_MAX)
        return;
    comparison.a_length = strnlen(guess->word, GUESS_LENGTH_MAX + 1);
    comparison.b_length = strnlen(candidate, GUESS_LENGTH_MAX + 1);
    comparison.bound = guess->distance - 1;
    if (comparison.b_length > GUESS_LENGTH_MAX || comparison.b_length == 0 ||
        comparison.a_length > comparison.b_length + comparison.bound ||
        comparison.b_length > comparison.a_length + comparison.bound)
        return;
    distance = edit_distance(&comparison);
    guess->work += comparison.work;
    if (distance < guess->distance) {
        guess->distance = distance;
        guess->best = candidate;
    }
}

const char *text_guess_best(const struct text_guess *guess)
{
    return guess->best;
}

/* --- keeping ---------------------------------------------------------------------------------- */

#define BLOCK_SIZE_MIN 384 /* the settings of one behaviour: a file may have ten thousand of them */
#define BLOCK_SIZE_MAX 16384 /* each block is twice the one before, up to this size */

struct text_block {
    struct text_block *next;
    size_t used;
    size_t size;
    max_align_t bytes[];
};

void text_store_init(struct text_store *store)
{
    *store = (struct text_store){ NULL, 0 };
}

void text_store_finish(struct text_store *store)
{
    while (store->blocks) {
        struct text_block *next = store->blocks->next;

        free(store->blocks);
        store->blocks = next;
    }
}

/* A block for one large item goes after the first, whose remaining room serves small items. */
static struct text_block *add_block(struct text_store *store, size_t size)
{
    size_t room = store->room ? store->room : BLOCK_SIZE_MIN;
    bool large = size > room / 4;
    struct text_block *block;

    if (size > SIZE_MAX / 2)
        return NULL;
    if (large)
        room = size;
    block = calloc(1, sizeof *block + room);
    if (!block)
        return NULL;
    block->size = room;
    if (!large)
        store->room = room < BLOCK_SIZE_MAX ? room * 2 : BLOCK_SIZE_MAX;
    if (large && store->blocks) {
        block->next = store->blocks->next;
        store->blocks->next = block;
    } else {
        block->next = store->blocks;
        store->blocks = block;
    }
    return block;
}

static void *take_aligned(struct text_store *store, size_t size, size_t alignment)
{
    struct text_block *block = store->blocks;
    size_t used = block ? (block->used + alignment - 1) / alignment * alignment : 0;

    if (!block || used > block->size || block->size - used < size) {
        block = add_block(store, size);
        used = 0;
    }
    if (!block)
        return NULL;
    block->used = used + size;
    return (char *)block->bytes + used;
}

void *text_store_take(struct text_store *store, size_t size)
{
    return take_aligned(store, size, _Alignof(max_align_t));
}

void *text_store_take_array(struct text_store *store, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return NULL;
    return text_store_take(store, count * size);
}

char *text_store_copy_size(struct text_store *store, const char *text, size_t size)
{
    char *copy = size < SIZE_MAX ? take_aligned(store, size + 1, 1) : NULL;

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

char *text_store_copy(struct text_store *store, const char *text)
{
    return text_store_copy_size(store, text, strlen(text));
}

char *text_store_format(struct text_store *store, const char *format, ...)
{
    va_list arguments;
    char *text;
    int length;

    va_start(arguments, format);
    length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = length >= 0 ? take_aligned(store, (size_t)length + 1, 1) : NULL;
    if (!text)
        return NULL;
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

/* --- characters ------------------------------------------------------------------------------- */

/* The bytes of the character that begins with this one; 1 for a byte that begins none. */
static size_t bytes_of_character(unsigned char first)
{
    if (first >= 0xf0)
        return 4;
    if (first >= 0xe0)
        return 3;
    return first >= 0xc0 ? 2 : 1;
}

void text_end_at_character(char *text)
{
    const size_t size = strlen(text);
    size_t last = size;

    while (last > 0 && size - last < 4 && ((unsigned char)text[last - 1] & 0xc0) == 0x80)
        last--;
    if (last > 0 && size - (last - 1) < bytes_of_character((unsigned char)text[last - 1]))
        text[last - 1] = '\0';
}
