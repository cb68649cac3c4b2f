#include "host/reload/rebuild.h"

#include "host/reload/opener.h"
#include "host/run/closing.h"
#include "host/run/opening.h"

#define REOPEN_PAUSE_MS 100 /* between two tries to get the memory for what was running before */

/* --- preparing ------------------------------------------------------------------------------ */

static int make_everything(struct rebuild *rebuild)
{
    const struct rebuilding *rebuilding = &rebuild->rebuilding;
    int status = dispatcher_change_prepare(&rebuild->dispatchers, rebuilding->assembly,
                                           rebuilding->settings, rebuilding->report);

    if (status != 0)
        return status;
    runtime_resume(rebuild->executor);
    status = pool_changes_prepare(&rebuild->pools, rebuilding, rebuild->executor);
    if (status == 0)
        status = source_changes_prepare(&rebuild->sources, rebuilding, rebuild->pools.all,
                                        rebuild->executor);
    runtime_pause(rebuild->executor);
    return status;
}

static int wait_until_open(struct rebuild *rebuild)
{
    const struct rebuilding *rebuilding = &rebuild->rebuilding;
    struct opening opening = {
        .settings = rebuilding->settings,
        .pools = rebuild->pools.made,
        .pool_count = rebuilding->settings->pool_count,
        .changes = rebuild->pools.changes,
        .sources = rebuild->sources.made,
        .source_count = rebuilding->settings->source_count,
        .stopping = &rebuilding->assembly->stopping,
    };

    opener_run(rebuilding->assembly, rebuilding->settings, opening_count(&opening),
               rebuild->stuck_opens);
    return opening_wait(&opening, rebuilding->assembly->runtime, rebuilding->report);
}

static bool have_stopped(void *context)
{
    const struct rebuild *rebuild = context;

    return atomic_load_explicit(&rebuild->rebuilding.assembly->stopping, memory_order_acquire) ||
           (pool_changes_have_stopped(&rebuild->pools) &&
            source_changes_have_stopped(&rebuild->sources));
}

static int stop_exclusive(struct rebuild *rebuild)
{
    int status;

    runtime_resume(rebuild->executor);
    status = pool_changes_stop(&rebuild->pools, rebuild->executor);
    if (status == 0)
        source_changes_stop(&rebuild->sources, rebuild->executor);
    runtime_pause(rebuild->executor);
    return status;
}

static int await_stop(struct rebuild *rebuild)
{
    const struct rebuilding *rebuilding = &rebuild->rebuilding;

    if (!runtime_wait(rebuilding->assembly->runtime, have_stopped, rebuild, CLOSING_TIMEOUT_MS)) {
        report_add(rebuilding->report, NULL, NULL,
                   "what must stop before its successor opens did not stop in time");
        return WEIR_ETIMEOUT;
    }
    if (!source_changes_have_stopped(&rebuild->sources) ||
        !pool_changes_have_stopped(&rebuild->pools)) {
        report_add(rebuilding->report, NULL, NULL, "the host is to end");
        return WEIR_ECANCELLED;
    }
    return 0;
}

static int open_successors(struct rebuild *rebuild)
{
    int status;

    runtime_resume(rebuild->executor);
    status = pool_changes_exchange(&rebuild->pools, rebuild->executor);
    if (status == 0)
        status = source_changes_exchange(&rebuild->sources, rebuild->executor);
    runtime_pause(rebuild->executor);
    return status == 0 ? wait_until_open(rebuild) : status;
}

/* Stops what cannot live beside its successor, and opens that. */
static int exchange(struct rebuild *rebuild)
{
    int status = stop_exclusive(rebuild);

    if (status == 0)
        status = await_stop(rebuild);
    if (status == 0)
        status = open_successors(rebuild);
    if (status != 0)
        report_add(rebuild->rebuilding.report, NULL, NULL,
                   "what had stopped for its successor is opened again");
    return status;
}

static int prepare(struct rebuild *rebuild)
{
    int status = opener_begin(rebuild->rebuilding.assembly, &rebuild->stuck_opens,
                              rebuild->rebuilding.report);

    if (status == 0)
        status = make_everything(rebuild);
    if (status == 0)
        status = wait_until_open(rebuild);
    if (status == 0 && rebuild->pools.exclusive_count + rebuild->sources.exclusive_count > 0)
        status = exchange(rebuild);
    return status;
}

static void set_changing(struct assembly *assembly, bool changing)
{
    pthread_mutex_lock(&assembly->lock);
    assembly->changing = changing;
    pthread_mutex_unlock(&assembly->lock);
}

/* What every end needs: settings that are counted, and an executor. */
static int begin(struct rebuild *rebuild, struct settings *settings)
{
    struct runtime *runtime = rebuild->rebuilding.assembly->runtime;

    rebuild->rebuilding.held = held_settings_create(runtime, settings);
    if (!rebuild->rebuilding.held) {
        settings_destroy(settings);
        return WEIR_ENOMEM;
    }
    rebuild->executor = runtime_enter(runtime);
    if (!rebuild->executor)
        return WEIR_ENOMEM;
    runtime_pause(rebuild->executor);
    return 0;
}

static uint64_t now_ns(void)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock);
}

int rebuild_prepare(struct rebuild *rebuild, struct assembly *assembly, struct settings *settings,
                    const struct plan *plan, struct report *report)
{
    uint64_t start_ns = now_ns();
    int status;

    *rebuild = (struct rebuild){
        .rebuilding = { .assembly = assembly,
                        .plan = plan,
                        .report = report,
                        .old_held = assembly->held,
                        .old_settings = assembly->held ? assembly->held->settings : NULL,
                        .settings = settings },
    };
    set_changing(assembly, true);
    closing_collect_gone(assembly);
    dispatcher_change_collect(assembly, 0);
    status = begin(rebuild, settings);
    if (status == 0)
        status = prepare(rebuild);
    rebuild->times.prepare_ns = now_ns() - start_ns;
    return status;
}

/* --- committing ----------------------------------------------------------------------------- */

static void finish(struct rebuild *rebuild)
{
    opener_rest(rebuild->rebuilding.assembly);
    set_changing(rebuild->rebuilding.assembly, false);
    pool_changes_finish(&rebuild->pools);
    source_changes_finish(&rebuild->sources);
    held_settings_unref(rebuild->rebuilding.held);
    if (rebuild->executor) {
        runtime_resume(rebuild->executor);
        runtime_leave(rebuild->executor);
    }
}

void rebuild_commit(struct rebuild *rebuild)
{
    struct assembly *assembly = rebuild->rebuilding.assembly;
    uint64_t start_ns = now_ns();

    runtime_resume(rebuild->executor);
    pthread_mutex_lock(&assembly->lock);
    pool_changes_commit(&rebuild->pools, rebuild->executor);
    source_changes_commit(&rebuild->sources, rebuild->executor);
    dispatcher_change_commit(&rebuild->dispatchers);
    assembly->held = rebuild->rebuilding.held;
    rebuild->rebuilding.held = rebuild->rebuilding.old_held;
    assembly->generation++;
    pthread_mutex_unlock(&assembly->lock);
    runtime_pause(rebuild->executor);
    rebuild->times.commit_ns = now_ns() - start_ns;
}

/* Sources that were replaced or removed end; then the pools that only they fed. */
void rebuild_drain(struct rebuild *rebuild)
{
    struct assembly *assembly = rebuild->rebuilding.assembly;
    uint64_t start_ns = now_ns();

    source_changes_drain(&rebuild->sources);
    closing_drain_gone(assembly, rebuild->pools.gone_count);
    dispatcher_change_collect(assembly, CLOSING_TIMEOUT_MS);
    finish(rebuild);
    rebuild->times.drain_ns = now_ns() - start_ns;
}

/* --- going back ----------------------------------------------------------------------------- */

static bool is_vacant(void *context)
{
    const struct rebuild *rebuild = context;

    return pool_changes_have_stopped(&rebuild->pools) &&
           source_changes_are_vacant(&rebuild->sources);
}

static bool is_stopping(void *context)
{
    const struct assembly *assembly = context;

    return atomic_load_explicit(&assembly->stopping, memory_order_acquire);
}

static int reopen(struct rebuild *rebuild)
{
    int status;

    runtime_resume(rebuild->executor);
    status = pool_changes_reopen(&rebuild->pools, rebuild->executor);
    if (status == 0)
        status = source_changes_reopen(&rebuild->sources, rebuild->executor);
    runtime_pause(rebuild->executor);
    return status;
}

/* Opens again what was stopped, when its successor has ended or had `time` for that. Without memory
 * it is tried again, until there is some or the host ends. */
static void reopen_exclusive(struct rebuild *rebuild, const struct closing_time *time)
{
    struct assembly *assembly = rebuild->rebuilding.assembly;

    (void)runtime_wait(assembly->runtime, is_vacant, rebuild, closing_time_left_ms(time));
    while (reopen(rebuild) != 0 &&
           !runtime_wait(assembly->runtime, is_stopping, assembly, REOPEN_PAUSE_MS))
        ;
}

/* The pools and sources made here end before anybody knew of them. */
void rebuild_abandon(struct rebuild *rebuild)
{
    struct assembly *assembly = rebuild->rebuilding.assembly;
    struct closing_time time = closing_time_begin(CLOSING_ABANDON_MS);

    if (rebuild->executor) {
        runtime_resume(rebuild->executor);
        pool_changes_abort(&rebuild->pools, rebuild->executor);
        source_changes_abort(&rebuild->sources, rebuild->executor);
        runtime_pause(rebuild->executor);
        reopen_exclusive(rebuild, &time);
        source_changes_forget(&rebuild->sources, &time);
        pool_changes_forget(&rebuild->pools, &time);
        dispatcher_change_abort(&rebuild->dispatchers, assembly, closing_time_left_ms(&time));
    }
    finish(rebuild);
}

/* --- the start ------------------------------------------------------------------------------ */

/* Takes the settings. */
static int carry_out(struct assembly *assembly, struct settings *settings, const struct plan *plan,
                     struct report *report)
{
    struct rebuild rebuild;
    int status = rebuild_prepare(&rebuild, assembly, settings, plan, report);

    if (status != 0) {
        rebuild_abandon(&rebuild);
        return status;
    }
    rebuild_commit(&rebuild);
    rebuild_drain(&rebuild);
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

int rebuild_from_nothing(struct assembly *assembly, struct settings *settings,
                         struct report *report)
{
    size_t told = report_count(report);
    int status = start(assembly, settings, report);

    if (status != 0 && report_count(report) == told)
        report_add(report, NULL, NULL, "the host cannot start: %s", weir_status_text(status));
    return status;
}
