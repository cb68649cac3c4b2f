/* SPDX-License-Identifier: MIT */
/* The workers of main and of the sink, the source, and the thread that settles: pairs.h. */
#include <stdlib.h>
#include <string.h>

#include "pairs/pairs.h"

#define PRODUCED 48u /* messages of the source */
#define NAME_MAX_HERE 32u

/* --- callbacks do not overlap ----------------------------------------------------------------- */

struct world *worker_enter(struct worker *worker)
{
    world_expect(worker->world, !worker->is_inside, "callbacks overlap", worker->role->leaf);
    worker->is_inside = true;
    return worker->world;
}

void worker_leave(struct worker *worker)
{
    worker->is_inside = false;
}

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    const struct role *role = settings;
    struct world *world = role->world;
    struct worker *worker = state;
    uint32_t tries = atomic_fetch_add(&world->open_tries, 1);
    char name[NAME_MAX_HERE];

    *worker = (struct worker){ .world = world, .role = role };
    if (role->leaf < LEAVES_MAX && world->plan.one_never_opens && weir_index(self) == 1 &&
        weir_pool_size(self) > 1)
        return WEIR_ECLOSED;
    if (world->seed % 4 == 0 && world_dice(world, 77, tries) % 8 == 0)
        return WEIR_ECLOSED;
    (void)snprintf(name, sizeof name, "worker-%u-%u", role->leaf, weir_index(self));
    if (world->plan.has_names)
        (void)weir_name(self, name); /* its predecessor may still have it */
    if (world->plan.has_events && world_dice(world, 78, tries) % 2)
        (void)weir_subscribe(self, "news");
    atomic_fetch_add(&world->opened, 1);
    return 0;
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    struct worker *worker = state;
    struct world *world = worker_enter(worker);

    (void)self;
    (void)reason;
    atomic_fetch_add(&world->answered, worker->open_requests);
    atomic_fetch_add(&world->closed, 1);
    worker_leave(worker);
}

/* --- leases ----------------------------------------------------------------------------------- */

static int taken(struct weir_self *self, void *state)
{
    struct worker *worker = state;

    (void)self;
    world_expect(worker->world, !worker->is_leased, "taken twice", worker->use);
    worker->is_leased = true;
    worker->use = 0;
    return 0;
}

static int returned(struct weir_self *self, void *state)
{
    struct worker *worker = state;

    (void)self;
    world_expect(worker->world, worker->is_leased, "returned, and not taken", worker->use);
    worker->is_leased = false;
    return 0;
}

/* What a leased worker may handle: messages of its lease, and its own. */
static void expect_user(struct weir_self *self, struct worker *worker,
                        const struct weir_message *message, uint32_t use)
{
    struct world *world = worker->world;

    if (!world->workers.taken || message->kind == WEIR_EVENT || message->from == weir_pid_of(self))
        return;
    if (use == 0) {
        world_expect(world, !worker->is_leased, "a message of another in a lease", worker->use);
        return;
    }
    world_expect(world, worker->is_leased, "a message of a lease that is over", use);
    world_expect(world, worker->use == 0 || worker->use == use, "used by two", use);
    worker->use = use;
}

/* --- workers of main -------------------------------------------------------------------------- */

static void reply(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct weir_message *answer = weir_message_new(self, NULL, message->size);

    if (!answer)
        abort();
    memcpy(answer->data, message->data, message->size);
    (void)worker;
    if (weir_reply(self, message, answer) != 0)
        weir_message_free(self, answer);
}

int worker_done(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    if (message->kind == WEIR_REQUEST)
        reply(self, worker, message);
    atomic_fetch_add(&ticket_of(worker->world, message)->done, 1);
    return WEIR_DONE;
}

/* What no feature has made is a task, or a notice of the end of another. */
static int handle_other(struct weir_self *self, struct worker *worker,
                        const struct weir_message *message)
{
    if (message->kind == WEIR_DOWN || message->kind == WEIR_EXIT)
        return WEIR_DONE;
    world_expect(worker->world, message->size == sizeof(struct weir_task_call),
                 "a message of nobody, size", (int64_t)message->size);
    return weir_task_handle(self, NULL, message);
}

static int handle_parcel(struct weir_self *self, struct worker *worker,
                         const struct weir_message *message)
{
    struct world *world = worker->world;
    const struct parcel *parcel = parcel_of(message);
    uint32_t deed = parcel->deed;
    int verdict = WEIR_DONE;

    world_expect(world, parcel->to == 0 || parcel->to == weir_pid_of(self),
                 "handled by another than it was sent to", parcel->ticket);
    expect_user(self, worker, message, parcel->use);
    atomic_fetch_add(&world->tickets[parcel->ticket].begun, 1);
    atomic_fetch_add(&world->deliveries, 1);
    worker->has_passed = false;
    if (deed != PLAIN && world->pair[deed]->handle) {
        world_count(world, deed);
        verdict = world->pair[deed]->handle(self, worker, message);
    }
    if (worker->has_passed)
        return verdict;
    if (verdict == WEIR_STOP)
        (void)worker_done(self, worker, message);
    return verdict == WEIR_DONE ? worker_done(self, worker, message) : verdict;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    int verdict;

    (void)worker_enter(worker);
    world_yield();
    verdict = parcel_of(message) ? handle_parcel(self, worker, message)
                                 : handle_other(self, worker, message);
    worker_leave(worker);
    return verdict;
}

static int handle_plain(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    int verdict;

    (void)worker_enter(worker);
    if (parcel_of(message)) {
        atomic_fetch_add(&ticket_of(worker->world, message)->begun, 1);
        verdict = worker_done(self, worker, message);
    } else {
        verdict = handle_other(self, worker, message);
    }
    worker_leave(worker);
    return verdict;
}

static int open_child(struct weir_self *self, const void *settings, void *state)
{
    struct worker *worker = state;

    (void)self;
    *worker = (struct worker){ .role = *(const struct role *const *)settings };
    worker->world = worker->role->world;
    return 0;
}

const struct weir_behaviour workers_child = { .name = "child",
                                              .settings_size = sizeof(struct role *),
                                              .state_size = sizeof(struct worker),
                                              .open = open_child,
                                              .handle = handle_plain };

/* --- the source ------------------------------------------------------------------------------- */

struct producer {
    struct world *world;
    uint64_t next;
};

static int open_source(struct weir_self *self, const void *settings, void *state)
{
    struct producer *producer = state;

    (void)self;
    producer->world = ((const struct role *)settings)->world;
    return 0;
}

static void resume(struct weir_self *self, void *state, const void *position, size_t size)
{
    struct producer *producer = state;

    (void)self;
    world_expect(producer->world, size == sizeof producer->next, "a position of another size",
                 (int64_t)size);
    if (size == sizeof producer->next)
        memcpy(&producer->next, position, sizeof producer->next);
    world_expect(producer->world, producer->next == atomic_load(&producer->world->position),
                 "another position than was left", (int64_t)producer->next);
}

static void close_source(struct weir_self *self, void *state, int reason)
{
    struct producer *producer = state;

    (void)reason;
    atomic_store(&producer->world->position, producer->next);
    if (weir_leave_position(self, &producer->next, sizeof producer->next) != 0)
        abort();
}

/* A source that fails does not hear the outcomes of what it has sent: what a worker would give back
 * to it ends there. */
static int give(struct weir_self *self, struct world *world, uint32_t ticket, uint32_t attempt)
{
    struct parcel parcel = { .ticket = ticket,
                             .deed = deed_any(world, world_dice(world, 5, ticket)) };
    struct weir_message *message = weir_message_new(self, NULL, sizeof parcel);

    if (!message)
        abort();
    memcpy(message->data, &parcel, sizeof parcel);
    ((struct parcel *)message->data)->magic = PARCEL_MAGIC;
    message->key = ticket % 5 + 1;
    message->attempt = (uint16_t)attempt;
    if (weir_set_origin(self, message, ticket) != 0)
        abort();
    world->tickets[ticket].has_origin = true;
    if (world->plan.source_fails)
        atomic_store(&world->tickets[ticket].quiet, 1);
    else
        atomic_fetch_add(&world->tickets[ticket].told, 1);
    ticket_send(world, ticket, world->main);
    if (weir_emit(self, 0, message) == 0)
        return 0;
    if (!world->plan.source_fails)
        atomic_fetch_sub(&world->tickets[ticket].told, 1);
    ticket_refuse(world, ticket);
    weir_message_free(self, message);
    return WEIR_EFULL;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct producer *producer = state;
    struct world *world = producer->world;

    for (uint32_t i = 0; i < credit; i++) {
        uint32_t ticket;

        if (producer->next == PRODUCED)
            return WEIR_END;
        ticket = ticket_new(world, NO_TICKET);
        if (ticket == NO_TICKET)
            return WEIR_END;
        producer->next++;
        if (give(self, world, ticket, 1) != 0)
            return WEIR_MORE;
        if (world->plan.source_fails && producer->next % 16 == 0)
            return WEIR_ECRASHED;
    }
    return WEIR_MORE;
}

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct world *world = ((struct producer *)state)->world;
    struct ticket *ticket = &world->tickets[outcome->token];

    if (!world->plan.source_fails)
        atomic_fetch_sub(&ticket->told, 1);
    if (outcome->result == WEIR_OUTCOME_DONE)
        atomic_store(&ticket->told_done, true);
    if (outcome->result != WEIR_OUTCOME_RETRY)
        return;
    ticket_refuse(world, (uint32_t)outcome->token); /* it comes back */
    if (give(self, world, (uint32_t)outcome->token, outcome->attempt + 1) != 0) {
        atomic_fetch_add(&ticket->accepted, 1);
        atomic_fetch_add(&ticket->back, 1);
    }
}

void workers_init(struct world *world)
{
    world->workers = (struct weir_behaviour){ .name = "worker",
                                              .state_size = sizeof(struct worker),
                                              .open = open_worker,
                                              .handle = handle,
                                              .close = close_worker,
                                              .in_hand = 4 };
    world->sinks = world->workers;
    world->sinks.name = "sink";
    world->sinks.handle = handle_plain;
    if (world->plan.has_leases && world->seed % 3) {
        world->workers.taken = taken;
        world->workers.returned = returned;
    }
    world->produces = (struct weir_behaviour){ .name = "source",
                                               .state_size = sizeof(struct producer),
                                               .open = open_source,
                                               .produce = produce,
                                               .settled = settled };
    if (world->plan.source_fails) {
        world->produces.resume = resume;
        world->produces.close = close_source;
    }
}

/* --- the thread that settles ------------------------------------------------------------------ */

bool workers_keep(struct world *world, const struct kept *kept)
{
    bool fits;

    pthread_mutex_lock(&world->lock);
    fits = world->kept_count < KEPT_MAX && !world->is_ending;
    if (fits)
        world->kept[(world->kept_first + world->kept_count++) % KEPT_MAX] = *kept;
    pthread_cond_signal(&world->change);
    pthread_mutex_unlock(&world->lock);
    return fits;
}

/* Some are freed instead: their origin must hear of the others all the same. */
static void send_joined(struct world *world, const struct kept *kept, uint32_t drawn)
{
    if (drawn % 3 == 0) {
        weir_port_message_free(kept->port, kept->joined);
        return;
    }
    ticket_send(world, kept->joined_ticket, world->sink);
    if (weir_port_send(kept->port, world->sink, kept->joined) == 0)
        return;
    ticket_refuse(world, kept->joined_ticket);
    weir_port_message_free(kept->port, kept->joined);
}

/* Until the actor's next turn its incarnation may end; then the message is dead. */
static void settle(struct world *world, const struct kept *kept, uint32_t drawn)
{
    struct ticket *ticket = &world->tickets[kept->ticket];
    struct weir_message *answer;
    int verdict = drawn / 4 % 4 == 0 ? WEIR_REJECT : WEIR_DONE;

    if (kept->joined && drawn % 2)
        send_joined(world, kept, drawn / 16);
    if (kept->is_request && drawn % 3) {
        answer = weir_port_message_new(kept->port, NULL, sizeof(struct parcel));
        if (answer) {
            *(struct parcel *)answer->data = (struct parcel){ PARCEL_MAGIC, kept->ticket, 0, 0, 0 };
            if (weir_port_reply(kept->port, kept->message, answer) != 0)
                weir_port_message_free(kept->port, answer);
        }
    }
    if (verdict == WEIR_DONE)
        atomic_fetch_add(&ticket->quiet, 1);
    if (weir_port_settle(kept->port, kept->message, verdict, 0, "as drawn") != 0 &&
        verdict == WEIR_DONE)
        atomic_fetch_sub(&ticket->quiet, 1);
    if (kept->joined && drawn % 2 == 0) /* the last one of its origin, perhaps */
        send_joined(world, kept, drawn / 16);
    weir_port_unref(kept->port);
}

void *workers_settle(void *context)
{
    struct world *world = context;
    struct kept kept;
    uint32_t number = 0;

    for (;;) {
        pthread_mutex_lock(&world->lock);
        while (world->kept_count == 0 && !world->is_ending)
            pthread_cond_wait(&world->change, &world->lock);
        if (world->kept_count == 0) {
            pthread_mutex_unlock(&world->lock);
            return NULL;
        }
        kept = world->kept[world->kept_first];
        world->kept_first = (world->kept_first + 1) % KEPT_MAX;
        world->kept_count--;
        pthread_mutex_unlock(&world->lock);
        settle(world, &kept, world_dice(world, 9, number++));
    }
}
