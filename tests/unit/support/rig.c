/* SPDX-License-Identifier: MIT */
#include "unit/support/rig.h"

#include <stdlib.h>
#include <string.h>

#include "actor/deliver.h"
#include "actor/find.h"
#include "actor/send.h"
#include "dispatch/timekeeper.h"

#include "unit/support/wait_limit.h"

#define START_NS 1000000000u /* not 0, so that a time that was forgotten is seen */
#define LOOK_MS 1            /* a ledger moves without notice: look again after this */

static uint64_t now_ns(void *context)
{
    return atomic_load((_Atomic uint64_t *)context);
}

static void must(bool holds)
{
    if (!holds)
        abort();
}

void rig_init_still(struct rig *rig, uint32_t threads, uint32_t budget)
{
    struct runtime_options options = { .clock = { now_ns, (void *)&rig->now_ns } };

    atomic_init(&rig->now_ns, START_NS);
    must(runtime_create(&options, &rig->runtime) == 0);
    must(runtime_add_dispatcher(rig->runtime, "default", threads,
                                &(struct dispatcher_policy){ .budget = budget },
                                &rig->dispatcher) == 0);
}

void rig_init(struct rig *rig, uint32_t threads, uint32_t budget)
{
    rig_init_still(rig, threads, budget);
    must(runtime_start(rig->runtime) == 0);
}

bool rig_step(struct rig *rig, bool (*done)(void *context), void *context, uint32_t steps)
{
    struct executor *executor = rig->dispatcher->executors[0];

    while (!done(context) && steps-- > 0)
        (void)executor_step(executor);
    reader_offline(&executor->reader); /* until the next one */
    return done(context);
}

void rig_finish(struct rig *rig)
{
    must(runtime_stop(rig->runtime) == 0);
    runtime_destroy(rig->runtime);
}

void rig_advance(struct rig *rig, uint64_t ms)
{
    atomic_fetch_add(&rig->now_ns, ms * 1000000u);
    timekeeper_look(rig->runtime->timekeeper);
}

bool rig_wait(struct rig *rig, bool (*done)(void *context), void *context)
{
    for (uint32_t i = 0; i < wait_limit_ms() / LOOK_MS; i++)
        if (runtime_wait(rig->runtime, done, context, LOOK_MS))
            return true;
    return false;
}

struct wish {
    struct probe *probe;
    uint64_t note;
    uint32_t times;
};

static bool is_noted(void *context)
{
    struct wish *wish = context;

    return probe_times(wish->probe, wish->note) >= wish->times;
}

bool rig_noted(struct rig *rig, struct probe *probe, uint64_t note, uint32_t times)
{
    struct wish wish = { probe, note, times };

    return rig_wait(rig, is_noted, &wish);
}

/* --- pools ---------------------------------------------------------------------------------- */

struct spec *rig_spec(struct probe *probe)
{
    struct spec *spec = spec_create(&probe->behaviour, probe);

    must(spec != NULL);
    return spec;
}

struct pool *rig_pool(struct rig *rig, const struct pool_options *options)
{
    struct executor *executor = runtime_enter(rig->runtime);
    struct pool_options filled = *options;
    struct pool *pool = NULL;

    must(executor != NULL);
    filled.dispatcher = rig->dispatcher;
    if (!filled.path)
        filled.path = "pool";
    if (pool_create(rig->runtime, executor, &filled, &pool) != 0)
        pool = NULL;
    runtime_leave(executor);
    return pool;
}

struct pool *rig_workers(struct rig *rig, struct probe *probe, const char *path, uint32_t size,
                         uint32_t limit)
{
    struct spec *spec = rig_spec(probe);
    struct pool_options options = {
        .path = path, .spec = spec, .size = size, .settings.mailbox = limit
    };
    struct pool *pool = rig_pool(rig, &options);

    spec_unref(spec);
    must(pool != NULL);
    must(rig_settled(rig, pool));
    return pool;
}

struct ledger_reading rig_ledger(struct pool *pool)
{
    struct ledger_reading reading;

    pool_ledger(pool, &reading);
    return reading;
}

struct weir_pool_stats rig_stats(struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    pool_stats(pool, &stats);
    return stats;
}

uint64_t rig_dead(struct pool *pool, enum dead_reason reason)
{
    uint64_t counts[DEAD_REASONS];

    dead_letters_counts(&pool->dead, counts);
    return counts[reason];
}

static bool is_settled(void *context)
{
    struct weir_pool_stats stats = rig_stats(context);

    return stats.live == stats.target && stats.starting == 0 && stats.retiring == 0;
}

bool rig_settled(struct rig *rig, struct pool *pool)
{
    return rig_wait(rig, is_settled, pool);
}

static bool is_drained(void *context)
{
    struct ledger_reading reading = rig_ledger(context);

    return reading.queued == 0 && reading.in_hand == 0 && reading.held == 0;
}

bool rig_drained(struct rig *rig, struct pool *pool)
{
    return rig_wait(rig, is_drained, pool);
}

int rig_resize(struct rig *rig, struct pool *pool, uint32_t target, struct weir_resized *out)
{
    struct executor *executor = runtime_enter(rig->runtime);
    int status = pool_resize(pool, executor, target, out);

    runtime_leave(executor);
    return status;
}

void rig_close(struct rig *rig, struct pool *pool)
{
    struct executor *executor = runtime_enter(rig->runtime);

    pool_close(pool, executor);
    runtime_leave(executor);
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

bool rig_end(struct rig *rig, struct pool *pool, struct ledger_reading *out)
{
    struct ledger_reading reading;
    struct executor *executor;

    rig_close(rig, pool);
    if (!rig_wait(rig, has_ended, pool))
        return false;
    reading = rig_ledger(pool);
    if (out)
        *out = reading;
    executor = runtime_enter(rig->runtime);
    pool_destroy(pool, executor);
    runtime_leave(executor);
    return ledger_reading_difference(&reading) == 0 && reading.queued == 0 &&
           reading.in_hand == 0 && reading.held == 0;
}

weir_pid rig_worker(struct pool *pool, uint32_t index)
{
    weir_pid pid = 0;

    lock_acquire(&pool->lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (place->index == index)
            pid = actor_pid(place->actor);
    }
    lock_release(&pool->lock);
    return pid;
}

/* --- sending -------------------------------------------------------------------------------- */

static int send_order(struct rig *rig, weir_pid to, enum weir_lane lane, uint64_t key,
                      struct order order)
{
    struct executor *executor = runtime_enter(rig->runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof order);
    int status;

    must(message != NULL);
    memcpy(message->public.data, &order, sizeof order);
    message->public.key = key;
    status = send_message(rig->runtime, executor, to, lane, message);
    if (status != 0)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    return status;
}

int rig_send_routed(struct rig *rig, struct pool *pool, uint32_t index, struct order order)
{
    const weir_pid worker = rig_worker(pool, index);
    struct executor *executor = runtime_enter(rig->runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof order);
    struct actor *actor;
    int status = actor_find_alive(rig->runtime, worker, &actor);

    must(message != NULL);
    memcpy(message->public.data, &order, sizeof order);
    if (status == 0)
        status = deliver(actor, actor_serial_of(worker), executor, message);
    if (status != 0)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    return status;
}

int rig_send(struct rig *rig, weir_pid to, struct order order)
{
    return send_order(rig, to, WEIR_NORMAL, 0, order);
}

int rig_send_lane(struct rig *rig, weir_pid to, enum weir_lane lane, struct order order)
{
    return send_order(rig, to, lane, 0, order);
}

int rig_send_key(struct rig *rig, weir_pid to, uint64_t key, struct order order)
{
    return send_order(rig, to, WEIR_NORMAL, key, order);
}
