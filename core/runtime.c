/* SPDX-License-Identifier: MIT */
#include "runtime.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "actor/actor_ext.h"
#include "actor/end.h"
#include "actor/events.h"
#include "actor/external_request.h"
#include "actor/group.h"
#include "actor/lifecycle.h"
#include "actor/party.h"
#include "actor/port.h"
#include "actor/relief.h"
#include "actor/room_queue.h"
#include "actor/router.h"
#include "actor/send.h"
#include "actor/turn.h"
#include "dispatch/barrier.h"
#include "dispatch/rest.h"
#include "dispatch/timekeeper.h"
#include "host_table.h"

void runtime_prepare_process(void)
{
    (void)barrier_register();
}

int runtime_create(const struct runtime_options *options, struct runtime **out)
{
    struct runtime *runtime = aligned_alloc(64, (sizeof *runtime + 63) / 64 * 64);

    if (!runtime)
        return WEIR_ENOMEM;
    memset((void *)runtime, 0, sizeof *runtime);
    runtime->options = *options;
    runtime->host = &host_table;
    runtime->turn = actor_turn;
    runtime->memory = memory_create(options->memory);
    if (!runtime->memory)
        goto fail_runtime;
    if (external_requests_create(runtime, &runtime->external_requests) != 0)
        goto fail_memory;
    tag_table_init(&runtime->tags);
    runtime->task_tag = tag_table_get(&runtime->tags, TAG_TASK);
    if (!runtime->task_tag || slots_init(&runtime->slots) != 0)
        goto fail_tags;
    reclaim_init(&runtime->reclaim);
    if (timekeeper_create(runtime, &runtime->reclaim, options->clock, &runtime->timekeeper) != 0)
        goto fail_slots;
    timekeeper_set_long_turn(runtime->timekeeper, relief_look);
    names_init(&runtime->names);
    events_init(&runtime->events);
    given_up_init(&runtime->given_up);
    groups_init(&runtime->groups);
    storing_init(&runtime->storing);
    polls_init(&runtime->polls);
    descriptors_init(&runtime->descriptors, options->descriptors);
    runtime_init_entries(runtime);
    *out = runtime;
    return 0;

fail_slots:
    reclaim_finish(&runtime->reclaim);
    slots_finish(&runtime->slots);
fail_tags:
    tag_table_finish(&runtime->tags);
    external_requests_unref(runtime->external_requests);
fail_memory:
    memory_unref(runtime->memory);
fail_runtime:
    free(runtime);
    return WEIR_ENOMEM;
}

/* --- dispatchers ---------------------------------------------------------------------------- */

struct dispatcher *runtime_find_dispatcher(struct runtime *runtime, const char *name)
{
    /* Acquire pairs with the release in runtime_add_dispatcher. */
    uint32_t count = atomic_load_explicit(&runtime->dispatcher_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        if (strcmp(runtime->dispatchers[i]->name, name) == 0)
            return runtime->dispatchers[i];
    return NULL;
}

/* One that was retired: messages still refer to the memory of its threads, so it is used again. */
static int wake_retired(struct dispatcher *dispatcher, const char *name, uint32_t threads,
                        const struct dispatcher_policy *policy)
{
    int status = dispatcher_rename(dispatcher, name);

    dispatcher_set_policy(dispatcher, policy);
    if (status == 0)
        status = dispatcher_resize(dispatcher, threads);
    if (status != 0)
        (void)dispatcher_rename(dispatcher, "");
    return status;
}

static void discard_dispatcher(struct dispatcher *dispatcher)
{
    if (!dispatcher)
        return;
    dispatcher_signal_stop(dispatcher);
    (void)dispatcher_join(dispatcher);
    dispatcher_destroy(dispatcher);
}

static int create_dispatcher(struct runtime *runtime, const char *name, uint32_t threads,
                             const struct dispatcher_policy *policy, struct dispatcher **out)
{
    struct dispatcher_options options = {
        .name = name,
        .threads = threads,
        .runtime = runtime,
        .memory = runtime->memory,
        .reclaim = &runtime->reclaim,
        .clock = runtime->options.clock,
        .doze = timekeeper_doze(runtime->timekeeper),
        .thread_start = runtime->options.thread_start,
        .thread_end = runtime->options.thread_end,
        .stir = runtime->options.stir,
        .stir_context = runtime->options.stir_context,
        .stuck = runtime->options.stuck,
        .stuck_context = runtime->options.stuck_context,
        .party = actor_party,
    };
    struct dispatcher *dispatcher = NULL;
    uint32_t count = atomic_load_explicit(&runtime->dispatcher_count, memory_order_relaxed);
    int status;

    _Static_assert(RUNTIME_DISPATCHERS_MAX <= TIMEKEEPER_DISPATCHERS_MAX, "all are watched");
    if (count == RUNTIME_DISPATCHERS_MAX)
        return WEIR_ENOMEM;
    if (policy)
        options.policy = *policy;
    status = dispatcher_create(&options, &dispatcher);
    if (status == 0 && runtime->started)
        status = dispatcher_start(dispatcher);
    if (status == 0)
        status = timekeeper_watch(runtime->timekeeper, dispatcher);
    if (status != 0) {
        discard_dispatcher(dispatcher);
        return status;
    }
    timekeeper_look(runtime->timekeeper);
    runtime->dispatchers[count] = dispatcher;
    /* Release: a thread that sees the new count sees a complete dispatcher. */
    atomic_store_explicit(&runtime->dispatcher_count, count + 1, memory_order_release);
    *out = dispatcher;
    return 0;
}

int runtime_add_dispatcher(struct runtime *runtime, const char *name, uint32_t threads,
                           const struct dispatcher_policy *policy, struct dispatcher **out)
{
    struct dispatcher *dispatcher;
    int status;

    if (*name == '\0')
        return WEIR_EINVALID;
    if (runtime_find_dispatcher(runtime, name))
        return WEIR_EEXISTS;
    dispatcher = runtime_find_dispatcher(runtime, "");
    status = dispatcher ? wake_retired(dispatcher, name, threads, policy)
                        : create_dispatcher(runtime, name, threads, policy, &dispatcher);
    if (status == 0 && out)
        *out = dispatcher;
    return status;
}

bool runtime_retire_dispatcher(struct dispatcher *dispatcher)
{
    if (dispatcher_users(dispatcher) != 0)
        return false;
    (void)dispatcher_resize(dispatcher, 0);
    (void)dispatcher_rename(dispatcher, "");
    return true;
}

/* --- start and stop ------------------------------------------------------------------------- */

/* Threads of plugins stay outside from now on. */
static void close_port(struct actor *actor, void *context)
{
    (void)context;
    if (!actor->runtime || !actor->ext)
        return;
    port_close(actor->ext->port);
    actor->ext->port = NULL;
}

/* Those of an actor that has ended saw that. */
static void let_look_again(struct actor *actor, void *context)
{
    if (!actor->runtime || actor_state(actor) == ACTOR_ENDED)
        return;
    if (actor->router)
        wait_queue_dissolve(actor->router->waiters, context);
    else
        room_queue_dissolve(actor, context);
}

/* Threads that wait through a port see that the runtime ends. */
static void end_waits(struct runtime *runtime)
{
    struct executor *executor = runtime_enter(runtime);

    groups_wake(&runtime->groups);
    runtime_notice(runtime);
    if (!executor)
        return;
    slots_visit(&runtime->slots, let_look_again, executor);
    runtime_leave(executor);
}

/* No thread is inside any more, nor comes in: the owners may destroy their pools, which a sender
 * would find by their PIDs. */
static void keep_out(struct runtime *runtime)
{
    /* Relaxed: a thread that waits is woken until it has seen it. */
    atomic_store_explicit(&runtime->ending, true, memory_order_relaxed);
    slots_visit(&runtime->slots, close_port, NULL);
    external_requests_part(runtime->external_requests);
    while (runtime_is_entered(runtime)) { /* for the length of one call */
        end_waits(runtime);
        (void)sched_yield();
    }
}

int runtime_start(struct runtime *runtime)
{
    int status = timekeeper_start(runtime->timekeeper);

    for (uint32_t i = 0; i < runtime->dispatcher_count && status == 0; i++)
        status = dispatcher_start(runtime->dispatchers[i]);
    if (status != 0)
        (void)runtime_stop(runtime);
    runtime->started = status == 0;
    return status;
}

int runtime_stop(struct runtime *runtime)
{
    int status = 0;

    timekeeper_stop(runtime->timekeeper);
    for (uint32_t i = 0; i < runtime->dispatcher_count; i++)
        dispatcher_signal_stop(runtime->dispatchers[i]);
    for (uint32_t i = 0; i < runtime->dispatcher_count && status == 0; i++)
        status = dispatcher_join(runtime->dispatchers[i]);
    if (status == 0)
        keep_out(runtime);
    return status;
}

/* --- descriptors ---------------------------------------------------------------------------- */

int runtime_ready(struct runtime *runtime, uint64_t token, int readiness)
{
    struct executor *executor = runtime_enter(runtime);
    struct message *message;
    weir_pid pid;

    if (!executor)
        return WEIR_ENOMEM;
    message = polls_take(&runtime->polls, token, &pid);
    if (message) {
        message->status = readiness;
        if (send_control(runtime, executor, pid, message) != 0)
            message_destroy(&executor->cache, message);
    }
    runtime_leave(executor);
    return 0;
}

bool runtime_rest(struct runtime *runtime)
{
    /* Acquire: see create_dispatcher. A dispatcher is only added on a thread that is awake. */
    uint32_t count = atomic_load_explicit(&runtime->dispatcher_count, memory_order_acquire);
    bool rests = true;

    for (uint32_t i = 0; i < count && rests; i++)
        rests = dispatcher_rest(runtime->dispatchers[i]);
    for (uint32_t i = 0; i < count && !rests; i++)
        dispatcher_end_rest(runtime->dispatchers[i]);
    return rests;
}

/* --- the end -------------------------------------------------------------------------------- */

static void abandon(struct actor *actor, void *context)
{
    if (actor->runtime)
        end_abandoned(actor, context);
}

/* No thread runs: moves the memory that they retired, and have not freed, to the next reader that
 * polls. */
static void hand_over_all(struct runtime *runtime)
{
    for (uint32_t i = 0; i < runtime->dispatcher_count; i++) {
        struct dispatcher *dispatcher = runtime->dispatchers[i];

        for (uint32_t j = 0; j < dispatcher_slot_count(dispatcher); j++) {
            reader_hand_over(&dispatcher->executors[j]->reader);
            cache_flush(&dispatcher->executors[j]->cache);
        }
    }
}

void runtime_destroy(struct runtime *runtime)
{
    struct executor *executor;

    if (!runtime)
        return;
    executor = runtime_enter(runtime);
    if (executor) {
        external_requests_close(runtime->external_requests, &executor->cache);
        slots_visit(&runtime->slots, abandon, executor);
        polls_finish(&runtime->polls, &executor->cache);
        storing_finish(&runtime->storing, &executor->cache);
        hand_over_all(runtime);
        while (reader_poll(&executor->reader))
            ;
        runtime_leave(executor);
    }
    timekeeper_destroy(runtime->timekeeper);
    for (uint32_t i = 0; i < runtime->dispatcher_count; i++)
        dispatcher_destroy(runtime->dispatchers[i]);
    runtime_finish_entries(runtime);
    descriptors_finish(&runtime->descriptors);
    reclaim_finish(&runtime->reclaim);
    slots_finish(&runtime->slots);
    events_finish(&runtime->events);
    given_up_finish(&runtime->given_up);
    groups_finish(&runtime->groups);
    names_finish(&runtime->names);
    tag_table_finish(&runtime->tags);
    external_requests_unref(runtime->external_requests);
    memory_unref(runtime->memory);
    free(runtime);
}
