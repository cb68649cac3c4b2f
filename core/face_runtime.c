/* SPDX-License-Identifier: MIT */
/* Runtimes and dispatchers in the face: face/runtime.h. */
#include <stdio.h>

#include "actor/runtime.h"
#include "dispatch/timekeeper.h"

const struct log_sink *runtime_log(const struct runtime *runtime)
{
    return &runtime->options.log;
}

void runtime_set_memory(struct runtime *runtime, uint64_t limit)
{
    memory_set_limit(runtime->memory, limit);
}

void runtime_set_turn_warning(struct runtime *runtime, uint64_t turn_ms, uint64_t kept_ns)
{
    /* Relaxed: it counts from some turn on. */
    atomic_store_explicit(&runtime->kept_warning_ns, kept_ns, memory_order_relaxed);
    timekeeper_set_spare_after(runtime->timekeeper,
                               turn_ms < UINT32_MAX ? (uint32_t)turn_ms : UINT32_MAX);
}

void runtime_figures(struct runtime *runtime, struct runtime_figures *out)
{
    /* Relaxed: figures for people. */
    *out = (struct runtime_figures){
        .late_replies = atomic_load_explicit(&runtime->late_replies, memory_order_relaxed),
        .late_notices = atomic_load_explicit(&runtime->late_notices, memory_order_relaxed),
        .memory_limit = memory_limit(runtime->memory),
        .memory = atomic_load_explicit(&runtime->memory->taken, memory_order_relaxed),
        .memory_refused = atomic_load_explicit(&runtime->memory->refused, memory_order_relaxed),
        .descriptors = descriptors_taken(&runtime->descriptors),
        .opens_apart = atomic_load_explicit(&runtime->opens_apart, memory_order_relaxed),
        .exit_status = runtime_exit_status(runtime),
        .escalated = runtime_has_escalated(runtime),
    };
}

/* --- dispatchers ---------------------------------------------------------------------------- */

void dispatcher_look(struct dispatcher *dispatcher, struct dispatcher_figures *out)
{
    /* Relaxed: figures for people, or values that only the caller changes. */
    *out = (struct dispatcher_figures){
        .threads = atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed),
        .policy = dispatcher_policy_of(dispatcher),
        .stuck = atomic_load_explicit(&dispatcher->stuck, memory_order_relaxed),
        .spares = atomic_load_explicit(&dispatcher->spares, memory_order_relaxed) +
                  dispatcher_extras(dispatcher),
        .turns = dispatcher_turns(dispatcher),
    };
    if (!dispatcher_try_name(dispatcher, out->name))
        (void)snprintf(out->name, sizeof out->name, "?");
}

bool runtime_look_at_dispatcher(struct runtime *runtime, uint32_t number,
                                struct dispatcher_figures *out)
{
    /* Acquire pairs with the release with which a dispatcher is counted: it is seen whole. */
    if (number >= atomic_load_explicit(&runtime->dispatcher_count, memory_order_acquire))
        return false;
    dispatcher_look(runtime->dispatchers[number], out);
    return true;
}

void runtime_reap(struct runtime *runtime)
{
    uint32_t count = atomic_load_explicit(&runtime->dispatcher_count, memory_order_acquire);

    for (uint32_t i = 0; i < count; i++)
        dispatcher_reap(runtime->dispatchers[i]);
}
