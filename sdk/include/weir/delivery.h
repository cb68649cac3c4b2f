/* SPDX-License-Identifier: MIT */
/*
 * weir/delivery.h - origins, chains of messages, the stash, putting back, and renaming.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply.
 */
#ifndef WEIR_DELIVERY_H
#define WEIR_DELIVERY_H

#include <string.h>

#include "host.h"

/* How a message ended. */
enum weir_result {
    WEIR_OUTCOME_DONE = 0,  /* handled */
    WEIR_OUTCOME_RETRY = 1, /* the worker returned WEIR_RETRY: send the message again after
                             * `delay_ms` */
    WEIR_OUTCOME_DEAD = 2,  /* the message became a dead letter, for the reason in `reason` */
};

/* The argument of `settled`. Borrowed until `settled` returns. Made by the host: it may grow. */
struct weir_outcome {
    uint64_t token;     /* the token that was given to weir_set_origin */
    uint32_t result;    /* enum weir_result */
    uint32_t attempt;   /* the number of the attempt that ended; 1 = the first. Of
                         * WEIR_OUTCOME_RETRY without attempts after a failure of a worker, and at
                         * most 65534 */
    uint64_t delay_ms;  /* of WEIR_OUTCOME_RETRY: the delay that the worker set with
                         * weir_retry_after; the pause of the pool's `retry`, if longer */
    const char *reason; /* of WEIR_OUTCOME_DEAD: a word such as "rejected" or "crashed"; else "" */
    const char *detail; /* the text that the worker set with weir_reason; may be "" */
    /* 1 or 0. Of WEIR_OUTCOME_DEAD: the dead letter is in the file of `host.dead_letters.file`,
     * and so are the dead letters of all messages that joined it. A source that stores a position
     * moves it past a dead message only then. */
    uint32_t is_stored;
    uint32_t reserved;
};

/*
 * 1 when a dead message is not to be sent again: a worker had it, no worker will take it, or an
 * output with `when_full: drop` made it a dead letter. 0: it was lost on its way (its pool was
 * stopped, has no workers, memory was out), and the source may send it again; also for another
 * result.
 */
WEIR_INLINE int weir_outcome_is_final(const struct weir_outcome *outcome)
{
    static const char *const reasons[] = { "crashed", "output_full", "poison",   "rejected",
                                           "retries", "stuck",       "unhandled" };
    uint32_t i;

    for (i = 0; outcome->result == WEIR_OUTCOME_DEAD && i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(outcome->reason, reasons[i]) == 0)
            return 1;
    return 0;
}

/*
 * The argument of `undelivered`: a message that its receiver refused when its timer was due.
 * Borrowed until `undelivered` returns; to try again, send a copy. Made by the host: it may grow.
 */
struct weir_undelivered {
    uint64_t timer; /* the timer that weir_send_after returned */
    weir_pid to;
    int32_t status; /* a status of weir_send: WEIR_EFULL, WEIR_ETERMINATED, ... */
    uint32_t reserved;
    const struct weir_message *message;
};

/*
 * Makes this incarnation the origin of a message that it owns and is about to send, emit or send
 * later. When the message has ended, the host calls `settled` once with the result and `token`. A
 * message with an origin cannot become a request or a reply.
 *
 * A forwarded message keeps its origin. A message that a worker emits while it handles a message
 * with an origin joins that origin: `settled` is called once, when all of these messages have
 * ended, through any number of pools. The result is WEIR_OUTCOME_DEAD if one of them is dead. So an
 * origin that moves its position when `settled` says WEIR_OUTCOME_DONE loses nothing. weir_join
 * and weir_detach change this for one message. A refused message has joined until it is freed.
 *
 * When a worker returns WEIR_RETRY for a message from which nothing was emitted, the message goes
 * back to its origin. The origin sends it again as a new message whose `attempt` is one higher. A
 * message that has joined, or that others have joined, is given to the same worker again.
 *
 * An origin that is asked to end stays open until all its messages are settled. WEIR_EINVALID: the
 * behaviour has no `settled`, or the message has joined another origin. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_set_origin(struct weir_self *self, struct weir_message *message,
                                uint64_t token)
{
    return self->host->set_origin(self, message, token);
}

/*
 * Makes a message that the caller owns join the origin of `with`, a message in hand or a kept one:
 * for messages that are sent after the handler has returned, such as in a timer or a reply. `with`
 * must not be settled before. If `with` has no origin, nothing happens. WEIR_EINVALID: the message
 * has an origin, or `with` is not in hand. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_join(struct weir_self *self, struct weir_message *message,
                          const struct weir_message *with)
{
    return self->host->join(self, message, (struct weir_message *)(uintptr_t)with);
}

/*
 * Makes a message that the caller owns join no origin when it is emitted: its end does not matter
 * to the origin of the message in hand, as with a line for a log. WEIR_EINVALID: the message has an
 * origin.
 */
WEIR_INLINE int weir_detach(struct weir_self *self, struct weir_message *message)
{
    return self->host->detach(self, message);
}

/*
 * Sends up to INT32_MAX messages in order, in one step: no message of another sender comes between
 * the accepted ones. Returns the number of accepted messages, counted from the front; the host owns
 * these, and the caller keeps the rest. If the host accepts none, returns a negative status of
 * weir_send.
 *
 * A pool with `round_robin` gives a chain to one worker, which accepts as many messages as it has
 * room for. A pool with another route gets the messages one after the other until it refuses one.
 */
WEIR_INLINE int weir_send_chain(struct weir_self *self, weir_pid to,
                                struct weir_message *const *messages, uint32_t count)
{
    return self->host->send_chain(self, to, messages, count);
}

/*
 * Moves the message in hand, or since 1.1 a kept one, to the stash until weir_unstash. On 0 the
 * worker no longer has the message: do not access it, and return WEIR_DONE if it was in hand.
 * Stashed messages count as held and not against the mailbox's limit. They become dead letters when
 * the incarnation ends. WEIR_EFULL: the stash has 256 messages. WEIR_EINVALID: the message is
 * neither in hand nor kept, or is not of the normal lane. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_stash(struct weir_self *self, const struct weir_message *message)
{
    return self->host->stash(self, (struct weir_message *)(uintptr_t)message);
}

/*
 * Delivers the first `count` stashed messages again, in their order, before all other messages of
 * the normal lane. UINT32_MAX: all of them. Returns their number.
 */
WEIR_INLINE uint32_t weir_unstash(struct weir_self *self, uint32_t count)
{
    return self->host->unstash(self, count);
}

/*
 * Gives back a message that the worker has not begun: the one in hand, or a kept one. On 0 the
 * worker no longer has it: do not access it, and for the one in hand return WEIR_DONE. It stands
 * before the normal lane and comes to `handle` again as the same attempt, without a line in the
 * log. Until then it counts as held. What is put back without a message taken in between keeps the
 * order of the calls, behind what is given again since the worker failed with it. A worker that is
 * about to end with WEIR_FAIL or WEIR_STOP puts back first what it has not begun; in `close` it is
 * too late.
 *
 * WEIR_EINVALID: the worker does not have the message, or the message is not of the normal lane.
 * WEIR_ENOMEM: it still has it. Since 1.1.
 */
WEIR_INLINE int weir_put_back(struct weir_self *self, const struct weir_message *message)
{
    return self->host->put_back(self, (struct weir_message *)(uintptr_t)message);
}

/*
 * Milliseconds until a request expires, rounded up. 0: the request has expired or was cancelled, or
 * weir_is_wanted is false for another reason. UINT64_MAX: the request has no time-out, or the
 * message is not a request. Borrows a message in hand or a kept message.
 */
WEIR_INLINE uint64_t weir_time_left(struct weir_self *self, const struct weir_message *message)
{
    return self->host->time_left(self, message);
}

/* False when the result is not used any more: the requester has stopped waiting, the group of the
 * message was cancelled, or the worker must stop now. A handler with much to do can ask from time
 * to time. Borrows a message in hand or a kept message. */
WEIR_INLINE bool weir_is_wanted(struct weir_self *self, const struct weir_message *message)
{
    return weir_time_left(self, message) > 0;
}

/*
 * Renames this actor from `from`, which it registered, to `to`. At each instant a look-up finds
 * exactly one of the two names. WEIR_EEXISTS: `to` is in use. WEIR_EUNKNOWN: `from` is not a name
 * of this actor. WEIR_EINVALID: `to` is empty or longer than 127 bytes. WEIR_ENOMEM. An error
 * changes nothing.
 */
WEIR_INLINE int weir_rename(struct weir_self *self, const char *from, const char *to)
{
    return self->host->rename(self, from, to);
}

#endif
