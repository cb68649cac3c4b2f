/* SPDX-License-Identifier: MIT */
/*
 * face/figures.h - figures: ledgers, counts of dead letters, progress.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_FIGURES_H
#define FACE_FIGURES_H

#include <stdint.h>

#include <weir/pool.h>

struct dead_letters;

#define PLACE_UNITS 16 /* kinds of progress and gauges that one actor may report */

/* One reading, or a sum of readings. */
struct ledger_reading {
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;
    uint64_t moved;
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held;
};

void ledger_reading_add(struct ledger_reading *sum, const struct ledger_reading *reading);

/* accepted minus all the others: 0 when it balances. */
int64_t ledger_reading_difference(const struct ledger_reading *reading);

/* Why a message is dead: WEIR_DEAD_LIST, in the words of the core. */
enum dead_reason {
#define DEAD_REASON_NUMBER(name, number, word, sentence) DEAD_##name = WEIR_DEAD_##name,
    WEIR_DEAD_LIST(DEAD_REASON_NUMBER)
#undef DEAD_REASON_NUMBER
        DEAD_REASONS,
};

/* "crashed", ... Static text. */
const char *dead_reason_name(enum dead_reason reason);
/* The log line for such a message: "dead letter: the worker rejected it", ... Static text. */
const char *dead_reason_event(enum dead_reason reason);

struct dead_letters_bounds {
    uint32_t count; /* 0: dead letters are counted only */
    uint64_t bytes; /* of payload; 0: no payload is kept */
};

/* The language's defaults of `dead_letters`. */
#define DEAD_LETTERS_MAX 1000
#define DEAD_LETTERS_BYTES_MAX (16u << 20)

/* The present and past content of a store. */
struct dead_letters_figures {
    uint64_t counts[DEAD_REASONS];
    uint32_t kept;
    uint64_t kept_bytes;
    uint64_t evicted;
    uint64_t replayed;
    uint64_t deleted;
};

/* Adds to `out`, which the caller has cleared. */
void dead_letters_figures(struct dead_letters *letters, struct dead_letters_figures *out);
void dead_letters_figures_add(struct dead_letters_figures *sum,
                              const struct dead_letters_figures *figures);
/* The sum of all reasons. */
uint64_t dead_letters_total(const struct dead_letters_figures *figures);

/* The progress of one unit. */
struct pool_progress {
    const char *unit; /* a constant of a plugin; NULL: none */
    uint64_t done;
    uint64_t total;   /* WEIR_GAUGE: `done` is a gauge */
    const char *text; /* the gauge instead of `done`; NULL: it is a number */
};

#endif
