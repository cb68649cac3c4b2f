/* SPDX-License-Identifier: MIT */
/*
 * stats/dead_letters.h - counts accepted messages that could not be handled, and keeps the last
 * ones.
 *
 * A dead letter is a copy of its message with the reason, and the address for a replay
 * (actor/replay.h). The store keeps at most so many dead letters and so many bytes of payload; when
 * it is full the oldest are evicted and counted. A payload larger than the whole store is not kept:
 * its dead letter is marked and cannot be replayed.
 *
 * Life: init .. finish. Off every fast path; a mutex. Any thread, any operation.
 */
#ifndef STATS_DEAD_LETTERS_H
#define STATS_DEAD_LETTERS_H

#include <stdbool.h>

#include "base/lock.h"
#include "face/dead_letters.h"
#include "message/message.h"
#include "stats/ledger.h"

#define DEAD_LETTERS_REASON 128 /* of a retry, for people */

/* A dead letter with its payload, linked in the order of numbers. */
struct dead_message {
    struct dead_letter letter;
    struct dead_message *next; /* the store's lock, or the taker's */
    unsigned char payload[];
};

struct dead_letters {
    struct lock lock;
    struct dead_letters_bounds bounds;      /* lock */
    uint64_t counts[DEAD_REASONS];          /* lock */
    struct dead_message *first;             /* lock: the oldest */
    struct dead_message *last;              /* lock */
    uint32_t count;                         /* lock */
    uint64_t bytes;                         /* lock: of payload */
    uint64_t number;                        /* lock: of the newest */
    uint64_t evicted;                       /* lock: evicted dead letters */
    uint64_t replayed;                      /* lock: dead letters that were accepted again */
    uint64_t deleted;                       /* lock: dead letters that a user deleted */
    char retry_reason[DEAD_LETTERS_REASON]; /* lock: of the last retry; "" = it had none */
};

/* `bounds` NULL: the defaults. Borrowed until return. */
void dead_letters_init(struct dead_letters *letters, const struct dead_letters_bounds *bounds);
void dead_letters_finish(struct dead_letters *letters);

/* Counts a message, and keeps a copy when bounds and memory allow, unless it is core's own. Borrows
 * everything; `way` NULL: to the pool itself. `record`: its number in the store, or 0. */
void dead_letters_add(struct dead_letters *letters, const struct message *message,
                      const struct dead_letter_way *way, enum dead_reason reason,
                      const char *detail, uint64_t record, uint64_t now_ns);

/* The detail of the dead letter of a message: `detail`, which may be NULL, and the message's label.
 * Returns `detail`, or `out`. */
const char *dead_letters_detail(const struct message *message, const char *detail,
                                char out[DEAD_LETTER_DETAIL]);

/* Keeps the reason of a retry, cut; NULL: it has none. */
void dead_letters_note_retry(struct dead_letters *letters, const char *reason);
/* Copies the reason of the last retry, cut at `size`. */
void dead_letters_retry_reason(struct dead_letters *letters, char *out, size_t size);

/* Adds the counts of a store that ends; dead letters that it kept count as evicted. */
void dead_letters_absorb(struct dead_letters *letters, const struct dead_letters_figures *gone);

/* Copies the counts of all reasons. */
void dead_letters_counts(struct dead_letters *letters, uint64_t out_counts[DEAD_REASONS]);

/* --- for actor/replay.c ---------------------------------------------------------------------- */

/* Takes all dead letters out, linked oldest first; NULL: none. Ownership moves to the caller. */
struct dead_message *dead_letters_take(struct dead_letters *letters);

/* Puts dead letters back, linked oldest first, before all newer ones; evicts those beyond the
 * bounds. NULL is allowed. */
void dead_letters_put_back(struct dead_letters *letters, struct dead_message *oldest);

/* Takes and frees a dead letter that was accepted again, and counts it. */
void dead_letters_replayed(struct dead_letters *letters, struct dead_message *dead);

#endif
