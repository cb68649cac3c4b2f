/* SPDX-License-Identifier: MIT */
/*
 * words.h - the messages of the behaviours of `words`.
 *
 * The words of a line are sent in groups. The group of a word depends on the word alone, so the
 * same word always has the same key, and a line gives at most WORDS_GROUPS messages however long it
 * is. That is fewer than an outbox holds: a line is always emitted as a whole.
 */
#ifndef WORDS_H
#define WORDS_H

#include <string.h>

#include <weir/message.h>

#define WORDS_GROUPS 64u

/* The words of one group in one line follow, each with a NUL. */
#define WORDS_GROUP_TAG "words.group/1"

struct words_group {
    uint64_t file;  /* key of its name */
    uint64_t line;  /* number in the file, from 1 */
    uint32_t count; /* words that follow */
    uint32_t size;  /* bytes that follow, NULs included */
};

/* The totals of one shard, or a part of them. Entries follow, packed. */
#define WORDS_TOTALS_TAG "words.totals/1"

struct words_totals {
    uint64_t words;     /* counted by this shard; 0 in all parts but the first */
    uint64_t unordered; /* as `words`: lines that came after a later line of the same file */
    uint32_t shard;     /* the worker's index */
    uint32_t entries;   /* that follow: each a words_entry and its word, without NUL */
    uint64_t size;      /* bytes that follow */
};

/* May be unaligned: copy it out. */
struct words_entry {
    uint64_t count;
    uint64_t size; /* bytes of the word */
};

/* The payload of a message tagged WORDS_GROUP_TAG; NULL when its sizes do not fit. Borrowed. */
static inline const struct words_group *words_group_get(const struct weir_message *message)
{
    const struct words_group *group = (const struct words_group *)message->data;
    const char *words;

    if (message->size < sizeof *group || message->size != sizeof *group + group->size)
        return NULL;
    words = (const char *)(group + 1);
    return group->size > 0 && words[group->size - 1] == '\0' ? group : NULL;
}

/* The payload of a message tagged WORDS_TOTALS_TAG; NULL when its sizes do not fit. Borrowed. */
static inline const struct words_totals *words_totals_get(const struct weir_message *message)
{
    const struct words_totals *totals = (const struct words_totals *)message->data;

    if (message->size < sizeof *totals || message->size - sizeof *totals != totals->size)
        return NULL;
    return totals;
}

#endif
