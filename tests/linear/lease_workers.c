/* SPDX-License-Identifier: MIT */
/* The workers of lease_subject.h: members of the group, and takers. */
#include "linear/lease_workers.h"

#include <stdlib.h>
#include <string.h>

#include "face/leases.h"
#include "face/messages.h"

/* --- members ---------------------------------------------------------------------------------- */

struct use {
    uint64_t number; /* of the lease */
    bool fails;
};

struct member_state {
    struct lease_subject *subject;
    bool is_taken;
    uint64_t use; /* 0: none yet */
};

static void expect(struct lease_subject *subject, bool holds)
{
    if (!holds)
        atomic_fetch_add(&subject->wrong, 1);
}

static int open_member(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct member_state *)state = (struct member_state){
        .subject = (struct lease_subject *)(uintptr_t)settings
    };
    return 0;
}

static int taken(struct weir_self *self, void *state)
{
    struct member_state *member = state;

    (void)self;
    expect(member->subject, !member->is_taken);
    member->is_taken = true;
    member->use = 0;
    return 0;
}

static int returned(struct weir_self *self, void *state)
{
    struct member_state *member = state;

    (void)self;
    expect(member->subject, member->is_taken);
    member->is_taken = false;
    return 0;
}

static int handle_member(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct use *use = message->data;
    struct member_state *member = state;

    (void)self;
    expect(member->subject, member->is_taken);
    expect(member->subject, member->use == 0 || member->use == use->number);
    member->use = use->number;
    return use->fails ? WEIR_FAIL : WEIR_DONE;
}

const struct weir_behaviour lease_member_behaviour = { .name = "member",
                                                       .state_size = sizeof(struct member_state),
                                                       .open = open_member,
                                                       .handle = handle_member,
                                                       .taken = taken,
                                                       .returned = returned };

/* The number of a use is drawn under its lease: so those of a worker grow with its leases. */
static int handle_plain_member(struct weir_self *self, void *state,
                               const struct weir_message *message)
{
    const struct use *use = message->data;
    struct member_state *member = state;

    (void)self;
    expect(member->subject, member->use <= use->number);
    member->use = use->number;
    return use->fails ? WEIR_FAIL : WEIR_DONE;
}

const struct weir_behaviour lease_plain_member_behaviour = { .name = "member",
                                                             .state_size = sizeof(
                                                                 struct member_state),
                                                             .open = open_member,
                                                             .handle = handle_plain_member };

/* --- what a taker does: `self` NULL is the program -------------------------------------------- */

static int send_under(struct lease_subject *subject, struct weir_self *self,
                      const struct lease_taker_slot *taker, bool fails)
{
    const struct use use = { taker->use, fails };
    struct runtime *runtime = subject->options.runtime;
    struct weir_message *message = self ? weir_message_new(self, NULL, sizeof use)
                                        : runtime_message_new(runtime, NULL, sizeof use);
    int status;

    if (!message)
        abort();
    memcpy(message->data, &use, sizeof use);
    status = self ? weir_lease_send(self, &taker->lease, message)
                  : runtime_lease_send(runtime, LEASE_OF_PROGRAM, &taker->lease, message);
    if (status != 0 && self)
        weir_message_free(self, message);
    else if (status != 0)
        runtime_message_free(runtime, message);
    return status;
}

void lease_taker_served(struct lease_subject *subject, struct weir_self *self,
                        struct lease_taker_slot *taker, const struct weir_lease *lease)
{
    taker->lease = *lease;
    taker->use = atomic_fetch_add(&subject->uses, 1) + 1;
    (void)send_under(subject, self, taker, false);
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct lease_taker_slot *taker = context;

    if (weir_lease_of(reply))
        lease_taker_served(*(struct lease_subject **)state, self, taker, weir_lease_of(reply));
    atomic_store(&taker->answer, reply->status);
}

static int take(struct lease_subject *subject, struct weir_self *self,
                struct lease_taker_slot *taker, const struct lease_act *act)
{
    weir_pid pool = subject->pools[act->pool]->pid;
    int status;

    taker->due_ns = 0;
    if (act->size > 0)
        taker->due_ns = clock_now_ns(&subject->options.runtime->options.clock) +
                        LEASE_TAKE_MS * UINT64_C(1000000);
    atomic_store(&taker->is_gone, false);
    atomic_store(&taker->answer, LEASE_NO_ANSWER);
    status = self ? weir_take(self, pool, act->size > 0 ? LEASE_TAKE_MS : WEIR_FOR_EVER, answered,
                              taker, &taker->reference)
                  : runtime_take(subject->options.runtime, NULL, pool, WEIR_FOR_EVER,
                                 &taker->reference);
    if (status != 0)
        atomic_store(&taker->answer, status);
    return status;
}

static int give_back(struct lease_subject *subject, struct weir_self *self,
                     const struct lease_taker_slot *taker, int how)
{
    int status;

    (void)send_under(subject, self, taker, false);
    status = self ? weir_return(self, &taker->lease, how)
                  : runtime_lease_return(subject->options.runtime, LEASE_OF_PROGRAM, &taker->lease,
                                         how);
    expect(subject, send_under(subject, self, taker, false) == WEIR_ENOTALLOWED);
    return status;
}

static int end(struct lease_subject *subject, struct weir_self *self,
               const struct lease_taker_slot *taker, enum lease_way way)
{
    if (way == LEASE_WAY_BREAK)
        return send_under(subject, self, taker, true);
    return give_back(subject, self, taker, way == LEASE_WAY_DONE ? WEIR_DONE : WEIR_FAIL);
}

static int give_up(const struct lease_subject *subject, struct weir_self *self,
                   struct lease_taker_slot *taker)
{
    int status;

    if (self)
        return weir_cancel(self, taker->reference);
    status = runtime_cancel(subject->options.runtime, taker->reference);
    if (status == 0)
        atomic_store(&taker->answer, WEIR_ECANCELLED);
    return status;
}

static int renew(const struct lease_subject *subject, struct weir_self *self,
                 const struct lease_taker_slot *taker)
{
    return self ? weir_lease_renew(self, &taker->lease)
                : runtime_lease_renew(subject->options.runtime, LEASE_OF_PROGRAM, &taker->lease);
}

void lease_taker_act(struct lease_subject *subject, struct weir_self *self,
                     const struct lease_act *act)
{
    struct lease_taker_slot *taker = &subject->takers[act->slot];
    int status = 0;

    if (act->kind == LEASE_TAKE)
        status = take(subject, self, taker, act);
    else if (act->kind == LEASE_END)
        status = end(subject, self, taker, act->size);
    else if (act->kind == LEASE_GIVE_UP)
        status = give_up(subject, self, taker);
    else if (act->kind == LEASE_RENEW)
        status = renew(subject, self, taker);
    atomic_store(&taker->is_gone, act->kind == LEASE_GONE);
    atomic_store(&taker->status, status);
    atomic_fetch_add(&subject->done, 1);
}

/* --- takers that are workers ------------------------------------------------------------------ */

static int open_user(struct weir_self *self, const void *settings, void *state)
{
    struct lease_subject *subject = (struct lease_subject *)(uintptr_t)settings;

    *(struct lease_subject **)state = subject;
    atomic_fetch_add(&subject->takers[weir_index(self)].opened, 1);
    return 0;
}

static int handle_user(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct lease_act *act = message->data;

    lease_taker_act(*(struct lease_subject **)state, self, act);
    if (act->kind != LEASE_GONE)
        return WEIR_DONE;
    return act->size == LEASE_WAY_DONE ? WEIR_STOP : WEIR_FAIL;
}

const struct weir_behaviour lease_user_behaviour = { .name = "user",
                                                     .state_size = sizeof(struct lease_subject *),
                                                     .open = open_user,
                                                     .handle = handle_user };
