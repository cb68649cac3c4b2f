/* SPDX-License-Identifier: MIT */
/*
 * feeding.h - the order in which parts close: each part after all parts that feed or use it.
 */
#ifndef CORE_FEEDING_H
#define CORE_FEEDING_H

#include <stdint.h>

#include <weir/message.h>

struct wiring_slot;

/* A part that is to close. */
struct feeder {
    weir_pid pid;
    weir_pid parent;            /* the pool it is a member of; 0 = none */
    struct wiring_slot *wiring; /* where its outputs lead: see dead_letter_box */
};

/* How a part uses a pool to which none of its outputs leads, from the strongest. */
enum feeding_kind {
    FEEDING_OPTION = 1, /* an option of it names the pool */
    FEEDING_ASKS,       /* it has asked the pool by its PID: see actor/askers.h */
};

struct feeding_use {
    weir_pid user;
    weir_pid used;
    enum feeding_kind kind;
};

/*
 * Gives each part its wave, 0 and up; a part closes after all earlier waves. A part feeds the
 * targets of its outputs, the pools that it uses, and all pools nested in these; a nested pool
 * feeds its parent. Where parts feed each other in a circle, its weakest links do not count: first
 * those of FEEDING_ASKS, then those of FEEDING_OPTION. Parts that feed each other by their outputs
 * in a circle share one wave. Uses of other parts than these are ignored. Time: n log n in parts,
 * linear in outputs and uses. Call it in a read section. WEIR_ENOMEM.
 */
int feeding_waves(const struct feeder *parts, uint32_t count, const struct feeding_use *uses,
                  uint32_t use_count, uint32_t *out_waves);

#endif
