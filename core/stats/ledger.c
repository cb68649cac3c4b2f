/* SPDX-License-Identifier: MIT */
#include "stats/ledger.h"

#include <sched.h>
#include <string.h>

#include "message/mailbox.h"

#define SPINS_MAX 1000 /* then the owner runs in parallel and is fast: yield */

const char *dead_reason_name(enum dead_reason reason)
{
    static const char *const names[] = {
#define DEAD_REASON_NAME(name, number, word, sentence) [number] = word,
        WEIR_DEAD_LIST(DEAD_REASON_NAME)
#undef DEAD_REASON_NAME
    };

    return (unsigned)reason < DEAD_REASONS ? names[reason] : "?";
}

const char *dead_reason_event(enum dead_reason reason)
{
    static const char *const events[] = {
#define DEAD_REASON_EVENT(name, number, word, sentence) [number] = "dead letter: " sentence,
        WEIR_DEAD_LIST(DEAD_REASON_EVENT)
#undef DEAD_REASON_EVENT
    };

    return (unsigned)reason < DEAD_REASONS ? events[reason] : "dead letter";
}

/* The owner's counters. */
struct counts {
    uint64_t done;
    uint64_t dead;
    uint64_t moved;
    uint64_t pulled;
    uint64_t put_by;
    uint64_t resumed;
    uint64_t popped;
};

static struct counts collect(struct ledger *ledger, struct mailbox *mailbox)
{
    /* Acquire: the first reading ends before the tail is read, the second begins after that. */
    return (struct counts){
        .done = atomic_load_explicit(&ledger->done, memory_order_acquire),
        .dead = atomic_load_explicit(&ledger->dead, memory_order_acquire),
        .moved = atomic_load_explicit(&ledger->moved, memory_order_acquire),
        .pulled = atomic_load_explicit(&ledger->pulled, memory_order_acquire),
        .put_by = atomic_load_explicit(&ledger->put_by, memory_order_acquire),
        .resumed = atomic_load_explicit(&ledger->resumed, memory_order_acquire),
        .popped = mailbox_taken(mailbox),
    };
}

/* `tail` and the counts are of the same instant. */
static void read_off(const struct counts *counts, uint32_t tail, struct ledger_reading *out)
{
    uint64_t held = counts->put_by - counts->resumed;
    int64_t in_hand = (int64_t)(counts->popped + counts->pulled - counts->done - counts->dead -
                                counts->moved - held);

    out->done = counts->done;
    out->dead = counts->dead;
    out->moved = counts->moved;
    out->held = held;
    out->queued = (uint32_t)(tail - (uint32_t)counts->popped);
    out->accepted = counts->popped + out->queued + counts->pulled;
    /* More were settled than taken: clamped, so that the reading does not balance. */
    out->in_hand = in_hand > 0 ? (uint64_t)in_hand : 0;
}

void ledger_read(struct ledger *ledger, struct mailbox *mailbox, struct ledger_reading *out)
{
    for (uint32_t spins = 0;; spins++) {
        struct counts before = collect(ledger, mailbox);
        uint32_t tail = (uint32_t)atomic_load_explicit(&mailbox->word, memory_order_acquire);
        struct counts after = collect(ledger, mailbox);

        if (memcmp(&before, &after, sizeof before) == 0) {
            read_off(&before, tail, out);
            return;
        }
        if (spins >= SPINS_MAX)
            (void)sched_yield();
    }
}

void ledger_reading_add(struct ledger_reading *sum, const struct ledger_reading *reading)
{
    sum->accepted += reading->accepted;
    sum->done += reading->done;
    sum->dead += reading->dead;
    sum->moved += reading->moved;
    sum->queued += reading->queued;
    sum->in_hand += reading->in_hand;
    sum->held += reading->held;
}

int64_t ledger_reading_difference(const struct ledger_reading *reading)
{
    return (int64_t)(reading->accepted - reading->done - reading->dead - reading->moved -
                     reading->queued - reading->in_hand - reading->held);
}
