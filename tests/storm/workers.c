/* SPDX-License-Identifier: MIT */
#include "storm/world.h"

#include <stdlib.h>
#include <string.h>

#define IN_HAND 2u
#define LONG_MS 600000u /* of requests: longer than any run */
#define STASH_MS 1u
#define OUTPUT_BACK 0u
#define OUTPUT_ANY 1u
#define OUTPUT_ALL 2u

struct asked {
    const struct weir_message *kept; /* NULL: free */
    struct ticket *ticket;
    struct worker *worker;
    uint64_t id;
    bool open; /* not answered */
};

struct worker {
    struct hall *hall;
    struct world *world;
    struct asked asked[IN_HAND];
    bool stashed;
    _Atomic bool in_callback;
};

/* --- what they share ------------------------------------------------------------------------ */

static struct world *enter(struct worker *worker)
{
    struct world *world = worker->world;

    if (atomic_exchange(&worker->in_callback, true))
        atomic_fetch_add(&world->overlaps, 1);
    world->options.step_aside(world->options.context);
    return world;
}

static int leave(struct worker *worker, int verdict)
{
    worker->world->options.step_aside(worker->world->options.context);
    atomic_store(&worker->in_callback, false);
    return verdict;
}

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct worker *worker = state;
    uint64_t number;

    (void)self;
    worker->hall = (struct hall *)(uintptr_t)settings;
    worker->world = worker->hall->world;
    (void)enter(worker);
    number = atomic_fetch_add(&worker->world->tried, 1);
    if (world_dice(worker->world, number, 77) % 16 == 0)
        return leave(worker, WEIR_ENOMEM);
    atomic_fetch_add(&worker->world->opened, 1);
    return leave(worker, 0);
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    struct worker *worker = state;

    (void)self;
    (void)reason;
    (void)enter(worker);
    for (uint32_t i = 0; i < IN_HAND; i++)
        if (worker->asked[i].kept && worker->asked[i].open)
            atomic_fetch_add(&worker->asked[i].ticket->answered, 1);
    atomic_fetch_add(&worker->world->closed, 1);
    (void)leave(worker, 0);
}

static struct parcel parcel_of(const struct weir_message *message)
{
    struct parcel parcel;

    memcpy(&parcel, message->data, sizeof parcel);
    return parcel;
}

static struct ticket *begin(struct worker *worker, const struct weir_message *message)
{
    struct world *world = worker->world;
    uint64_t id = parcel_of(message).id;

    atomic_fetch_add(&world->tickets[id].begun, 1);
    world_note(world, id << 16 | message->attempt);
    return &world->tickets[id];
}

static uint32_t choice(const struct worker *worker, uint64_t id, const struct weir_message *message)
{
    return (uint32_t)(world_dice(worker->world, id, message->attempt) % 100);
}

static int done(struct ticket *ticket)
{
    atomic_fetch_add(&ticket->done, 1);
    return WEIR_DONE;
}

static int retry(struct weir_self *self, struct worker *worker, struct ticket *ticket, uint64_t id)
{
    weir_retry_after(self, world_dice(worker->world, id, 5) % 4);
    atomic_fetch_add(&ticket->again, 1);
    atomic_fetch_add(&ticket->retried, 1);
    return WEIR_RETRY;
}

/* Once for each message: it comes again as it is. */
static bool puts_back(struct weir_self *self, struct ticket *ticket,
                      const struct weir_message *message)
{
    if (atomic_load(&ticket->again) > 0)
        return false;
    atomic_fetch_add(&ticket->again, 1); /* before the call: another worker may get it at once */
    if (weir_put_back(self, message) == 0)
        return true;
    atomic_fetch_sub(&ticket->again, 1);
    return false;
}

/* A message with a ticket of its own, marked as accepted; NULL: there are no more. */
static struct weir_message *issue(struct weir_self *self, struct worker *worker, uint64_t *out_id)
{
    uint64_t id = world_ticket(worker->world);
    struct parcel parcel = { .id = id, .sender = UINT32_MAX };
    struct weir_message *message;

    if (id == UINT64_MAX)
        return NULL;
    message = weir_message_new(self, NULL, sizeof parcel);
    if (!message)
        abort();
    memcpy(message->data, &parcel, sizeof parcel);
    message->key = id + 1;
    atomic_fetch_add(&worker->world->tickets[id].accepted, 1);
    *out_id = id;
    return message;
}

static void take_back(struct weir_self *self, struct worker *worker, struct weir_message *message,
                      uint64_t id)
{
    atomic_fetch_sub(&worker->world->tickets[id].accepted, 1);
    weir_message_free(self, message);
}

/* --- asking --------------------------------------------------------------------------------- */

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct asked *asked = context;
    const struct weir_message *kept = asked->kept;
    struct ticket *ticket = asked->ticket;
    struct worker *worker = state;
    int verdict = WEIR_DONE;

    (void)enter(worker);
    (void)reply;
    atomic_fetch_add(&ticket->answered, 1);
    asked->kept = NULL;
    if (world_dice(worker->world, asked->id, 6) % 8 == 2 && puts_back(self, ticket, kept)) {
        (void)leave(worker, 0);
        return;
    }
    if (world_dice(worker->world, asked->id, 6) % 8 == 0)
        verdict = retry(self, worker, ticket, asked->id);
    else if (world_dice(worker->world, asked->id, 6) % 8 == 1)
        verdict = WEIR_REJECT;
    /* The kept messages of a removed worker are dead already after its time-out. */
    if (weir_settle(self, kept, verdict) == 0 && verdict == WEIR_DONE)
        (void)done(ticket);
    (void)leave(worker, 0);
}

static int ask(struct weir_self *self, struct worker *worker, struct ticket *ticket,
               const struct weir_message *message)
{
    uint64_t own = parcel_of(message).id, id;
    struct asked *asked = worker->asked[0].kept ? &worker->asked[1] : &worker->asked[0];
    struct weir_message *question = issue(self, worker, &id);
    uint64_t timeout_ms = world_dice(worker->world, own, 7) % 8 ? LONG_MS : 1;

    if (!question)
        return done(ticket);
    *asked = (struct asked){ message, ticket, worker, own, true };
    if (weir_request(self, worker->world->halls[HALL_ANSWER].pid, question, timeout_ms, answered,
                     asked, NULL) != 0) {
        asked->kept = NULL;
        take_back(self, worker, question, id);
        return WEIR_REJECT;
    }
    atomic_fetch_add(&ticket->asked, 1);
    return WEIR_KEEP;
}

static int handle_answer(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    struct world *world = enter(worker);
    struct ticket *ticket = begin(worker, message);
    struct weir_message *reply;
    uint64_t id = parcel_of(message).id;
    uint32_t chosen = choice(worker, id, message);

    (void)world;
    if (chosen < 3)
        return leave(worker, WEIR_FAIL);
    if (chosen < 6)
        return leave(worker, WEIR_REJECT);
    if (chosen < 9)
        return leave(worker, retry(self, worker, ticket, id));
    if (chosen < 14)
        return leave(worker, done(ticket)); /* without a reply */
    reply = weir_message_new(self, NULL, sizeof id);
    if (!reply)
        abort();
    memcpy(reply->data, &id, sizeof id);
    if (weir_reply(self, message, reply) != 0)
        weir_message_free(self, reply); /* its requester has given up */
    return leave(worker, done(ticket));
}

/* --- the front ------------------------------------------------------------------------------ */

static weir_pid somewhere(const struct world *world, uint64_t number)
{
    static const enum hall_name ways[] = { HALL_BACK, HALL_KEYED, HALL_PULL, HALL_BACK };

    return world->halls[ways[number % 4]].pid;
}

static int pass_on(struct weir_self *self, struct worker *worker, struct ticket *ticket,
                   const struct weir_message *message)
{
    uint64_t id = parcel_of(message).id;

    /* Before the send: afterwards the message belongs to the receiver. */
    atomic_fetch_add(&ticket->again, 1);
    if (weir_forward(self, somewhere(worker->world, id), message) == 0)
        return WEIR_DONE;
    atomic_fetch_sub(&ticket->again, 1);
    return WEIR_REJECT;
}

static int emit_some(struct weir_self *self, struct worker *worker, struct ticket *ticket,
                     uint32_t output, uint32_t count)
{
    while (count-- > 0) {
        uint64_t id;
        struct weir_message *message = issue(self, worker, &id);

        if (!message)
            break;
        worker->world->tickets[id].shared = output == OUTPUT_ALL;
        if (weir_emit(self, output, message) != 0)
            take_back(self, worker, message, id);
    }
    return done(ticket);
}

static void unstash(struct weir_self *self, void *state, void *context)
{
    struct worker *worker = state;

    (void)context;
    (void)enter(worker);
    worker->stashed = false;
    (void)weir_unstash(self, UINT32_MAX);
    (void)leave(worker, 0);
}

static int put_aside(struct weir_self *self, struct worker *worker, struct ticket *ticket,
                     const struct weir_message *message)
{
    if (atomic_load(&ticket->again) > 0)
        return done(ticket);
    atomic_fetch_add(&ticket->again, 1);
    if (!worker->stashed && weir_after(self, STASH_MS, unstash, NULL, NULL) != 0)
        abort();
    worker->stashed = true;
    return weir_stash(self, message) == 0 ? WEIR_DONE : done(ticket);
}

static int handle_front(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    struct world *world = enter(worker);
    struct ticket *ticket = begin(worker, message);
    uint64_t id = parcel_of(message).id;
    uint32_t chosen = choice(worker, id, message);

    (void)world;
    if (chosen < 2)
        return leave(worker, WEIR_FAIL);
    if (chosen < 4)
        return leave(worker, WEIR_REJECT);
    if (chosen < 9)
        return leave(worker, retry(self, worker, ticket, id));
    if (chosen < 10) {
        (void)done(ticket);
        return leave(worker, WEIR_STOP);
    }
    if (chosen < 30)
        return leave(worker, ask(self, worker, ticket, message));
    if (chosen < 50)
        return leave(worker, pass_on(self, worker, ticket, message));
    if (chosen < 75)
        return leave(worker, emit_some(self, worker, ticket, OUTPUT_BACK, 1 + chosen % 3));
    if (chosen < 86)
        return leave(worker, emit_some(self, worker, ticket, OUTPUT_ANY, 1 + chosen % 2));
    if (chosen < 92)
        return leave(worker, emit_some(self, worker, ticket, OUTPUT_ALL, 1 + chosen % 2));
    return leave(worker, put_aside(self, worker, ticket, message));
}

/* --- the others ----------------------------------------------------------------------------- */

/* `again`: how often it is delivered once more when its worker fails with it. */
static int take(struct weir_self *self, struct worker *worker, const struct weir_message *message,
                uint32_t salt, uint32_t again)
{
    uint64_t id = parcel_of(message).id;
    struct ticket *ticket;
    uint32_t chosen;

    (void)enter(worker);
    ticket = begin(worker, message);
    chosen = choice(worker, id + salt, message);
    if (chosen < 2) {
        atomic_fetch_add(&ticket->again, again);
        return leave(worker, WEIR_FAIL);
    }
    if (chosen < 6)
        return leave(worker, retry(self, worker, ticket, id));
    return leave(worker, chosen < 8 ? WEIR_REJECT : done(ticket));
}

static int handle_back(struct weir_self *self, void *state, const struct weir_message *message)
{
    return take(self, state, message, 0, 1);
}

/* Each copy by itself. */
static int handle_all(struct weir_self *self, void *state, const struct weir_message *message)
{
    return take(self, state, message, weir_index(self), 0);
}

/* The numbers of each sender increase in spite of failures; refused ones leave gaps. */
static int handle_line(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    struct world *world = enter(worker);
    struct parcel parcel = parcel_of(message);
    struct ticket *ticket = begin(worker, message);

    if (parcel.number % 8 == 0 && puts_back(self, ticket, message))
        return leave(worker, WEIR_DONE);
    if (parcel.sender < WORLD_SENDERS)
        world_expect(world,
                     atomic_exchange(&world->last[parcel.sender], parcel.number) < parcel.number,
                     "out of order", parcel.id);
    if (choice(worker, parcel.id, message) < 4)
        return leave(worker, WEIR_FAIL);
    return leave(worker, done(ticket));
}

#define BEHAVIOUR(function)                                                                        \
    {                                                                                              \
        .name = #function, .state_size = sizeof(struct worker), .open = open_worker,               \
        .handle = (function), .close = close_worker, .in_hand = IN_HAND                            \
    }

const struct weir_behaviour *workers_of(enum hall_name name)
{
    static const struct weir_behaviour behaviours[HALLS] = {
        [HALL_A] = BEHAVIOUR(handle_front),    [HALL_B] = BEHAVIOUR(handle_front),
        [HALL_BACK] = BEHAVIOUR(handle_back),  [HALL_ANSWER] = BEHAVIOUR(handle_answer),
        [HALL_KEYED] = BEHAVIOUR(handle_back), [HALL_PULL] = BEHAVIOUR(handle_back),
        [HALL_ALL] = BEHAVIOUR(handle_all),    [HALL_LINE] = BEHAVIOUR(handle_line),
    };

    return &behaviours[name];
}

/* --- the source ----------------------------------------------------------------------------- */

struct producer {
    struct world *world;
};

static int open_source(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct producer *)state)->world = (struct world *)(uintptr_t)settings;
    return 0;
}

/* With the message's own attempt, which the payload's sender cannot know. */
static int give(struct weir_self *self, struct world *world, uint64_t id, uint32_t attempt)
{
    struct parcel parcel = { .id = id, .sender = UINT32_MAX };
    struct weir_message *message = weir_message_new(self, NULL, sizeof parcel);

    if (!message || weir_set_origin(self, message, id) != 0)
        abort();
    memcpy(message->data, &parcel, sizeof parcel);
    message->attempt = (uint16_t)attempt;
    message->key = id + 1;
    atomic_fetch_add(&world->tickets[id].notified, 1);
    if (weir_emit(self, 0, message) == 0)
        return 0;
    atomic_fetch_sub(&world->tickets[id].notified, 1);
    weir_message_free(self, message);
    return WEIR_EFULL;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct world *world = ((struct producer *)state)->world;

    for (uint32_t i = 0; i < credit; i++) {
        uint64_t id;

        if (atomic_load(&world->calm))
            return WEIR_END;
        id = world_ticket(world);
        if (id == UINT64_MAX)
            return WEIR_END;
        atomic_fetch_add(&world->tickets[id].accepted, 1);
        if (give(self, world, id, 1) != 0)
            abort();
        atomic_fetch_add(&world->emitted_by_source, 1);
        world->options.step_aside(world->options.context);
    }
    return WEIR_MORE;
}

/* A message to retry is retried at once, unless the outbox is full. */
static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct world *world = ((struct producer *)state)->world;
    struct ticket *ticket = &world->tickets[outcome->token];

    atomic_fetch_sub(&ticket->notified, 1);
    if (outcome->result == WEIR_OUTCOME_RETRY &&
        give(self, world, outcome->token, outcome->attempt + 1) != 0)
        atomic_fetch_add(&ticket->returned, 1);
}

const struct weir_behaviour *workers_source(void)
{
    static const struct weir_behaviour behaviour = { .name = "source",
                                                     .state_size = sizeof(struct producer),
                                                     .open = open_source,
                                                     .produce = produce,
                                                     .settled = settled };

    return &behaviour;
}
