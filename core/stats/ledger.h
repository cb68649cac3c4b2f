/*
 * stats/ledger.h - what became of every message that an actor accepted.
 *
 *      accepted = done + dead + moved + queued + in hand + held
 *
 * `accepted` and `queued` are the mailbox's own indexes, and what was pulled; the rest stands
 * here, written by the owner alone between ledger_begin and ledger_end. A reader takes a snapshot
 * that is exact at one instant: it reads again when the version was odd or has changed. Every
 * store is a release and every load an acquire, so a reader that sees a new figure sees the
 * version that goes with it.
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
    X(EXPIRED, "expired", "its requester gave up")                                                 \
    X(UNHANDLED, "unhandled", "nobody handles it there")                                           \
    X(REMOVED, "removed", "its worker was removed and no other had room")                          \
    X(KEPT, "kept", "its worker ended while it kept it")                                           \
    X(NO_TARGET, "no_target", "the pool behind the output has ended")                              \
    X(OUTPUT_FULL, "output_full", "the pool behind the output was full")                           \
    X(TERMINATED, "terminated", "its actor ended")                                                 \
    X(FULL, "full", "no room when its timer was due")

enum dead_reason {
#define DEAD_REASON_ENUM(name, text, sentence) DEAD_##name,
    DEAD_REASON_LIST(DEAD_REASON_ENUM)
#undef DEAD_REASON_ENUM
        DEAD_REASONS,
};

/* "crashed", ... Static text. */
const char *dead_reason_name(enum dead_reason reason);

struct ledger {
    _Atomic uint32_t version; /* odd while the owner writes */
    _Atomic uint32_t in_hand;
    _Atomic uint32_t held;
    _Atomic uint64_t done;
    _Atomic uint64_t dead;
    _Atomic uint64_t moved;
    _Atomic uint64_t pulled; /* accepted by the queue of its pool, not by its mailbox */
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

/* Owner. */
void ledger_begin(struct ledger *ledger);
void ledger_end(struct ledger *ledger);

/* Owner, between begin and end. */
static inline void ledger_add(_Atomic uint64_t *counter, uint64_t count)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + count,
                          memory_order_release);
}

static inline void ledger_shift(_Atomic uint32_t *gauge, int32_t by)
{
    atomic_store_explicit(gauge, atomic_load_explicit(gauge, memory_order_relaxed) + (uint32_t)by,
                          memory_order_release);
}

/* Any thread. Spins while the owner writes, which takes nanoseconds. */
void ledger_read(struct ledger *ledger, struct mailbox *mailbox, struct ledger_reading *out);

void ledger_reading_add(struct ledger_reading *sum, const struct ledger_reading *reading);

/* accepted minus all the others: 0 when it balances. */
int64_t ledger_reading_difference(const struct ledger_reading *reading);

#endif
