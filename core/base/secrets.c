/* SPDX-License-Identifier: MIT */
#include "base/secrets.h"

#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

#define SHOWN "${file:...}"
#define CAPACITY_FIRST 64u
#define SPREAD UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / phi: products have it in their upper half */

static void forget(void *memory, size_t size)
{
    if (memory)
        explicit_bzero(memory, size);
    free(memory);
}

void secrets_finish(struct secrets *secrets)
{
    forget(secrets->parts, secrets->capacity * sizeof *secrets->parts);
    forget(secrets->words, secrets->word_count * sizeof *secrets->words);
    *secrets = (struct secrets){ .parts = NULL };
}

/* --- values ----------------------------------------------------------------------------------- */

/* A hash of the next SECRETS_PART bytes, which is not 0. */
static uint64_t part_at(const char *text)
{
    uint64_t front, back;

    memcpy(&front, text, sizeof front);
    memcpy(&back, text + SECRETS_PART - sizeof back, sizeof back);
    return (front * SPREAD ^ back) * SPREAD | 1;
}

/* Where the part is, or would be. */
static uint64_t *place_of(const struct secrets *secrets, uint64_t part)
{
    size_t index = (size_t)(part >> 32) & (secrets->capacity - 1);

    while (secrets->parts[index] && secrets->parts[index] != part)
        index = (index + 1) & (secrets->capacity - 1);
    return &secrets->parts[index];
}

/* At most half of the table is used. */
static int make_room(struct secrets *secrets)
{
    struct secrets larger = *secrets;

    if (secrets->part_count * 2 < secrets->capacity)
        return 0;
    larger.capacity = secrets->capacity ? secrets->capacity * 2 : CAPACITY_FIRST;
    larger.parts = calloc(larger.capacity, sizeof *larger.parts);
    if (!larger.parts)
        return WEIR_ENOMEM;
    for (size_t i = 0; i < secrets->capacity; i++)
        if (secrets->parts[i])
            *place_of(&larger, secrets->parts[i]) = secrets->parts[i];
    forget(secrets->parts, secrets->capacity * sizeof *secrets->parts);
    *secrets = larger;
    return 0;
}

static int add_part(struct secrets *secrets, uint64_t part)
{
    uint64_t *place;

    if (make_room(secrets) != 0)
        return WEIR_ENOMEM;
    place = place_of(secrets, part);
    secrets->part_count += *place == 0;
    *place = part;
    return 0;
}

static bool has_word(const struct secrets *secrets, const char *word)
{
    bool has = false;

    for (size_t i = 0; i < secrets->word_count && !has; i++)
        has = strcmp(secrets->words[i], word) == 0;
    return has;
}

static int add_word(struct secrets *secrets, const char *value, size_t size)
{
    char word[SECRETS_PART] = "", (*words)[SECRETS_PART];

    memcpy(word, value, size);
    if (has_word(secrets, word))
        return 0;
    words = realloc(secrets->words, (secrets->word_count + 1) * sizeof *words);
    if (!words)
        return WEIR_ENOMEM;
    secrets->words = words;
    memcpy(words[secrets->word_count++], word, sizeof word);
    return 0;
}

static int add_value(struct secrets *secrets, const char *value, size_t size)
{
    int status = 0;

    if (size < SECRETS_MIN)
        return 0;
    if (size < SECRETS_PART)
        return add_word(secrets, value, size);
    for (size_t i = 0; i + SECRETS_PART <= size && status == 0; i++)
        status = add_part(secrets, part_at(value + i));
    return status;
}

/* As a log line has it in quotes. Returns the size, at most twice that of the value. */
static size_t escape(const char *value, size_t size, char *out)
{
    static const char escaped[] = "\"\\\n\t", letters[] = "\"\\nt";
    size_t at = 0;

    for (size_t i = 0; i < size; i++) {
        const char *found = value[i] ? strchr(escaped, value[i]) : NULL;

        if (found)
            out[at++] = '\\';
        out[at++] = found ? letters[found - escaped] : value[i];
    }
    return at;
}

int secrets_add(struct secrets *secrets, const char *value, size_t size)
{
    int status = add_value(secrets, value, size);
    char *escaped = status == 0 ? malloc(2 * size + 1) : NULL;
    size_t length;

    if (!escaped)
        return WEIR_ENOMEM;
    length = escape(value, size, escaped);
    if (length > size)
        status = add_value(secrets, escaped, length);
    forget(escaped, 2 * size + 1);
    return status;
}

int secrets_add_all(struct secrets *secrets, const struct secrets *from)
{
    int status = 0;

    for (size_t i = 0; i < from->capacity && status == 0; i++)
        if (from->parts[i])
            status = add_part(secrets, from->parts[i]);
    for (size_t i = 0; i < from->word_count && status == 0; i++)
        status = add_word(secrets, from->words[i], strlen(from->words[i]));
    return status;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* The bytes at the front of the text that are parts of values; 0: none. */
static size_t hidden_at(const struct secrets *secrets, const char *text, size_t length)
{
    size_t size = 0, word;

    if (secrets->capacity > 0)
        while (size + SECRETS_PART <= length && *place_of(secrets, part_at(text + size)) != 0)
            size++;
    if (size > 0)
        return size + SECRETS_PART - 1;
    for (size_t i = 0; i < secrets->word_count; i++) {
        word = strlen(secrets->words[i]);
        if (word > size && word <= length && memcmp(secrets->words[i], text, word) == 0)
            size = word;
    }
    return size;
}

/* Writes as much as there is room for. */
static size_t put(char *out, size_t at, size_t size, const char *bytes, size_t count)
{
    if (count > size - 1 - at)
        count = size - 1 - at;
    memcpy(out + at, bytes, count);
    return at + count;
}

bool secrets_has_any(const struct secrets *secrets)
{
    return secrets->part_count + secrets->word_count > 0;
}

size_t secrets_hide_by(const struct secrets *secrets, char *text, size_t length, size_t size,
                       char *copy)
{
    size_t at = 0, written = 0, hidden;

    if (!secrets_has_any(secrets))
        return length;
    memcpy(copy, text, length);
    while (at < length) {
        hidden = hidden_at(secrets, copy + at, length - at);
        written = hidden ? put(text, written, size, SHOWN, strlen(SHOWN))
                         : put(text, written, size, copy + at, 1);
        at += hidden ? hidden : 1;
    }
    text[written] = '\0';
    explicit_bzero(copy, length);
    return written;
}

size_t secrets_hide(const struct secrets *secrets, char *text, size_t length, size_t size)
{
    char *copy;

    if (!secrets_has_any(secrets))
        return length;
    copy = malloc(length + 1);
    if (!copy) { /* nothing is shown */
        text[0] = '\0';
        return 0;
    }
    length = secrets_hide_by(secrets, text, length, size, copy);
    free(copy);
    return length;
}
