#include "host/rebuild.h"

#include <string.h>

#include "host/closing.h"
#include "host/dispatcher_change.h"
#include "host/opening.h"
#include "host/pool_changes.h"
#include "host/source_changes.h"
#include "host/supervisor.h"

/* One reload under way. */
struct transaction {
    struct rebuilding rebuilding;
    struct dispatcher_change dispatchers;
    struct pool_changes pools;
    struct source_changes sources;
};

/* --- what can be changed while running ------------------------------------------------------ */

static bool can_change(const struct rebuilding *rebuilding, const struct plan_step *step)
{
    switch (step->kind) {
    case PLAN_HOST:
        return step->field && supervisor_takes_on(step->field);
    case PLAN_POOL_REPLACED:
        return rebuilding->old_settings->pools[step->old_index].nested ==
               rebuilding->settings->pools[step->new_index].nested;
    default:
        return true;
    }
}

/* Of what a step would change: both are there, before and after it. */
static const struct written *written_of(const struct rebuilding *rebuilding,
                                        const struct plan_step *step)
{
    return step->kind == PLAN_HOST ? &rebuilding->settings->host.written
                                   : &rebuilding->settings->pools[step->new_index].written;
}

static int check_steps(const struct rebuilding *rebuilding)
{
    int status = 0;

    for (size_t i = 0; i < rebuilding->plan->count; i++) {
        const struct plan_step *step = &rebuilding->plan->steps[i];

        if (can_change(rebuilding, step))
            continue;
        written_report(written_of(rebuilding, step), step->field, rebuilding->report,
                       "cannot change from %s to %s while it runs in this version; restart the "
                       "host",
                       step->old_text, step->new_text);
        status = WEIR_EUNSUPPORTED;
    }
    return status;
}

/* --- preparing ------------------------------------------------------------------------------ */

static int make_everything(struct transaction *transaction)
{
    const struct rebuilding *rebuilding = &transaction->rebuilding;
    struct executor *executor;
    int status = dispatcher_change_prepare(&transaction->dispatchers, rebuilding->assembly,
                                           rebuilding->settings, rebuilding->report);

    if (status != 0)
        return status;
    executor = runtime_enter(rebuilding->assembly->runtime);
    if (!executor)
        return WEIR_ENOMEM;
    status = pool_changes_prepare(&transaction->pools, rebuilding, executor);
    if (status == 0)
        status = source_changes_prepare(&transaction->sources, rebuilding, transaction->pools.all,
                                        executor);
    runtime_leave(executor);
    return status;
}

static int wait_until_open(struct transaction *transaction)
{
    const struct rebuilding *rebuilding = &transaction->rebuilding;
    struct opening opening = {
        .settings = rebuilding->settings,
        .pools = transaction->pools.made,
        .pool_count = rebuilding->settings->pool_count,
        .changes = transaction->pools.changes,
        .sources = transaction->sources.made,
        .source_count = rebuilding->settings->source_count,
        .stopping = &rebuilding->assembly->stopping,
    };

    return opening_wait(&opening, rebuilding->assembly->runtime, rebuilding->report);
}

static bool have_stopped(void *context)
{
    const struct transaction *transaction = context;

    return atomic_load_explicit(&transaction->rebuilding.assembly->stopping,
                                memory_order_acquire) ||
           (pool_changes_have_stopped(&transaction->pools) &&
            source_changes_have_stopped(&transaction->sources));
}

/* Stops what cannot live beside its successor, and opens that. */
static int exchange(struct transaction *transaction)
{
    const struct rebuilding *rebuilding = &transaction->rebuilding;
    struct runtime *runtime = rebuilding->assembly->runtime;
    struct executor *executor = runtime_enter(runtime);

    if (!executor)
        return WEIR_ENOMEM;
    pool_changes_stop(&transaction->pools, executor);
    source_changes_stop(&transaction->sources, executor);
    runtime_leave(executor);
    if (!runtime_wait(runtime, have_stopped, transaction, CLOSING_TIMEOUT_MS)) {
        report_add(rebuilding->report, NULL, NULL,
                   "what must stop before its successor opens did not stop in time");
        return WEIR_ETIMEOUT;
    }
    if (!source_changes_have_stopped(&transaction->sources) ||
        !pool_changes_have_stopped(&transaction->pools)) {
        report_add(rebuilding->report, NULL, NULL, "the host is to end");
        return WEIR_ECANCELLED;
    }
    executor = runtime_enter(runtime);
    if (!executor)
        return WEIR_ENOMEM;
    pool_changes_begin(&transaction->pools, executor);
    source_changes_begin(&transaction->sources, executor);
    runtime_leave(executor);
    return wait_until_open(transaction);
}

static int prepare(struct transaction *transaction)
{
    int status = check_steps(&transaction->rebuilding);

    if (status == 0)
        status = make_everything(transaction);
    if (status == 0)
        status = wait_until_open(transaction);
    if (status == 0 &&
        transaction->pools.exclusive_count + transaction->sources.exclusive_count > 0)
        status = exchange(transaction);
    return status;
}

/* --- going back ----------------------------------------------------------------------------- */

/* Undoes what was prepared. The pools and sources made here end before anybody knew of them. */
static void go_back(struct transaction *transaction)
{
    struct assembly *assembly = transaction->rebuilding.assembly;
    struct executor *executor = runtime_enter(assembly->runtime);

    if (executor) {
        pool_changes_abort(&transaction->pools, executor);
        runtime_leave(executor);
    }
    source_changes_abort(&transaction->sources);
    pool_changes_forget(&transaction->pools);
    dispatcher_change_abort(&transaction->dispatchers, assembly, CLOSING_TIMEOUT_MS);
}

/* --- committing ----------------------------------------------------------------------------- */

static void commit(struct transaction *transaction, struct executor *executor)
{
    struct assembly *assembly = transaction->rebuilding.assembly;

    pthread_mutex_lock(&assembly->lock);
    pool_changes_commit(&transaction->pools, executor);
    source_changes_commit(&transaction->sources, executor);
    dispatcher_change_commit(&transaction->dispatchers);
    assembly->held = transaction->rebuilding.held;
    transaction->rebuilding.held = transaction->rebuilding.old_held;
    assembly->generation++;
    pthread_mutex_unlock(&assembly->lock);
}

/* Sources that were replaced or removed end; then the pools that only they fed. */
static void drain(struct transaction *transaction)
{
    struct assembly *assembly = transaction->rebuilding.assembly;

    source_changes_drain(&transaction->sources);
    closing_drain_gone(assembly);
    dispatcher_change_collect(assembly, CLOSING_TIMEOUT_MS);
}

static void set_changing(struct assembly *assembly, bool changing)
{
    pthread_mutex_lock(&assembly->lock);
    assembly->changing = changing;
    pthread_mutex_unlock(&assembly->lock);
}

static int carry_out(struct transaction *transaction, struct rebuild_times *out_times)
{
    struct assembly *assembly = transaction->rebuilding.assembly;
    struct clock clock = clock_monotonic();
    uint64_t start = clock_now_ns(&clock);
    struct executor *executor;
    int status = prepare(transaction);

    executor = status == 0 ? runtime_enter(assembly->runtime) : NULL;
    if (!executor) {
        go_back(transaction);
        return status ? status : WEIR_ENOMEM;
    }
    out_times->prepare_ns = clock_now_ns(&clock) - start;
    commit(transaction, executor);
    runtime_leave(executor);
    out_times->commit_ns = clock_now_ns(&clock) - start - out_times->prepare_ns;
    drain(transaction);
    out_times->drain_ns = clock_now_ns(&clock) - start - out_times->prepare_ns -
                          out_times->commit_ns;
    return 0;
}

int rebuild(struct assembly *assembly, struct settings *settings, const struct plan *plan,
            struct report *report, struct rebuild_times *out_times)
{
    struct transaction transaction = {
        .rebuilding = { .assembly = assembly,
                        .plan = plan,
                        .report = report,
                        .old_held = assembly->held,
                        .held = held_settings_create(settings),
                        .old_settings = assembly->held->settings,
                        .settings = settings },
    };
    int status;

    if (!transaction.rebuilding.held) {
        settings_destroy(settings);
        return WEIR_ENOMEM;
    }
    set_changing(assembly, true);
    closing_collect_gone(assembly);
    dispatcher_change_collect(assembly, 0);
    status = carry_out(&transaction, out_times);
    set_changing(assembly, false);
    pool_changes_finish(&transaction.pools);
    source_changes_finish(&transaction.sources);
    held_settings_unref(transaction.rebuilding.held);
    return status;
}
