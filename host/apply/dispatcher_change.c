/* SPDX-License-Identifier: MIT */
#include "host/apply/dispatcher_change.h"

#include "base/cpus.h"
#include "base/plural.h"

static uint32_t threads_of(struct dispatcher *dispatcher)
{
    struct dispatcher_figures figures;

    dispatcher_look(dispatcher, &figures);
    return figures.threads;
}

/* --- prepare -------------------------------------------------------------------------------- */

static int add(struct assembly *assembly, const struct settings_dispatcher *wanted,
               struct dispatcher **out)
{
    int status = runtime_add_dispatcher(assembly->runtime, wanted->name, wanted->threads,
                                        &wanted->policy, out);

    if (status == 0)
        assembly->dispatchers[assembly->dispatcher_count++] = *out;
    return status;
}

static int prepare_one(struct dispatcher_change *change, struct assembly *assembly,
                       const struct settings_dispatcher *wanted)
{
    struct dispatcher *dispatcher = runtime_find_dispatcher(assembly->runtime, wanted->name);
    uint32_t before = dispatcher ? threads_of(dispatcher) : 0;
    int status = 0;

    if (change->count == RUNTIME_DISPATCHERS_MAX)
        return WEIR_ENOMEM;
    if (!dispatcher)
        status = add(assembly, wanted, &dispatcher);
    else if (wanted->threads > before)
        status = dispatcher_resize(dispatcher, wanted->threads);
    if (status != 0)
        return status;
    change->parts[change->count].wanted = wanted;
    change->parts[change->count].dispatcher = dispatcher;
    change->parts[change->count++].before = before;
    return 0;
}

int dispatcher_change_prepare(struct dispatcher_change *change, const struct transition *transition)
{
    struct plan_task task;
    size_t cursor = 0;

    *change = (struct dispatcher_change){ .count = 0 };
    while (plan_next_task(transition->plan, &cursor, &task)) {
        const struct settings_dispatcher *wanted;
        int status;

        if (task.part != PLAN_PART_DISPATCHER || task.effects & PLAN_REMOVES)
            continue; /* a removed one ends after its last user: dispatcher_change_collect */
        wanted = &transition->settings->dispatchers[task.new_index];
        status = prepare_one(change, transition->assembly, wanted);
        if (status != 0) {
            written_report(&wanted->written, "threads", transition->report,
                           "%u %s cannot start: " DISPATCHER_CHANGE_WANTING, wanted->threads,
                           plural(wanted->threads, "thread", "threads"));
            return status;
        }
    }
    return 0;
}

/* --- commit and abort ----------------------------------------------------------------------- */

void dispatcher_change_commit(struct dispatcher_change *change)
{
    for (uint32_t i = 0; i < change->count; i++) {
        const struct settings_dispatcher *wanted = change->parts[i].wanted;
        struct dispatcher *dispatcher = change->parts[i].dispatcher;

        dispatcher_set_policy(dispatcher, &wanted->policy);
        if (wanted->threads < threads_of(dispatcher))
            (void)dispatcher_resize(dispatcher, wanted->threads); /* fewer: cannot fail */
    }
}

/* True when the dispatcher is retired, or is idle until it is added again. */
static bool try_retire(struct assembly *assembly, uint32_t index)
{
    if (!runtime_retire_dispatcher(assembly->dispatchers[index]))
        return false;
    assembly->dispatchers[index] = assembly->dispatchers[--assembly->dispatcher_count];
    return true;
}

void dispatcher_change_abort(struct dispatcher_change *change, struct assembly *assembly,
                             uint64_t timeout_ms)
{
    for (uint32_t i = 0; i < change->count; i++) {
        struct dispatcher *dispatcher = change->parts[i].dispatcher;

        if (change->parts[i].before > 0 && change->parts[i].before < threads_of(dispatcher))
            (void)dispatcher_resize(dispatcher, change->parts[i].before);
    }
    change->count = 0;
    /* No settings in force name the new dispatchers, but their last turns may not be over yet. */
    dispatcher_change_collect(assembly, timeout_ms);
}

/* --- the CPUs have changed ------------------------------------------------------------------ */

static void log_follow(const struct assembly *assembly, const struct settings_dispatcher *follower,
                       uint32_t wanted, uint32_t effective_cpus, int status)
{
    log_event(runtime_log(assembly->runtime), status == 0 ? WEIR_LOG_INFO : WEIR_LOG_ERROR,
              follower->name, "effective CPUs have changed", weir_uint("cpus", effective_cpus),
              weir_uint("threads", follower->threads), weir_uint("wanted", wanted),
              weir_str("effect", status == 0 ? "as many threads as wanted"
                                             : "the threads stay: no more could be started"));
}

static bool follow(struct assembly *assembly, struct settings_dispatcher *follower,
                   uint32_t effective_cpus)
{
    struct dispatcher *dispatcher = runtime_find_dispatcher(assembly->runtime, follower->name);
    uint32_t wanted = cpus_threads(effective_cpus);
    int status;

    if (!dispatcher || !follower->threads_auto || follower->threads == wanted)
        return false;
    status = dispatcher_resize(dispatcher, wanted);
    log_follow(assembly, follower, wanted, effective_cpus, status);
    if (status != 0)
        return false;
    /* The next plan compares with the settings in force. */
    lock_acquire(&assembly->lock);
    follower->threads = wanted;
    lock_release(&assembly->lock);
    return true;
}

uint32_t dispatcher_change_follow(struct assembly *assembly, uint32_t effective_cpus)
{
    struct settings *settings = assembly->shared->settings;
    uint32_t changed = 0;

    for (uint32_t i = 0; i < settings->dispatcher_count; i++)
        changed += follow(assembly, &settings->dispatchers[i], effective_cpus);
    return changed;
}

/* --- afterwards ----------------------------------------------------------------------------- */

static bool is_wanted(const struct assembly *assembly, uint32_t index)
{
    const struct settings *settings = assembly->shared ? assembly->shared->settings : NULL;

    for (uint32_t i = 0; settings && i < settings->dispatcher_count; i++)
        if (runtime_find_dispatcher(assembly->runtime, settings->dispatchers[i].name) ==
            assembly->dispatchers[index])
            return true;
    return false;
}

static bool nobody_uses_the_unwanted(void *context)
{
    const struct assembly *assembly = context;

    if (atomic_load_explicit(&assembly->stopping, memory_order_acquire))
        return true;
    for (uint32_t i = 0; i < assembly->dispatcher_count; i++)
        if (!is_wanted(assembly, i) && dispatcher_users(assembly->dispatchers[i]) != 0)
            return false;
    return true;
}

void dispatcher_change_collect(struct assembly *assembly, uint64_t timeout_ms)
{
    uint32_t i = 0;

    (void)runtime_wait(assembly->runtime, nobody_uses_the_unwanted, assembly, timeout_ms);
    while (i < assembly->dispatcher_count) {
        if (is_wanted(assembly, i) || !try_retire(assembly, i))
            i++;
    }
    runtime_reap(assembly->runtime);
}

bool dispatcher_change_has_unwanted(const struct assembly *assembly)
{
    for (uint32_t i = 0; i < assembly->dispatcher_count; i++)
        if (!is_wanted(assembly, i))
            return true;
    return false;
}
