/*
 * stats/dead_letters.h - the accepted messages that could not be handled: counted, the last kept.
 *
 * Off every fast path; a mutex. Any thread, any operation.
 */
#ifndef STATS_DEAD_LETTERS_H
#define STATS_DEAD_LETTERS_H

#include <pthread.h>

#include "message/message.h"
#include "stats/ledger.h"

#define DEAD_LETTERS_MAX 1000 /* config.md: dead letters {count: 1000} per pool */

struct dead_letter {
    enum dead_reason reason;
    const struct weir_tag *tag; /* lives as long as the runtime */
    size_t size;
    weir_pid from;
    uint64_t when_ns; /* runtime clock */
    uint16_t attempt;
    char detail[48];
};

struct dead_letters {
    pthread_mutex_t lock;
    uint64_t counts[DEAD_REASONS]; /* lock */
    struct dead_letter *records;   /* lock; a ring of `capacity`, allocated with the first */
    uint32_t capacity;             /* const */
    uint32_t first;                /* lock */
    uint32_t count;                /* lock */
};

void dead_letters_init(struct dead_letters *letters, uint32_t capacity);
void dead_letters_finish(struct dead_letters *letters);

/* Counts a message, and keeps a record of it when memory allows. Borrows everything. */
void dead_letters_add(struct dead_letters *letters, const struct message *message,
                      enum dead_reason reason, const char *detail, uint64_t now_ns);

/* Copies the counts of all reasons. */
void dead_letters_counts(struct dead_letters *letters, uint64_t out_counts[DEAD_REASONS]);

/* Copies up to `max` records, oldest first; returns how many. */
uint32_t dead_letters_read(struct dead_letters *letters, struct dead_letter *out, uint32_t max);

#endif
