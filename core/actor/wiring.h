/*
 * actor/wiring.h - the targets of a behaviour's outputs, and what happens when a target has no
 * room.
 *
 * A wiring is immutable; a reload publishes a new one and retires the old. A slot holds the wiring
 * in force; it is read in a read section (reclaim.h) or in a turn.
 */
#ifndef ACTOR_WIRING_H
#define ACTOR_WIRING_H

#include <stdatomic.h>

#include "dispatch/reclaim.h"
#include "face/parts.h"

struct wiring {
    struct retired retired;
    uint32_t table; /* the table of outputs to which the numbers belong: see pool/outlet.h */
    uint32_t count;
    struct binding bindings[];
};

struct wiring_slot {
    _Atomic(struct wiring *) wiring; /* NULL = no outputs */
};

/* All unbound. NULL when memory is out. Returns owned. */
struct wiring *wiring_create(uint32_t count);

/* Publishes `next`, which it takes, and retires the former wiring. Cannot fail. */
void wiring_publish(struct wiring_slot *slot, struct wiring *next, struct reader *reader);

static inline const struct wiring *wiring_get(struct wiring_slot *slot)
{
    /* [W1] pairs with the release in wiring_publish. */
    return slot ? atomic_load_explicit(&slot->wiring, memory_order_acquire) : NULL;
}

#endif
