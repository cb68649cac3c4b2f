/* SPDX-License-Identifier: MIT */
#include "config/plan_pools.h"

#include <string.h>

#include "base/plural.h"
#include "base/text.h"
#include "config/isolation.h"
#include "config/key_index.h"
#include "config/plan_uses.h"

#define FIELD_SIZE 256 /* such as `outputs.NAME` */

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static enum plan_kind kind_of_pool(const char *field)
{
    if (begins(field, "mailbox"))
        return PLAN_POOL_MAILBOX;
    if (strcmp(field, "route") == 0)
        return PLAN_POOL_ROUTE;
    if (begins(field, "restart."))
        return PLAN_POOL_RESTART;
    if (begins(field, "log."))
        return PLAN_POOL_LOG;
    return begins(field, "remove.") ? PLAN_POOL_REMOVE : PLAN_POOL_OTHER;
}

static const char *size_text(struct planning *planning, const struct settings_pool *pool)
{
    const char *text = settings_has_fixed_size(pool)
                           ? plan_text(planning, "%u", pool->size)
                           : plan_text(planning, "%u..%u", pool->core.size_min,
                                       pool->core.size_max);

    if (pool->size_now == SETTINGS_NONE || pool->size_now == pool->size)
        return text;
    return plan_text(planning, "%s (now %u)", text, pool->size_now);
}

/* Of the step to another size. */
static const char *new_size_text(struct planning *planning, const struct settings_pool *pool,
                                 bool changes)
{
    const char *text = size_text(planning, pool);

    return changes && pool->use.entry && pool->use.entry->behaviour->flags & WEIR_KEYED
               ? plan_text(planning, "%s (some keys move, without the state of the workers)", text)
               : text;
}

static void compare_sizes(struct planning *planning, const struct plan_subject *subject,
                          const struct settings_pool *older, const struct settings_pool *newer)
{
    uint32_t now = older->size_now == SETTINGS_NONE ? older->size : older->size_now;
    bool same_bounds = older->core.size_min == newer->core.size_min &&
                       older->core.size_max == newer->core.size_max;

    bool changes = settings_size_after(newer, now) != now;

    if (!same_bounds || changes)
        plan_add(planning, PLAN_POOL_SIZE, subject, "size", size_text(planning, older),
                 new_size_text(planning, newer, changes), true);
}

static const char *scale_text(struct planning *planning, const struct settings_pool *pool)
{
    char wait[48], idle[48];

    if (!pool->core.scale.on)
        return "off";
    if (pool->scale_suspended)
        return "suspended";
    text_format_duration(pool->core.scale.wait_ms, wait, sizeof wait);
    text_format_duration(pool->core.scale.idle_ms, idle, sizeof idle);
    return plan_text(planning, "wait %s, idle %s", wait, idle);
}

static bool have_same_scale(const struct settings_pool *older, const struct settings_pool *newer)
{
    const struct scale *first = &older->core.scale, *second = &newer->core.scale;

    return first->on == second->on && !older->scale_suspended &&
           (!first->on || (first->wait_ms == second->wait_ms && first->idle_ms == second->idle_ms));
}

/* One step for the whole law. A reload resumes a suspended law. */
static void compare_scales(struct planning *planning, const struct plan_subject *subject,
                           const struct settings_pool *older, const struct settings_pool *newer)
{
    if (!have_same_scale(older, newer))
        plan_add(planning, PLAN_POOL_OTHER, subject, "scale", scale_text(planning, older),
                 scale_text(planning, newer), true);
}

/* NULL when the pool has no such output, or it is not bound. */
static const struct settings_output *bound_output(const struct settings_pool *pool,
                                                  const char *name)
{
    for (uint32_t i = 0; i < pool->output_count; i++) {
        const struct settings_output *output = &pool->outputs[i];

        if (strcmp(output->name, name) == 0)
            return output->pool != SETTINGS_NONE ? output : NULL;
    }
    return NULL;
}

static const char *output_text(struct planning *planning, const struct settings *settings,
                               const struct settings_output *output)
{
    if (!output)
        return "(none)";
    return plan_target(planning, &settings->pools[output->pool], output->when_full, &output->rate);
}

static bool has_output(const struct settings_pool *pool, const char *name)
{
    for (uint32_t i = 0; i < pool->output_count; i++) {
        if (strcmp(pool->outputs[i].name, name) == 0)
            return true;
    }
    return false;
}

static void compare_output(struct planning *planning, const struct plan_subject *subject,
                           const struct settings_pool *older, const struct settings_pool *newer,
                           const char *name)
{
    const struct settings_output *old_output = bound_output(older, name);
    const struct settings_output *new_output = bound_output(newer, name);
    char field[FIELD_SIZE];

    if (!old_output && !new_output)
        return;
    (void)snprintf(field, sizeof field, "outputs.%s", name);
    plan_compare(planning, PLAN_POOL_OUTPUTS, subject, field,
                 output_text(planning, planning->old_settings, old_output),
                 output_text(planning, planning->new_settings, new_output), true);
}

static void compare_outputs(struct planning *planning, const struct plan_subject *subject,
                            const struct settings_pool *older, const struct settings_pool *newer)
{
    for (uint32_t i = 0; i < newer->output_count; i++)
        compare_output(planning, subject, older, newer, newer->outputs[i].name);
    for (uint32_t i = 0; i < older->output_count; i++) {
        if (!has_output(newer, older->outputs[i].name))
            compare_output(planning, subject, older, newer, older->outputs[i].name);
    }
}

static const char *pool_text(struct planning *planning, const struct settings_pool *pool)
{
    if (pool->nested)
        return plan_text(planning, "pool of %u %s", pool->member_count,
                         plural(pool->member_count, "pool", "pools"));
    return plan_text(planning, "%s, size %s", pool->use.use, size_text(planning, pool));
}

/* With the version and the generation when both managers have the same name. */
static const char *manager_text(struct planning *planning, const struct settings_use *manager,
                                bool whole)
{
    if (!manager->use)
        return "(none)";
    if (!whole)
        return manager->use;
    return plan_text(planning, "%s %s (generation %u)", manager->use, manager->entry->version,
                     manager->entry->generation);
}

static void compare_managers(struct planning *planning, const struct plan_subject *subject,
                             const struct settings_use *older, const struct settings_use *newer)
{
    bool same = older->use && newer->use && strcmp(older->use, newer->use) == 0;
    struct plan_uses uses = { older, newer, PLAN_POOL_MANAGER, PLAN_POOL_MANAGER };

    if (!same || older->entry->content_hash != newer->entry->content_hash)
        plan_compare(planning, PLAN_POOL_MANAGER, subject, "manager",
                     manager_text(planning, older, same), manager_text(planning, newer, same),
                     false);
    if (same)
        plan_compare_args(planning, subject, &uses, "manager_args", true);
}

static const char *lease_text(struct planning *planning, const struct lease_settings *lease)
{
    char timeout[48];

    if (!lease->on)
        return "off";
    text_format_duration(lease->timeout_ms, timeout, sizeof timeout);
    return plan_text(planning, "timeout %s, queue %u", timeout, lease->queue);
}

/*
 * Leases that are open keep the time-out that they began with. When `lease` comes or goes, new
 * workers take over: a leased worker must not get messages of another route. A pool of pools has no
 * workers.
 */
static void compare_leases(struct planning *planning, const struct plan_subject *subject,
                           const struct lease_settings *older, const struct lease_settings *newer,
                           bool nested)
{
    if (older->on != newer->on ||
        (older->on && (older->timeout_ms != newer->timeout_ms || older->queue != newer->queue)))
        plan_add(planning, PLAN_POOL_OTHER, subject, "lease", lease_text(planning, older),
                 lease_text(planning, newer), nested || older->on == newer->on);
}

/* New workers take over: a process cannot become a thread, and gets no right back. */
static void compare_isolation(struct planning *planning, const struct plan_subject *subject,
                              const struct settings_pool *older, const struct settings_pool *newer)
{
    char before[256], after[256];

    if (older->isolation != newer->isolation)
        plan_add(planning, PLAN_POOL_OTHER, subject, "isolation",
                 language_choice(language_pool, "isolation", older->isolation),
                 language_choice(language_pool, "isolation", newer->isolation), false);
    if (isolation_has_same_sandbox(&older->process.sandbox, &newer->process.sandbox))
        return;
    isolation_describe_sandbox(&older->process.sandbox, before, sizeof before);
    isolation_describe_sandbox(&newer->process.sandbox, after, sizeof after);
    plan_add(planning, PLAN_POOL_OTHER, subject, "process.sandbox", before, after,
             newer->isolation != SETTINGS_PROCESS);
}

static void compare_pools(struct planning *planning, const struct plan_subject *subject,
                          const struct settings_pool *older, const struct settings_pool *newer)
{
    struct settings_pool compared = *older; /* without the fields with a comparison of their own */
    struct plan_pair pair = { subject, &compared, newer, kind_of_pool };
    struct plan_uses uses = { &older->use, &newer->use, PLAN_POOL_REPLACED, PLAN_POOL_ARGS };
    size_t first;

    compared.core.scale = newer->core.scale;
    compared.core.lease = newer->core.lease;
    compared.isolation = newer->isolation;
    compared.process.sandbox = newer->process.sandbox;

    if (older->nested != newer->nested) {
        plan_add(planning, PLAN_POOL_REPLACED, subject, NULL, pool_text(planning, older),
                 pool_text(planning, newer), false);
        compare_managers(planning, subject, &older->manager, &newer->manager);
        return;
    }
    if (!newer->nested) {
        plan_compare_uses(planning, subject, &uses);
        compare_sizes(planning, subject, older, newer);
        compare_scales(planning, subject, older, newer);
        first = planning->plan->count;
        compare_leases(planning, subject, &older->core.lease, &newer->core.lease, false);
        compare_isolation(planning, subject, older, newer);
        plan_mark_exclusive(planning, &uses, first);
    } else {
        compare_leases(planning, subject, &older->core.lease, &newer->core.lease, true);
    }
    plan_compare_rows(planning, &pair, language_pool,
                      newer->nested ? LANGUAGE_OF_POOLS : LANGUAGE_OF_WORKERS);
    if (!newer->nested)
        compare_outputs(planning, subject, older, newer);
    compare_managers(planning, subject, &older->manager, &newer->manager);
}

/* Paths of all pools of one configuration; the values point into `numbers`. */
static int index_pools(const struct settings *settings, struct key_index *index,
                       struct text_store *store)
{
    uint32_t count = settings ? settings->pool_count : 0;
    uint32_t *numbers = text_store_take_array(store, (size_t)count + 1, sizeof *numbers);
    int status = numbers ? WEIR_OK : WEIR_ENOMEM;

    for (uint32_t i = 0; i < count && status == WEIR_OK; i++) {
        numbers[i] = i;
        status = key_index_put(index, settings, settings->pools[i].path, &numbers[i]);
    }
    return status;
}

static uint32_t find_pool(const struct key_index *index, const struct settings *settings,
                          const char *path)
{
    const uint32_t *found = settings ? key_index_find(index, settings, path) : NULL;

    return found ? *found : SETTINGS_NONE;
}

static void plan_new_pools(struct planning *planning, const struct key_index *index)
{
    const struct settings *older = planning->old_settings;
    const struct settings *newer = planning->new_settings;
    uint32_t *old_of = plan_matches(planning, newer->pool_count);

    planning->plan->old_pools = old_of;
    for (uint32_t i = 0; old_of && i < newer->pool_count; i++) {
        const struct settings_pool *pool = &newer->pools[i];
        struct plan_subject subject = { plan_text(planning, "pools.%s", pool->path),
                                        find_pool(index, older, pool->path), i };

        old_of[i] = subject.old_index;
        if (subject.old_index == SETTINGS_NONE)
            plan_add(planning, PLAN_POOL_ADDED, &subject, NULL, NULL, pool_text(planning, pool),
                     false);
        else
            compare_pools(planning, &subject, &older->pools[subject.old_index], pool);
    }
}

static void plan_gone_pools(struct planning *planning, const struct key_index *index)
{
    const struct settings *older = planning->old_settings;
    uint32_t count = older ? older->pool_count : 0;
    struct plan *plan = planning->plan;

    plan->removed = text_store_take_array(&plan->store, (size_t)count + 1, sizeof *plan->removed);
    planning->failed |= !plan->removed;
    for (uint32_t i = 0; plan->removed && i < count; i++) {
        const struct settings_pool *pool = &older->pools[i];
        struct plan_subject subject = { plan_text(planning, "pools.%s", pool->path), i,
                                        SETTINGS_NONE };

        if (find_pool(index, planning->new_settings, pool->path) != SETTINGS_NONE)
            continue;
        plan_add(planning, PLAN_POOL_REMOVED, &subject, NULL, pool_text(planning, pool), NULL,
                 false);
        plan->removed[plan->removed_count++] = i;
    }
}

void plan_pools(struct planning *planning)
{
    struct key_index index;
    int status;

    key_index_init(&index);
    status = index_pools(planning->new_settings, &index, &planning->scratch);
    if (status == WEIR_OK && planning->old_settings)
        status = index_pools(planning->old_settings, &index, &planning->scratch);
    if (status == WEIR_OK) {
        plan_new_pools(planning, &index);
        plan_gone_pools(planning, &index);
    } else {
        planning->failed = true;
    }
    key_index_finish(&index);
}
