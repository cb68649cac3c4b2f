/* SPDX-License-Identifier: MIT */
/*
 * actor/group.h - a group of messages from threads outside: counts the open ones and the outcomes
 * of the others, and cancels waiting ones.
 *
 * A group is the origin of its messages, as an incarnation is of its own (origin.h): such a message
 * has MESSAGE_ORIGIN, the origin 0, and the group as its token. When it ends, settle.c calls
 * group_message_ended, which wakes the waiting threads after the last message. Before a message
 * begins, wanted.h checks whether the group was cancelled.
 *
 *      group_join --> sent --> settled --> group_message_ended
 *           \-> refused --> group_part
 *
 * A message costs one read-modify-write when it is sent, of a line that only senders write. The
 * messages that end in one turn cost one more together: the executor counts them, and adds them to
 * the group at the end of the turn, and before a message that is not of the group or may take long
 * (group_flush). So a waiting thread wakes no later than the end of the last message. After both
 * group_destroy and the last message, the group is retired: other threads in a read section may
 * still read it.
 *
 * Any thread, any operation; group_message_ended in a read section.
 */
#ifndef ACTOR_GROUP_H
#define ACTOR_GROUP_H

#include <stdalign.h>
#include <stdatomic.h>

#include "base/list.h"
#include "dispatch/layout.h"
#include "face/groups.h"
#include "message/message.h"

struct executor;
struct groups;

struct group {
    struct retired retired;  /* after the last use */
    struct runtime *runtime; /* const */
    struct list link;        /* lock of the groups */
    bool stops_at_error;     /* const */
    _Atomic bool cancelled;  /* written once, read before each message */
    _Atomic uint32_t bits;   /* enum group_bits; read after each addition to `ended` */

    /* Written by senders. */
    alignas(64) _Atomic uint64_t joined;
    _Atomic uint64_t parted; /* of these, the refused messages */

    /* Written by receivers: once a turn for the done messages, and once for each other one. */
    alignas(64) _Atomic uint64_t ended;
    _Atomic uint64_t failed;
    _Atomic uint64_t unbegun; /* cancelled before they began */
    _Atomic int first_error;
    _Atomic uint32_t ends; /* futex: counts how often the last open message ended */
};

/* Of group.bits. */
enum group_bits {
    GROUP_WAITED = 1u << 0,  /* a thread sleeps until no message is open */
    GROUP_DROPPED = 1u << 1, /* the end of the last message frees the group */
    GROUP_RETIRED = 1u << 2, /* a thread has begun to free the group */
};

void groups_init(struct groups *groups);
/* Frees the groups whose messages were never handled. No other thread uses the groups. */
void groups_finish(struct groups *groups);
/* Wakes all threads that wait for a group; each checks its group again. */
void groups_wake(struct groups *groups);

/* Adds a message to the group, before it is sent. WEIR_ECANCELLED. */
int group_join(struct group *group, struct message *message);

/* Removes a message that was refused. `executor` may be NULL when memory is out: then the runtime
 * frees a destroyed group at its own end. */
void group_part(struct group *group, struct message *message, struct executor *executor);

/* The group of a message; NULL: it is in none. */
static inline struct group *group_of(const struct message *message)
{
    if (!(message->public.reserved & MESSAGE_ORIGIN) || message->origin != 0)
        return NULL;
    return (struct group *)(uintptr_t)message->token;
}

/* A message of the group has ended: with `status` if it is dead, else 0. In a turn, waiting threads
 * wake after group_flush. */
void group_message_ended(struct group *group, struct executor *executor, int status);

/* As group_flush, when there is something to add. */
void group_add_ended(struct executor *executor);

/* Adds the messages that ended in this turn to their group. Owner. */
static inline void group_flush(struct executor *executor)
{
    if (executor->ended_count)
        group_add_ended(executor);
}

static inline bool group_is_cancelled(const struct group *group)
{
    /* Relaxed: a message that begins at the same time may begin. */
    return atomic_load_explicit(&group->cancelled, memory_order_relaxed);
}

#endif
