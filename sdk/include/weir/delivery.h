/*
 * weir/delivery.h - more ways of a message: origins, chains, the stash; and names that move.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too.
 */
#ifndef WEIR_DELIVERY_H
#define WEIR_DELIVERY_H

#include "host.h"

/* What became of a message. */
enum weir_result {
    WEIR_OUTCOME_DONE = 0,  /* handled */
    WEIR_OUTCOME_RETRY = 1, /* the worker wants it again: give it again after `delay_ms` */
    WEIR_OUTCOME_DEAD = 2,  /* it could not be handled, and `reason` says why */
};

/* What `settled` is told. Borrowed until it returns. Made by the host: it may grow. */
struct weir_outcome {
    uint64_t token;     /* as given to weir_set_origin */
    uint32_t result;    /* enum weir_result */
    uint32_t attempt;   /* the one that ended so; 1 = the first */
    uint64_t delay_ms;  /* of a retry: what the worker gave to weir_retry_after */
    const char *reason; /* of a dead one: a word such as "rejected" or "crashed"; else "" */
    const char *detail; /* what the worker said of it by weir_reason; may be "" */
};

/*
 * What `undelivered` is told: a message that nobody took when its timer was due. All is borrowed
 * until it returns; whoever wants to try again sends a copy. Made by the host: it may grow.
 */
struct weir_undelivered {
    uint64_t timer; /* as weir_send_after gave it */
    weir_pid to;
    int32_t status; /* as weir_send answers: WEIR_EFULL, WEIR_ETERMINATED, ... */
    uint32_t reserved;
    const struct weir_message *message;
};

/*
 * Makes this incarnation the origin of a message that it owns and will send, emit or send later:
 * the behaviour's `settled` is told once what became of it, with `token`. The origin goes along
 * when the message is forwarded; what a worker emits of its own does not inherit it. A worker that
 * answers WEIR_RETRY sends it back instead of keeping it: the origin gives it again, as a new
 * message with `attempt` set one higher. Asked to end, the origin is waited for until all its
 * messages are settled. WEIR_EINVALID: the behaviour has no `settled`. WEIR_ENOMEM. A message with
 * an origin cannot become a request or a reply.
 */
static inline int weir_set_origin(struct weir_self *self, struct weir_message *message,
                                  uint64_t token)
{
    return self->host->set_origin(self, message, token);
}

/*
 * Sends up to INT32_MAX messages in order, by one step: nothing of another sender comes between
 * those that were taken. Answers how many were taken, from the front: these belong to the host, the
 * rest stays the caller's; or, when none was, a negative status as weir_send. A chain to a pool
 * goes to one worker, which takes what it has room for; but a pool that does not route by
 * `round_robin` gets one message after the other, until one is refused.
 */
static inline int weir_send_chain(struct weir_self *self, weir_pid to,
                                  struct weir_message *const *messages, uint32_t count)
{
    return self->host->send_chain(self, to, messages, count);
}

/*
 * Puts the message in hand aside until weir_unstash. On 0 it is gone: return WEIR_DONE and do not
 * touch it. WEIR_EFULL: 256 are there. What is there counts as held, not in the mailbox's limit,
 * and is dead when the incarnation ends. WEIR_EINVALID: not the message in hand, or not one of the
 * normal lane.
 */
static inline int weir_stash(struct weir_self *self, const struct weir_message *message)
{
    return self->host->stash(self, (struct weir_message *)(uintptr_t)message);
}

/*
 * Gives the first `count` of the stash again, UINT32_MAX all of them: before everything else in the
 * normal lane, in the order in which they came. Answers how many.
 */
static inline uint32_t weir_unstash(struct weir_self *self, uint32_t count)
{
    return self->host->unstash(self, count);
}

/*
 * Milliseconds until nobody wants the answer to a request any more, rounded up; 0 when the time is
 * over or the requester gave up, UINT64_MAX when there is no end, or it is no request. Borrows a
 * message in hand or kept.
 */
static inline uint64_t weir_time_left(struct weir_self *self, const struct weir_message *message)
{
    return self->host->time_left(self, message);
}

/* Whether somebody waits for the answer to a request, or it is no request: a handler that works for
 * long may ask now and then. Borrows a message in hand or kept. */
static inline bool weir_is_wanted(struct weir_self *self, const struct weir_message *message)
{
    return weir_time_left(self, message) > 0;
}

/*
 * Calls this actor `to` instead of `from`, which it registered: whoever looks up finds it under one
 * of the two at each instant. WEIR_EEXISTS, WEIR_EUNKNOWN (it is not called so): nothing changed.
 */
static inline int weir_rename(struct weir_self *self, const char *from, const char *to)
{
    return self->host->rename(self, from, to);
}

#endif
