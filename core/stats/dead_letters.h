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

#include <pthread.h>
#include <stdbool.h>

#include "message/message.h"
#include "stats/ledger.h"

/* The language's defaults of `dead_letters`. */
#define DEAD_LETTERS_MAX 1000
#define DEAD_LETTERS_BYTES_MAX (16u << 20)

#define DEAD_LETTER_HEAD 32           /* bytes of payload in a reading: a line of a dump */
#define DEAD_LETTER_DIRECT UINT32_MAX /* not from an output */

struct dead_letters_bounds {
    uint32_t count; /* 0: dead letters are counted only */
    uint64_t bytes; /* of payload; 0: no payload is kept */
};

/* The address for a replay. */
struct dead_letter_way {
    weir_pid to;     /* this actor, in the letter's lane; 0: see `output` */
    uint32_t output; /* the target of this output; DEAD_LETTER_DIRECT: the pool itself */
    uint32_t table;  /* the number of the table of outputs that `output` belongs to */
    weir_pid led_to; /* the output's target at that time: used when the table has changed since */
};

struct dead_letter {
    uint64_t number; /* 1, 2, ... in the order of death */
    enum dead_reason reason;
    const struct weir_tag *tag; /* lives as long as the runtime; may be NULL */
    size_t size;
    bool whole; /* its payload was kept */
    weir_pid from;
    uint64_t key;
    struct dead_letter_way way;
    uint64_t when_ns; /* runtime clock */
    uint16_t attempt;
    uint8_t kind; /* enum weir_kind */
    uint8_t lane;
    char detail[48];
    unsigned char head[DEAD_LETTER_HEAD]; /* the first bytes of a payload that was kept */
};

/* A dead letter with its payload, linked in the order of numbers. */
struct dead_message {
    struct dead_letter letter;
    struct dead_message *next; /* the store's lock, or the taker's */
    unsigned char payload[];
};

struct dead_letters {
    pthread_mutex_t lock;
    struct dead_letters_bounds bounds; /* lock */
    uint64_t counts[DEAD_REASONS];     /* lock */
    struct dead_message *first;        /* lock: the oldest */
    struct dead_message *last;         /* lock */
    uint32_t count;                    /* lock */
    uint64_t bytes;                    /* lock: of payload */
    uint64_t number;                   /* lock: of the newest */
    uint64_t evicted;                  /* lock: evicted dead letters */
    uint64_t replayed;                 /* lock: dead letters that were accepted again */
    uint64_t deleted;                  /* lock: dead letters that a user deleted */
};

/* The present and past content of a store. */
struct dead_letters_figures {
    uint64_t counts[DEAD_REASONS];
    uint32_t kept;
    uint64_t kept_bytes;
    uint64_t evicted;
    uint64_t replayed;
    uint64_t deleted;
};

/* `bounds` NULL: the defaults. Borrowed until return. */
void dead_letters_init(struct dead_letters *letters, const struct dead_letters_bounds *bounds);
void dead_letters_finish(struct dead_letters *letters);

/* Evicts dead letters beyond the new bounds at once. */
void dead_letters_set_bounds(struct dead_letters *letters,
                             const struct dead_letters_bounds *bounds);

/* Counts a message, and keeps a copy when bounds and memory allow. Borrows everything; `way` NULL:
 * to the pool itself. */
void dead_letters_add(struct dead_letters *letters, const struct message *message,
                      const struct dead_letter_way *way, enum dead_reason reason,
                      const char *detail, uint64_t now_ns);

/* Copies the counts of all reasons. */
void dead_letters_counts(struct dead_letters *letters, uint64_t out_counts[DEAD_REASONS]);

/* Adds to `out`, which the caller has cleared. */
void dead_letters_figures(struct dead_letters *letters, struct dead_letters_figures *out);
void dead_letters_figures_add(struct dead_letters_figures *sum,
                              const struct dead_letters_figures *figures);
/* Adds the counts of a store that ends; dead letters that it kept count as evicted. */
void dead_letters_absorb(struct dead_letters *letters, const struct dead_letters_figures *gone);
/* The sum of all reasons. */
uint64_t dead_letters_total(const struct dead_letters_figures *figures);

/* Copies up to `max` dead letters, oldest first, without payload; returns their number. The second
 * form begins after number `number`. */
uint32_t dead_letters_read(struct dead_letters *letters, struct dead_letter *out, uint32_t max);
uint32_t dead_letters_read_after(struct dead_letters *letters, uint64_t number,
                                 struct dead_letter *out, uint32_t max);

/* Copies the payload of one letter, which the caller frees. WEIR_EUNKNOWN: no letter has that
 * number, WEIR_EUNSUPPORTED: its payload was not kept, WEIR_ENOMEM. */
int dead_letters_payload(struct dead_letters *letters, uint64_t number, unsigned char **out,
                         size_t *out_size);

/* Deletes one letter; false: no letter has that number. */
bool dead_letters_delete(struct dead_letters *letters, uint64_t number);
/* Deletes all letters; returns how many. */
uint32_t dead_letters_delete_all(struct dead_letters *letters);

/* --- for actor/replay.c ---------------------------------------------------------------------- */

/* Takes all dead letters out, linked oldest first; NULL: none. Ownership moves to the caller. */
struct dead_message *dead_letters_take(struct dead_letters *letters);

/* Puts dead letters back, linked oldest first, before all newer ones; evicts those beyond the
 * bounds. NULL is allowed. */
void dead_letters_put_back(struct dead_letters *letters, struct dead_message *oldest);

/* Takes and frees a dead letter that was accepted again, and counts it. */
void dead_letters_replayed(struct dead_letters *letters, struct dead_message *dead);

#endif
