/*
 * stats/ledger.h - accounts for every message that an actor accepted.
 *
 *      accepted = done + dead + moved + queued + in hand + held
 *
 * Only counters that grow are kept: `accepted` and `queued` are the mailbox's own indexes, and what
 * was pulled; the rest stands here, written by the owner alone. Every step of a message is one
 * store to one of them. `in_hand` is what has left the queue and is nowhere else, so a message that
 * nobody settles stays in hand for ever, and is seen there.
 *
 * A reader takes a snapshot that is exact at one instant: it reads all of them, the tail of the
 * mailbox, and all of them again. Since they never go back, equal values mean that none changed in
 * between, and the tail was read in between. Every store is a release and every load an acquire:
 * who has seen one step sees those before it.
 */
#ifndef STATS_LEDGER_H
#define STATS_LEDGER_H

#include <stdatomic.h>
#include <stdint.h>

#include "face/figures.h"

struct mailbox;

struct ledger {
    /* written by the owner, read by all */
    _Atomic uint64_t done;
    _Atomic uint64_t dead;
    _Atomic uint64_t moved;
    _Atomic uint64_t pulled;  /* accepted by the queue of its pool, not by its mailbox */
    _Atomic uint64_t put_by;  /* from the hand to held */
    _Atomic uint64_t resumed; /* from held to the hand */
};

/* Owner: adds one message. */
static inline void ledger_count(_Atomic uint64_t *counter)
{
    /* Relaxed load: only the owner writes it. Release: see above. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* Any thread. Reads again when the owner was faster, which takes nanoseconds. */
void ledger_read(struct ledger *ledger, struct mailbox *mailbox, struct ledger_reading *out);

#endif
