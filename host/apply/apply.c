/* SPDX-License-Identifier: MIT */
#include "host/apply/apply.h"

#include "host/apply/opener.h"
#include "host/apply/opening.h"
#include "host/run/closing.h"
#include "host/run/draining.h"

/* between two attempts to open the former workers again when memory is out */
#define REOPEN_PAUSE_MS 100

/* --- preparing ------------------------------------------------------------------------------ */

static int make_everything(struct apply *apply)
{
    const struct transition *transition = &apply->transition;
    int status = dispatcher_change_prepare(&apply->dispatchers, transition);

    if (status != 0)
        return status;
    runtime_resume(apply->executor);
    status = pool_changes_prepare(&apply->pools, transition, apply->executor);
    if (status == 0)
        status = source_changes_prepare(&apply->sources, transition, apply->pools.all,
                                        apply->executor);
    runtime_pause(apply->executor);
    return status;
}

static int wait_until_open(struct apply *apply)
{
    const struct transition *transition = &apply->transition;
    struct opening opening = {
        .settings = transition->settings,
        .pools = apply->pools.made,
        .pool_count = transition->settings->pool_count,
        .changes = apply->pools.changes,
        .sources = apply->sources.made,
        .source_count = transition->settings->source_count,
        .stopping = &transition->assembly->stopping,
    };

    opener_run(transition->assembly, transition->settings, opening_count(&opening),
               apply->stuck_opens);
    return opening_wait(&opening, transition->assembly->runtime, transition->report);
}

static bool have_stopped(void *context)
{
    const struct apply *apply = context;

    return atomic_load_explicit(&apply->transition.assembly->stopping, memory_order_acquire) ||
           (pool_changes_have_stopped(&apply->pools) &&
            source_changes_have_stopped(&apply->sources));
}

static int stop_exclusive(struct apply *apply)
{
    int status;

    runtime_resume(apply->executor);
    status = pool_changes_stop(&apply->pools, apply->executor);
    if (status == 0)
        source_changes_stop(&apply->sources, apply->executor);
    runtime_pause(apply->executor);
    return status;
}

static int await_stop(struct apply *apply)
{
    const struct transition *transition = &apply->transition;

    if (!runtime_wait(transition->assembly->runtime, have_stopped, apply, CLOSING_TIMEOUT_MS)) {
        report_add(transition->report, NULL, NULL,
                   "a worker or source that stops before its successor opens did not stop in time");
        return WEIR_ETIMEOUT;
    }
    if (!source_changes_have_stopped(&apply->sources) ||
        !pool_changes_have_stopped(&apply->pools)) {
        report_add(transition->report, NULL, NULL, "the host is stopping");
        return WEIR_ECANCELLED;
    }
    return 0;
}

static int open_successors(struct apply *apply)
{
    int status;

    runtime_resume(apply->executor);
    status = pool_changes_exchange(&apply->pools, apply->executor);
    if (status == 0)
        status = source_changes_exchange(&apply->sources, apply->executor);
    runtime_pause(apply->executor);
    return status == 0 ? wait_until_open(apply) : status;
}

/* Stops the parts that cannot run beside their successors, then opens the successors. */
static int exchange(struct apply *apply)
{
    int status = stop_exclusive(apply);

    if (status == 0)
        status = await_stop(apply);
    if (status == 0)
        status = open_successors(apply);
    if (status != 0)
        report_add(apply->transition.report, NULL, NULL,
                   "the workers and sources that were stopped are opened again");
    return status;
}

/* The host can remove no more parts before some of the removed have ended. */
static int check_drains(const struct transition *transition)
{
    if (!draining_is_full(transition->assembly))
        return 0;
    report_add(transition->report, NULL, NULL,
               "%u removed pools and sources have not ended, and no reload is carried out before "
               "one of them has",
               DRAINING_MAX);
    return WEIR_EFULL;
}

static bool is_exclusive(const struct settings_use *use)
{
    return use->entry && use->entry->behaviour->flags & WEIR_EXCLUSIVE;
}

static bool opens_exclusive(const struct transition *transition)
{
    const struct settings *settings = transition->settings;
    struct plan_task task;
    size_t cursor = 0;

    while (plan_next_task(transition->plan, &cursor, &task)) {
        if (!(task.effects & (PLAN_ADDS | PLAN_REMAKES)))
            continue;
        if (task.part == PLAN_PART_POOL && is_exclusive(&settings->pools[task.new_index].use))
            return true;
        if (task.part == PLAN_PART_SOURCE && is_exclusive(&settings->sources[task.new_index].use))
            return true;
    }
    return false;
}

/* A removed part of an exclusive behaviour may still have what a new one needs. */
static int await_exclusive(const struct transition *transition)
{
    int status = draining_await_exclusive(transition->assembly, CLOSING_TIMEOUT_MS);

    if (status != 0)
        report_add(transition->report, NULL, NULL,
                   "a removed pool or source of an exclusive behaviour did not end in time");
    return status;
}

static int prepare(struct apply *apply)
{
    int status = opener_begin(apply->transition.assembly, &apply->stuck_opens,
                              apply->transition.report);

    if (status == 0)
        status = check_drains(&apply->transition);
    if (status == 0 && opens_exclusive(&apply->transition))
        status = await_exclusive(&apply->transition);
    if (status == 0)
        status = make_everything(apply);
    if (status == 0)
        status = wait_until_open(apply);
    if (status == 0 && apply->pools.exclusive_count + apply->sources.exclusive_count > 0)
        status = exchange(apply);
    return status;
}

static void set_changing(struct assembly *assembly, bool changing)
{
    lock_acquire(&assembly->lock);
    assembly->changing = changing;
    lock_release(&assembly->lock);
}

/* Room among the gone for all parts, old and new. */
static int reserve(const struct transition *transition)
{
    const struct settings *older = transition->old_settings, *newer = transition->settings;

    return closing_reserve(transition->assembly,
                           newer->pool_count + (older ? older->pool_count : 0),
                           newer->source_count + (older ? older->source_count : 0));
}

/* Acquires everything that commit and abandon need, so that these cannot fail: counted settings,
 * room for the parts that end, and an executor. */
static int begin(struct apply *apply, struct settings *settings)
{
    struct runtime *runtime = apply->transition.assembly->runtime;

    apply->transition.shared = shared_settings_create(runtime, settings);
    if (!apply->transition.shared) {
        settings_destroy(settings);
        return WEIR_ENOMEM;
    }
    if (reserve(&apply->transition) != 0)
        return WEIR_ENOMEM;
    apply->executor = runtime_enter(runtime);
    if (!apply->executor)
        return WEIR_ENOMEM;
    runtime_pause(apply->executor);
    return 0;
}

static uint64_t now_ns(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock);
}

int apply_prepare(struct apply *apply, struct assembly *assembly, struct settings *settings,
                  const struct plan *plan, struct report *report)
{
    uint64_t start_ns = now_ns();
    int status;

    *apply = (struct apply){
        .transition = { .assembly = assembly,
                        .plan = plan,
                        .report = report,
                        .old_shared = assembly->shared,
                        .old_settings = assembly->shared ? assembly->shared->settings : NULL,
                        .settings = settings },
    };
    set_changing(assembly, true);
    closing_collect_gone(assembly);
    dispatcher_change_collect(assembly, 0);
    status = begin(apply, settings);
    if (status == 0)
        status = prepare(apply);
    apply->times.prepare_ns = now_ns() - start_ns;
    return status;
}

/* --- committing ----------------------------------------------------------------------------- */

static void finish(struct apply *apply)
{
    opener_rest(apply->transition.assembly);
    set_changing(apply->transition.assembly, false);
    pool_changes_finish(&apply->pools);
    source_changes_finish(&apply->sources);
    shared_settings_unref(apply->transition.shared);
    if (apply->executor) {
        runtime_resume(apply->executor);
        runtime_leave(apply->executor);
    }
}

void apply_commit(struct apply *apply)
{
    struct assembly *assembly = apply->transition.assembly;
    uint64_t start_ns = now_ns();

    runtime_resume(apply->executor);
    lock_acquire(&assembly->lock);
    pool_changes_commit(&apply->pools, apply->executor);
    source_changes_commit(&apply->sources, apply->executor);
    dispatcher_change_commit(&apply->dispatchers);
    assembly->shared = apply->transition.shared;
    apply->transition.shared = apply->transition.old_shared;
    assembly->generation++;
    lock_release(&assembly->lock);
    runtime_pause(apply->executor);
    apply->times.commit_ns = now_ns() - start_ns;
}

static void drain_pools(const struct transition *transition)
{
    struct assembly *assembly = transition->assembly;
    const struct plan *plan = transition->plan;
    uint32_t first = assembly->gone_count - plan->removed_count;

    if (plan->removed_count > 0)
        draining_await_formers(assembly);
    for (uint32_t i = 0; i < plan->removed_count; i++)
        draining_add_pool(assembly, assembly->gone[first + i],
                          is_exclusive(&transition->old_settings->pools[plan->removed[i]].use));
}

void apply_drain(struct apply *apply)
{
    source_changes_drain(&apply->sources);
    drain_pools(&apply->transition);
    (void)draining_go_on(apply->transition.assembly);
    dispatcher_change_collect(apply->transition.assembly, 0);
    finish(apply);
}

/* --- going back ----------------------------------------------------------------------------- */

static bool is_vacant(void *context)
{
    const struct apply *apply = context;

    return pool_changes_have_stopped(&apply->pools) && source_changes_are_vacant(&apply->sources);
}

static bool is_stopping(void *context)
{
    const struct assembly *assembly = context;

    return atomic_load_explicit(&assembly->stopping, memory_order_acquire);
}

static int reopen(struct apply *apply)
{
    int status;

    runtime_resume(apply->executor);
    status = pool_changes_reopen(&apply->pools, apply->executor);
    if (status == 0)
        status = source_changes_reopen(&apply->sources, apply->executor);
    runtime_pause(apply->executor);
    return status;
}

/* Reopens the parts that were stopped, once their successors have ended or `time` is over. When
 * memory is out, it retries until there is enough or the host ends. */
static void reopen_exclusive(struct apply *apply, const struct closing_time *time)
{
    struct assembly *assembly = apply->transition.assembly;

    (void)runtime_wait(assembly->runtime, is_vacant, apply, closing_time_left_ms(time));
    while (reopen(apply) != 0 &&
           !runtime_wait(assembly->runtime, is_stopping, assembly, REOPEN_PAUSE_MS))
        ;
}

/* Ends the pools and sources that prepare made: nothing was published yet. */
void apply_abandon(struct apply *apply)
{
    struct assembly *assembly = apply->transition.assembly;
    struct closing_time time = closing_time_begin(CLOSING_ABANDON_MS);

    if (apply->executor) {
        runtime_resume(apply->executor);
        pool_changes_abort(&apply->pools, apply->executor);
        source_changes_abort(&apply->sources, apply->executor);
        runtime_pause(apply->executor);
        reopen_exclusive(apply, &time);
        source_changes_forget(&apply->sources, &time);
        pool_changes_forget(&apply->pools, &time);
        dispatcher_change_abort(&apply->dispatchers, assembly, closing_time_left_ms(&time));
    }
    finish(apply);
}

/* --- the start ------------------------------------------------------------------------------ */

/* Takes the settings. */
static int carry_out(struct assembly *assembly, struct settings *settings, const struct plan *plan,
                     struct report *report)
{
    struct apply apply;
    int status = apply_prepare(&apply, assembly, settings, plan, report);

    if (status != 0) {
        apply_abandon(&apply);
        return status;
    }
    apply_commit(&apply);
    apply_drain(&apply);
    return 0;
}

/* Takes the settings. */
static int start(struct assembly *assembly, struct settings *settings, struct report *report)
{
    struct plan *plan = NULL;
    int status = runtime_start(assembly->runtime);

    if (status != 0)
        report_add(report, NULL, "dispatchers",
                   "a thread cannot start: " DISPATCHER_CHANGE_WANTING);
    else
        status = plan_create(NULL, settings, &plan);
    if (status == 0)
        status = carry_out(assembly, settings, plan, report);
    else
        settings_destroy(settings);
    plan_destroy(plan);
    return status;
}

int apply_from_nothing(struct assembly *assembly, struct settings *settings, struct report *report)
{
    size_t reported = report_count(report);
    int status = start(assembly, settings, report);

    if (status != 0 && report_count(report) == reported)
        report_add(report, NULL, NULL, "the host cannot start: %s", weir_status_text(status));
    return status;
}
