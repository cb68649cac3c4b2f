/*
 * actor/fan_out.h - one message to many: a copy to each that has room.
 *
 * Broadcasts (pool/broadcast.h) and events (actor/events.h) go this way. A copy for which its
 * receiver has no room is refused for that receiver and counted, or, with `left`, it is put there:
 * it waits in the sender's outbox for that receiver alone. A receiver that is leaving is passed
 * over. Payloads in line are copied, blobs are shared. Any thread, in a read section; one owner.
 */
#ifndef ACTOR_FAN_OUT_H
#define ACTOR_FAN_OUT_H

#include "message/message.h"

struct actor;
struct executor;

struct fan_out {
    struct executor *executor;
    const struct message *message; /* what is copied; borrowed */
    struct message_list *left;     /* copies without room, each with its receiver; NULL: none */
    struct message *spare;         /* a copy that was refused, for the next receiver */
    uint32_t taken;
    uint32_t refused; /* for want of room or memory, now or for good; without those in `left` */
    bool full;        /* some of them for want of room */
};

/* A copy for the next receiver, owned by the caller, to be handed to fan_out_given; NULL when
 * memory is out: the receiver counts as one that refused. */
struct message *fan_out_copy(struct fan_out *fan_out);

/* The receiver has answered `status` to the copy, which it has taken on 0. */
void fan_out_given(struct fan_out *fan_out, weir_pid receiver, struct message *copy, int status);

/* Gives a copy to one worker of a pool. The copy is the worker's own: no sibling is given it. */
void fan_out_to_worker(struct fan_out *fan_out, struct actor *actor, uint32_t serial);

/* After the last receiver. */
void fan_out_finish(struct fan_out *fan_out);

#endif
