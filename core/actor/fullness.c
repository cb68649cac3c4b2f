/* SPDX-License-Identifier: MIT */
#include "actor/fullness.h"

#include "actor/actor.h"

#define WATCHED 1ull

void fullness_met(struct scan *scan, struct actor *actor)
{
    scan->looks++;
    /* Relaxed: a change of the limit ends the epoch afterwards. */
    if (atomic_load_explicit(&actor->mailbox.bytes_limit, memory_order_relaxed))
        scan->varies = true;
}

void fullness_note(struct fullness *fullness, uint64_t epoch, const struct scan *scan)
{
    if (scan->varies || scan->looks <= FULLNESS_FEW)
        return;
    if (epoch & WATCHED)
        /* [F1] A reader of the mark also sees the writes that this scan saw. */
        atomic_store_explicit(&fullness->full_in, epoch, memory_order_release);
    else
        /* From here on new room ends the epoch: the next scan may write the mark. */
        (void)atomic_compare_exchange_strong_explicit(&fullness->epoch, &epoch, epoch | WATCHED,
                                                      memory_order_seq_cst, memory_order_relaxed);
}

static void begin_next_epoch(struct fullness *fullness)
{
    uint64_t epoch = atomic_load_explicit(&fullness->epoch, memory_order_relaxed);

    while (!atomic_compare_exchange_weak_explicit(&fullness->epoch, &epoch, (epoch | WATCHED) + 1,
                                                  memory_order_seq_cst, memory_order_relaxed))
        continue;
}

void fullness_forget(struct owner *owner)
{
    /* In every case: the read-modify-write orders the new room before it. */
    for (; owner; owner = owner->above)
        begin_next_epoch(&owner->fullness);
}

bool fullness_is_watched(const struct owner *owner)
{
    for (; owner; owner = owner->above)
        if (atomic_load_explicit(&owner->fullness.epoch, memory_order_seq_cst) & WATCHED)
            return true;
    return false;
}

void fullness_end(struct owner *owner)
{
    for (; owner; owner = owner->above)
        if (fullness_epoch(&owner->fullness) & WATCHED)
            begin_next_epoch(&owner->fullness);
}
