/* SPDX-License-Identifier: MIT */
/*
 * actor/storing.h - dead messages that wait until they are stored; then their origin is notified.
 *
 *      dead_store_append --> storing_hold --> storing_end, storing_take --> origin_stored
 *
 * A held message is in no ledger's `held`: it was counted as dead before. All functions: any
 * thread; a lock; off every fast path.
 */
#ifndef ACTOR_STORING_H
#define ACTOR_STORING_H

#include "base/lock.h"
#include "message/message.h"

/* Records whose numbers have the same upper bits, see DEAD_STORE_STREAM_SHIFT. */
struct storing_stream {
    struct message_queue held; /* their numbers are in `record` */
    uint64_t ended_to;         /* records up to this one are stored or given up */
    uint64_t lost_to;          /* the last record that was given up; 0 = none */
};

/* Streams that need no memory, so that a shortage keeps no usual origin from its answer. */
#define STORING_FIRST 32

/* In the runtime. */
struct storing {
    struct lock lock;
    struct storing_stream first[STORING_FIRST]; /* lock */
    struct storing_stream *others;              /* lock: owned */
    uint32_t other_count;                       /* lock */
};

void storing_init(struct storing *storing);
/* Frees the held messages, with the cache of the calling thread. */
void storing_finish(struct storing *storing, struct cache *cache);

/*
 * Takes a tracked message until its record `number`, which is not 0, has ended. False: it has ended
 * already, with the answer in `out_is_stored`, or there is no memory, and it counts as not stored;
 * the message is the caller's.
 */
bool storing_hold(struct storing *storing, struct message *message, uint64_t number,
                  bool *out_is_stored);

/* All records of the stream up to `number` have ended. WEIR_ENOMEM: nothing has changed. */
int storing_end(struct storing *storing, uint64_t number, bool is_stored);

/* The first message of the stream of `number` whose record has ended. Returns owned; NULL: none. */
struct message *storing_take(struct storing *storing, uint64_t number, bool *out_is_stored);

#endif
