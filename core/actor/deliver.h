/* SPDX-License-Identifier: MIT */
/*
 * actor/deliver.h - the last step of a send: puts a message into the mailbox of one actor, and
 * wakes the actor if it sleeps. Any thread, in a read section. Each function takes the message on
 * 0.
 */
#ifndef ACTOR_DELIVER_H
#define ACTOR_DELIVER_H

#include "actor/actor.h"

/* Into the normal lane. WEIR_EFULL, WEIR_ECLOSED, WEIR_ETERMINATED. */
int deliver(struct actor *actor, uint32_t serial, struct executor *executor,
            struct message *message);

/* As deliver. Sets `out_woke` on 0: the actor was idle, so the message waits for no other one. */
int deliver_woke(struct actor *actor, uint32_t serial, struct executor *executor,
                 struct message *message, bool *out_woke);

/* Into the normal lane, also when the actor is to leave: the caller ensures that it does not end
 * during the call. WEIR_EFULL, WEIR_EINVALID, WEIR_ETERMINATED. */
int deliver_under_lease(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message);

/* Into the normal lane, in order. How many it took, from the front, or an error as above. */
int deliver_chain(struct actor *actor, uint32_t serial, struct executor *executor,
                  struct message *const *messages, uint32_t count);

/*
 * Into the normal lane of an actor that no pool routes to. It may open later: while it does not
 * admit messages yet the answer is WEIR_EFULL, so that an output which leads there waits.
 */
int deliver_to_actor(struct actor *actor, uint32_t serial, struct executor *executor,
                     struct message *message);

/* As deliver_chain, into the normal lane of such an actor. */
int deliver_chain_to_actor(struct actor *actor, uint32_t serial, struct executor *executor,
                           struct message *const *messages, uint32_t count);

/* Into the high or the urgent lane, up to its limit. WEIR_EINVALID for another lane. */
int deliver_to_lane(struct actor *actor, uint32_t serial, struct executor *executor,
                    enum weir_lane lane, struct message *message);

/* Into the high lane, past its limit: a message that the runtime owes. */
int deliver_notice(struct actor *actor, uint32_t serial, struct executor *executor,
                   struct message *message);

/* Into the control queue, without a limit: control messages, and messages that deliver_to_lane has
 * admitted. */
int deliver_to_control_queue(struct actor *actor, uint32_t serial, struct executor *executor,
                             struct message *message);

#endif
