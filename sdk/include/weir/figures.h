/* SPDX-License-Identifier: MIT */
/*
 * weir/figures.h - libweir: figures of a runtime and its pools, and dead letters.
 *
 * Part of <weir/runtime.h>: include that. The rules of that header apply.
 */
#ifndef WEIR_FIGURES_H
#define WEIR_FIGURES_H

#include "messages.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The state of all accepted messages, exact at the instant of reading: accepted = done + dead +
 * moved + queued + in_hand + held. Initialise it with WEIR_LEDGER.
 */
struct weir_ledger {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;  /* all reasons */
    uint64_t moved; /* accepted by another worker instead */
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held; /* messages that wait for a retry, for room at the target of an output, or in a
                    * stash */
};
#define WEIR_LEDGER                                                                                \
    {                                                                                              \
        sizeof(struct weir_ledger), 0, 0, 0, 0, 0, 0, 0, 0                                         \
    }

/* A kept dead letter: a message that could not be handled. */
struct weir_dead_letter {
    uint64_t number;            /* 1, 2, ... in order of time */
    const char *reason;         /* `crashed`, `rejected`, ...; static text */
    const struct weir_tag *tag; /* lives as long as the runtime; may be NULL */
    uint64_t payload_size;
    uint64_t age_ms;
    uint64_t key;
    weir_pid from;
    uint32_t attempt;
    uint32_t lane;      /* enum weir_lane */
    uint32_t whole;     /* 1: the payload is kept, so weir_runtime_replay can send the letter
                         * again */
    uint32_t head_size; /* bytes in `head`, the start of the payload */
    unsigned char head[32];
    char detail[240]; /* the text of weir_reason, and the label of the message; may be empty */
};

/* The result of weir_runtime_replay. Initialise it with WEIR_REPLAYED. */
struct weir_replayed {
    uint32_t size;     /* of this struct */
    uint32_t replayed; /* accepted again */
    uint32_t left;     /* stay dead */
    uint32_t unable;   /* of `left`: dead letters without a payload */
    int32_t status;    /* of the last refusal of another dead letter; 0 = none */
    uint32_t reserved;
};
#define WEIR_REPLAYED                                                                              \
    {                                                                                              \
        sizeof(struct weir_replayed), 0, 0, 0, 0, 0                                                \
    }

/* Figures of a runtime. Initialise them with WEIR_RUNTIME_FIGURES. */
struct weir_runtime_figures {
    uint32_t size;           /* of this struct */
    uint32_t escalated;      /* 1: a pool with WEIR_RESTART_ESCALATE and without a pool above has
                              * failed too often */
    uint64_t late_replies;   /* replies to requests that had ended */
    uint64_t late_notices;   /* outcomes for origins that had ended */
    uint64_t memory_limit;   /* the option `memory`; 0 = none, and `memory` is not counted */
    uint64_t memory;         /* bytes of messages and blobs, with the memory that threads keep for
                              * new ones */
    uint64_t memory_refused; /* messages and blobs that the library refused to make */
};
#define WEIR_RUNTIME_FIGURES                                                                       \
    {                                                                                              \
        sizeof(struct weir_runtime_figures), 0, 0, 0, 0, 0, 0                                      \
    }

/* --- figures ---------------------------------------------------------------------------------- */

/* Figures of the whole runtime. WEIR_EINVALID: out->size is too small. */
WEIR_API int weir_runtime_figures(struct weir_runtime *runtime, struct weir_runtime_figures *out);

/* The figures of a pool, also after its end, until weir_runtime_close_wait removes it. Set
 * out->size to sizeof *out first. WEIR_EINVALID: out->size is too small. WEIR_EUNKNOWN. */
WEIR_API int weir_runtime_pool_stats(struct weir_runtime *runtime, weir_pid pool,
                                     struct weir_pool_stats *out);

/*
 * The ledger of a pool, an actor or a source. PID 0: the sum over everything that this runtime has
 * ever had. WEIR_EINVALID: out->size is too small. WEIR_EUNKNOWN.
 */
WEIR_API int weir_runtime_ledger(struct weir_runtime *runtime, weir_pid pid,
                                 struct weir_ledger *out);

/* --- dead letters ----------------------------------------------------------------------------- */

/* Called by weir_runtime_dead_letters, with the size of the struct in this program. */
WEIR_API int weir_runtime_dead_letters_sized(struct weir_runtime *runtime, weir_pid pid,
                                             struct weir_dead_letter *out, uint32_t letter_size,
                                             uint32_t max, uint32_t *out_count);

/*
 * Reads the dead letters that a pool, an actor or a source keeps, oldest first. Fills up to `max`
 * elements of `out`, which may be NULL when `max` is 0. `out_count` is the number of kept dead
 * letters. A nested pool keeps its own dead letters. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_INLINE int weir_runtime_dead_letters(struct weir_runtime *runtime, weir_pid pid,
                                          struct weir_dead_letter *out, uint32_t max,
                                          uint32_t *out_count)
{
    return weir_runtime_dead_letters_sized(runtime, pid, out, sizeof *out, max, out_count);
}

/*
 * Sends the kept dead letters of a pool, an actor or a source again to their targets, as new
 * messages, oldest first, each once. If its target refuses one, it stays in its place. `out` may
 * be NULL. WEIR_EINVALID: out->size is too small. WEIR_EUNKNOWN, WEIR_ENOMEM.
 */
WEIR_API int weir_runtime_replay(struct weir_runtime *runtime, weir_pid pid,
                                 struct weir_replayed *out);

#ifdef __cplusplus
}
#endif

#endif
