/* SPDX-License-Identifier: MIT */
#include "storm/walk.h"

#include <inttypes.h>
#include <stdio.h>

#include "actor/backlog.h"
#include "actor/place.h"
#include "actor/stash.h"

void walk_init(struct walk *walk, struct world *world)
{
    *walk = (struct walk){ .world = world };
}

static uint32_t length_of_lane(struct mailbox *mailbox)
{
    struct message *message = atomic_load(&mailbox->first);
    uint32_t length = atomic_load(&mailbox->waker) ? 1 : 0;

    for (; message; message = atomic_load(&message->next))
        length++;
    return length;
}

/* The places that senders find taken: a message that a member takes out and puts back keeps its
 * own. */
static uint32_t places_of(struct mailbox *mailbox)
{
    return (uint32_t)atomic_load(&mailbox->word) - atomic_load(&mailbox->head);
}

/* After a limit was lowered there are too many; from then on their number only falls. A member
 * between two lists at the last step is checked from now on. */
static void look_at_limit(struct walk *walk, struct actor *actor)
{
    uint32_t limit = mailbox_is_unbuffered(&actor->mailbox) ? 1
                                                            : atomic_load(&actor->mailbox.limit);
    uint32_t queued = places_of(&actor->mailbox);
    uint32_t serial = actor_serial_of(actor_pid(actor));
    uint32_t slot = (uint32_t)actor_pid(actor);

    if (slot >= WALK_ACTORS_MAX)
        return;
    if (queued > limit && walk->seen[slot].step == walk->steps - 1)
        world_expect(walk->world,
                     walk->seen[slot].serial == serial && queued <= walk->seen[slot].queued,
                     "more in a mailbox than its limit", queued);
    walk->seen[slot].step = walk->steps;
    walk->seen[slot].serial = serial;
    walk->seen[slot].queued = queued;
}

/* No thread is inside its turn: it sleeps. */
static bool is_asleep(struct actor *actor)
{
    return atomic_load(&actor->mailbox.word) & (MAILBOX_IDLE | MAILBOX_MUTED);
}

static void look_at_hands(struct walk *walk, struct actor *actor,
                          const struct ledger_reading *reading)
{
    const struct outbox *outbox = place_outbox(actor->place);
    uint32_t held = message_queue_count(&actor->front) + backlog_retries(actor) +
                    stash_count(actor) + (outbox && outbox->settling ? 1 : 0) +
                    (actor->ext ? actor->ext->events.count : 0);

    world_expect(walk->world, reading->in_hand == actor->kept.count, "in hand, and not there",
                 reading->in_hand);
    world_expect(walk->world, reading->held == held, "held, and not there", reading->held);
}

static void look_at_ledger(struct walk *walk, struct actor *actor)
{
    struct ledger_reading reading;

    ledger_read(&actor->ledger, &actor->mailbox, &reading);
    world_expect(walk->world, ledger_reading_difference(&reading) == 0, "a ledger does not balance",
                 reading.accepted);
    world_expect(walk->world, reading.queued == length_of_lane(&actor->mailbox),
                 "queued, and not in the lane", reading.queued);
    if (is_asleep(actor))
        look_at_hands(walk, actor, &reading);
}

static void look_at_places(struct walk *walk, struct pool *pool,
                           void (*look)(struct walk *walk, struct actor *actor))
{
    struct list *lists[] = { &pool->places, &pool->leavers, &pool->closers, &pool->prepared };

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (struct list *node = lists[i]->next; node != lists[i]; node = node->next)
            look(walk, LIST_ENTRY(node, struct place, link)->actor);
}

static void look_at_pool(struct walk *walk, const struct hall *hall)
{
    struct pool *pool = hall->pool;
    struct weir_pool_stats stats = { .size = sizeof stats };

    look_at_places(walk, pool, look_at_ledger);
    pool_stats(pool, &stats);
    world_expect(walk->world, stats.live <= stats.target, "more open than the target", stats.live);
    world_expect(walk->world,
                 atomic_load(&hall->stopped) || resize_count_locked(pool) == stats.target,
                 "the target is not what there is", stats.target);
    world_expect(walk->world, pool->owner.waiting == pool->pull.messages.count,
                 "pulled are counted wrongly", pool->owner.waiting);
}

void walk_step(struct walk *walk, bool at_rest)
{
    struct world *world = walk->world;

    walk->steps++;
    for (uint32_t i = 0; i < HALLS; i++) {
        look_at_places(walk, world->halls[i].pool, look_at_limit);
        if (at_rest)
            look_at_pool(walk, &world->halls[i]);
    }
}

/* --- printing -------------------------------------------------------------------------------- */

static void print_actor(struct walk *walk, struct actor *actor)
{
    static const char *const states[] = { "starting", "open", "waiting", "ended" };
    uint64_t word = atomic_load(&actor->mailbox.word);
    struct ledger_reading reading;

    (void)walk;
    ledger_read(&actor->ledger, &actor->mailbox, &reading);
    (void)fprintf(stderr,
                  "    %s %s%s%s%s%s flags %x queued %" PRIu64 " of %u in hand %" PRIu64
                  " held %" PRIu64 " outbox %u kept %u front %u retries %u stash %u\n",
                  actor->place->path, states[atomic_load(&actor->state)],
                  word & MAILBOX_IDLE ? " idle" : "", word & MAILBOX_MUTED ? " muted" : "",
                  word & MAILBOX_CLOSED ? " closed" : "",
                  actor->place->standing == PLACE_LEAVING ? " leaving" : "", actor->flags,
                  reading.queued, atomic_load(&actor->mailbox.limit), reading.in_hand, reading.held,
                  place_unsent(actor->place), actor->kept.count, message_queue_count(&actor->front),
                  backlog_retries(actor), stash_count(actor));
}

static void print_takers(const struct pool *pool)
{
    const struct pull_queue *pull = &pool->pull;

    (void)fprintf(stderr, "    takers: sleeping %u called %u opening %u growth %u flags %x%s%s\n",
                  atomic_load(&pull->sleeping), atomic_load(&pull->called),
                  atomic_load(&pull->opening), pull->growth, flags_word(&pool->flags),
                  pool->scaler.stuck ? " stuck" : "", pool->scaler.logged_full ? " full" : "");
}

static void print_pool(struct walk *walk, struct pool *pool)
{
    (void)fprintf(stderr, "  %s target %u places %u pull %u%s%s%s waiters %u\n", pool->path,
                  pool->target, resize_count_locked(pool), pool->pull.messages.count,
                  flags_is_paused(&pool->flags) ? " paused" : "",
                  flags_is_closing(&pool->flags) ? " closing" : "", pool->ended ? " ended" : "",
                  atomic_load(&pool->waiters.count));
    if (pool->settings.lease.on)
        print_takers(pool);
    look_at_places(walk, pool, print_actor);
}

void walk_print(struct walk *walk)
{
    struct world *world = walk->world;
    struct pool *pool;

    print_pool(walk, world->top);
    for (uint32_t i = 0; (pool = world_pool(world, i)); i++)
        print_pool(walk, pool);
    print_pool(walk, world->lessors);
    for (uint32_t i = 0; i < WORLD_LESSORS; i++)
        print_pool(walk, world->lessor[i]);
    if (!atomic_load(&world->source->ended))
        print_actor(walk, world->source->actor);
}
