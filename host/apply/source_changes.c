/* SPDX-License-Identifier: MIT */
#include "host/apply/source_changes.h"

#include <stdlib.h>

#include "host/run/draining.h"

/* The plan's steps for one source. */
struct source_task {
    uint32_t old_index; /* SETTINGS_NONE: it is new */
    uint32_t new_index; /* SETTINGS_NONE: it is removed */
    uint32_t effects;
    struct source *made;   /* the new source; NULL: the old one stays */
    struct wiring *wiring; /* the new target pool */
    struct spec *spec;     /* with changed live options */
    bool is_stopped;       /* the old one was ordered to end before the new one opens */
};

static int fail(const struct source_changes *changes, const struct source_task *task, int status)
{
    written_report(&changes->transition->settings->sources[task->new_index].written, NULL,
                   changes->transition->report, "cannot be prepared: %s", weir_status_text(status));
    return status;
}

static struct source *old_of(const struct source_changes *changes, const struct source_task *task)
{
    return changes->transition->assembly->sources[task->old_index];
}

/* True when another source replaces it, or it is removed. */
static bool ends_old(const struct source_task *task)
{
    return task->effects & (PLAN_REMAKES | PLAN_REMOVES);
}

/* --- preparing ------------------------------------------------------------------------------ */

static int allocate(struct source_changes *changes)
{
    const struct transition *transition = changes->transition;
    size_t count = transition->settings->source_count + 1;
    size_t old_count = transition->old_settings ? transition->old_settings->source_count + 1 : 1;

    changes->tasks = calloc(count + old_count, sizeof *changes->tasks);
    changes->all = calloc(count, sizeof *changes->all);
    changes->made = calloc(count, sizeof *changes->made);
    changes->closed = calloc(old_count, sizeof *changes->closed);
    return changes->tasks && changes->all && changes->made && changes->closed ? 0 : WEIR_ENOMEM;
}

static void take_tasks(struct source_changes *changes)
{
    struct plan_task task;
    size_t cursor = 0;

    while (plan_next_task(changes->transition->plan, &cursor, &task)) {
        if (task.part != PLAN_PART_SOURCE)
            continue;
        changes->tasks[changes->task_count++] = (struct source_task){ .old_index = task.old_index,
                                                                      .new_index = task.new_index,
                                                                      .effects = task.effects };
        changes->exclusive_count += (task.effects & PLAN_STOPS_FIRST) != 0;
    }
}

static void take_present(struct source_changes *changes)
{
    const struct transition *transition = changes->transition;

    for (uint32_t i = 0; i < transition->settings->source_count; i++)
        if (transition->plan->old_sources[i] != SETTINGS_NONE)
            changes->all[i] = transition->assembly->sources[transition->plan->old_sources[i]];
}

/* The source whose place the new one takes; NULL: none. */
static struct source *replaced_by(const struct source_changes *changes,
                                  const struct source_task *task)
{
    return task->old_index == SETTINGS_NONE ? NULL : old_of(changes, task);
}

static int make(struct source_changes *changes, struct source_task *task, struct executor *executor)
{
    const struct transition *transition = changes->transition;
    int status = assembly_create_source(
        transition->assembly, executor, transition->shared, task->new_index, changes->pools,
        transition->assembly->opener, replaced_by(changes, task), &task->made);

    if (status == 0)
        changes->made[task->new_index] = changes->all[task->new_index] = task->made;
    return status;
}

static int bind(struct source_changes *changes, struct source_task *task)
{
    const struct settings_source *wanted = &changes->transition->settings->sources[task->new_index];

    task->wiring = assembly_wiring_of_source(wanted, changes->pools);
    return task->wiring ? 0 : WEIR_ENOMEM;
}

static int adapt(struct source_changes *changes, struct source_task *task)
{
    int status = task->effects & PLAN_REBINDS ? bind(changes, task) : 0;

    if (status == 0 && task->effects & PLAN_RESPECS) {
        task->spec = assembly_spec_of_source(changes->transition->shared, task->new_index);
        status = task->spec ? 0 : WEIR_ENOMEM;
    }
    return status;
}

static int prepare_one(struct source_changes *changes, struct source_task *task,
                       struct executor *executor)
{
    int status = 0;

    if (task->effects & (PLAN_STOPS_FIRST | PLAN_REMOVES))
        return 0;
    if (task->effects & (PLAN_ADDS | PLAN_REMAKES))
        status = make(changes, task, executor);
    else
        status = adapt(changes, task);
    return status == 0 ? 0 : fail(changes, task, status);
}

int source_changes_prepare(struct source_changes *changes, const struct transition *transition,
                           struct pool *const *pools, struct executor *executor)
{
    int status;

    *changes = (struct source_changes){ .transition = transition, .pools = pools };
    status = allocate(changes);
    if (status != 0)
        return status;
    take_tasks(changes);
    take_present(changes);
    for (uint32_t i = 0; i < changes->task_count && status == 0; i++)
        status = prepare_one(changes, &changes->tasks[i], executor);
    return status;
}

/* --- exclusive behaviours: stop first -------------------------------------------------------- */

void source_changes_stop(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct source_task *task = &changes->tasks[i];

        task->is_stopped = task->effects & PLAN_STOPS_FIRST;
        if (task->is_stopped)
            source_close(old_of(changes, task), executor);
    }
}

bool source_changes_have_stopped(const struct source_changes *changes)
{
    for (uint32_t i = 0; i < changes->task_count; i++)
        if (changes->tasks[i].is_stopped && !source_has_ended(old_of(changes, &changes->tasks[i])))
            return false;
    return true;
}

int source_changes_exchange(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct source_task *task = &changes->tasks[i];
        int status;

        if (!task->is_stopped)
            continue;
        status = make(changes, task, executor);
        if (status != 0)
            return fail(changes, task, status);
        source_inherit(task->made, old_of(changes, task));
    }
    return 0;
}

/* --- committing ----------------------------------------------------------------------------- */

static void let_go(struct source_changes *changes, struct source_task *task,
                   struct executor *executor)
{
    if (!changes->transition->old_settings)
        return; /* at the start: assembly_go */
    /* An operator may have paused it since the exchange. */
    if (task->is_stopped)
        source_pause_as(task->made, old_of(changes, task));
    if (task->effects & PLAN_ADDS || task->is_stopped)
        source_go(task->made, executor);
    else
        source_succeed(old_of(changes, task), task->made, executor);
}

static void commit_one(struct source_changes *changes, struct source_task *task,
                       struct executor *executor)
{
    if (task->wiring)
        source_set_wiring(old_of(changes, task), task->wiring, executor);
    if (task->spec)
        source_respec(old_of(changes, task), task->spec, executor);
    task->wiring = NULL;
    task->spec = NULL;
    if (task->made)
        let_go(changes, task, executor);
    if (!ends_old(task))
        return;
    source_close(old_of(changes, task), executor);
    changes->closed[changes->closed_count++] = old_of(changes, task);
}

void source_changes_commit(struct source_changes *changes, struct executor *executor)
{
    struct assembly *assembly = changes->transition->assembly;
    struct source **old = assembly->sources;

    for (uint32_t i = 0; i < changes->task_count; i++)
        commit_one(changes, &changes->tasks[i], executor);
    assembly->sources = changes->all;
    changes->all = old;
}

void source_changes_drain(struct source_changes *changes)
{
    const struct transition *transition = changes->transition;
    uint32_t next = 0; /* of the closed ones, which have the order of the tasks */

    for (uint32_t i = 0; i < changes->task_count; i++) {
        const struct source_task *task = &changes->tasks[i];
        const struct settings_source *old;

        if (!ends_old(task))
            continue;
        old = &transition->old_settings->sources[task->old_index];
        draining_add_source(transition->assembly, changes->closed[next++],
                            old->use.entry->behaviour->flags & WEIR_EXCLUSIVE);
    }
}

/* --- going back ----------------------------------------------------------------------------- */

void source_changes_abort(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct source_task *task = &changes->tasks[i];

        wiring_destroy(task->wiring);
        spec_unref(task->spec);
        if (task->made)
            source_close(task->made, executor);
    }
}

bool source_changes_are_vacant(const struct source_changes *changes)
{
    for (uint32_t i = 0; i < changes->task_count; i++)
        if (changes->tasks[i].is_stopped && changes->tasks[i].made &&
            !source_has_ended(changes->tasks[i].made))
            return false;
    return true;
}

/* Makes a new source of the old spec, which starts at the last position of the stopped one. */
static int open_again(struct source_changes *changes, struct source_task *task,
                      struct executor *executor)
{
    struct assembly *assembly = changes->transition->assembly;
    struct source *old = old_of(changes, task);
    struct source *again;
    int status = assembly_create_source(assembly, executor, changes->transition->old_shared,
                                        task->old_index, assembly->pools, NULL, old, &again);

    if (status != 0)
        return status;
    if (task->made && source_has_ended(old))
        source_inherit(again, task->made);
    source_succeed(old, again, executor);
    lock_acquire(&assembly->lock);
    assembly->sources[task->old_index] = again;
    lock_release(&assembly->lock);
    changes->closed[changes->closed_count++] = old;
    return 0;
}

int source_changes_reopen(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->task_count; i++) {
        struct source_task *task = &changes->tasks[i];
        int status = task->is_stopped ? open_again(changes, task, executor) : 0;

        if (status != 0)
            return status;
        task->is_stopped = false;
    }
    return 0;
}

void source_changes_forget(struct source_changes *changes, const struct closing_time *time)
{
    struct assembly *assembly;

    if (!changes->made)
        return; /* an earlier step has failed */
    assembly = changes->transition->assembly;
    closing_forget_sources(assembly, changes->made, changes->transition->settings->source_count,
                           closing_time_left_ms(time));
    closing_forget_sources(assembly, changes->closed, changes->closed_count,
                           closing_time_left_ms(time));
}

void source_changes_finish(struct source_changes *changes)
{
    free(changes->tasks);
    free(changes->all);
    free(changes->made);
    free(changes->closed);
}
