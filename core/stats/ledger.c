#include "stats/ledger.h"

#include <sched.h>

#include "message/mailbox.h"

#define SPINS_MAX 1000 /* then the owner has been preempted: let it run */

const char *dead_reason_name(enum dead_reason reason)
{
    static const char *const names[] = {
#define DEAD_REASON_NAME(name, text, sentence) text,
        DEAD_REASON_LIST(DEAD_REASON_NAME)
#undef DEAD_REASON_NAME
    };

    return (unsigned)reason < DEAD_REASONS ? names[reason] : "?";
}

static void step_version(struct ledger *ledger)
{
    atomic_store_explicit(&ledger->version,
                          atomic_load_explicit(&ledger->version, memory_order_relaxed) + 1,
                          memory_order_release);
}

void ledger_begin(struct ledger *ledger)
{
    step_version(ledger);
}

void ledger_end(struct ledger *ledger)
{
    step_version(ledger);
}

static void read_once(struct ledger *ledger, struct mailbox *mailbox, struct ledger_reading *out)
{
    uint64_t head;
    uint64_t word;

    out->done = atomic_load_explicit(&ledger->done, memory_order_acquire);
    out->dead = atomic_load_explicit(&ledger->dead, memory_order_acquire);
    out->moved = atomic_load_explicit(&ledger->moved, memory_order_acquire);
    out->in_hand = atomic_load_explicit(&ledger->in_hand, memory_order_acquire);
    out->held = atomic_load_explicit(&ledger->held, memory_order_acquire);
    head = atomic_load_explicit(&mailbox->head, memory_order_acquire);
    word = atomic_load_explicit(&mailbox->word, memory_order_acquire);
    out->queued = (uint32_t)((uint32_t)word - (uint32_t)head);
    out->accepted = head + out->queued +
                    atomic_load_explicit(&ledger->pulled, memory_order_acquire);
}

void ledger_read(struct ledger *ledger, struct mailbox *mailbox, struct ledger_reading *out)
{
    for (uint32_t spins = 0;; spins++) {
        uint32_t version = atomic_load_explicit(&ledger->version, memory_order_acquire);

        if (!(version & 1)) {
            read_once(ledger, mailbox, out);
            if (atomic_load_explicit(&ledger->version, memory_order_acquire) == version)
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
