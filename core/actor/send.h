/* SPDX-License-Identifier: MIT */
/*
 * actor/send.h - sends a message to a PID: by the router of a pool, or to one actor.
 */
#ifndef ACTOR_SEND_H
#define ACTOR_SEND_H

#include "actor/actor.h"

/* As send_message, into another lane than the normal one. WEIR_EINVALID: there is no such lane. */
int send_ahead(struct runtime *runtime, struct executor *executor, weir_pid to, enum weir_lane lane,
               struct message *message);

/*
 * As send_message, into the normal lane; copies of a broadcast without room are appended to `left`,
 * each with its receiver in `to` (fan_out.h). NULL: they are refused.
 */
int send_leaving(struct runtime *runtime, struct executor *executor, weir_pid to,
                 struct message *message, struct message_list *left);

/*
 * Sends a message. Any thread, in a read section. Takes it on 0; otherwise as weir_send. Does not
 * change its sender.
 */
static inline int send_message(struct runtime *runtime, struct executor *executor, weir_pid to,
                               enum weir_lane lane, struct message *message)
{
    return lane == WEIR_NORMAL ? send_leaving(runtime, executor, to, message, NULL)
                               : send_ahead(runtime, executor, to, lane, message);
}

/*
 * Sends a chain, in order: in one step to an actor, or to one worker of a pool that routes by
 * `round_robin`; message by message to any other pool. Any thread, in a read section. Returns how
 * many it took, from the front, or the status why it took none, as weir_send.
 */
int send_chain(struct runtime *runtime, struct executor *executor, weir_pid to,
               struct message *const *messages, uint32_t count);

/*
 * Sends into the lane high of a PID, pools included, without regard to its limit: a message that
 * the runtime has promised, made at the time of the promise. Takes it on 0; WEIR_EUNKNOWN,
 * WEIR_ETERMINATED.
 */
int send_notice(struct runtime *runtime, struct executor *executor, weir_pid to,
                struct message *message);

/* Sends a control message: into the other lanes without a limit. Takes it on 0; WEIR_EUNKNOWN,
 * WEIR_ETERMINATED. */
int send_control(struct runtime *runtime, struct executor *executor, weir_pid to,
                 struct message *message);

#endif
