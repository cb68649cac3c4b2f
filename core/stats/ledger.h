/* SPDX-License-Identifier: MIT */
/*
 * stats/ledger.h - accounts for every message that an actor accepted.
 *
 *      accepted = done + dead + moved + queued + in hand + held
 *
 * The ledger keeps only counters that grow. `accepted` and `queued` come from the indexes of the
 * mailbox and from `pulled`; the owner writes the other counters here. Every step of a message is
 * one store to one counter. `in_hand` is computed: the messages that have left the queue and are in
 * no other counter. So a message that is never settled stays visible as in hand.
 *
 * A reader takes a snapshot that is exact at one instant: it reads all counters, then the tail of
 * the mailbox, then all counters again. Counters never decrease, so equal values mean that none of
 * them changed between the two readings, and the tail was read in that time. Every store is a
 * release and every load an acquire: a reader that sees one step also sees all steps before it.
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
    _Atomic uint64_t put_by;  /* from `in hand` to `held` */
    _Atomic uint64_t resumed; /* from `held` to `in hand` */
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
