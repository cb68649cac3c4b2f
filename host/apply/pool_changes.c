/* SPDX-License-Identifier: MIT */
#include "host/apply/pool_changes.h"

#include <stdlib.h>

/* The plan's steps for one pool. */
struct pool_task {
    uint32_t index; /* in the new settings */
    uint32_t effects;
    bool is_subscribed; /* places at events are reserved */
    bool is_stopped;    /* its workers were ordered to end before the new ones open */
};

static const struct settings_pool *wanted_of(const struct pool_changes *changes,
                                             const struct pool_task *task)
{
    return &changes->transition->settings->pools[task->index];
}

static int fail(const struct pool_changes *changes, const struct pool_task *task, int status)
{
    const struct settings_pool *pool = wanted_of(changes, task);

    written_report(&pool->written, NULL, changes->transition->report, "%s cannot be prepared: %s",
                   pool->path, weir_status_text(status));
    return status;
}

/* --- tables --------------------------------------------------------------------------------- */

static int allocate(struct pool_changes *changes)
{
    const struct transition *transition = changes->transition;
    size_t count = transition->settings->pool_count + 1;

    changes->tasks = calloc(count, sizeof *changes->tasks);
    changes->all = calloc(count, sizeof *changes->all);
    changes->made = calloc(count, sizeof *changes->made);
    changes->changes = calloc(count, sizeof *changes->changes);
    changes->is_parent = calloc(count, sizeof *changes->is_parent);
    changes->allocated = changes->tasks && changes->all && changes->made && changes->changes &&
                         changes->is_parent;
    return changes->allocated ? 0 : WEIR_ENOMEM;
}

static void take_tasks(struct pool_changes *changes)
{
    struct plan_task task;
    size_t cursor = 0;

    while (plan_next_task(changes->transition->plan, &cursor, &task)) {
        if (task.part != PLAN_PART_POOL || task.effects & PLAN_REMOVES)
            continue;
        changes->tasks[changes->task_count++] = (struct pool_task){ .index = task.new_index,
                                                                    .effects = task.effects };
        changes->exclusive_count += (task.effects & PLAN_STOPS_FIRST) != 0;
    }
}

/* Enters the pools that stay at their indexes in the new settings. */
static void take_present(struct pool_changes *changes)
{
    const struct transition *transition = changes->transition;

    for (uint32_t i = 0; i < transition->settings->pool_count; i++)
        if (transition->plan->old_pools[i] != SETTINGS_NONE)
            changes->all[i] = transition->assembly->pools[transition->plan->old_pools[i]];
}

/* --- making --------------------------------------------------------------------------------- */

/* Reserves memory in pool `index` for all members that the file names; once. */
static int make_room(struct pool_changes *changes, uint32_t index)
{
    const struct settings_pool *wanted = &changes->transition->settings->pools[index];

    if (changes->is_parent[index])
        return 0;
    changes->is_parent[index] = true;
    return pool_prepare_join(changes->all[index], wanted->member_count);
}

/* The pool above, if it has reserved memory for this pool and is not notified of the outcome yet.
 * */
static struct pool *parent_of_new(struct pool_changes *changes, const struct pool_task *task)
{
    uint32_t parent = wanted_of(changes, task)->parent;

    if (parent == SETTINGS_NONE || !changes->is_parent[parent])
        return NULL;
    changes->is_parent[parent] = false;
    return changes->all[parent];
}

/* A pool at the top, or below one that runs, is made apart: it gets no message before it is bound
 * and committed, and its failures until then are the reload's. */
static int make_pool(struct pool_changes *changes, const struct pool_task *task,
                     struct executor *executor)
{
    const struct transition *transition = changes->transition;
    const struct settings_pool *wanted = wanted_of(changes, task);
    uint32_t parent = wanted->parent;
    bool apart = parent == SETTINGS_NONE || !changes->made[parent];
    int status = assembly_create_pool(transition->assembly, executor, transition->shared,
                                      task->index, changes->all, apart);

    if (status != 0)
        return status;
    changes->made[task->index] = changes->all[task->index];
    if (wanted->nested)
        status = pool_prepare_join(changes->all[task->index], wanted->member_count);
    if (status == 0 && apart && parent != SETTINGS_NONE)
        status = make_room(changes, parent);
    return status;
}

/* Makes the new pools; members come after the pool that contains them. */
static int make_pools(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        const struct pool_task *task = &changes->tasks[i];
        int status = task->effects & PLAN_ADDS ? make_pool(changes, task, executor) : 0;

        if (status != 0)
            return fail(changes, task, status);
    }
    for (uint32_t i = 0; i < changes->task_count; i++)
        if (changes->made[changes->tasks[i].index] &&
            wanted_of(changes, &changes->tasks[i])->nested)
            pool_show_joined(changes->made[changes->tasks[i].index], executor);
    return 0;
}

/* Binds the new pools, after all of them are made. */
static int wire(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        const struct pool_task *task = &changes->tasks[i];
        struct wiring *wiring;

        if (!changes->made[task->index])
            continue;
        wiring = assembly_wiring_of(changes->transition->settings, task->index, changes->all);
        if (!wiring)
            return fail(changes, task, WEIR_ENOMEM);
        pool_set_wiring(changes->made[task->index], wiring, executor);
    }
    return 0;
}

/* --- changing ------------------------------------------------------------------------------- */

static bool was_nested(const struct pool_changes *changes, uint32_t index)
{
    const struct transition *transition = changes->transition;

    return transition->old_settings->pools[transition->plan->old_pools[index]].nested;
}

/* The caller owns everything in `out` that is owned, also when this fails. */
static int make_options(struct pool_changes *changes, const struct pool_task *task,
                        struct pool_change_options *out)
{
    const struct transition *transition = changes->transition;
    const struct settings_pool *wanted = wanted_of(changes, task);
    uint32_t index = task->index;
    bool has_spec = task->effects & PLAN_RESPECS && !wanted->nested;
    bool manages = task->effects & PLAN_MANAGES;

    assembly_change_options(transition->assembly, transition->settings, index,
                            pool_target(changes->all[index]), out);
    out->live = !(task->effects & PLAN_REMAKES);
    out->renews_manager = manages;
    out->nests = wanted->nested && !was_nested(changes, index);
    out->joining = wanted->member_count;
    if (has_spec)
        out->spec = assembly_spec_of_pool(transition->shared, index);
    if (manages)
        out->manager = assembly_spec_of_manager(transition->shared, index);
    out->wiring = assembly_wiring_of(transition->settings, index, changes->all);
    if ((has_spec && !out->spec) || !out->wiring ||
        (manages && wanted->manager.entry && !out->manager))
        return WEIR_ENOMEM;
    return 0;
}

static int prepare_change(struct pool_changes *changes, const struct pool_task *task,
                          struct executor *executor)
{
    struct pool_change_options options;
    int status = make_options(changes, task, &options);

    if (status == 0)
        status = pool_change_prepare(changes->all[task->index], executor, &options,
                                     &changes->changes[task->index]);
    else
        wiring_destroy(options.wiring);
    spec_unref(options.spec);
    spec_unref(options.manager);
    return status;
}

/* Prepares the subscriptions: no event is delivered by them before the commit. */
static int subscribe(struct pool_changes *changes, struct pool_task *task,
                     struct executor *executor)
{
    task->is_subscribed = true;
    return subscription_prepare(changes->all[task->index], executor,
                                &wanted_of(changes, task)->subscribe);
}

/* Prepares the changes of the tasks with `effects`, of those that make a behaviour exclusive. */
static int prepare_changes(struct pool_changes *changes, uint32_t effects,
                           struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct pool_task *task = &changes->tasks[i];
        int status = 0;

        if ((task->effects & PLAN_STOPS_FIRST) != effects)
            continue;
        if (!changes->made[task->index])
            status = prepare_change(changes, task, executor);
        if (status == 0)
            status = subscribe(changes, task, executor);
        if (status != 0)
            return fail(changes, task, status);
    }
    return 0;
}

/* --- preparing ------------------------------------------------------------------------------ */

int pool_changes_prepare(struct pool_changes *changes, const struct transition *transition,
                         struct executor *executor)
{
    int status;

    *changes = (struct pool_changes){ .transition = transition };
    status = allocate(changes);
    if (status != 0)
        return status;
    take_tasks(changes);
    take_present(changes);
    status = make_pools(changes, executor);
    if (status == 0)
        status = wire(changes, executor);
    if (status == 0)
        status = prepare_changes(changes, 0, executor);
    return status;
}

/* --- exclusive behaviours: stop first -------------------------------------------------------- */

int pool_changes_stop(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct pool_task *task = &changes->tasks[i];
        int status;

        if (!(task->effects & PLAN_STOPS_FIRST))
            continue;
        status = pool_change_stop(changes->all[task->index], executor);
        if (status != 0)
            return fail(changes, task, status);
        task->is_stopped = true;
    }
    return 0;
}

bool pool_changes_have_stopped(const struct pool_changes *changes)
{
    for (uint32_t i = 0; i < changes->task_count; i++)
        if (changes->tasks[i].is_stopped &&
            !pool_change_has_stopped(changes->all[changes->tasks[i].index]))
            return false;
    return true;
}

int pool_changes_exchange(struct pool_changes *changes, struct executor *executor)
{
    return prepare_changes(changes, PLAN_STOPS_FIRST, executor);
}

/* --- committing ----------------------------------------------------------------------------- */

/* Moves the removed pools to the list of draining pools. */
static void set_gone(struct pool_changes *changes)
{
    const struct plan *plan = changes->transition->plan;
    struct assembly *assembly = changes->transition->assembly;

    for (uint32_t i = 0; i < plan->removed_count; i++) {
        struct pool *pool = assembly->pools[plan->removed[i]];

        pool_yield_name(pool); /* a new pool may take the name while this one drains */
        assembly->gone[assembly->gone_count++] = pool;
    }
}

static void commit_made(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct pool *made = changes->made[changes->tasks[i].index];

        if (made)
            pool_admit(made, executor);
    }
}

static void commit_changes(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        const struct pool_task *task = &changes->tasks[i];
        const struct settings_pool *wanted = wanted_of(changes, task);

        subscription_commit(changes->all[task->index], executor, &wanted->subscribe,
                            wanted->fan_out);
        if (changes->changes[task->index])
            pool_change_commit(changes->changes[task->index], executor);
    }
}

void pool_changes_commit(struct pool_changes *changes, struct executor *executor)
{
    struct assembly *assembly = changes->transition->assembly;
    struct pool **old = assembly->pools;
    struct pool *parent;

    commit_made(changes, executor);
    commit_changes(changes, executor);
    for (uint32_t i = 0; i < changes->task_count; i++)
        if ((parent = parent_of_new(changes, &changes->tasks[i])))
            pool_show_joined(parent, executor);
    set_gone(changes);
    assembly->pools = changes->all;
    changes->all = old;
}

/* --- going back ----------------------------------------------------------------------------- */

/* Releases its name at once: an open that never returns must not block that name for the next file.
 * */
static void dismiss(struct pool *pool, struct executor *executor)
{
    pool_close(pool, executor);
    pool_give_up_name(pool, executor);
}

void pool_changes_abort(struct pool_changes *changes, struct executor *executor)
{
    struct pool *parent;

    for (uint32_t i = 0; i < changes->task_count; i++) {
        const struct pool_task *task = &changes->tasks[i];

        if (task->is_subscribed)
            subscription_abort(changes->all[task->index], executor);
        pool_change_abort(changes->changes[task->index], executor);
        if (changes->made[task->index])
            dismiss(changes->made[task->index], executor);
    }
    for (uint32_t i = 0; i < changes->task_count; i++)
        if ((parent = parent_of_new(changes, &changes->tasks[i])))
            pool_forget_join(parent);
}

void pool_changes_forget(struct pool_changes *changes, const struct closing_time *time)
{
    if (changes->allocated)
        closing_forget_pools(changes->transition->assembly, changes->made,
                             changes->transition->settings->pool_count, closing_time_left_ms(time));
}

int pool_changes_reopen(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct pool_task *task = &changes->tasks[i];
        int status = task->is_stopped ? pool_change_reopen(changes->all[task->index], executor) : 0;

        if (status != 0)
            return status;
        task->is_stopped = false;
    }
    return 0;
}

void pool_changes_finish(struct pool_changes *changes)
{
    free(changes->tasks);
    free(changes->all);
    free(changes->made);
    free(changes->changes);
    free(changes->is_parent);
}
