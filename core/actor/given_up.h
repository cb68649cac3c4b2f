/*
 * actor/given_up.h - requests that their requesters gave up, other than by their time-out.
 *
 * A requester that cancels a request, or whose incarnation ends, does not know where the request is
 * by now. It notes {requester, reference} here; whoever is about to handle a request asks first,
 * and drops what nobody wants. The time-out needs no note: the message has its deadline.
 *
 * A note is taken out when its request ends, however it ends: so there are never more notes than
 * requests under way. Without memory no note is made: then the request is handled for nothing.
 *
 * Any thread, any operation. While nobody gives anything up, asking is one load.
 */
#ifndef ACTOR_GIVEN_UP_H
#define ACTOR_GIVEN_UP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/message.h>

struct given_up_note {
    weir_pid requester; /* 0: a thread from outside */
    uint64_t reference; /* 0: the cell is free */
};

struct given_up {
    _Atomic uint32_t count; /* written under the lock: notes */
    pthread_mutex_t lock;
    struct given_up_note *notes; /* lock: open addressing */
    uint32_t capacity;           /* lock: a power of two, or 0 */
};

void given_up_init(struct given_up *given_up);
void given_up_finish(struct given_up *given_up);

void given_up_add(struct given_up *given_up, weir_pid requester, uint64_t reference);

/* Whether it is noted; given_up_take also forgets it. */
bool given_up_has(struct given_up *given_up, weir_pid requester, uint64_t reference);
bool given_up_take(struct given_up *given_up, weir_pid requester, uint64_t reference);

#endif
