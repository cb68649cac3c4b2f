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

/* In the runtime. */
struct storing {
    struct lock lock;
    struct message_queue held; /* lock: their numbers are in `record` */
    uint64_t ended_to;         /* lock: records up to this one are stored or given up */
    uint64_t lost_to;          /* lock: the last record that was given up; 0 = none */
};

void storing_init(struct storing *storing);
/* Frees the held messages, with the cache of the calling thread. */
void storing_finish(struct storing *storing, struct cache *cache);

/*
 * Takes a tracked message until its record `number`, which is not 0, has ended. False: it has ended
 * already, with the answer in `out_is_stored`; the message is the caller's.
 */
bool storing_hold(struct storing *storing, struct message *message, uint64_t number,
                  bool *out_is_stored);

/* All records up to `number` have ended. */
void storing_end(struct storing *storing, uint64_t number, bool is_stored);

/* The first message whose record has ended. Returns owned; NULL: none. */
struct message *storing_take(struct storing *storing, bool *out_is_stored);

#endif
