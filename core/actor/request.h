/*
 * actor/request.h - requests, replies and their deadlines.
 *
 * A reference is {count, index in the requester's table}: found in one step, never repeated in an
 * incarnation. A request that cannot be answered by its worker is turned into its own error reply,
 * so telling a requester needs no memory.
 */
#ifndef ACTOR_REQUEST_H
#define ACTOR_REQUEST_H

#include "actor/actor.h"

struct request_options {
    weir_pid to;
    enum weir_lane lane;
    uint64_t timeout_ms;
    weir_then *then;
    void *context;
    bool inspects; /* it is control, for inspect_arrived */
};

/* As weir_request. Owner's turn. */
int request_send(struct actor *actor, const struct request_options *options,
                 struct message *message, uint64_t *out_reference);

/* As weir_cancel. */
int request_cancel(struct actor *actor, uint64_t reference);

/* As weir_reply. */
int request_reply(struct actor *actor, struct message *request, struct message *reply);

/* Takes a request and makes it its own answer: `status`, and a detail for people. Any thread. */
void request_answer(struct runtime *runtime, struct executor *executor, struct message *request,
                    int status, const char *detail);

/* Owner's turn: a reply came. Takes it. */
void request_arrived(struct actor *actor, struct message *message);

/* Takes a reply to an actor that has ended. */
void request_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                    struct message *message);

/* Owner's turn: tells that the time of entry `index` is over. */
void request_time(struct actor *actor, uint32_t index);

/* The incarnation ends: its requests are forgotten, their replies will be late. */
void request_drop_all(struct actor *actor);

/* Why nobody waits for the answer of a request any more, which has not begun: WEIR_ETIMEOUT,
 * WEIR_ECANCELLED. 0: somebody does, or it is no request. */
int request_given_up(struct actor *actor, const struct message *message);

/* Until the requester gives up, rounded up; 0: it has; UINT64_MAX: never, or it is no request. */
uint64_t request_time_left_ms(struct actor *actor, const struct message *message);

#endif
