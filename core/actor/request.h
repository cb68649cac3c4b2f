/* SPDX-License-Identifier: MIT */
/*
 * actor/request.h - requests, replies and their deadlines.
 *
 * A reference is {count, index in the requester's table}: so a lookup is one step, and an
 * incarnation never repeats one. A request without a reply becomes its own error reply, so an
 * answer never needs memory.
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
    bool inspects;                  /* a control message, for inspect_arrived */
    bool takes;                     /* a lease of a member of `to` */
    const struct weir_lease *under; /* in place of `to`; NULL: no lease */
};

/* As weir_request. Owner's turn. */
int request_send(struct actor *actor, const struct request_options *options,
                 struct message *message, uint64_t *out_reference);

/* As weir_cancel. */
int request_cancel(struct actor *actor, uint64_t reference);

/* As weir_reply. */
int request_reply(struct actor *actor, struct message *request, struct message *reply);

/* Takes a request and turns it into its own answer: `status`, and a detail for people. Any
 * thread. */
void request_answer(struct runtime *runtime, struct executor *executor, struct message *request,
                    int status, const char *detail);

/* Owner's turn: handles a reply. Takes it. */
void request_arrived(struct actor *actor, struct message *message);

/* Takes a reply whose requester has ended. */
void request_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                    struct message *message);

/* Owner's turn: ends entry `index`, whose time is over. */
void request_time(struct actor *actor, uint32_t index);

/* The incarnation ends: forgets its requests; their replies will be late. */
void request_drop_all(struct actor *actor);

/* A request is about to be handled: 0, or, if it was given up, the reason: WEIR_ETIMEOUT,
 * WEIR_ECANCELLED. After 0 a thread that gives it up gets WEIR_ERUNNING. Owner's turn. */
int request_begin(struct actor *actor, const struct message *request);

/* What request_begin began was put back. Owner's turn. */
void request_put_back(struct actor *actor, const struct message *request);

/* The status of a request that was given up: WEIR_ETIMEOUT, WEIR_ECANCELLED. 0: it was not. Any
 * thread. */
int request_why_given_up(struct runtime *runtime, struct executor *executor,
                         const struct message *request);

/* The number of requests that were given up so far before their time-out. While it is the same, no
 * other request was. Any thread. */
uint64_t request_given_up_so_far(const struct runtime *runtime);

/* The time until the requester gives up, rounded up; 0: it has given up; UINT64_MAX: never, or it
 * is no request. */
uint64_t request_time_left_ms(struct actor *actor, const struct message *message);

#endif
