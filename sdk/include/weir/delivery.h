/*
 * weir/delivery.h - origins, chains of messages, the stash, and renaming.
 *
 * Part of <weir/plugin.h>: include that. The words of weir/host.h hold here too.
 */
#ifndef WEIR_DELIVERY_H
#define WEIR_DELIVERY_H

#include "host.h"

/* What became of a message. */
enum weir_result {
    WEIR_OUTCOME_DONE = 0,  /* handled */
    WEIR_OUTCOME_RETRY = 1, /* the worker returned WEIR_RETRY: send it again after `delay_ms` */
    WEIR_OUTCOME_DEAD = 2,  /* it could not be handled, for the reason in `reason` */
};

/* The argument of `settled`. Borrowed until it returns. Made by the host: it may grow. */
struct weir_outcome {
    uint64_t token;     /* as given to weir_set_origin */
    uint32_t result;    /* enum weir_result */
    uint32_t attempt;   /* the number of the attempt that ended; 1 = the first */
    uint64_t delay_ms;  /* of a retry: what the worker gave to weir_retry_after */
    const char *reason; /* of a dead message: a word such as "rejected" or "crashed"; else "" */
    const char *detail; /* the text that the worker set by weir_reason; may be "" */
};

/*
 * The argument of `undelivered`: a message that was refused when its timer was due. Borrowed until
 * it returns; to try again, send a copy. Made by the host: it may grow.
 */
struct weir_undelivered {
    uint64_t timer; /* as weir_send_after gave it */
    weir_pid to;
    int32_t status; /* as weir_send answers: WEIR_EFULL, WEIR_ETERMINATED, ... */
    uint32_t reserved;
    const struct weir_message *message;
};

/*
 * Makes this incarnation the origin of a message that it owns and is about to send, emit or send
 * later. When the message has ended, `settled` is called once with the result and `token`. A
 * forwarded message keeps its origin; a new message that a worker emits has none. When a worker
 * returns WEIR_RETRY, the message goes back to the origin, which sends it again as a new message
 * whose `attempt` is one higher. An origin that is asked to end stays until all its messages are
 * settled. WEIR_EINVALID: the behaviour has no `settled`. WEIR_ENOMEM. A message with an origin
 * cannot become a request or a reply.
 */
static inline int weir_set_origin(struct weir_self *self, struct weir_message *message,
                                  uint64_t token)
{
    return self->host->set_origin(self, message, token);
}

/*
 * Sends up to INT32_MAX messages in order, in one step: no message of another sender comes between
 * those that are accepted. Returns how many were accepted, counted from the front: the host owns
 * these, and the caller keeps the rest. If none was accepted, returns a negative status as
 * weir_send. A chain to a pool goes to one worker, which accepts as many as it has room for. A pool
 * that does not route by `round_robin` gets one message after the other, until one is refused.
 */
static inline int weir_send_chain(struct weir_self *self, weir_pid to,
                                  struct weir_message *const *messages, uint32_t count)
{
    return self->host->send_chain(self, to, messages, count);
}

/*
 * Moves the message in hand to the stash until weir_unstash. On 0 the message is not the handler's
 * any more: return WEIR_DONE and do not touch it. WEIR_EFULL: the stash has 256 messages. Stashed
 * messages count as held, not against the mailbox's limit; they become dead letters when the
 * incarnation ends. WEIR_EINVALID: not the message in hand, or not of the normal lane.
 */
static inline int weir_stash(struct weir_self *self, const struct weir_message *message)
{
    return self->host->stash(self, (struct weir_message *)(uintptr_t)message);
}

/*
 * Delivers the first `count` stashed messages again, or all with UINT32_MAX: in their order, before
 * everything else in the normal lane. Returns how many.
 */
static inline uint32_t weir_unstash(struct weir_self *self, uint32_t count)
{
    return self->host->unstash(self, count);
}

/*
 * Milliseconds until a request expires, rounded up; 0 when it has expired or was cancelled, or when
 * weir_is_wanted is false for another reason; UINT64_MAX when it has no time-out, or the message is
 * no request. Borrows a message in hand or kept.
 */
static inline uint64_t weir_time_left(struct weir_self *self, const struct weir_message *message)
{
    return self->host->time_left(self, message);
}

/* False when the result is not wanted any more: the requester does not wait, the group of the
 * message was cancelled, or the worker is to stop now. A handler that works for long may ask from
 * time to time. Borrows a message in hand or kept. */
static inline bool weir_is_wanted(struct weir_self *self, const struct weir_message *message)
{
    return weir_time_left(self, message) > 0;
}

/*
 * Renames this actor from `from`, which it registered, to `to`. At each instant a look-up finds it
 * under exactly one of the two names. WEIR_EEXISTS, WEIR_EUNKNOWN (`from` is not its name): nothing
 * changed.
 */
static inline int weir_rename(struct weir_self *self, const char *from, const char *to)
{
    return self->host->rename(self, from, to);
}

#endif
