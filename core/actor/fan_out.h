/* SPDX-License-Identifier: MIT */
/*
 * actor/fan_out.h - sends one message to many receivers: a copy to each that has room.
 *
 * Broadcasts (pool/broadcast.h) and events (actor/events.h) use it. A copy for a receiver without
 * room is refused for that receiver and counted, or, with `left`, it is appended there: it waits in
 * the sender's outbox for that receiver alone. Receivers that are leaving are skipped. Payloads in
 * line are copied, blobs are shared. Any thread, in a read section; one owner.
 *
 * A worker is named by its pool and its seat (pool/members.h). When another worker has taken over
 * the seat, that worker gets the copy that waits.
 */
#ifndef ACTOR_FAN_OUT_H
#define ACTOR_FAN_OUT_H

#include "message/message.h"

struct actor;
struct executor;

#define FAN_OUT_NO_SEAT UINT32_MAX /* the receiver is a pool, which routes its copy on */

struct fan_out_receiver {
    weir_pid pool; /* or an actor that is in no pool */
    uint32_t seat; /* of a worker of the pool: pool/members.h; else FAN_OUT_NO_SEAT */
};

struct fan_out {
    struct executor *executor;
    const struct message *message; /* the original; borrowed */
    struct message_list *left;     /* copies without room, each with its receiver; NULL: none */
    struct message *spare;         /* a refused copy, for the next receiver */
    uint32_t taken;
    uint32_t refused; /* for lack of room or memory, now or for good; without those in `left` */
    bool full;        /* some of them for lack of room */
};

/* A copy for the next receiver, owned by the caller, to be passed to fan_out_given; NULL when
 * memory is out: the receiver counts as having refused. */
struct message *fan_out_copy(struct fan_out *fan_out);

/* Records the receiver's `status` for the copy. With 0 the receiver owns the copy. */
void fan_out_given(struct fan_out *fan_out, struct fan_out_receiver receiver, struct message *copy,
                   int status);

/* Gives a copy to one worker of a pool, and to no sibling of it. */
void fan_out_to_worker(struct fan_out *fan_out, struct fan_out_receiver receiver,
                       struct actor *actor, uint32_t serial);

/* After the last receiver. */
void fan_out_finish(struct fan_out *fan_out);

#endif
