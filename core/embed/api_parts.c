/* SPDX-License-Identifier: MIT */
/* Pools, actors and sources: see weir/runtime.h. */
#include <stdlib.h>
#include <string.h>

#include "embed/part.h"
#include "embed/use.h"
#include "embed/usual.h"
#include "embed/valid.h"

/* The smallest sizes of the options: of a pool the fields before `subscribe`, of an actor all. */
#define POOL_SIZE_MIN offsetof(struct weir_pool_options, subscribe)
#define ACTOR_SIZE_MIN (sizeof(struct weir_actor_options))

/* --- making --------------------------------------------------------------------------------- */

static int find_dispatcher(struct weir_runtime *runtime, const char *name, struct dispatcher **out,
                           struct refusal *why)
{
    *out = runtime_find_dispatcher(runtime->core, name && *name ? name : "default");
    return *out ? 0
                : valid_miss(why, "dispatcher",
                             "there is none of this name: call weir_runtime_add_dispatcher first");
}

/* Fields that are 0 keep their defaults. */
static void restart_of(const struct weir_pool_options *given, struct restart *restart)
{
    restart->then = given->restart_then;
    if (restart->then == WEIR_RESTART_USUAL)
        restart->then = given->behaviour ? WEIR_RESTART_KEEP_TRYING : WEIR_RESTART_ESCALATE;
    if (given->restart_max)
        restart->max = given->restart_max;
    if (given->restart_within_ms)
        restart->within_ms = given->restart_within_ms;
    if (given->restart_backoff_ms_min)
        restart->backoff_ms_min = given->restart_backoff_ms_min;
    if (given->restart_backoff_ms_max)
        restart->backoff_ms_max = given->restart_backoff_ms_max;
}

static struct retry retry_of(const struct weir_pool_options *given)
{
    return (struct retry){ .max = usual_retry_max(given->retry_max),
                           .backoff_ms_min = given->retry_backoff_ms_min,
                           .backoff_ms_max = given->retry_backoff_ms_max,
                           .for_ms = given->retry_for_ms };
}

static struct scale scale_of(const struct weir_pool_options *given)
{
    uint64_t wait_ms = given->scale_wait_ms ? given->scale_wait_ms : USUAL_SCALE_WAIT_MS;

    return (struct scale){
        .on = given->scale != WEIR_SCALE_NONE,
        .wait_ms = given->scale == WEIR_SCALE_ON_DEMAND ? 0 : wait_ms,
        .idle_ms = given->scale_idle_ms ? given->scale_idle_ms : USUAL_SCALE_IDLE_MS,
    };
}

/* A member of a group gives leases in any case. */
static void lease_of(const struct weir_pool_options *given, const struct lease_settings *group,
                     struct pool_settings *out)
{
    out->lease = (struct lease_settings){
        .on = given->lease || group,
        .timeout_ms = given->lease || !group ? usual_lease_timeout_ms(given->lease_timeout_ms)
                                             : group->timeout_ms,
        .queue = given->lease_queue,
    };
    if (out->lease.on && given->behaviour)
        out->route = WEIR_ROUTE_PULL;
}

/* Translates valid options, as far as they need no memory: all but spec and outputs. */
static int translate(struct weir_runtime *runtime, const struct weir_pool_options *given,
                     const struct lease_settings *group, struct pool_options *out,
                     struct refusal *why)
{
    int status;

    *out = (struct pool_options){
        .path = given->path,
        .size = given->behaviour ? given->workers : 0,
        .settings = { .size_min = given->workers_min,
                      .size_max = given->workers_max,
                      .clamp = given->clamp,
                      .mailbox = usual_limit(given->limit),
                      .mailbox_bytes = given->mailbox_bytes,
                      .route = given->route,
                      .remove = { given->remove,
                                  usual_remove_timeout_ms(given->remove_timeout_ms) },
                      .open_timeout_ms = given->open_timeout_ms },
        .fan_out = given->fan_out,
        .dead_letters = &runtime->dead_letters,
    };
    out->settings.restart = restart_usual(WEIR_RESTART_ESCALATE);
    restart_of(given, &out->settings.restart);
    out->settings.retry = retry_of(given);
    out->settings.scale = scale_of(given);
    lease_of(given, group, &out->settings);
    status = find_dispatcher(runtime, NULL, &out->manager_dispatcher, why);
    return status == 0 ? find_dispatcher(runtime, given->dispatcher, &out->dispatcher, why)
                       : status;
}

static int create_pool(struct weir_runtime *runtime, struct pool_options *options,
                       struct pool **out)
{
    struct executor *executor = runtime_enter(runtime->core);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    status = pool_create(runtime->core, executor, options, out);
    runtime_leave(executor);
    return status;
}

static int make_spec(struct weir_runtime *runtime, const struct weir_pool_options *given,
                     const struct pool_options *options, struct spec **out_spec,
                     struct use **out_use)
{
    struct restart restart = restart_usual(WEIR_RESTART_KEEP_TRYING);
    const struct use_options use = { given->behaviour, given->behaviour_size,
                                     given->settings,  given->redeliver,
                                     &restart,         &options->settings.retry };

    restart_of(given, &restart);
    return use_create_spec(runtime, &use, out_spec, out_use);
}

static int make_manager(struct weir_runtime *runtime, const struct weir_pool_options *given,
                        struct spec **out_spec, struct use **out_use)
{
    const struct use_options use = { .behaviour = given->manager,
                                     .behaviour_size = given->behaviour_size,
                                     .settings = given->manager_settings };

    return use_create_spec(runtime, &use, out_spec, out_use);
}

/* Makes it and, on 0, takes the settings. */
static int create_with_specs(struct weir_runtime *runtime, const struct weir_pool_options *given,
                             struct pool_options *options, struct pool **out)
{
    struct use *use = NULL, *manager = NULL;
    int status = given->behaviour ? make_spec(runtime, given, options, &options->spec, &use) : 0;

    if (status == 0 && given->manager)
        status = make_manager(runtime, given, &options->manager, &manager);
    if (status == 0)
        status = create_pool(runtime, options, out);
    if (status == 0 && use)
        use->release = given->release;
    if (status == 0 && manager)
        manager->release = given->manager_release;
    spec_unref(options->spec);
    spec_unref(options->manager);
    return status;
}

/* Called before the pool is made, which may log. */
static int set_level(struct weir_runtime *runtime, const struct weir_pool_options *given,
                     const struct part *parent, struct part *part)
{
    part->log_level = given->log_level ? given->log_level : parent ? parent->log_level : 0;
    if (!part->log_level)
        return 0;
    part->level = levels_add(&runtime->levels, given->path, part->log_level);
    return part->level ? 0 : WEIR_ENOMEM;
}

static int make_pool_locked(struct weir_runtime *runtime, const struct weir_pool_options *given,
                            struct part *part, struct refusal *why)
{
    struct part *parent = given->parent ? part_find_locked(runtime, given->parent) : NULL;
    const struct lease_settings *group = parent && parent->lease.on ? &parent->lease : NULL;
    struct pool_options options;
    const struct weir_list events = { given->subscribe, given->subscribe_count };
    struct binding *bindings = NULL;
    int status = valid_pool(given, group, why);

    if (status == 0)
        *why = (struct refusal){ 0 };
    if (status == 0)
        status = translate(runtime, given, group, &options, why);
    if (status == 0 && given->parent && (!parent || parent->kind != PART_POOL))
        status = valid_miss(why, "parent", "is the PID of no pool of this runtime");
    if (status == 0)
        status = use_create_bindings(given->outputs, given->output_count, given->binding_size,
                                     &bindings);
    if (status != 0)
        return status;
    options.parent = parent ? parent->pool : NULL;
    options.output_count = given->output_count;
    options.outputs = bindings;
    if (given->subscribe_count)
        options.subscribe = &events;
    status = set_level(runtime, given, parent, part);
    if (status == 0)
        status = create_with_specs(runtime, given, &options, &part->pool);
    free(bindings);
    if (status != 0)
        return status;
    part->kind = PART_POOL;
    part->parent = given->parent;
    part->pid = pool_pid(part->pool);
    part->lease = options.settings.lease;
    part->min_ready = usual_min_ready(given->min_ready);
    if (given->open_timeout_ms)
        part->open_timeout_ms = given->open_timeout_ms;
    return 0;
}

/* The settings of a behaviour that is not there are not used: their last use is over. */
static void release_unused(const struct weir_pool_options *given)
{
    if (!given->behaviour && given->release)
        given->release((void *)(uintptr_t)given->settings);
    if (!given->manager && given->manager_release)
        given->manager_release((void *)(uintptr_t)given->manager_settings);
}

int weir_runtime_add_pool(struct weir_runtime *runtime, const struct weir_pool_options *options,
                          weir_pid *out_pool)
{
    struct refusal why = { "size", "is smaller than any: begin with WEIR_POOL_OPTIONS",
                           WEIR_EINVALID };
    struct weir_pool_options known;
    struct part *part;
    int status;

    if (options->size < POOL_SIZE_MIN)
        return valid_report(runtime, "runtime", WEIR_EINVALID, &why);
    use_copy(&known, sizeof known, options, options->size);
    status = part_begin(runtime, &part);
    if (status != 0)
        return status;
    status = make_pool_locked(runtime, &known, part, &why);
    if (status == 0)
        *out_pool = part->pid;
    part_end_locked(part, status);
    if (status == 0)
        release_unused(&known);
    return valid_report(runtime, known.path ? known.path : "runtime", status, &why);
}

/* Takes the wiring on 0. */
static int create_source(struct part *part, struct executor *executor, struct spec *spec,
                         struct dispatcher *dispatcher, const struct weir_actor_options *given,
                         struct wiring *wiring)
{
    const char *name = given->name;
    const struct source_options options = { .path = name ? name : "",
                                            .dispatcher = dispatcher,
                                            .spec = spec,
                                            .output_count = given->output_count,
                                            .registered = name && *name,
                                            .waits_for_go = true,
                                            .dead_letters = &part->runtime->dead_letters };
    int status = source_create(part->runtime->core, executor, &options, &part->source);

    if (status != 0)
        return status;
    part->kind = PART_SOURCE;
    part->pid = source_pid(part->source);
    source_set_wiring(part->source, wiring, executor);
    source_go(part->source, executor);
    return 0;
}

/* Takes the wiring on 0. */
static int create_standalone(struct part *part, struct executor *executor, struct spec *spec,
                             struct dispatcher *dispatcher, const struct weir_actor_options *given,
                             struct wiring *wiring)
{
    const struct standalone_options options = { .name = given->name,
                                                .dispatcher = dispatcher,
                                                .spec = spec,
                                                .limit = usual_limit(given->limit),
                                                .wiring = wiring,
                                                .dead_letters = &part->runtime->dead_letters };
    int status = standalone_create(part->runtime->core, executor, &options, &part->standalone);

    if (status != 0)
        return status;
    part->kind = PART_STANDALONE;
    part->pid = standalone_pid(part->standalone);
    return 0;
}

/* Takes the wiring on 0. */
static int create_actor(struct part *part, const struct use *use, struct spec *spec,
                        struct dispatcher *dispatcher, const struct weir_actor_options *given,
                        struct wiring *wiring)
{
    struct executor *executor = runtime_enter(part->runtime->core);
    int status;

    if (!executor)
        return WEIR_ENOMEM;
    if (use->behaviour.produce)
        status = create_source(part, executor, spec, dispatcher, given, wiring);
    else
        status = create_standalone(part, executor, spec, dispatcher, given, wiring);
    runtime_leave(executor);
    return status;
}

static int make_actor_locked(struct weir_runtime *runtime, const struct weir_actor_options *given,
                             struct part *part, struct refusal *why)
{
    const struct use_options made_of = { .behaviour = given->behaviour,
                                         .behaviour_size = given->behaviour_size,
                                         .settings = given->settings };
    struct dispatcher *dispatcher;
    struct binding *bindings = NULL;
    struct wiring *wiring = NULL;
    struct spec *spec = NULL;
    struct use *use = NULL;
    int status = find_dispatcher(runtime, given->dispatcher, &dispatcher, why);

    if (status == 0)
        status = use_create_bindings(given->outputs, given->output_count, given->binding_size,
                                     &bindings);
    if (status == 0)
        wiring = wiring_make(bindings, given->output_count);
    if (status == 0 && !wiring)
        status = WEIR_ENOMEM;
    if (status == 0)
        status = use_create_spec(runtime, &made_of, &spec, &use);
    if (status == 0)
        status = create_actor(part, use, spec, dispatcher, given, wiring);
    if (status == 0)
        use->release = given->release;
    else
        wiring_destroy(wiring);
    spec_unref(spec);
    free(bindings);
    return status;
}

int weir_runtime_add_actor(struct weir_runtime *runtime, const struct weir_actor_options *options,
                           weir_pid *out_actor)
{
    struct refusal why = { "size", "is smaller than any: begin with WEIR_ACTOR_OPTIONS",
                           WEIR_EINVALID };
    struct weir_actor_options known;
    struct part *part;
    int status;

    if (options->size < ACTOR_SIZE_MIN)
        return valid_report(runtime, "runtime", WEIR_EINVALID, &why);
    use_copy(&known, sizeof known, options, options->size);
    status = part_begin(runtime, &part);
    if (status != 0)
        return status;
    status = valid_actor(&known, &why);
    if (status == 0)
        status = make_actor_locked(runtime, &known, part, &why);
    if (status == 0)
        *out_actor = part->pid;
    part_end_locked(part, status);
    return valid_report(runtime, known.name ? known.name : "runtime", status, &why);
}
