/* SPDX-License-Identifier: MIT */
/*
 * actor/wiring.h - the outputs of a behaviour: targets, rates, and `when_full`.
 *
 * A wiring is immutable; a reload publishes a new one and retires the old. A slot holds the wiring
 * in force; it is read in a read section (reclaim.h) or in a turn.
 */
#ifndef ACTOR_WIRING_H
#define ACTOR_WIRING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dispatch/reclaim.h"
#include "face/parts.h"

struct executor;
struct tokens;

/* The rate of one output, and the bucket that its workers share. */
struct throttle {
    struct rate rate;      /* const; without messages: no rate */
    struct tokens *tokens; /* before publication: its owner; then const. NULL: no rate */
};

struct wiring {
    struct retired retired;
    uint32_t table; /* the table of outputs to which the numbers belong: see pool/outlet.h */
    uint32_t count;
    struct throttle *throttles; /* one for each binding; NULL: no output has a rate */
    struct binding bindings[];
};

/* The pause of a source holds it and its children while it alone is set. */
enum wiring_pause {
    WIRING_PAUSED = 1u << 0, /* an operator's order: see source_pause */
    WIRING_LEAVES = 1u << 1, /* the source is to end: it finishes, whatever its pause */
};

struct wiring_slot {
    _Atomic(struct wiring *) wiring; /* NULL = no outputs */
    _Atomic uint8_t pause;           /* enum wiring_pause; of a source */
};

/* All unbound. NULL when memory is out. Returns owned. */
struct wiring *wiring_create(uint32_t count);

/* Output `to` of `wiring`, which is not published yet, gets the bucket of output `from` of the
 * `former` wiring, if both have a rate. */
void wiring_share_tokens(struct wiring *wiring, uint32_t to, const struct wiring *former,
                         uint32_t from);

/* Puts the rates of the wiring in force: buckets that it shares with a former wiring have the
 * former rates until then. Cannot fail. */
void wiring_apply_rates(const struct wiring *wiring, uint64_t now_ns);

/* Publishes `next`, which it takes, and retires the former wiring, whose buckets the same outputs
 * keep. Cannot fail. */
void wiring_publish(struct wiring_slot *slot, struct wiring *next, struct executor *executor);

static inline const struct wiring *wiring_get(struct wiring_slot *slot)
{
    /* [W1] pairs with the release in wiring_publish. */
    return slot ? atomic_load_explicit(&slot->wiring, memory_order_acquire) : NULL;
}

/* The senders of a slot look again after a change. */
static inline void wiring_set_pause(struct wiring_slot *slot, enum wiring_pause bit, bool on)
{
    /* [W2] release: who sees the bit sees what was done before. */
    if (on)
        atomic_fetch_or_explicit(&slot->pause, (uint8_t)bit, memory_order_release);
    else
        atomic_fetch_and_explicit(&slot->pause, (uint8_t)~bit, memory_order_release);
}

/* Whether an operator has paused it, also while it leaves. */
static inline bool wiring_is_paused(const struct wiring_slot *slot)
{
    /* [W2] acquire. */
    return atomic_load_explicit(&slot->pause, memory_order_acquire) & WIRING_PAUSED;
}

/* Whether its pools count as full. */
static inline bool wiring_is_held(const struct wiring_slot *slot)
{
    /* [W2] acquire. */
    return atomic_load_explicit(&slot->pause, memory_order_acquire) == WIRING_PAUSED;
}

/* The bucket of an output, which exists; NULL: it has no rate. */
static inline struct tokens *wiring_tokens(const struct wiring *wiring, uint32_t output)
{
    return wiring->throttles ? wiring->throttles[output].tokens : NULL;
}

#endif
