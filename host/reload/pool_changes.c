#include "host/reload/pool_changes.h"

#include <stdlib.h>

#include "config/key_index.h"
#include "pool/subscription.h"

/* What the steps of a plan want of one pool, folded into one change. */
struct pool_wish {
    bool any;
    bool spec;      /* workers made of something else, or opened again otherwise */
    bool fresh;     /* not all of it is live: new workers beside the old */
    bool exclusive; /* or after them */
    bool stopped;   /* they have been told to end */
    bool manager;   /* another one, or none */
    bool joined;    /* other pools come below it, which runs */
};

static int fail(const struct pool_changes *changes, uint32_t index, int status)
{
    const struct settings_pool *pool = &changes->rebuilding->settings->pools[index];

    written_report(&pool->written, NULL, changes->rebuilding->report, "%s cannot be prepared: %s",
                   pool->path, weir_status_text(status));
    return status;
}

/* --- tables --------------------------------------------------------------------------------- */

static int allocate(struct pool_changes *changes)
{
    const struct rebuilding *rebuilding = changes->rebuilding;
    size_t count = rebuilding->settings->pool_count + 1;
    size_t old_count = rebuilding->old_settings->pool_count + 1;

    changes->all = calloc(count, sizeof *changes->all);
    changes->made = calloc(count, sizeof *changes->made);
    changes->changes = calloc(count, sizeof *changes->changes);
    changes->old_of = calloc(count, sizeof *changes->old_of);
    changes->wishes = calloc(count, sizeof *changes->wishes);
    changes->touched = calloc(count, sizeof *changes->touched);
    changes->parents = calloc(count, sizeof *changes->parents);
    changes->gone = calloc(old_count, sizeof *changes->gone);
    changes->gone_pools = calloc(old_count + rebuilding->assembly->gone_count,
                                 sizeof *changes->gone_pools);
    changes->allocated = changes->all && changes->made && changes->changes && changes->old_of &&
                         changes->wishes && changes->touched && changes->parents && changes->gone &&
                         changes->gone_pools;
    return changes->allocated ? 0 : WEIR_ENOMEM;
}

/* Which of the old pools each new one is, by its path. */
static int match(struct pool_changes *changes, const struct key_index *index)
{
    const struct settings *settings = changes->rebuilding->settings;
    const struct settings_pool *old_pools = changes->rebuilding->old_settings->pools;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        const struct settings_pool *old = key_index_find(index, NULL, settings->pools[i].path);

        changes->old_of[i] = old ? (uint32_t)(old - old_pools) : SETTINGS_NONE;
    }
    return 0;
}

static int match_pools(struct pool_changes *changes)
{
    const struct settings *old = changes->rebuilding->old_settings;
    struct key_index index;
    int status = 0;

    key_index_init(&index);
    for (uint32_t i = 0; i < old->pool_count && status == 0; i++)
        status = key_index_put(&index, NULL, old->pools[i].path, &old->pools[i]);
    if (status == 0)
        status = match(changes, &index);
    key_index_finish(&index);
    return status;
}

static bool is_of_a_pool(enum plan_kind kind)
{
    return kind >= PLAN_POOL_ADDED;
}

static void fold_steps(struct pool_changes *changes)
{
    const struct plan *plan = changes->rebuilding->plan;

    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        bool remade = step->kind == PLAN_POOL_ARGS || step->kind == PLAN_POOL_REPLACED;
        struct pool_wish *wish;

        if (!is_of_a_pool(step->kind) || step->new_index == SETTINGS_NONE)
            continue;
        wish = &changes->wishes[step->new_index];
        wish->any = true;
        wish->spec |= remade || step->kind == PLAN_POOL_RESTART || step->kind == PLAN_POOL_OTHER;
        wish->fresh |= remade && !step->live;
        wish->exclusive |= step->stops_first;
        wish->manager |= step->kind == PLAN_POOL_MANAGER;
    }
}

/* --- preparing ------------------------------------------------------------------------------ */

static void touch(struct pool_changes *changes, uint32_t index)
{
    changes->touched[changes->touched_count++] = index;
}

/* Room below pool `index` for all that the file says to be there; once. */
static int make_room(struct pool_changes *changes, uint32_t index)
{
    const struct settings_pool *wanted = &changes->rebuilding->settings->pools[index];

    if (changes->wishes[index].joined)
        return 0;
    changes->wishes[index].joined = true;
    changes->parents[changes->parent_count++] = index;
    return pool_prepare_join(changes->all[index], wanted->member_count);
}

/* A pool at the top or below one that runs is made apart: nobody sends to it before it is bound and
 * committed, and what fails in it until then is the reload's. */
static int make_pool(struct pool_changes *changes, uint32_t index, struct executor *executor)
{
    const struct rebuilding *rebuilding = changes->rebuilding;
    const struct settings_pool *wanted = &rebuilding->settings->pools[index];
    uint32_t parent = wanted->parent;
    bool apart = parent == SETTINGS_NONE || !changes->made[parent];
    int status = assembly_create_pool(rebuilding->assembly, executor, rebuilding->held, index,
                                      changes->all, apart);

    if (status != 0)
        return status;
    changes->made[index] = changes->all[index];
    touch(changes, index);
    if (wanted->nested)
        status = pool_prepare_join(changes->all[index], wanted->member_count);
    if (status == 0 && apart && parent != SETTINGS_NONE)
        status = make_room(changes, parent);
    return status;
}

static int gather_one(struct pool_changes *changes, uint32_t index, struct executor *executor)
{
    if (changes->old_of[index] == SETTINGS_NONE)
        return make_pool(changes, index, executor);
    changes->all[index] = changes->rebuilding->assembly->pools[changes->old_of[index]];
    return 0;
}

/* The pools that stay keep their places in the new order; the others are made. */
static int gather(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->rebuilding->settings->pool_count; i++) {
        int status = gather_one(changes, i, executor);

        if (status != 0)
            return fail(changes, i, status);
    }
    for (uint32_t i = 0; i < changes->touched_count; i++)
        if (changes->rebuilding->settings->pools[changes->touched[i]].nested)
            pool_show_joined(changes->made[changes->touched[i]], executor);
    return 0;
}

/* The new ones are bound once all of them are there. */
static int wire(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->touched_count; i++) {
        uint32_t index = changes->touched[i];
        struct wiring *wiring = assembly_wiring_of(changes->rebuilding->settings, index,
                                                   changes->all);

        if (!wiring)
            return fail(changes, index, WEIR_ENOMEM);
        pool_set_wiring(changes->made[index], wiring, executor);
    }
    return 0;
}

static bool was_nested(const struct pool_changes *changes, uint32_t index)
{
    return changes->rebuilding->old_settings->pools[changes->old_of[index]].nested;
}

/* What of `out` is owned is the caller's, also when this fails. */
static int make_options(struct pool_changes *changes, uint32_t index,
                        struct pool_change_options *out)
{
    const struct rebuilding *rebuilding = changes->rebuilding;
    const struct settings_pool *wanted = &rebuilding->settings->pools[index];
    const struct pool_wish *wish = &changes->wishes[index];
    bool has_spec = wish->spec && !wanted->nested;

    assembly_change_options(rebuilding->assembly, rebuilding->settings, index,
                            pool_target(changes->all[index]), out);
    out->live = !wish->fresh;
    out->renews_manager = wish->manager;
    out->nests = wanted->nested && !was_nested(changes, index);
    out->joining = wanted->member_count;
    if (has_spec)
        out->spec = assembly_spec_of_pool(rebuilding->held, index);
    if (wish->manager)
        out->manager = assembly_spec_of_manager(rebuilding->held, index);
    out->wiring = assembly_wiring_of(rebuilding->settings, index, changes->all);
    if ((has_spec && !out->spec) || !out->wiring ||
        (wish->manager && wanted->manager.entry && !out->manager))
        return WEIR_ENOMEM;
    return 0;
}

static int prepare_change(struct pool_changes *changes, uint32_t index, struct executor *executor)
{
    struct pool_change_options options;
    int status = make_options(changes, index, &options);

    if (status == 0)
        status = pool_change_prepare(changes->all[index], executor, &options,
                                     &changes->changes[index]);
    else
        wiring_destroy(options.wiring);
    if (status == 0)
        touch(changes, index);
    spec_unref(options.spec);
    spec_unref(options.manager);
    return status;
}

/* The exclusive ones, or the others. */
static int prepare_changes(struct pool_changes *changes, bool exclusive, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->rebuilding->settings->pool_count; i++) {
        const struct pool_wish *wish = &changes->wishes[i];
        int status = 0;

        changes->exclusive_count += wish->exclusive && !exclusive;
        if (wish->any && wish->exclusive == exclusive && !changes->made[i])
            status = prepare_change(changes, i, executor);
        if (status != 0)
            return fail(changes, i, status);
    }
    return 0;
}

/* Those that no new pool has become, in the order in which they shall close. */
static void pick_gone(struct pool_changes *changes, const uint32_t *order, bool *stays)
{
    const struct rebuilding *rebuilding = changes->rebuilding;

    for (uint32_t i = 0; i < rebuilding->settings->pool_count; i++)
        if (changes->old_of[i] != SETTINGS_NONE)
            stays[changes->old_of[i]] = true;
    for (uint32_t i = 0; i < rebuilding->old_settings->pool_count; i++)
        if (!stays[order[i]])
            changes->gone[changes->gone_count++] = order[i];
}

/* Events, of those from number `first` on: nobody gets any of the new ones before the commit. */
static int subscribe(struct pool_changes *changes, uint32_t first, struct executor *executor)
{
    for (uint32_t i = first; i < changes->touched_count; i++) {
        uint32_t index = changes->touched[i];
        int status = subscription_prepare(changes->all[index], executor,
                                          &changes->rebuilding->settings->pools[index].subscribe);

        if (status != 0)
            return fail(changes, index, status);
    }
    return 0;
}

static int list_gone(struct pool_changes *changes)
{
    const struct settings *old = changes->rebuilding->old_settings;
    uint32_t *order = calloc(old->pool_count + 1, sizeof *order);
    bool *stays = calloc(old->pool_count + 1, sizeof *stays);
    int status = order && stays ? settings_output_order(old, order, NULL) : WEIR_ENOMEM;

    if (status == 0)
        pick_gone(changes, order, stays);
    free(order);
    free(stays);
    return status;
}

int pool_changes_prepare(struct pool_changes *changes, const struct rebuilding *rebuilding,
                         struct executor *executor)
{
    int status;

    *changes = (struct pool_changes){ .rebuilding = rebuilding };
    status = allocate(changes);
    if (status == 0)
        status = match_pools(changes);
    if (status != 0)
        return status;
    fold_steps(changes);
    status = gather(changes, executor);
    if (status == 0)
        status = wire(changes, executor);
    if (status == 0)
        status = prepare_changes(changes, false, executor);
    if (status == 0)
        status = subscribe(changes, 0, executor);
    return status == 0 ? list_gone(changes) : status;
}

/* --- those that stop first ------------------------------------------------------------------ */

int pool_changes_stop(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->rebuilding->settings->pool_count; i++) {
        struct pool_wish *wish = &changes->wishes[i];
        int status = wish->exclusive ? pool_change_stop(changes->all[i], executor) : 0;

        if (status != 0)
            return fail(changes, i, status);
        wish->stopped = wish->exclusive;
    }
    return 0;
}

bool pool_changes_have_stopped(const struct pool_changes *changes)
{
    if (!changes->allocated)
        return true;
    for (uint32_t i = 0; i < changes->rebuilding->settings->pool_count; i++)
        if (changes->wishes[i].stopped && !pool_change_has_stopped(changes->all[i]))
            return false;
    return true;
}

int pool_changes_exchange(struct pool_changes *changes, struct executor *executor)
{
    uint32_t first = changes->touched_count;
    int status = prepare_changes(changes, true, executor);

    return status == 0 ? subscribe(changes, first, executor) : status;
}

/* --- committing ----------------------------------------------------------------------------- */

/* Moves the removed pools to those that drain. */
static void set_gone(struct pool_changes *changes, struct executor *executor)
{
    struct assembly *assembly = changes->rebuilding->assembly;
    uint32_t count = 0;

    for (; count < assembly->gone_count; count++)
        changes->gone_pools[count] = assembly->gone[count];
    for (uint32_t i = 0; i < changes->gone_count; i++) {
        struct pool *pool = assembly->pools[changes->gone[i]];

        pool_give_up_name(pool, executor); /* a file may name another one so while this drains */
        changes->gone_pools[count++] = pool;
    }
    free(assembly->gone);
    assembly->gone = changes->gone_pools;
    assembly->gone_count = count;
    changes->gone_pools = NULL;
}

void pool_changes_commit(struct pool_changes *changes, struct executor *executor)
{
    struct assembly *assembly = changes->rebuilding->assembly;
    struct pool **old = assembly->pools;

    for (uint32_t i = 0; i < changes->touched_count; i++) {
        uint32_t index = changes->touched[i];
        struct pool *made = changes->made[index];
        const struct settings_pool *wanted = &changes->rebuilding->settings->pools[index];

        subscription_commit(changes->all[index], executor, &wanted->subscribe, wanted->fan_out);
        if (changes->changes[index])
            pool_change_commit(changes->changes[index], executor);
        else if (made && made->parent && !made->joined)
            pool_join(made, executor);
        else if (made)
            pool_end_trial(made);
    }
    for (uint32_t i = 0; i < changes->parent_count; i++)
        pool_show_joined(changes->all[changes->parents[i]], executor);
    set_gone(changes, executor);
    assembly->pools = changes->all;
    changes->all = old;
}

/* --- going back ----------------------------------------------------------------------------- */

/* Its name is free at once: an open that never returns must not keep the next file from it. */
static void dismiss(struct pool *pool, struct executor *executor)
{
    pool_close(pool, executor);
    pool_give_up_name(pool, executor);
}

void pool_changes_abort(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; changes->allocated && i < changes->touched_count; i++) {
        uint32_t index = changes->touched[i];

        subscription_abort(changes->all[index], executor);
        pool_change_abort(changes->changes[index], executor);
        if (changes->made[index])
            dismiss(changes->made[index], executor);
    }
    for (uint32_t i = 0; i < changes->parent_count; i++)
        pool_forget_join(changes->all[changes->parents[i]]);
}

void pool_changes_forget(struct pool_changes *changes, const struct closing_time *time)
{
    if (changes->allocated)
        closing_forget_pools(changes->rebuilding->assembly, changes->made,
                             changes->rebuilding->settings->pool_count, time);
}

int pool_changes_reopen(struct pool_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; changes->allocated && i < changes->rebuilding->settings->pool_count; i++) {
        struct pool_wish *wish = &changes->wishes[i];
        int status = wish->stopped ? pool_change_reopen(changes->all[i], executor) : 0;

        if (status != 0)
            return status;
        wish->stopped = false;
    }
    return 0;
}

void pool_changes_finish(struct pool_changes *changes)
{
    free(changes->all);
    free(changes->made);
    free(changes->changes);
    free(changes->old_of);
    free(changes->wishes);
    free(changes->touched);
    free(changes->parents);
    free(changes->gone);
    free(changes->gone_pools);
}
