#include "host/rebuild.h"

#include <stdlib.h>
#include <string.h>

#include "host/closing.h"
#include "host/opening.h"

struct rebuilding {
    struct assembly *assembly;
    const struct plan *plan;
    struct report *report;
    struct settings *old_settings; /* borrowed */
    struct settings *settings;     /* belongs to held */
    struct held_settings *held;
    struct executor *executor;
    /* all by index of the new settings */
    struct pool **pools;            /* every one of them */
    struct pool **new_pools;        /* those made here */
    struct pool_change **changes;   /* of those that were there */
    struct source **sources;        /* every one of them */
    struct source **new_sources;    /* those made here */
    struct wiring **source_wirings; /* of those that feed another pool now */
    uint32_t *gone;                 /* indexes of removed pools in the old settings */
    uint32_t gone_count;
    bool allocated;           /* all of these tables are there */
    struct pool **gone_pools; /* room for old and new ones that have not ended */
};

static int fail(struct rebuilding *rebuilding, const char *path, int status)
{
    report_add(rebuilding->report, NULL, path, "cannot be prepared: %s", weir_status_text(status));
    return status;
}

/* --- what can be changed while running ------------------------------------------------------ */

static bool can_change(const struct rebuilding *rebuilding, const struct plan_step *step)
{
    switch (step->kind) {
    case PLAN_DISPATCHER_REMOVED:
    case PLAN_DISPATCHER_THREADS:
    case PLAN_SOURCE_REPLACED:
    case PLAN_SOURCE_ARGS:
        return false;
    case PLAN_HOST:
        return step->field && strncmp(step->field, "log", 3) == 0;
    case PLAN_POOL_REPLACED:
        return rebuilding->old_settings->pools[step->old_index].nested ==
               rebuilding->settings->pools[step->new_index].nested;
    default:
        return true;
    }
}

static int check_steps(struct rebuilding *rebuilding)
{
    int status = 0;

    for (size_t i = 0; i < rebuilding->plan->count; i++) {
        const struct plan_step *step = &rebuilding->plan->steps[i];

        if (can_change(rebuilding, step))
            continue;
        report_add(rebuilding->report, NULL, step->path,
                   "%s%scannot change while it runs in this "
                   "version; restart the host",
                   step->field ? step->field : "", step->field ? " " : "");
        status = WEIR_EUNSUPPORTED;
    }
    return status;
}

/* --- preparing ------------------------------------------------------------------------------ */

static int allocate(struct rebuilding *rebuilding)
{
    size_t pools = rebuilding->settings->pool_count + 1;
    size_t sources = rebuilding->settings->source_count + 1;
    size_t old_pools = rebuilding->old_settings->pool_count + 1;

    rebuilding->pools = calloc(pools, sizeof *rebuilding->pools);
    rebuilding->new_pools = calloc(pools, sizeof *rebuilding->new_pools);
    rebuilding->changes = calloc(pools, sizeof *rebuilding->changes);
    rebuilding->sources = calloc(sources, sizeof *rebuilding->sources);
    rebuilding->new_sources = calloc(sources, sizeof *rebuilding->new_sources);
    rebuilding->source_wirings = calloc(sources, sizeof *rebuilding->source_wirings);
    rebuilding->gone = calloc(old_pools, sizeof *rebuilding->gone);
    rebuilding->gone_pools = calloc(old_pools + rebuilding->assembly->gone_count,
                                    sizeof *rebuilding->gone_pools);
    rebuilding->allocated = rebuilding->pools && rebuilding->new_pools && rebuilding->changes &&
                            rebuilding->sources && rebuilding->new_sources &&
                            rebuilding->source_wirings && rebuilding->gone &&
                            rebuilding->gone_pools;
    return rebuilding->allocated ? 0 : WEIR_ENOMEM;
}

/* A pool below one that runs is made apart: nobody sends to it before it is bound and committed. */
static int make_pool(struct rebuilding *rebuilding, uint32_t index)
{
    uint32_t parent = rebuilding->settings->pools[index].parent;
    bool apart = parent != SETTINGS_NONE && !rebuilding->new_pools[parent];
    int status = assembly_create_pool(rebuilding->assembly, rebuilding->executor, rebuilding->held,
                                      index, rebuilding->pools, apart);

    if (status != 0)
        return status;
    rebuilding->new_pools[index] = rebuilding->pools[index];
    return apart ? pool_prepare_join(rebuilding->pools[index], rebuilding->settings->pool_count)
                 : 0;
}

/* The pools that stay keep their places in the new order; the others are made. */
static int gather_pools(struct rebuilding *rebuilding)
{
    for (uint32_t i = 0; i < rebuilding->settings->pool_count; i++) {
        const char *path = rebuilding->settings->pools[i].path;
        uint32_t old = settings_find_pool(rebuilding->old_settings, path);
        int status;

        if (old != SETTINGS_NONE) {
            rebuilding->pools[i] = rebuilding->assembly->pools[old];
            continue;
        }
        status = make_pool(rebuilding, i);
        if (status != 0)
            return fail(rebuilding, path, status);
    }
    return 0;
}

static int wire_new_pools(struct rebuilding *rebuilding)
{
    for (uint32_t i = 0; i < rebuilding->settings->pool_count; i++) {
        struct wiring *wiring;

        if (!rebuilding->new_pools[i])
            continue;
        wiring = assembly_wiring_of(rebuilding->settings, i, rebuilding->pools);
        if (!wiring)
            return WEIR_ENOMEM;
        pool_set_wiring(rebuilding->new_pools[i], wiring, rebuilding->executor);
    }
    return 0;
}

/* True when `step` wants workers made of something else. */
static bool wants_spec(const struct plan_step *step)
{
    return step->kind == PLAN_POOL_ARGS || step->kind == PLAN_POOL_REPLACED;
}

static bool renews_manager(const struct rebuilding *rebuilding, uint32_t index)
{
    for (size_t i = 0; i < rebuilding->plan->count; i++)
        if (rebuilding->plan->steps[i].kind == PLAN_POOL_MANAGER &&
            rebuilding->plan->steps[i].new_index == index)
            return true;
    return false;
}

/* What the steps want of pool `index`, folded into one change. False: nothing. */
static bool fold_steps(const struct rebuilding *rebuilding, uint32_t index, bool *out_spec,
                       bool *out_live)
{
    bool any = false;

    *out_spec = false;
    *out_live = true;
    for (size_t i = 0; i < rebuilding->plan->count; i++) {
        const struct plan_step *step = &rebuilding->plan->steps[i];

        if (step->new_index != index || step->kind < PLAN_POOL_ADDED ||
            step->kind == PLAN_POOL_ADDED || step->kind == PLAN_POOL_REMOVED)
            continue;
        any = true;
        if (step->kind == PLAN_POOL_RESTART || step->kind == PLAN_POOL_OTHER)
            *out_spec = true;
        if (wants_spec(step)) {
            *out_spec = true;
            *out_live &= step->live;
        }
    }
    return any;
}

/* What of `out` is owned is the caller's, also when this fails. */
static int make_options(struct rebuilding *rebuilding, uint32_t index, bool needs_spec,
                        struct pool_change_options *out)
{
    const struct settings_pool *wanted = &rebuilding->settings->pools[index];
    bool has_spec = needs_spec && !wanted->nested;

    assembly_change_options(wanted, pool_target(rebuilding->pools[index]), out);
    out->renews_manager = renews_manager(rebuilding, index);
    if (has_spec)
        out->spec = assembly_spec_of_pool(rebuilding->held, index);
    if (out->renews_manager)
        out->manager = assembly_spec_of_manager(rebuilding->held, index);
    out->wiring = assembly_wiring_of(rebuilding->settings, index, rebuilding->pools);
    if ((has_spec && !out->spec) || !out->wiring ||
        (out->renews_manager && wanted->manager.entry && !out->manager))
        return WEIR_ENOMEM;
    return 0;
}

static int prepare_change(struct rebuilding *rebuilding, uint32_t index)
{
    struct pool_change_options options;
    bool needs_spec, live;
    int status;

    if (!fold_steps(rebuilding, index, &needs_spec, &live))
        return 0;
    status = make_options(rebuilding, index, needs_spec, &options);
    options.live = live;
    if (status == 0)
        status = pool_change_prepare(rebuilding->pools[index], rebuilding->executor, &options,
                                     &rebuilding->changes[index]);
    if (status != 0)
        wiring_destroy(options.wiring);
    spec_unref(options.spec);
    spec_unref(options.manager);
    return status;
}

static int prepare_changes(struct rebuilding *rebuilding)
{
    for (uint32_t i = 0; i < rebuilding->settings->pool_count; i++) {
        int status = rebuilding->new_pools[i] ? 0 : prepare_change(rebuilding, i);

        if (status != 0)
            return fail(rebuilding, rebuilding->settings->pools[i].path, status);
    }
    return 0;
}

static int rewire_source(struct rebuilding *rebuilding, uint32_t index)
{
    struct wiring *wiring = wiring_create(1);

    if (!wiring)
        return WEIR_ENOMEM;
    wiring->bindings[0] = (struct binding){
        rebuilding->pools[rebuilding->settings->sources[index].to]->pid, WHEN_FULL_WAIT
    };
    rebuilding->source_wirings[index] = wiring;
    return 0;
}

static int gather_sources(struct rebuilding *rebuilding)
{
    for (uint32_t i = 0; i < rebuilding->settings->source_count; i++) {
        const char *name = rebuilding->settings->sources[i].name;
        uint32_t old = settings_find_source(rebuilding->old_settings, name);
        int status;

        if (old != SETTINGS_NONE) {
            rebuilding->sources[i] = rebuilding->assembly->sources[old];
            status = rewire_source(rebuilding, i);
        } else {
            status = assembly_create_source(rebuilding->assembly, rebuilding->executor,
                                            rebuilding->held, i, rebuilding->pools,
                                            &rebuilding->new_sources[i]);
            rebuilding->sources[i] = rebuilding->new_sources[i];
        }
        if (status != 0)
            return fail(rebuilding, name, status);
    }
    return 0;
}

/* Removed pools, in the order in which they shall close. */
static int list_gone(struct rebuilding *rebuilding)
{
    const struct settings *old = rebuilding->old_settings;
    uint32_t *order = calloc(old->pool_count + 1, sizeof *order);
    int status = order ? settings_output_order(old, order, NULL) : WEIR_ENOMEM;

    for (uint32_t i = 0; status == 0 && i < old->pool_count; i++)
        if (settings_find_pool(rebuilding->settings, old->pools[order[i]].path) == SETTINGS_NONE)
            rebuilding->gone[rebuilding->gone_count++] = order[i];
    free(order);
    return status;
}

static int make_everything(struct rebuilding *rebuilding)
{
    int status = assembly_add_dispatchers(rebuilding->assembly, rebuilding->settings,
                                          rebuilding->report);

    if (status == 0)
        status = gather_pools(rebuilding);
    if (status == 0)
        status = wire_new_pools(rebuilding);
    if (status == 0)
        status = prepare_changes(rebuilding);
    if (status == 0)
        status = gather_sources(rebuilding);
    return status == 0 ? list_gone(rebuilding) : status;
}

static int wait_until_open(struct rebuilding *rebuilding)
{
    struct opening opening = {
        .settings = rebuilding->settings,
        .pools = rebuilding->new_pools,
        .pool_count = rebuilding->settings->pool_count,
        .changes = rebuilding->changes,
        .sources = rebuilding->new_sources,
        .source_count = rebuilding->settings->source_count,
        .stopping = &rebuilding->assembly->stopping,
    };

    return opening_wait(&opening, rebuilding->assembly->runtime, rebuilding->report);
}

static int prepare(struct rebuilding *rebuilding)
{
    int status = check_steps(rebuilding);

    if (status == 0)
        status = allocate(rebuilding);
    if (status != 0)
        return status;
    rebuilding->executor = runtime_enter(rebuilding->assembly->runtime);
    if (!rebuilding->executor)
        return WEIR_ENOMEM;
    status = make_everything(rebuilding);
    runtime_leave(rebuilding->executor);
    rebuilding->executor = NULL;
    return status == 0 ? wait_until_open(rebuilding) : status;
}

/* --- going back ----------------------------------------------------------------------------- */

/* Undoes what was prepared. The pools and sources made here end before anybody knew of them. */
static void go_back(struct rebuilding *rebuilding)
{
    struct assembly *assembly = rebuilding->assembly;
    struct executor *executor = rebuilding->allocated ? runtime_enter(assembly->runtime) : NULL;

    if (!executor)
        return;
    for (uint32_t i = 0; i < rebuilding->settings->pool_count; i++) {
        pool_change_abort(rebuilding->changes[i], executor);
        if (rebuilding->new_pools[i])
            pool_close(rebuilding->new_pools[i], executor);
    }
    for (uint32_t i = 0; i < rebuilding->settings->source_count; i++) {
        wiring_destroy(rebuilding->source_wirings[i]);
        if (rebuilding->new_sources[i])
            source_close(rebuilding->new_sources[i], executor);
    }
    runtime_leave(executor);
    closing_forget_sources(assembly, rebuilding->new_sources, rebuilding->settings->source_count);
    closing_forget_pools(assembly, rebuilding->new_pools, rebuilding->settings->pool_count);
}

/* --- committing ----------------------------------------------------------------------------- */

static void apply_budgets(struct rebuilding *rebuilding)
{
    for (uint32_t i = 0; i < rebuilding->settings->dispatcher_count; i++) {
        const struct settings_dispatcher *wanted = &rebuilding->settings->dispatchers[i];
        struct dispatcher *dispatcher = runtime_find_dispatcher(rebuilding->assembly->runtime,
                                                                wanted->name);

        /* Relaxed: a changed budget counts from some turn on. */
        if (dispatcher && wanted->budget)
            atomic_store_explicit(&dispatcher->budget, wanted->budget, memory_order_relaxed);
    }
}

/* Moves the removed pools to those that drain. */
static void set_gone(struct rebuilding *rebuilding)
{
    struct assembly *assembly = rebuilding->assembly;
    uint32_t count = 0;

    for (; count < assembly->gone_count; count++)
        rebuilding->gone_pools[count] = assembly->gone[count];
    for (uint32_t i = 0; i < rebuilding->gone_count; i++)
        rebuilding->gone_pools[count++] = assembly->pools[rebuilding->gone[i]];
    free(assembly->gone);
    assembly->gone = rebuilding->gone_pools;
    assembly->gone_count = count;
    rebuilding->gone_pools = NULL;
}

/* The tables of the assembly become the new ones; the old ones go where the new ones were. */
static void swap_tables(struct rebuilding *rebuilding)
{
    struct assembly *assembly = rebuilding->assembly;
    struct pool **pools = assembly->pools;
    struct source **sources = assembly->sources;
    struct held_settings *held = assembly->held;

    assembly->pools = rebuilding->pools;
    assembly->sources = rebuilding->sources;
    assembly->held = rebuilding->held;
    assembly->generation++;
    rebuilding->pools = pools;
    rebuilding->sources = sources;
    rebuilding->held = held;
}

static void close_removed_sources(struct rebuilding *rebuilding, struct executor *executor)
{
    const struct settings *old = rebuilding->old_settings;

    for (uint32_t i = 0; i < old->source_count; i++)
        if (settings_find_source(rebuilding->settings, old->sources[i].name) == SETTINGS_NONE)
            source_close(rebuilding->assembly->sources[i], executor);
}

static void commit_pool(struct rebuilding *rebuilding, uint32_t index, struct executor *executor)
{
    struct pool *made = rebuilding->new_pools[index];

    if (rebuilding->changes[index])
        pool_change_commit(rebuilding->changes[index], executor);
    else if (made && made->parent && !made->joined)
        pool_join(made, executor);
}

static void commit(struct rebuilding *rebuilding, struct executor *executor)
{
    struct assembly *assembly = rebuilding->assembly;

    pthread_mutex_lock(&assembly->lock);
    for (uint32_t i = 0; i < rebuilding->settings->pool_count; i++)
        commit_pool(rebuilding, i, executor);
    for (uint32_t i = 0; i < rebuilding->settings->source_count; i++) {
        if (rebuilding->source_wirings[i])
            source_set_wiring(rebuilding->sources[i], rebuilding->source_wirings[i], executor);
        if (rebuilding->new_sources[i])
            source_go(rebuilding->new_sources[i], executor);
    }
    close_removed_sources(rebuilding, executor);
    apply_budgets(rebuilding);
    set_gone(rebuilding);
    swap_tables(rebuilding);
    pthread_mutex_unlock(&assembly->lock);
}

/* Sources that were removed are forgotten once they have ended; then the pools they fed. */
static void drain(struct rebuilding *rebuilding)
{
    const struct settings *old = rebuilding->old_settings;

    for (uint32_t i = 0; i < old->source_count; i++)
        if (settings_find_source(rebuilding->settings, old->sources[i].name) == SETTINGS_NONE)
            closing_forget_sources(rebuilding->assembly, &rebuilding->sources[i], 1);
    closing_drain_gone(rebuilding->assembly);
}

static void finish(struct rebuilding *rebuilding)
{
    free(rebuilding->pools);
    free(rebuilding->new_pools);
    free(rebuilding->changes);
    free(rebuilding->sources);
    free(rebuilding->new_sources);
    free(rebuilding->source_wirings);
    free(rebuilding->gone);
    free(rebuilding->gone_pools);
    held_settings_unref(rebuilding->held);
}

int rebuild(struct assembly *assembly, struct settings *settings, const struct plan *plan,
            struct report *report, struct rebuild_times *out_times)
{
    struct rebuilding rebuilding = {
        .assembly = assembly,
        .plan = plan,
        .report = report,
        .old_settings = assembly->held->settings,
        .settings = settings,
        .held = held_settings_create(settings),
    };
    struct clock clock = clock_monotonic();
    uint64_t start = clock_now_ns(&clock);
    struct executor *executor;
    int status;

    if (!rebuilding.held) {
        settings_destroy(settings);
        return WEIR_ENOMEM;
    }
    closing_collect_gone(assembly);
    status = prepare(&rebuilding);
    executor = status == 0 ? runtime_enter(assembly->runtime) : NULL;
    if (!executor) {
        go_back(&rebuilding);
        finish(&rebuilding);
        return status ? status : WEIR_ENOMEM;
    }
    out_times->prepare_ns = clock_now_ns(&clock) - start;
    commit(&rebuilding, executor);
    runtime_leave(executor);
    out_times->commit_ns = clock_now_ns(&clock) - start - out_times->prepare_ns;
    drain(&rebuilding);
    out_times->drain_ns = clock_now_ns(&clock) - start - out_times->prepare_ns -
                          out_times->commit_ns;
    finish(&rebuilding);
    return 0;
}
