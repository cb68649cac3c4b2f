/* SPDX-License-Identifier: MIT */
#include "host/run/assembly.h"

#include <stdlib.h>

#include "host/crash/crash_file.h"
#include "host/isolation/isolated.h"

void assembly_init(struct assembly *assembly, struct runtime *runtime)
{
    *assembly = (struct assembly){ .runtime = runtime };
    lock_init(&assembly->lock, LOCK_ASSEMBLY);
}

static _Atomic uint32_t *users_of(const struct settings_use *use)
{
    return use->entry ? use->entry->users : NULL;
}

/* Counts the users of each plugin, which stays loaded while shared settings name it. The counters
 * are stored apart, since they are lowered after the settings, which refer to the plugin's tables,
 * are freed. */
static int count_uses(struct shared_settings *shared, const struct settings *settings)
{
    size_t most = (size_t)settings->pool_count * 2 + settings->source_count;

    shared->users = calloc(most + 1, sizeof *shared->users);
    if (!shared->users)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        shared->users[shared->users_count++] = users_of(&settings->pools[i].use);
        shared->users[shared->users_count++] = users_of(&settings->pools[i].manager);
    }
    for (uint32_t i = 0; i < settings->source_count; i++)
        shared->users[shared->users_count++] = users_of(&settings->sources[i].use);
    /* Relaxed: only this thread unloads. */
    for (size_t i = 0; i < shared->users_count; i++)
        if (shared->users[i])
            atomic_fetch_add_explicit(shared->users[i], 1, memory_order_relaxed);
    return 0;
}

/* Release pairs with the acquire in loader_find_unused: all use of the plugin comes before. */
static void uncount_uses(struct shared_settings *shared)
{
    for (size_t i = 0; i < shared->users_count; i++)
        if (shared->users[i])
            atomic_fetch_sub_explicit(shared->users[i], 1, memory_order_release);
    free(shared->users);
}

static void forget_isolated(struct shared_settings *shared, uint32_t count)
{
    for (uint32_t i = 0; shared->isolated && i < count; i++)
        isolated_destroy(shared->isolated[i]);
    free(shared->isolated);
}

/* The behaviours that stand in for those of pools with `isolation: process`. */
static int make_isolated(struct shared_settings *shared, const struct settings *settings)
{
    shared->isolated = calloc((size_t)settings->pool_count + 1, sizeof(struct isolated *));
    for (uint32_t i = 0; shared->isolated && i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];
        const struct settings_use *use = &pool->use;

        if (pool->nested || pool->isolation != SETTINGS_PROCESS)
            continue;
        shared->isolated[i] = isolated_create(&(struct isolated_options){
            .behaviour = use->entry->behaviour,
            .settings = use->options ? options_settings(use->options) : NULL,
            .plugin = use->entry->plugin,
            .version = use->entry->version,
            .generation = use->entry->generation,
            .log_format = (uint32_t)settings->host.log.format,
            .file = use->entry->file,
            .image = use->entry->image,
            .timeout_ms = pool->process.timeout_ms,
            .memory = pool->process.memory,
            .files = pool->process.files,
            /* What one worker has ahead no other one could take. */
            .window = pool->core.route == WEIR_ROUTE_PULL ? 1 : pool->process.window,
            .sandbox = { .on = pool->process.sandbox.on,
                         .strict = pool->process.sandbox.strict,
                         .network = pool->process.sandbox.network,
                         .read = pool->process.sandbox.read,
                         .write = pool->process.sandbox.write },
            .open_timeout_ms = pool->core.open_timeout_ms,
            .close_timeout_ms = pool->core.remove.timeout_ms });
        if (!shared->isolated[i])
            return WEIR_ENOMEM;
    }
    return shared->isolated ? 0 : WEIR_ENOMEM;
}

struct shared_settings *shared_settings_create(struct runtime *runtime, struct settings *settings)
{
    struct shared_settings *shared = calloc(1, sizeof *shared);

    if (!shared)
        return NULL;
    atomic_init(&shared->references, 1);
    shared->settings = settings;
    shared->runtime = runtime;
    if (make_isolated(shared, settings) == 0 && count_uses(shared, settings) == 0)
        return shared;
    forget_isolated(shared, settings->pool_count);
    free(shared);
    return NULL;
}

void shared_settings_unref(struct shared_settings *shared)
{
    /* Each release pairs with the acquire of the last one: all uses come before. */
    if (!shared || atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) != 1)
        return;
    forget_isolated(shared, shared->settings->pool_count);
    settings_destroy(shared->settings);
    uncount_uses(shared);
    free(shared);
}

void assembly_finish(struct assembly *assembly)
{
    /* After a failed start there are none. */
    uint32_t pools = assembly->shared ? assembly->shared->settings->pool_count : 0;
    uint32_t sources = assembly->shared ? assembly->shared->settings->source_count : 0;
    struct executor *executor = runtime_enter(assembly->runtime);

    for (uint32_t i = 0; executor && i < sources; i++)
        source_destroy(assembly->sources[i], executor);
    for (uint32_t i = 0; executor && i < assembly->gone_source_count; i++)
        source_destroy(assembly->gone_sources[i], executor);
    for (uint32_t i = 0; executor && i < pools; i++)
        pool_destroy(assembly->pools[i], executor);
    for (uint32_t i = 0; executor && i < assembly->gone_count; i++)
        pool_destroy(assembly->gone[i], executor);
    if (executor)
        runtime_leave(executor);
    free(assembly->pools);
    free(assembly->sources);
    free(assembly->gone);
    free(assembly->gone_sources);
    free(assembly->drains);
    shared_settings_unref(assembly->shared);
    lock_finish(&assembly->lock);
}

/* --- parts ---------------------------------------------------------------------------------- */

static void release_held(void *owner)
{
    shared_settings_unref(owner);
}

/* `pool` NULL: of a manager or a source. `isolated` NULL: on threads. */
static struct spec *make_spec(struct shared_settings *shared, const struct settings_use *use,
                              const struct settings_pool *pool, const struct isolated *isolated)
{
    struct spec_options options = {
        .behaviour = use->entry->behaviour,
        .settings = use->options ? options_settings(use->options) : NULL,
        .plugin = use->entry->plugin,
        .version = use->entry->version,
        .generation = use->entry->generation,
        .release = release_held,
        .owner = shared,
    };
    struct poison *poison = NULL;
    struct spec *spec;
    int status;

    if (isolated) {
        options.behaviour = isolated_behaviour(isolated);
        options.settings = isolated_settings(isolated);
        /* The messages ahead are settled in order, but for those that the plugin keeps. */
        options.in_order = use->entry->behaviour->in_hand <= 1;
    }
    if (pool) {
        options.restart = &pool->core.restart;
        options.retry = &pool->core.retry;
        options.redeliver_max = pool->redeliver;
    }
    if (pool &&
        crash_file_poison(pool->path, pool->quarantine, &poison, &options.poison_count) != 0)
        return NULL;
    options.poison = poison;
    status = spec_make(shared->runtime, &options, &spec);
    free(poison);
    if (status != 0)
        return NULL;
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
    return spec;
}

struct spec *assembly_spec_of_pool(struct shared_settings *shared, uint32_t index)
{
    const struct settings_pool *pool = &shared->settings->pools[index];

    return make_spec(shared, &pool->use, pool, shared->isolated[index]);
}

struct spec *assembly_spec_of_manager(struct shared_settings *shared, uint32_t index)
{
    const struct settings_use *manager = &shared->settings->pools[index].manager;

    return manager->entry ? make_spec(shared, manager, NULL, NULL) : NULL;
}

struct spec *assembly_spec_of_source(struct shared_settings *shared, uint32_t index)
{
    return make_spec(shared, &shared->settings->sources[index].use, NULL, NULL);
}

static struct dispatcher *dispatcher_at(struct assembly *assembly, const struct settings *settings,
                                        uint32_t index)
{
    const char *name = index < settings->dispatcher_count ? settings->dispatchers[index].name
                                                          : "default";

    return runtime_find_dispatcher(assembly->runtime, name);
}

struct dead_letters_bounds assembly_dead_letters_of(const struct settings *settings)
{
    const struct settings_dead_letters *bounds = &settings->host.dead_letters;

    return (struct dead_letters_bounds){ bounds->count, bounds->bytes };
}

/* A pool of a fixed size may have any number of workers at run time. */
static struct pool_settings settings_in_core(const struct settings_pool *pool)
{
    struct pool_settings settings = pool->core;

    if (settings_has_fixed_size(pool))
        settings.size_min = settings.size_max = 0;
    return settings;
}

int assembly_create_pool(struct assembly *assembly, struct executor *executor,
                         struct shared_settings *shared, uint32_t index, struct pool **pools,
                         bool apart)
{
    const struct settings_pool *wanted = &shared->settings->pools[index];
    struct spec *spec = wanted->nested ? NULL : assembly_spec_of_pool(shared, index);
    struct dead_letters_bounds dead_letters = assembly_dead_letters_of(shared->settings);
    struct spec *manager = assembly_spec_of_manager(shared, index);
    struct pool_options options = {
        .path = wanted->path,
        .apart = apart,
        .parent = wanted->parent != SETTINGS_NONE ? pools[wanted->parent] : NULL,
        .dispatcher = dispatcher_at(assembly, shared->settings,
                                    wanted->nested ? SETTINGS_NONE : wanted->use.dispatcher),
        .manager_dispatcher = runtime_find_dispatcher(assembly->runtime, "default"),
        .opener = assembly->opener,
        .spec = spec,
        .manager = manager,
        .size = wanted->nested ? 0 : wanted->size,
        .settings = settings_in_core(wanted),
        .dead_letters = &dead_letters,
        .output_count = wanted->nested ? 0 : wanted->output_count,
    };
    int status = WEIR_ENOMEM;

    if ((spec || wanted->nested) && (manager || !wanted->manager.entry))
        status = pool_create(assembly->runtime, executor, &options, &pools[index]);
    spec_unref(spec);
    spec_unref(manager);
    return status;
}

static int set_rates(struct wiring *wiring, const struct settings_pool *pool)
{
    int status = 0;

    for (uint32_t i = 0; i < pool->output_count && status == 0; i++)
        if (pool->outputs[i].pool != SETTINGS_NONE && pool->outputs[i].rate.messages)
            status = wiring_set_rate(wiring, i, &pool->outputs[i].rate);
    return status;
}

struct wiring *assembly_wiring_of(const struct settings *settings, uint32_t index,
                                  struct pool *const *pools)
{
    const struct settings_pool *pool = &settings->pools[index];
    struct binding *bindings = calloc((size_t)pool->output_count + 1, sizeof *bindings);
    struct wiring *wiring;

    if (!bindings)
        return NULL;
    for (uint32_t i = 0; i < pool->output_count; i++) {
        const struct settings_output *output = &pool->outputs[i];

        if (output->pool != SETTINGS_NONE)
            bindings[i] = (struct binding){ pool_pid(pools[output->pool]), output->when_full };
    }
    wiring = wiring_make(bindings, pool->output_count);
    free(bindings);
    if (wiring && set_rates(wiring, pool) != 0) {
        wiring_destroy(wiring);
        return NULL;
    }
    return wiring;
}

static struct binding binding_of(const struct settings_source *source, struct pool *const *pools)
{
    return (struct binding){ pool_pid(pools[source->to]), source->when_full };
}

struct wiring *assembly_wiring_of_source(const struct settings_source *source,
                                         struct pool *const *pools)
{
    struct binding binding = binding_of(source, pools);
    struct wiring *wiring = wiring_make(&binding, 1);

    if (wiring && source->rate.messages && wiring_set_rate(wiring, 0, &source->rate) != 0) {
        wiring_destroy(wiring);
        return NULL;
    }
    return wiring;
}

int assembly_create_source(struct assembly *assembly, struct executor *executor,
                           struct shared_settings *shared, uint32_t index,
                           struct pool *const *pools, struct dispatcher *opener,
                           struct source *replaces, struct source **out)
{
    const struct settings_source *wanted = &shared->settings->sources[index];
    struct spec *spec = assembly_spec_of_source(shared, index);
    struct dead_letters_bounds dead_letters = assembly_dead_letters_of(shared->settings);
    struct binding binding = binding_of(wanted, pools);
    struct source_options options = {
        .path = wanted->name,
        .dispatcher = dispatcher_at(assembly, shared->settings, wanted->use.dispatcher),
        .opener = opener,
        .spec = spec,
        .target = binding.target,
        .when_full = binding.when_full,
        .rate = wanted->rate.messages ? &wanted->rate : NULL,
        .replaces = replaces,
        .output_count = 1,
        .waits_for_go = true,
        .dead_letters = &dead_letters,
    };
    int status = spec ? source_create(assembly->runtime, executor, &options, out) : WEIR_ENOMEM;

    spec_unref(spec);
    return status;
}

void assembly_change_options(struct assembly *assembly, const struct settings *settings,
                             uint32_t index, uint32_t present, struct pool_change_options *out)
{
    const struct settings_pool *pool = &settings->pools[index];

    *out = (struct pool_change_options){
        .dispatcher = dispatcher_at(assembly, settings,
                                    pool->nested ? SETTINGS_NONE : pool->use.dispatcher),
        .opener = assembly->opener,
        .size = pool->nested ? 0 : settings_size_after(pool, present),
        .settings = settings_in_core(pool),
    };
}

/* --- the sources ---------------------------------------------------------------------------- */

void assembly_go(struct assembly *assembly)
{
    struct executor *executor = runtime_enter(assembly->runtime);

    for (uint32_t i = 0; executor && i < assembly->shared->settings->source_count; i++)
        source_go(assembly->sources[i], executor);
    if (executor)
        runtime_leave(executor);
}
