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

struct mailbox;

/* Why a message is dead: name, sentence */
#define DEAD_REASON_LIST(X)                                                                        \
    X(CRASHED, "crashed", "the worker failed with it")                                             \
    X(REJECTED, "rejected", "the worker rejected it")                                              \
    X(RETRIES, "retries", "retried too often")                                                     \
    X(EXPIRED, "expired", "the time-out of its requester was over")                                \
    X(UNHANDLED, "unhandled", "nobody handles it there")                                           \
    X(REMOVED, "removed", "its worker was removed and no other had room")                          \
    X(KEPT, "kept", "its worker ended while it kept it")                                           \
    X(NO_TARGET, "no_target", "the pool behind the output has ended")                              \
    X(OUTPUT_FULL, "output_full", "the pool behind the output was full")                           \
    X(TERMINATED, "terminated", "its actor ended")                                                 \
    X(FULL, "full", "no room when its timer was due")                                              \
    X(CANCELLED, "cancelled", "its requester cancelled it, or ended")

enum dead_reason {
#define DEAD_REASON_ENUM(name, text, sentence) DEAD_##name,
    DEAD_REASON_LIST(DEAD_REASON_ENUM)
#undef DEAD_REASON_ENUM
        DEAD_REASONS,
};

/* "crashed", ... Static text. */
const char *dead_reason_name(enum dead_reason reason);
/* The log line for such a message: "dead letter: the worker rejected it", ... Static text. */
const char *dead_reason_event(enum dead_reason reason);

struct ledger {
    /* written by the owner, read by all */
    _Atomic uint64_t done;
    _Atomic uint64_t dead;
    _Atomic uint64_t moved;
    _Atomic uint64_t pulled;  /* accepted by the queue of its pool, not by its mailbox */
    _Atomic uint64_t put_by;  /* from the hand to held */
    _Atomic uint64_t resumed; /* from held to the hand */
};

/* One reading, or a sum of readings. */
struct ledger_reading {
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;
    uint64_t moved;
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held;
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

void ledger_reading_add(struct ledger_reading *sum, const struct ledger_reading *reading);

/* accepted minus all the others: 0 when it balances. */
int64_t ledger_reading_difference(const struct ledger_reading *reading);

#endif
