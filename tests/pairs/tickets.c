/* SPDX-License-Identifier: MIT */
/* The account of messages: pairs.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs/pairs.h"

#define COPIES_MAX 16u
#define LETTERS_MAX 10000u

/* --- making ----------------------------------------------------------------------------------- */

uint32_t ticket_new(struct world *world, uint32_t parent)
{
    uint32_t ticket = atomic_fetch_add(&world->issued, 1);

    if (ticket >= TICKETS) {
        atomic_fetch_sub(&world->issued, 1);
        return NO_TICKET;
    }
    world->tickets[ticket].parent = parent;
    world->tickets[ticket].has_origin = parent != NO_TICKET && world->tickets[parent].has_origin;
    return ticket;
}

static void fill(struct weir_message *message, const struct parcel *parcel)
{
    struct parcel filled = *parcel;

    filled.magic = PARCEL_MAGIC;
    memcpy(message->data, &filled, sizeof filled);
    message->key = (uint64_t)parcel->ticket % 5 + 1;
}

struct weir_message *parcel_outside(struct world *world, const struct parcel *parcel)
{
    struct weir_message *message = weir_runtime_message_new(world->runtime, NULL, sizeof *parcel);

    if (!message)
        abort();
    fill(message, parcel);
    return message;
}

struct weir_message *parcel_inside(struct weir_self *self, struct worker *worker, uint32_t parent,
                                   struct parcel *parcel)
{
    struct weir_message *message;

    parcel->ticket = ticket_new(worker->world, parent);
    if (parcel->ticket == NO_TICKET)
        return NULL;
    message = weir_message_new(self, NULL, sizeof *parcel);
    if (!message)
        abort();
    fill(message, parcel);
    return message;
}

const struct parcel *parcel_of(const struct weir_message *message)
{
    const struct parcel *parcel = message->data;

    return message->size == sizeof *parcel && parcel->magic == PARCEL_MAGIC ? parcel : NULL;
}

struct ticket *ticket_of(struct world *world, const struct weir_message *message)
{
    return &world->tickets[parcel_of(message)->ticket];
}

/* --- sending ---------------------------------------------------------------------------------- */

bool world_is_shared(const struct world *world, weir_pid pool)
{
    const struct plan *plan = &world->plan;

    if (pool == world->sink)
        return plan->sink.route == WEIR_ROUTE_BROADCAST;
    return (pool == world->main && plan->is_nested && plan->parent.route == WEIR_ROUTE_BROADCAST) ||
           ((pool == world->main || pool == world->leaves[0] || pool == world->leaves[1]) &&
            plan->leaf.route == WEIR_ROUTE_BROADCAST);
}

weir_pid world_single(const struct world *world)
{
    if (!world_is_shared(world, world->main))
        return world->main;
    return world_is_shared(world, world->sink) ? 0 : world->sink;
}

void ticket_send(struct world *world, uint32_t ticket, weir_pid to)
{
    if (world_is_shared(world, to))
        world->tickets[ticket].is_shared = true;
    atomic_fetch_add(&world->tickets[ticket].accepted, 1);
}

void ticket_refuse(struct world *world, uint32_t ticket)
{
    atomic_fetch_sub(&world->tickets[ticket].accepted, 1);
}

/* Half of the messages are plain. */
uint32_t deed_any(struct world *world, uint32_t drawn)
{
    uint32_t deed = drawn % 4;

    return deed < 2 && world->pair[deed]->handle ? deed : PLAIN;
}

/* --- the end ---------------------------------------------------------------------------------- */

static uint64_t count_letters(struct world *world, weir_pid pid)
{
    struct weir_dead_letter *letters = calloc(LETTERS_MAX, sizeof *letters);
    uint32_t count = 0;

    if (!letters)
        abort();
    world_expect(world,
                 weir_runtime_dead_letters(world->runtime, pid, letters, LETTERS_MAX, &count) == 0,
                 "no dead letters", (int64_t)pid);
    for (uint32_t i = 0; i < count; i++) {
        struct parcel parcel;

        memcpy(&parcel, letters[i].head, sizeof parcel);
        if (letters[i].payload_size != sizeof parcel || parcel.magic != PARCEL_MAGIC)
            continue; /* a task */
        world->tickets[parcel.ticket].dead++;
    }
    free(letters);
    return count;
}

static uint64_t dead_of(struct world *world, weir_pid pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    uint64_t dead = 0;

    if (weir_runtime_pool_stats(world->runtime, pool, &stats) != 0)
        abort();
    for (uint32_t i = 0; i < WEIR_DEAD_REASONS_MAX; i++)
        dead += stats.dead_by[i];
    return dead;
}

/* All dead letters are there, apart from those that were sent again. Those of a pool's members are
 * in its figures. */
static void expect_letters(struct world *world, weir_pid pool, uint64_t replayed)
{
    uint64_t count = count_letters(world, pool), dead = dead_of(world, pool);

    for (uint32_t i = 0; pool == world->main && i < world->leaf_count; i++)
        if (world->leaves[i] != pool)
            dead -= dead_of(world, world->leaves[i]);
    world_expect(world, count + replayed == dead, "dead letters are missing",
                 (int64_t)dead - (int64_t)count - (int64_t)replayed);
}

static bool is_settled(const struct ticket *ticket)
{
    uint32_t ends = ticket->done + ticket->dead + ticket->back;
    uint32_t most = ticket->is_shared ? ticket->accepted * COPIES_MAX : ticket->accepted;

    return ends + ticket->quiet >= ticket->accepted && ends <= most &&
           (ticket->begun > 0 || ticket->done == 0) && ticket->told == 0;
}

/* True when a message that has joined `ancestor`, or it itself, is dead or has no end. */
static bool has_lost(const struct world *world, uint32_t ancestor)
{
    uint32_t issued = atomic_load(&world->issued);

    for (uint32_t i = ancestor; i < issued; i++) {
        const struct ticket *ticket = &world->tickets[i];
        uint32_t parent = i;

        while (parent != NO_TICKET && parent != ancestor)
            parent = world->tickets[parent].parent;
        if (parent == ancestor &&
            (ticket->dead > 0 || ticket->done + ticket->quiet < ticket->accepted))
            return true;
    }
    return false;
}

static void print(const struct ticket *ticket)
{
    (void)fprintf(
        stderr, "    accepted %u begun %u done %u dead %u back %u quiet %u told %d%s%s parent %d\n",
        ticket->accepted, ticket->begun, ticket->done, ticket->dead, ticket->back, ticket->quiet,
        (int)ticket->told, ticket->told_done ? " told: done" : "",
        ticket->is_shared ? " shared" : "", (int)ticket->parent);
}

static void expect_ledger(struct world *world, weir_pid pid)
{
    struct weir_ledger ledger = WEIR_LEDGER;

    if (weir_runtime_ledger(world->runtime, pid, &ledger) != 0)
        abort();
    world_expect(world, ledger.queued + ledger.in_hand + ledger.held == 0,
                 "something is left in what has ended", (int64_t)ledger.queued);
    world_expect(world, ledger.accepted == ledger.done + ledger.dead + ledger.moved,
                 "a ledger does not balance", (int64_t)ledger.accepted);
}

/* Of a pool of pools: the figures are the sums. */
static void expect_sums(struct world *world)
{
    struct weir_pool_stats all = { .size = sizeof all };
    uint64_t accepted = 0, done = 0, restarts = 0;

    if (weir_runtime_pool_stats(world->runtime, world->main, &all) != 0)
        abort();
    for (uint32_t i = 0; i < world->leaf_count; i++) {
        struct weir_pool_stats stats = { .size = sizeof stats };

        if (weir_runtime_pool_stats(world->runtime, world->leaves[i], &stats) != 0)
            abort();
        accepted += stats.accepted;
        done += stats.done;
        restarts += stats.restarts;
    }
    world_expect(world, done == all.done && restarts == all.restarts,
                 "the figures of a pool are not those of its members", (int64_t)all.done);
    world_expect(world, accepted >= all.done, "more is done than was accepted", (int64_t)accepted);
}

void tickets_examine(struct world *world)
{
    uint32_t issued = atomic_load(&world->issued);

    for (uint32_t i = 0; i < world->leaf_count; i++)
        expect_letters(world, world->leaves[i], atomic_load(&world->replayed[i]));
    expect_letters(world, world->sink, 0);
    if (world->plan.is_nested)
        expect_letters(world, world->main, 0);
    if (world->source)
        (void)count_letters(world, world->source);
    expect_ledger(world, 0);
    expect_ledger(world, world->sink);
    expect_sums(world);
    for (uint32_t i = 0; i < issued; i++) {
        const struct ticket *ticket = &world->tickets[i];

        if (!is_settled(ticket)) {
            world_expect(world, false, "a message is not accounted for", i);
            print(ticket);
        }
        if (ticket->told_done && has_lost(world, i)) {
            world_expect(world, false, "its origin was told that all is done", i);
            print(ticket);
        }
    }
}
