/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "actor/lifecycle.h"
#include "actor/spawn.h"
#include "bench.h"

uint64_t bench_resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (file) {
        if (fscanf(file, "%*u %lu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return (uint64_t)pages * 4096;
}

struct bench *bench_of(struct weir_self *self)
{
    return actor_of_self(self)->runtime->options.print_context;
}

static int spawn(struct runtime *runtime, struct executor *executor, struct actor_options *options,
                 struct wiring_slot *wiring, struct actor **out)
{
    if (wiring && place_create("bench", 0, &options->place) != 0)
        return WEIR_ENOMEM;
    if (wiring)
        options->place->wiring = wiring;
    return actor_spawn(runtime, executor, options, out);
}

struct actor *bench_spawn_here(struct weir_self *self, struct spec *spec)
{
    struct actor *actor = actor_of_self(self);
    struct actor_options options = { .dispatcher = actor->dispatcher,
                                     .spec = spec,
                                     .kind = ACTOR_WORKER };
    struct actor *child;

    if (spawn(actor->runtime, actor->executor, &options, NULL, &child) != 0)
        abort();
    return child;
}

struct actor *bench_spawn(struct bench *bench, const struct weir_behaviour *behaviour,
                          const void *settings, struct wiring_slot *wiring)
{
    struct executor *executor = runtime_enter(bench->runtime);
    struct spec *spec = spec_create(behaviour, settings);
    struct actor_options options = { .dispatcher = bench->dispatcher,
                                     .spec = spec,
                                     .kind = ACTOR_WORKER };
    struct actor *actor;

    if (!executor || !spec || spawn(bench->runtime, executor, &options, wiring, &actor) != 0)
        abort();
    spec_unref(spec);
    runtime_leave(executor);
    while (actor_state(actor) != ACTOR_OPEN)
        (void)sched_yield();
    return actor;
}

static bool pool_is_open(void *context)
{
    struct pool_opening opening = { 0 };

    pool_opening(context, &opening);
    return opening.starting == 0;
}

static bool pool_is_over(void *context)
{
    return pool_has_ended(context);
}

struct pool *bench_make_pool(struct bench *bench, const struct pool_options *options)
{
    struct executor *executor = runtime_enter(bench->runtime);
    struct pool *pool;

    if (pool_create(bench->runtime, executor, options, &pool) != 0)
        abort();
    runtime_leave(executor);
    if (!runtime_wait(bench->runtime, pool_is_open, pool, 60000))
        abort();
    return pool;
}

bool bench_end_pool(struct bench *bench, struct pool *pool, uint64_t expected)
{
    struct executor *executor = runtime_enter(bench->runtime);
    struct ledger_reading ledger;

    pool_close(pool, executor);
    runtime_leave(executor);
    if (!runtime_wait(bench->runtime, pool_is_over, pool, 60000))
        abort();
    pool_ledger(pool, &ledger);
    executor = runtime_enter(bench->runtime);
    pool_destroy(pool, executor);
    runtime_leave(executor);
    return ledger.done == expected && ledger_reading_difference(&ledger) == 0;
}

void bench_send(struct bench *bench, weir_pid to, uint64_t number)
{
    struct executor *executor = runtime_enter(bench->runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof number);

    *(uint64_t *)message->public.data = number;
    if (send_message(bench->runtime, executor, to, WEIR_NORMAL, message) != 0)
        abort();
    runtime_leave(executor);
}

bool bench_pass(struct weir_self *self, weir_pid to, uint64_t number)
{
    struct weir_message *message = weir_message_new(self, NULL, sizeof number);

    *(uint64_t *)message->data = number;
    if (weir_send(self, to, message) == 0)
        return true;
    weir_message_free(self, message);
    return false;
}

void bench_finish(struct bench *bench)
{
    if (atomic_fetch_sub(&bench->running, 1) == 1)
        runtime_notice(bench->runtime);
}

static bool is_finished(void *context)
{
    struct bench *bench = context;

    return atomic_load(&bench->running) == 0;
}

void bench_wait(struct bench *bench)
{
    if (!runtime_wait(bench->runtime, is_finished, bench, 600000))
        abort();
}

void bench_end(struct bench *bench, struct actor *const *actors, uint32_t count)
{
    struct executor *executor = runtime_enter(bench->runtime);

    for (uint32_t i = 0; i < count; i++)
        (void)actor_signal(actors[i], actor_serial_of(actor_pid(actors[i])), executor,
                           SIGNAL_DRAIN);
    runtime_leave(executor);
    for (uint32_t i = 0; i < count; i++)
        while (actor_state(actors[i]) != ACTOR_ENDED)
            (void)sched_yield();
}
