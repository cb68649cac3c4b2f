/* SPDX-License-Identifier: MIT */
/*
 * base/lock_rank.h - the order in which a thread acquires the locks of core, libweir and the host.
 *
 * A lock is held while locks of a higher rank are acquired, never of a lower or of the same one.
 * Locks of one rank that are nested have a depth besides: the lock of the parent comes before those
 * of its children. So two threads cannot wait for each other.
 *
 * The ranks go from the whole to its parts, and within core against the direction of the layers:
 *   - the host and libweir hold theirs around calls of core, so that no part is freed meanwhile;
 *   - a thread is held in a long callback while the messages that wait behind it go to other
 *     workers;
 *   - sources and pools change their members, which publishes names and signals actors;
 *   - a lease that ends says to the queue that its worker comes back;
 *   - all pools come before all queues: a pool that scales itself looks at the queue of its group,
 *     and figures hold a queue while they count;
 *   - tables of one subject (events, names, requests) may signal an actor, nothing else;
 *   - dispatchers, timers and queues of actors are where a signal ends;
 *   - the log is last: any part writes lines. Core holds no lock of its own while it logs, since
 *     the sink is the program's (lock_expect_none_of_core).
 */
#ifndef BASE_LOCK_RANK_H
#define BASE_LOCK_RANK_H

/* clang-format off */
#define LOCK_RANKS(X) \
    X(LOADER,       "the host's plugins") \
    X(ASSEMBLY,     "the host's parts") \
    X(PARTS,        "libweir's parts") /* the first of core's */ \
    X(OFFLINE,      "a thread that goes off-line") \
    X(PORT,         "a port") \
    X(SOURCE,       "a source") \
    X(STANDALONE,   "a stand-alone actor") \
    X(POOL,         "a pool") \
    X(LEASES,       "the leases of a pool") \
    X(PULL,         "the queue of a pool") \
    X(CHILDREN,     "the children of an actor") \
    X(EVENTS,       "the events") \
    X(NAMES,        "the names") \
    X(WAIT_QUEUE,   "a line of waiters") \
    X(REQUESTS,     "the requests of outside threads") \
    X(GIVEN_UP,     "the requests given up") \
    X(GROUPS,       "the groups") \
    X(ENTRIES,      "the entries of outside threads") \
    X(SLOTS,        "the slot table") \
    X(TAGS,         "the tags") \
    X(TOKENS,       "the tokens of a rate") \
    X(STORING,      "the dead messages that are stored") \
    X(DEAD_LETTERS, "the dead letters") \
    X(DESCRIPTORS,  "the shares of descriptors") \
    X(POLLS,        "the watched descriptors") \
    X(DISPATCHER,   "a dispatcher") \
    X(TIMERS,       "the timers") \
    X(SHARES,       "the shares of a dispatcher's threads") \
    X(RECLAIM,      "reclamation") \
    X(GLOBAL_QUEUE, "a global queue") \
    X(STOCK,        "the stock of memory") \
    X(NOTICE,       "the notices of the runtime") \
    X(LEVELS,       "the levels of libweir's log") /* the last of core's */ \
    X(CONTROL,      "the control socket") \
    X(CONTROL_JOBS, "the control jobs") \
    X(SLOW_TURNS,   "the turns that take long") \
    X(POLL_SET,     "the host's poller") \
    X(FILE_WATCH,   "the watch of a file") \
    X(DEAD_FILE,    "the file of dead letters") \
    X(SYMBOLS,      "the symbols of plugins") \
    X(PRINTER,      "the printer") \
    X(LOGGER,       "the log")
/* clang-format on */

enum lock_rank {
#define LOCK_RANK_ENUM(name, text) LOCK_##name,
    LOCK_RANKS(LOCK_RANK_ENUM)
#undef LOCK_RANK_ENUM
};

#define LOCK_CORE_FIRST LOCK_PARTS
#define LOCK_CORE_LAST LOCK_LEVELS
#define LOCK_LAST LOCK_LOGGER

/* For people. */
const char *lock_rank_name(enum lock_rank rank);

#endif
