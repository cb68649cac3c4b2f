/* SPDX-License-Identifier: MIT */
/* The members of the storm, and users that are workers: lease_storm.h. */
#include <string.h>

#include "stress/lease_storm.h"

#include <weir/plugin.h>

#define USES_MAX 3u
#define TAKE_MS 10u
#define ASK_MS 5000u

/* --- members ---------------------------------------------------------------------------------- */

struct storm_member_state {
    struct storm *storm;
    uint64_t session; /* 0: it is free */
    uint64_t use;     /* of the session; 0: none yet */
    uint64_t random;
};

static int open_member(struct weir_self *self, const void *settings, void *state)
{
    struct storm_member_state *member = state;
    struct storm *storm = (struct storm *)(uintptr_t)settings;

    (void)self;
    *member = (struct storm_member_state){ .storm = storm };
    member->random = storm->seed + atomic_fetch_add(&storm->opened, 1) + 1;
    return storm_draw(&member->random, 64) == 0 ? WEIR_ECLOSED : 0;
}

static int taken(struct weir_self *self, void *state)
{
    struct storm_member_state *member = state;

    (void)self;
    storm_expect(member->storm, member->session == 0, "taken twice", member->session);
    if (storm_draw(&member->random, 256) == 0)
        return WEIR_FAIL;
    member->session = atomic_fetch_add(&member->storm->sessions, 1) + 1;
    member->use = 0;
    return 0;
}

static int returned(struct weir_self *self, void *state)
{
    struct storm_member_state *member = state;

    (void)self;
    storm_expect(member->storm, member->session != 0, "returned, and not taken", 0);
    member->session = 0;
    return storm_draw(&member->random, 256) == 0 ? WEIR_FAIL : 0;
}

static int serve(struct weir_self *self, struct storm_member_state *member,
                 const struct weir_message *message, const struct storm_order *order)
{
    struct weir_message *reply = weir_message_new(self, NULL, sizeof member->session);

    storm_expect(member->storm, member->session != 0, "used, and not taken", order->use);
    storm_expect(member->storm, member->use == 0 || member->use == order->use, "used by two",
                 order->use);
    member->use = order->use;
    if (!reply)
        return WEIR_FAIL;
    memcpy(reply->data, &member->session, sizeof member->session);
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

static int handle_member(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct storm_order *order = message->data;
    struct storm_member_state *member = state;

    if (order->deed == DEED_FAIL)
        return WEIR_FAIL;
    if (order->use != 0)
        return serve(self, member, message, order);
    storm_expect(member->storm, member->session == 0, "a plain message in a session", 0);
    atomic_fetch_add(&member->storm->plain, 1);
    return WEIR_DONE;
}

const struct weir_behaviour storm_member = { .name = "member",
                                             .state_size = sizeof(struct storm_member_state),
                                             .open = open_member,
                                             .handle = handle_member,
                                             .taken = taken,
                                             .returned = returned };

/* --- members that threads lease by themselves ------------------------------------------------- */

static int handle_bare_member(struct weir_self *self, void *state,
                              const struct weir_message *message)
{
    const struct storm_order *order = message->data;
    struct storm_member_state *member = state;

    if (order->deed == DEED_FAIL)
        return WEIR_FAIL;
    if (order->use == 0) {
        atomic_fetch_add(&member->storm->plain, 1);
        return WEIR_DONE;
    }
    /* The number of a use is drawn under its lease: so those of a worker grow with its leases. */
    if (member->use != order->use) {
        storm_expect(member->storm, member->use < order->use, "used by two", order->use);
        member->session = atomic_fetch_add(&member->storm->sessions, 1) + 1;
        member->use = 0;
    }
    return serve(self, member, message, order);
}

const struct weir_behaviour storm_bare_member = { .name = "bare",
                                                  .state_size = sizeof(struct storm_member_state),
                                                  .open = open_member,
                                                  .handle = handle_bare_member };

/* --- users ------------------------------------------------------------------------------------ */

struct storm_user_state {
    struct storm *storm;
    uint64_t random;
    uint64_t reference; /* of its take; 0: none */
    uint64_t use;       /* 0: it has no lease */
    uint32_t left;      /* uses */
    struct weir_lease lease;
};

static int open_user(struct weir_self *self, const void *settings, void *state)
{
    struct storm_user_state *user = state;
    struct storm *storm = (struct storm *)(uintptr_t)settings;

    (void)self;
    *user = (struct storm_user_state){ .storm = storm };
    user->random = storm->seed + atomic_fetch_add(&storm->uses, 1) + 1;
    return 0;
}

/* Returns the member in one of two ways, or forgets it. */
static void end_use(struct weir_self *self, struct storm_user_state *user)
{
    uint32_t how = storm_draw(&user->random, 16);
    int status;

    user->use = 0;
    if (how == 0)
        return;
    status = weir_return(self, &user->lease, how == 1 ? WEIR_FAIL : WEIR_DONE);
    storm_expect(user->storm, status == 0 || status == WEIR_EUNKNOWN, "a return",
                 (uint64_t)-status);
    status = weir_return(self, &user->lease, WEIR_DONE);
    storm_expect(user->storm, status == WEIR_EUNKNOWN, "a second return", (uint64_t)-status);
}

static void go_on(struct weir_self *self, struct storm_user_state *user);

static void used(struct weir_self *self, void *state, void *context, const struct weir_reply *reply)
{
    struct storm_user_state *user = state;
    uint64_t session;

    (void)context;
    if (reply->status == 0) {
        memcpy(&session, reply->message->data, sizeof session);
        storm_used(user->storm, user->use, session);
    }
    go_on(self, user);
}

static void go_on(struct weir_self *self, struct storm_user_state *user)
{
    const struct storm_order order = { user->use, storm_draw(&user->random, 32) == 0 };
    struct weir_message *message;

    if (user->left == 0 || !(message = weir_message_new(self, NULL, sizeof order))) {
        end_use(self, user);
        return;
    }
    user->left--;
    memcpy(message->data, &order, sizeof order);
    if (weir_lease_request(self, &user->lease, message, ASK_MS, used, NULL, NULL) == 0)
        return;
    weir_message_free(self, message);
    end_use(self, user);
}

static void took(struct weir_self *self, void *state, void *context, const struct weir_reply *reply)
{
    struct storm_user_state *user = state;

    (void)context;
    user->reference = 0;
    if (!weir_lease_of(reply))
        return;
    atomic_fetch_add(&user->storm->answered, 1);
    user->lease = *weir_lease_of(reply);
    user->use = atomic_fetch_add(&user->storm->uses, 1) + 1;
    user->left = storm_draw(&user->random, USES_MAX + 1);
    go_on(self, user);
}

static void take(struct weir_self *self, struct storm_user_state *user)
{
    const struct pool *pool = user->storm->pools[storm_draw(&user->random, TARGETS)];
    int status;

    if (user->reference || user->use)
        return;
    status = weir_take(self, pool->pid, 1 + storm_draw(&user->random, TAKE_MS), took, NULL,
                       &user->reference);
    if (status != 0)
        user->reference = 0;
    if (status == 0 || status == WEIR_EFULL)
        atomic_fetch_add(&user->storm->asked, 1);
}

static int handle_user(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct storm_user_state *user = state;

    switch ((enum storm_wish)((const struct storm_order *)message->data)->deed) {
    case WISH_FAIL:
        return WEIR_FAIL;
    case WISH_STOP:
        return WEIR_STOP;
    case WISH_GIVE_UP:
        if (user->reference && weir_cancel(self, user->reference) == 0)
            atomic_fetch_add(&user->storm->given_up, 1);
        return WEIR_DONE;
    default:
        take(self, user);
        return WEIR_DONE;
    }
}

const struct weir_behaviour storm_user = { .name = "user",
                                           .state_size = sizeof(struct storm_user_state),
                                           .open = open_user,
                                           .handle = handle_user };
