#include "host/reload/source_changes.h"

#include <stdlib.h>

#include "config/key_index.h"

/* What the plan wants of one source. */
struct source_wish {
    bool remade;    /* something that is not live */
    bool live;      /* live options */
    bool bound;     /* feeds another pool */
    bool exclusive; /* the old one stops first */
    bool stopped;   /* it has been told to end */
};

static int fail(const struct source_changes *changes, uint32_t index, int status)
{
    written_report(&changes->rebuilding->settings->sources[index].written, NULL,
                   changes->rebuilding->report, "cannot be prepared: %s", weir_status_text(status));
    return status;
}

static struct source *old_at(const struct source_changes *changes, uint32_t index)
{
    return changes->rebuilding->assembly->sources[changes->old_of[index]];
}

/* --- preparing ------------------------------------------------------------------------------ */

static int allocate(struct source_changes *changes)
{
    size_t count = changes->rebuilding->settings->source_count + 1;
    size_t old_count = changes->rebuilding->old_settings->source_count + 1;

    changes->all = calloc(count, sizeof *changes->all);
    changes->made = calloc(count, sizeof *changes->made);
    changes->wirings = calloc(count, sizeof *changes->wirings);
    changes->specs = calloc(count, sizeof *changes->specs);
    changes->wishes = calloc(count, sizeof *changes->wishes);
    changes->old_of = calloc(count, sizeof *changes->old_of);
    changes->closed = calloc(old_count, sizeof *changes->closed);
    changes->allocated = changes->all && changes->made && changes->wirings && changes->specs &&
                         changes->wishes && changes->old_of && changes->closed;
    return changes->allocated ? 0 : WEIR_ENOMEM;
}

static void fold_steps(struct source_changes *changes)
{
    const struct plan *plan = changes->rebuilding->plan;

    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        bool args = step->kind == PLAN_SOURCE_ARGS || step->kind == PLAN_SOURCE_REPLACED;
        struct source_wish *wish;

        if ((!args && step->kind != PLAN_SOURCE_TO) || step->new_index == SETTINGS_NONE)
            continue;
        wish = &changes->wishes[step->new_index];
        wish->remade |= args && !step->live;
        wish->live |= args && step->live;
        wish->bound |= !args;
        wish->exclusive |= step->stops_first;
    }
}

/* Which of the old sources each new one is, by its name. The old ones that no new one is are to be
 * closed; those that are replaced come as they are found. */
static void match(struct source_changes *changes, const struct key_index *index, bool *stays)
{
    const struct rebuilding *rebuilding = changes->rebuilding;
    const struct settings_source *old_sources = rebuilding->old_settings->sources;

    for (uint32_t i = 0; i < rebuilding->settings->source_count; i++) {
        const struct settings_source *old = key_index_find(index, NULL,
                                                           rebuilding->settings->sources[i].name);

        changes->old_of[i] = old ? (uint32_t)(old - old_sources) : SETTINGS_NONE;
        if (old)
            stays[changes->old_of[i]] = true;
    }
    for (uint32_t i = 0; i < rebuilding->old_settings->source_count; i++)
        if (!stays[i])
            changes->closed[changes->closed_count++] = rebuilding->assembly->sources[i];
}

static int match_sources(struct source_changes *changes)
{
    const struct settings *old = changes->rebuilding->old_settings;
    bool *stays = calloc(old->source_count + 1, sizeof *stays);
    struct key_index index;
    int status = stays ? 0 : WEIR_ENOMEM;

    key_index_init(&index);
    for (uint32_t i = 0; i < old->source_count && status == 0; i++)
        status = key_index_put(&index, NULL, old->sources[i].name, &old->sources[i]);
    if (status == 0)
        match(changes, &index, stays);
    key_index_finish(&index);
    free(stays);
    return status;
}

static int make(struct source_changes *changes, uint32_t index, struct executor *executor)
{
    const struct rebuilding *rebuilding = changes->rebuilding;
    int status = assembly_create_source(rebuilding->assembly, executor, rebuilding->held, index,
                                        changes->pools, rebuilding->assembly->opener,
                                        &changes->made[index]);

    changes->all[index] = changes->made[index];
    return status;
}

static int bind(struct source_changes *changes, uint32_t index)
{
    const struct settings_source *wanted = &changes->rebuilding->settings->sources[index];
    struct wiring *wiring = wiring_create(1);

    if (!wiring)
        return WEIR_ENOMEM;
    wiring->bindings[0] = assembly_binding_of(wanted, changes->pools);
    changes->wirings[index] = wiring;
    return 0;
}

static int adapt(struct source_changes *changes, uint32_t index)
{
    const struct source_wish *wish = &changes->wishes[index];
    int status = 0;

    changes->all[index] = old_at(changes, index);
    if (wish->bound)
        status = bind(changes, index);
    if (status == 0 && wish->live) {
        changes->specs[index] = assembly_spec_of_source(changes->rebuilding->held, index);
        status = changes->specs[index] ? 0 : WEIR_ENOMEM;
    }
    return status;
}

static int prepare_one(struct source_changes *changes, uint32_t index, struct executor *executor)
{
    const struct source_wish *wish = &changes->wishes[index];
    int status = 0;

    if (changes->old_of[index] != SETTINGS_NONE && !wish->remade)
        status = adapt(changes, index);
    else if (!wish->exclusive)
        status = make(changes, index, executor);
    if (status != 0)
        return fail(changes, index, status);
    if (wish->remade)
        changes->closed[changes->closed_count++] = old_at(changes, index);
    changes->exclusive_count += wish->exclusive;
    return 0;
}

int source_changes_prepare(struct source_changes *changes, const struct rebuilding *rebuilding,
                           struct pool *const *pools, struct executor *executor)
{
    int status;

    *changes = (struct source_changes){ .rebuilding = rebuilding, .pools = pools };
    status = allocate(changes);
    if (status != 0)
        return status;
    status = match_sources(changes);
    if (status != 0)
        return status;
    fold_steps(changes);
    for (uint32_t i = 0; i < rebuilding->settings->source_count && status == 0; i++)
        status = prepare_one(changes, i, executor);
    return status;
}

/* --- those that stop first ------------------------------------------------------------------ */

void source_changes_stop(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->rebuilding->settings->source_count; i++) {
        struct source_wish *wish = &changes->wishes[i];

        if (wish->exclusive)
            source_close(old_at(changes, i), executor);
        wish->stopped = wish->exclusive;
    }
}

static bool has_ended(struct source *source)
{
    return atomic_load_explicit(&source->ended, memory_order_acquire);
}

bool source_changes_have_stopped(const struct source_changes *changes)
{
    for (uint32_t i = 0; i < changes->rebuilding->settings->source_count; i++)
        if (changes->wishes[i].stopped && !has_ended(old_at(changes, i)))
            return false;
    return true;
}

int source_changes_exchange(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; i < changes->rebuilding->settings->source_count; i++) {
        int status = changes->wishes[i].exclusive ? make(changes, i, executor) : 0;

        if (status != 0)
            return fail(changes, i, status);
        if (changes->wishes[i].exclusive)
            source_inherit(changes->made[i], old_at(changes, i));
    }
    return 0;
}

/* --- committing ----------------------------------------------------------------------------- */

static void commit_one(struct source_changes *changes, uint32_t index, struct executor *executor)
{
    struct source *source = changes->all[index];

    if (changes->wirings[index])
        source_set_wiring(source, changes->wirings[index], executor);
    if (changes->specs[index])
        source_respec(source, changes->specs[index], executor);
    changes->wirings[index] = NULL;
    changes->specs[index] = NULL;
    if (!changes->made[index])
        return;
    if (changes->old_of[index] == SETTINGS_NONE || changes->wishes[index].exclusive)
        source_go(source, executor);
    else
        source_succeed(old_at(changes, index), source, executor);
}

void source_changes_commit(struct source_changes *changes, struct executor *executor)
{
    struct assembly *assembly = changes->rebuilding->assembly;
    struct source **old = assembly->sources;

    for (uint32_t i = 0; i < changes->rebuilding->settings->source_count; i++)
        commit_one(changes, i, executor);
    for (uint32_t i = 0; i < changes->closed_count; i++)
        source_close(changes->closed[i], executor);
    assembly->sources = changes->all;
    changes->all = old;
}

void source_changes_drain(struct source_changes *changes)
{
    closing_forget_sources(changes->rebuilding->assembly, changes->closed, changes->closed_count,
                           NULL);
}

/* --- going back ----------------------------------------------------------------------------- */

void source_changes_abort(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; changes->allocated && i < changes->rebuilding->settings->source_count;
         i++) {
        wiring_destroy(changes->wirings[i]);
        spec_unref(changes->specs[i]);
        if (changes->made[i])
            source_close(changes->made[i], executor);
    }
    changes->closed_count = 0; /* those that were to be replaced stay */
}

bool source_changes_are_vacant(const struct source_changes *changes)
{
    for (uint32_t i = 0; changes->allocated && i < changes->rebuilding->settings->source_count; i++)
        if (changes->wishes[i].stopped && changes->made[i] && !has_ended(changes->made[i]))
            return false;
    return true;
}

/* One like it goes on where it was, in the place of the one that was stopped. */
static int open_again(struct source_changes *changes, uint32_t index, struct executor *executor)
{
    struct assembly *assembly = changes->rebuilding->assembly;
    struct source *old = old_at(changes, index);
    struct source *again;
    int status = assembly_create_source(assembly, executor, changes->rebuilding->old_held,
                                        changes->old_of[index], assembly->pools, NULL, &again);

    if (status != 0)
        return status;
    if (changes->made[index] && has_ended(old))
        source_inherit(again, changes->made[index]);
    source_succeed(old, again, executor);
    pthread_mutex_lock(&assembly->lock);
    assembly->sources[changes->old_of[index]] = again;
    pthread_mutex_unlock(&assembly->lock);
    changes->closed[changes->closed_count++] = old;
    return 0;
}

int source_changes_reopen(struct source_changes *changes, struct executor *executor)
{
    for (uint32_t i = 0; changes->allocated && i < changes->rebuilding->settings->source_count;
         i++) {
        struct source_wish *wish = &changes->wishes[i];
        int status = wish->stopped ? open_again(changes, i, executor) : 0;

        if (status != 0)
            return status;
        wish->stopped = false;
    }
    return 0;
}

void source_changes_forget(struct source_changes *changes, const struct closing_time *time)
{
    struct assembly *assembly;

    if (!changes->allocated)
        return; /* what comes before them has failed */
    assembly = changes->rebuilding->assembly;
    closing_forget_sources(assembly, changes->made, changes->rebuilding->settings->source_count,
                           time);
    closing_forget_sources(assembly, changes->closed, changes->closed_count, time);
}

void source_changes_finish(struct source_changes *changes)
{
    free(changes->all);
    free(changes->made);
    free(changes->wirings);
    free(changes->specs);
    free(changes->wishes);
    free(changes->old_of);
    free(changes->closed);
}
