/*
 * actor/send.h - the way of a message: from a PID to the router of a pool, or to an actor.
 */
#ifndef ACTOR_SEND_H
#define ACTOR_SEND_H

#include "actor/actor.h"

/*
 * Sends a message. Any thread, in a read section. Takes it on 0; otherwise as weir_send says. The
 * sender stays what the message says.
 */
int send_message(struct runtime *runtime, struct executor *executor, weir_pid to,
                 enum weir_lane lane, struct message *message);

/*
 * As send_message, into the normal lane; where copies go to many and some of them find no room,
 * these are appended to `left`, each with its receiver in `to` (fan_out.h). NULL: they are refused.
 */
int send_leaving(struct runtime *runtime, struct executor *executor, weir_pid to,
                 struct message *message, struct message_list *left);

/*
 * Sends a chain, in order: to an actor, or to one worker of a pool that routes by `round_robin`, by
 * one step; to any other pool one after the other. Any thread, in a read section. Answers how many
 * it took, from the front, or why it took none, as weir_send says.
 */
int send_chain(struct runtime *runtime, struct executor *executor, weir_pid to,
               struct message *const *messages, uint32_t count);

/*
 * Into the lane high of a PID, pools included, past its limit: a message that the runtime owes,
 * made when it was asked for. Takes it on 0; WEIR_EUNKNOWN, WEIR_ETERMINATED.
 */
int send_notice(struct runtime *runtime, struct executor *executor, weir_pid to,
                struct message *message);

/* Control: into the other lanes without a limit. Takes it on 0; WEIR_EUNKNOWN, WEIR_ETERMINATED. */
int send_control(struct runtime *runtime, struct executor *executor, weir_pid to,
                 struct message *message);

#endif
