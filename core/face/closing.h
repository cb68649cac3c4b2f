/* SPDX-License-Identifier: MIT */
/*
 * face/closing.h - closes parts in the order in which they feed each other, and waits until they
 * have ended.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_CLOSING_H
#define FACE_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include "face/part_ref.h"

struct runtime;

/*
 * How far a part is whose end closing_step drives.
 *
 *      WAITS -> ASKED -> CLOSES -> LATE
 */
enum closing_phase {
    CLOSING_WAITS,  /* others feed or use it */
    CLOSING_ASKED,  /* a part that stays may wait for its answers */
    CLOSING_CLOSES, /* it admits nothing new */
    CLOSING_LATE,   /* it has not ended in time: the log names it, and no part waits for it */
};

/* A part that closes. */
struct closing {
    struct part_ref part;
    bool is_removed; /* a pool that goes while others stay: see pool_remove */
    uint8_t phase;   /* enum closing_phase; of closing_step */
    uint16_t mark;   /* the caller's */
    /* How long this part may take, from its own closing on; UINT64_MAX: as long as all of them */
    uint64_t timeout_ms;
    /* Fields of closing_run; the last one also of closing_step. */
    uint32_t wave;
    uint32_t index;
    uint64_t ended; /* messages, when it was looked at last */
    uint64_t deadline_ns;
};

struct closing_options {
    uint64_t timeout_ms; /* of all parts together */
    /* After each wait of this length for a part that has not ended, parts that admit no message
     * are closed early, because the first part may wait for room in them; 0 = never. */
    uint64_t no_room_ms;
    bool (*is_given_up)(void *context); /* true: stop waiting; may be NULL */
    /* The process ends afterwards. When nine tenths of the time of a part are over, its waiting
     * messages become dead letters. A pool with WEIR_GIVES_UP that ends none of its messages for
     * CLOSING_LOOK_MS closes early, since parts before it may wait for them. */
    bool is_last;
    /* Reports the result for a part, and may destroy a part that has ended. May be NULL. */
    void (*after)(void *context, struct part_ref part, bool has_ended);
    void *context;
};

/* The part of `left_ms` that a wave may take before `later` waves. A wave that hangs leaves each of
 * these CLOSING_KEPT_MS, or half of the time to all of them together, whichever is less. */
#define CLOSING_KEPT_MS 1000u
#define CLOSING_LOOK_MS 1500u
uint64_t closing_share_ms(uint64_t left_ms, uint32_t later);

/*
 * Closes sources first, then each part after all parts whose outputs feed it, whose options name
 * it, or that have asked it, and a pool after the pools nested in it: see core/feeding.h. Parts
 * that feed each other in a cycle close together; where they ask each other, they close when none
 * of them has messages, or after half of the time. The log names each part that has not ended in
 * time. Changes the order of `parts`. Blocks: do not call it in a read section. 0; WEIR_ETIMEOUT: a
 * part has not ended; WEIR_ENOMEM: nothing was closed; a single part needs no memory.
 */
int closing_run(struct runtime *runtime, struct closing *parts, uint32_t count,
                const struct closing_options *options);

/*
 * One step of the end of parts that go while others stay, in the same order. Closes each of `parts`
 * that none of them feeds or uses any more, and that no part which stays waits for, and makes late
 * ones CLOSING_LATE. Parts that have ended or are late must not be among them. Never waits; call it
 * again and again. The order of `parts` stays. WEIR_ENOMEM: no part was closed; the next call tries
 * again.
 */
int closing_step(struct runtime *runtime, struct closing *parts, uint32_t count);

#endif
