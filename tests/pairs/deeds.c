/* SPDX-License-Identifier: MIT */
/* What workers of main do with a message of a feature: rows.h. */
#include <stdio.h>
#include <stdlib.h>

#include "pairs/rows.h"

#define DELAY_MS_MAX 4u
#define UNSTASH_MS 1u
#define AN_HOUR_MS 3600000u

/* The first times that a message is begun; later ones let it end. A broadcast has several copies,
 * which are not told apart. */
static bool is_early(const struct worker *worker, const struct weir_message *message,
                     uint32_t times)
{
    return atomic_load(&ticket_of(worker->world, message)->begun) <= times;
}

/* The message whose end its origin waits for, if it has one. */
static uint32_t parent_of(const struct weir_message *message)
{
    return parcel_of(message)->ticket;
}

static uint32_t dice_of(const struct worker *worker, const struct weir_message *message,
                        uint32_t salt)
{
    return world_dice(worker->world, 1000 + salt, parcel_of(message)->ticket);
}

/* --- verdicts --------------------------------------------------------------------------------- */

int deed_retry(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    if (!is_early(worker, message, 1 + dice_of(worker, message, 1) % 5))
        return WEIR_DONE;
    if (dice_of(worker, message, 2) % 2)
        weir_retry_after(self, dice_of(worker, message, 3) % 3);
    /* The time-out of a lease bounds the way back of its worker. */
    if (parcel_of(message)->use && !worker->world->plan.leases_last &&
        dice_of(worker, message, 13) % 4 == 0)
        weir_retry_after(self, AN_HOUR_MS);
    return WEIR_RETRY;
}

int deed_postpone(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    if (!is_early(worker, message, 2))
        return WEIR_DONE;
    weir_retry_after(self, dice_of(worker, message, 3) % 3);
    return WEIR_POSTPONE;
}

int deed_fail(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    uint32_t drawn = dice_of(worker, message, 4) % 8;

    (void)self;
    if (drawn == 0)
        return WEIR_REJECT;
    return is_early(worker, message, 1) || drawn == 1 ? WEIR_FAIL : WEIR_DONE;
}

int deed_stop(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    (void)self;
    return dice_of(worker, message, 5) % 4 == 0 ? WEIR_STOP : WEIR_DONE;
}

/* --- the stash -------------------------------------------------------------------------------- */

static void bring_back(struct weir_self *self, void *state, void *context)
{
    struct worker *worker = state;

    (void)context;
    (void)worker_enter(worker);
    worker->has_timer = false;
    (void)weir_unstash(self, UINT32_MAX);
    worker_leave(worker);
}

int deed_stash(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    if (!is_early(worker, message, 1))
        return WEIR_DONE;
    if (!worker->has_timer && weir_after(self, UNSTASH_MS, bring_back, NULL, NULL) != 0)
        abort();
    worker->has_timer = true;
    worker->has_passed = weir_stash(self, message) == 0;
    return WEIR_DONE;
}

int deed_put_back(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    if (!is_early(worker, message, 1))
        return WEIR_DONE;
    worker->has_passed = weir_put_back(self, message) == 0;
    return WEIR_DONE;
}

/* --- messages of the worker's own ------------------------------------------------------------- */

/* An event has several copies: as many as were taken, or more where a subscriber broadcasts. */
int deed_publish(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;
    struct parcel parcel = { .deed = deed_any(world, dice_of(worker, message, 6)) };
    struct weir_message *news;
    uint32_t taken = 0;
    uint64_t event;

    if (message->kind == WEIR_EVENT)
        return WEIR_DONE;
    if (weir_event(self, "news", &event) == 0)
        atomic_store(&world->event, event);
    event = atomic_load(&world->event);
    news = event ? parcel_inside(self, worker, NO_TICKET, &parcel) : NULL;
    if (!news)
        return WEIR_DONE;
    world->tickets[parcel.ticket].is_shared = world->plan.leaf.route == WEIR_ROUTE_BROADCAST;
    if (weir_publish(self, event, news, &taken, NULL) == 0)
        atomic_fetch_add(&world->tickets[parcel.ticket].accepted, taken);
    else
        weir_message_free(self, news);
    return WEIR_DONE;
}

/* What is emitted joins the origin of the message in hand. */
int deed_emit(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;

    for (uint32_t count = 1 + dice_of(worker, message, 7) % 3; count > 0; count--) {
        struct parcel parcel = { .deed = PLAIN };
        struct weir_message *piece = parcel_inside(self, worker, parent_of(message), &parcel);

        if (!piece)
            break;
        ticket_send(world, parcel.ticket, world->sink);
        if (weir_emit(self, 0, piece) == 0)
            continue;
        ticket_refuse(world, parcel.ticket);
        weir_message_free(self, piece);
    }
    return WEIR_DONE;
}

/* The end of the worker frees the message of its timer, unless it has joined an origin. */
int deed_delay(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;
    weir_pid targets[] = { world->main, world->sink, weir_pid_of(self) };
    weir_pid to = targets[dice_of(worker, message, 8) % 3];
    struct parcel parcel = { .deed = PLAIN };
    struct weir_message *piece = parcel_inside(self, worker, parent_of(message), &parcel);

    if (!piece)
        return WEIR_DONE;
    if (weir_join(self, piece, message) != 0)
        abort();
    ticket_send(world, parcel.ticket, to);
    if (!world->tickets[parcel.ticket].has_origin)
        atomic_fetch_add(&world->tickets[parcel.ticket].quiet, 1);
    if (weir_send_after(self, to, piece, dice_of(worker, message, 9) % DELAY_MS_MAX, NULL) == 0)
        return WEIR_DONE;
    ticket_refuse(world, parcel.ticket);
    weir_message_free(self, piece);
    return WEIR_DONE;
}

int deed_forward(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;
    uint32_t ticket = parcel_of(message)->ticket;

    if (!is_early(worker, message, 1))
        return WEIR_DONE;
    if (world_is_shared(world, world->sink)) {
        if (message->kind == WEIR_REQUEST)
            return WEIR_DONE;
        world->tickets[ticket].is_shared = true;
    }
    worker->has_passed = weir_forward(self, world->sink, message) == 0;
    return WEIR_DONE;
}

int deed_keep(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;
    struct parcel parcel = { .deed = PLAIN };
    struct kept kept = { .message = message,
                         .ticket = parcel_of(message)->ticket,
                         .is_request = message->kind == WEIR_REQUEST };

    if (message->kind == WEIR_EVENT)
        return WEIR_DONE;
    kept.port = weir_port(self);
    if (!kept.port)
        abort();
    if (dice_of(worker, message, 10) % 2)
        kept.joined = parcel_inside(self, worker, parent_of(message), &parcel);
    if (kept.joined && weir_join(self, kept.joined, message) != 0)
        abort();
    kept.joined_ticket = parcel.ticket;
    if (workers_keep(world, &kept)) {
        worker->has_passed = true;
        return WEIR_KEEP;
    }
    weir_message_free(self, kept.joined);
    weir_port_unref(kept.port);
    return WEIR_DONE;
}

/* The child drains, and ends. */
int deed_spawn(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct world *world = worker->world;
    weir_pid child;

    options.behaviour = &workers_child;
    options.settings = &worker->role;
    if (weir_spawn(self, &options, &child) != 0)
        return WEIR_DONE;
    for (uint32_t count = 1 + dice_of(worker, message, 11) % 3; count > 0; count--) {
        struct parcel parcel = { .deed = PLAIN };
        struct weir_message *piece = parcel_inside(self, worker, NO_TICKET, &parcel);

        if (!piece)
            break;
        ticket_send(world, parcel.ticket, child);
        if (weir_send(self, child, piece) == 0)
            continue;
        ticket_refuse(world, parcel.ticket);
        weir_message_free(self, piece);
    }
    world_expect(world, weir_stop(self, child) == 0, "a child cannot be stopped", 0);
    return WEIR_DONE;
}

int deed_rename(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    char from[32], to[32];

    (void)snprintf(from, sizeof from, "worker-%u-%u", worker->role->leaf, weir_index(self));
    (void)snprintf(to, sizeof to, "other-%u-%u", worker->role->leaf, weir_index(self));
    if (dice_of(worker, message, 12) % 2)
        (void)weir_rename(self, from, to);
    else
        (void)weir_rename(self, to, from);
    return WEIR_DONE;
}

/* --- requests of workers ---------------------------------------------------------------------- */

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct worker *worker = state;
    struct world *world = worker_enter(worker);

    (void)self;
    world_expect(world, worker->open_requests > 0, "an answer too many", 0);
    worker->open_requests--;
    atomic_fetch_add(&world->answered, 1);
    if (reply->status == 0)
        world_expect(world, parcel_of(reply->message)->ticket == (uint32_t)(uintptr_t)context,
                     "the reply to another request", (int64_t)(uintptr_t)context);
    else
        world_expect(world, reply->status != WEIR_ETIMEOUT, "a request of a worker stands",
                     (int64_t)(uintptr_t)context);
    worker_leave(worker);
}

int deed_ask(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;
    struct parcel parcel = { .deed = PLAIN };
    struct weir_message *request;
    weir_pid to = world->sink;

    if (world_is_shared(world, to))
        return WEIR_DONE;
    request = parcel_inside(self, worker, NO_TICKET, &parcel);
    (void)message;
    if (!request)
        return WEIR_DONE;
    ticket_send(world, parcel.ticket, to);
    if (weir_request(self, to, request, LONG_MS, answered, (void *)(uintptr_t)parcel.ticket,
                     NULL) == 0) {
        worker->open_requests++;
        atomic_fetch_add(&world->asked, 1);
    } else {
        ticket_refuse(world, parcel.ticket);
        weir_message_free(self, request);
    }
    return WEIR_DONE;
}

static void took(struct weir_self *self, void *state, void *context, const struct weir_reply *reply)
{
    struct worker *worker = state;
    struct world *world = worker_enter(worker);
    const struct weir_lease *lease = weir_lease_of(reply);
    struct parcel parcel = { .deed = PLAIN, .use = atomic_fetch_add(&world->uses, 1) + 1 };
    struct weir_message *message;

    (void)context;
    worker->open_requests--;
    atomic_fetch_add(&world->answered, 1);
    world_expect(world, reply->status != WEIR_ETIMEOUT, "a take of a worker stands", 0);
    if (lease) {
        message = parcel_inside(self, worker, NO_TICKET, &parcel);
        if (message) {
            ticket_send(world, parcel.ticket, lease->member);
            if (weir_lease_send(self, lease, message) != 0) {
                ticket_refuse(world, parcel.ticket);
                weir_message_free(self, message);
            }
        }
        if (parcel.use % 8 || world->plan.leases_last)
            (void)weir_return(self, lease, parcel.use % 7 ? WEIR_DONE : WEIR_FAIL);
    }
    worker_leave(worker);
}

/* A worker of main takes another one. */
int deed_take(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;

    (void)message;
    if (weir_take(self, world->main, LONG_MS, took, NULL, NULL) == 0) {
        worker->open_requests++;
        atomic_fetch_add(&world->asked, 1);
    }
    return WEIR_DONE;
}
