/*
 * stats/dead_letters.h - the accepted messages that could not be handled: counted, the last kept.
 *
 * A letter is a copy of its message with the reason, and of where it would go if it were sent
 * again (actor/replay.h). The store keeps at most so many letters and so many bytes of payload;
 * the oldest make room for the newest, and are counted when they do. A payload that is larger than
 * the whole store is not kept: its letter says so and cannot be sent again.
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
#define DEAD_LETTER_DIRECT UINT32_MAX /* did not come from an output */

struct dead_letters_bounds {
    uint32_t count; /* 0: letters are counted, and none is kept */
    uint64_t bytes; /* of payload; 0: what is kept has no payload */
};

/* Where a letter would go. */
struct dead_letter_way {
    weir_pid to;     /* this actor, in the letter's lane; 0: see `output` */
    uint32_t output; /* what is behind this output; DEAD_LETTER_DIRECT: the pool itself */
    uint32_t table;  /* which of its pool's tables of outputs that is a number of */
    weir_pid led_to; /* where it led then: counts when the table has changed since */
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

/* A letter with its payload, linked by number. */
struct dead_message {
    struct dead_letter letter;
    struct dead_message *next; /* the store's lock, or whoever took it */
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
    uint64_t evicted;                  /* lock: letters that made room */
    uint64_t replayed;                 /* lock: letters that were accepted again */
    uint64_t deleted;                  /* lock: letters that somebody threw away */
};

/* What a store holds and has held. */
struct dead_letters_figures {
    uint64_t counts[DEAD_REASONS];
    uint32_t kept;
    uint64_t kept_bytes;
    uint64_t evicted;
    uint64_t replayed;
    uint64_t deleted;
};

/* `bounds` NULL: the usual ones. Borrowed until return. */
void dead_letters_init(struct dead_letters *letters, const struct dead_letters_bounds *bounds);
void dead_letters_finish(struct dead_letters *letters);

/* From now on; what is too much makes room at once. */
void dead_letters_set_bounds(struct dead_letters *letters,
                             const struct dead_letters_bounds *bounds);

/* Counts a message, and keeps a copy of it when bounds and memory allow. Borrows everything;
 * `way` NULL: to the pool itself. */
void dead_letters_add(struct dead_letters *letters, const struct message *message,
                      const struct dead_letter_way *way, enum dead_reason reason,
                      const char *detail, uint64_t now_ns);

/* Copies the counts of all reasons. */
void dead_letters_counts(struct dead_letters *letters, uint64_t out_counts[DEAD_REASONS]);

/* Adds to `out`, which the caller has cleared. */
void dead_letters_figures(struct dead_letters *letters, struct dead_letters_figures *out);
void dead_letters_figures_add(struct dead_letters_figures *sum,
                              const struct dead_letters_figures *figures);
/* Counts the letters of a store that goes; those that it kept are among the evicted. */
void dead_letters_absorb(struct dead_letters *letters, const struct dead_letters_figures *gone);
/* Of all reasons. */
uint64_t dead_letters_total(const struct dead_letters_figures *figures);

/* Copies up to `max` letters, oldest first, without payload; returns how many. The second form
 * begins behind the letter `number`. */
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

/* Takes all letters out, linked oldest first; NULL: none. Ownership moves to the caller. */
struct dead_message *dead_letters_take(struct dead_letters *letters);

/* Takes letters back, linked oldest first, that are older than all that came since; what is too
 * much by now makes room. NULL is allowed. */
void dead_letters_put_back(struct dead_letters *letters, struct dead_message *oldest);

/* Takes and frees a letter that was accepted again, and counts it. */
void dead_letters_replayed(struct dead_letters *letters, struct dead_message *dead);

#endif
