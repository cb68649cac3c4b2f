/* SPDX-License-Identifier: MIT */
#include "embed/valid.h"

#include <stdlib.h>
#include <string.h>

#include "embed/use.h"
#include "embed/usual.h"

#define MS_MAX (366ull * 24 * 60 * 60 * 1000) /* a year: no sum of such times overflows */
#define TURN_WARNING_MS_MAX (24ull * 60 * 60 * 1000)
#define OUTPUTS_MAX 1024                     /* a sane behaviour has a handful */
#define PATH_MAX_BYTES (PLACE_PATH_MAX - 17) /* `#` and a number are behind it */
#define LEVELS_MAX WEIR_LOG_UP_TO(WEIR_LOG_DEBUG)
#define RESERVED "must be 0: a later version may use it"
#define SETTINGS "must be there: the behaviour has settings, and the library makes none"

struct rule {
    bool is_broken;
    const char *option;
    const char *reason;
};

static int apply(const struct rule *rules, size_t count, struct refusal *why)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].is_broken)
            return valid_refuse(why, rules[i].option, rules[i].reason);
    return 0;
}

#define APPLY(rules, why) apply(rules, sizeof(rules) / sizeof(rules)[0], why)

int valid_report(const struct weir_runtime *runtime, const char *component, int status,
                 const struct refusal *why)
{
    if (status != 0 && status == why->status)
        log_event(runtime_log(runtime->core), WEIR_LOG_ERROR, component, VALID_EVENT,
                  weir_str("option", why->option), weir_str("reason", why->reason));
    return status;
}

/* --- runtimes ------------------------------------------------------------------------------- */

int valid_runtime(const struct weir_runtime_options *options, struct refusal *why)
{
    const struct rule rules[] = {
        { options->reserved || options->reserved_2 || options->reserved_3, "reserved", RESERVED },
        { options->threads == 0, "threads", "must be at least 1" },
        { options->log_level > LEVELS_MAX, "log_level", "is larger than that of WEIR_LOG_DEBUG" },
        { options->turn_warning_ms > TURN_WARNING_MS_MAX, "turn_warning_ms",
          "is longer than a day" },
    };

    return APPLY(rules, why);
}

int valid_poller(const struct weir_poller *poller, struct refusal *why)
{
    const struct rule rules[] = {
        { poller->reserved != 0, "poller->reserved", RESERVED },
        { !poller->begin || !poller->end, "poller", "has no `begin` or no `end`" },
    };

    return APPLY(rules, why);
}

/* --- outputs -------------------------------------------------------------------------------- */

static int valid_output(const struct weir_binding *output, struct refusal *why)
{
    const struct rule rules[] = {
        { output->reserved != 0, "outputs[].reserved", RESERVED },
        { output->when_full >= CHOICES_OF(WEIR_FULL_LIST), "outputs[].when_full",
          "is none of enum weir_when_full" },
    };

    return APPLY(rules, why);
}

int valid_outputs(const struct weir_binding *outputs, uint32_t count, uint32_t binding_size,
                  struct refusal *why)
{
    const struct rule rules[] = {
        { count > OUTPUTS_MAX, "output_count", "is larger than 1024" },
        { count && !outputs, "outputs", "must be there: output_count is not 0" },
        { count && binding_size < sizeof *outputs, "binding_size",
          "is smaller than struct weir_binding: begin with the initialiser of the options" },
    };
    int status = APPLY(rules, why);

    for (uint32_t i = 0; i < count && status == 0; i++) {
        struct weir_binding output;

        use_copy(&output, sizeof output, (const char *)outputs + (size_t)i * binding_size,
                 binding_size);
        status = valid_output(&output, why);
    }
    return status;
}

/* --- pools ---------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
    return text && text[0] && strlen(text) <= PATH_MAX_BYTES;
}

static bool are_names(const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; names && i < count; i++)
        if (!names[i] || !names[i][0] || strlen(names[i]) > EVENTS_NAME_MAX)
            return false;
    return names || count == 0;
}

static bool is_old(uint32_t behaviour_size)
{
    return behaviour_size < USE_BEHAVIOUR_SIZE_MIN;
}

/* Without them its `open` would read through NULL. */
static bool lacks_settings(const struct weir_behaviour *behaviour, const void *settings)
{
    return behaviour && behaviour->settings_size && !settings;
}

static int valid_shape(const struct weir_pool_options *o, struct refusal *why)
{
    bool old = is_old(o->behaviour_size); /* then nothing of it is read */
    const struct weir_behaviour *worker = old ? NULL : o->behaviour;
    const struct weir_behaviour *manager = old ? NULL : o->manager;
    const struct rule rules[] = {
        { !is_name(o->path), "path", "must have 1 to 111 bytes" },
        { o->reserved || o->reserved_2 || o->reserved_3 || o->reserved_4, "reserved", RESERVED },
        { (o->behaviour || o->manager) && old, "behaviour_size",
          "is smaller than struct weir_behaviour: begin with WEIR_POOL_OPTIONS" },
        { worker && !worker->handle, "behaviour", "has no `handle`" },
        { manager && !manager->handle, "manager", "has no `handle`" },
        { lacks_settings(worker, o->settings), "settings", SETTINGS },
        { lacks_settings(manager, o->manager_settings), "manager_settings", SETTINGS },
        { o->route >= CHOICES_OF(WEIR_ROUTE_LIST), "route", "is none of enum weir_route" },
        { !o->behaviour && o->route == WEIR_ROUTE_PULL, "route",
          "WEIR_ROUTE_PULL needs workers as members, not pools" },
        { worker && worker->flags & WEIR_KEYED && o->route != WEIR_ROUTE_HASH, "route",
          "must be WEIR_ROUTE_HASH: the behaviour keeps a state for each key (WEIR_KEYED)" },
        { o->remove >= CHOICES_OF(WEIR_REMOVE_LIST), "remove", "is none of enum weir_remove" },
        { o->workers > POOL_SIZE_MAX, "workers", "is larger than 65536" },
        { o->workers_max > POOL_SIZE_MAX, "workers_max", "is larger than 65536" },
        { o->workers_max && o->workers_min > o->workers_max, "workers_min",
          "is larger than workers_max" },
        { o->workers_max && o->workers > o->workers_max, "workers", "is larger than workers_max" },
        { o->workers_max && o->workers < o->workers_min, "workers", "is smaller than workers_min" },
        { !are_names(o->subscribe, o->subscribe_count), "subscribe",
          "must have subscribe_count names of events, each of 1 to 127 bytes" },
        { o->log_level > LEVELS_MAX, "log_level", "is larger than that of WEIR_LOG_DEBUG" },
    };

    return APPLY(rules, why);
}

static int valid_restart(const struct weir_pool_options *o, struct refusal *why)
{
    const struct restart usual = restart_usual(WEIR_RESTART_ESCALATE);
    uint64_t least = o->restart_backoff_ms_min ? o->restart_backoff_ms_min : usual.backoff_ms_min;
    uint64_t most = o->restart_backoff_ms_max ? o->restart_backoff_ms_max : usual.backoff_ms_max;
    const struct rule rules[] = {
        { o->restart_then > WEIR_RESTART_KEEP_TRYING, "restart_then",
          "is none of enum weir_restart_then" },
        { o->restart_within_ms > MS_MAX, "restart_within_ms", "is longer than 366 days" },
        { most > MS_MAX, "restart_backoff_ms_max", "is longer than 366 days" },
        { least > most, "restart_backoff_ms_min",
          "is longer than restart_backoff_ms_max, which is 10 s when it is left 0" },
    };

    return APPLY(rules, why);
}

static int valid_retry(const struct weir_pool_options *o, struct refusal *why)
{
    uint32_t max = usual_retry_max(o->retry_max);
    bool is_set = o->retry_max || o->retry_backoff_ms_max || o->retry_for_ms;
    const struct rule rules[] = {
        { is_set && !o->behaviour, "retry_max", "belongs to a pool of workers" },
        { max > RETRY_COUNT_MAX && max != RETRY_UNLIMITED, "retry_max", "is larger than 10000" },
        { o->retry_backoff_ms_min > o->retry_backoff_ms_max, "retry_backoff_ms_min",
          "is longer than retry_backoff_ms_max" },
        { o->retry_backoff_ms_max > RETRY_BACKOFF_MS_MAX, "retry_backoff_ms_max",
          "is longer than an hour" },
        { o->retry_backoff_ms_max && !o->retry_backoff_ms_min, "retry_backoff_ms_min",
          "must be set with retry_backoff_ms_max" },
        { o->retry_for_ms > RETRY_FOR_MS_MAX, "retry_for_ms", "is longer than 7 days" },
        { o->retry_for_ms && !o->retry_backoff_ms_max, "retry_for_ms",
          "needs retry_backoff_ms_min and retry_backoff_ms_max" },
    };

    return APPLY(rules, why);
}

static int valid_scale(const struct weir_pool_options *o, struct refusal *why)
{
    const struct rule rules[] = {
        { o->scale > WEIR_SCALE_ON_DEMAND, "scale", "is none of enum weir_scale" },
        { o->scale != WEIR_SCALE_ON_DEMAND && o->scale_wait_ms > MS_MAX, "scale_wait_ms",
          "is longer than 366 days" },
        { o->scale_idle_ms > MS_MAX, "scale_idle_ms", "is longer than 366 days" },
        { o->scale && !o->behaviour, "scale", "belongs to each pool of workers, not to this one" },
        { o->scale && o->workers_min == o->workers_max, "scale",
          "has no room: workers_min and workers_max must differ" },
        { o->scale && o->route == WEIR_ROUTE_BROADCAST, "scale",
          "has no meaning with WEIR_ROUTE_BROADCAST" },
    };

    return APPLY(rules, why);
}

static bool gives_any(uint32_t route)
{
    return route == WEIR_ROUTE_ROUND_ROBIN || route == WEIR_ROUTE_LEAST_LOADED ||
           route == WEIR_ROUTE_RANDOM;
}

static int valid_lease(const struct weir_pool_options *o, const struct lease_settings *group,
                       struct refusal *why)
{
    bool on = o->lease || group;
    const struct rule rules[] = {
        { o->lease > 1, "lease", "must be 0 or 1" },
        { on && o->lease_timeout_ms > MS_MAX && o->lease_timeout_ms != WEIR_FOR_EVER,
          "lease_timeout_ms", "is longer than 366 days" },
        { group && !o->behaviour, "behaviour",
          "must be there: the members of a pool with `lease` are pools of workers" },
        { on && o->behaviour && o->route && o->route != WEIR_ROUTE_PULL, "route",
          "must be 0 or WEIR_ROUTE_PULL in a pool that gives leases" },
        { on && !o->behaviour && !gives_any(o->route), "route",
          "must be round robin, least loaded or random in a pool of pools with `lease`" },
        { on && o->behaviour && o->limit == WEIR_UNBUFFERED, "limit",
          "WEIR_UNBUFFERED is not for a pool that gives leases" },
    };

    return APPLY(rules, why);
}

int valid_pool(const struct weir_pool_options *options, const struct lease_settings *group,
               struct refusal *why)
{
    int status = valid_shape(options, why);

    if (status == 0)
        status = valid_restart(options, why);
    if (status == 0)
        status = valid_retry(options, why);
    if (status == 0)
        status = valid_scale(options, why);
    if (status == 0)
        status = valid_lease(options, group, why);
    if (status == 0)
        status = valid_outputs(options->outputs, options->output_count, options->binding_size, why);
    return status;
}

/* --- actors --------------------------------------------------------------------------------- */

int valid_actor(const struct weir_actor_options *options, struct refusal *why)
{
    bool old = is_old(options->behaviour_size); /* then nothing of it is read */
    const struct weir_behaviour *behaviour = old ? NULL : options->behaviour;
    const struct rule rules[] = {
        { options->reserved != 0, "reserved", RESERVED },
        { !options->behaviour, "behaviour", "must be there" },
        { old, "behaviour_size",
          "is smaller than struct weir_behaviour: begin with WEIR_ACTOR_OPTIONS" },
        { behaviour && !behaviour->produce && !behaviour->handle, "behaviour",
          "has neither `produce` nor `handle`" },
        { lacks_settings(behaviour, options->settings), "settings", SETTINGS },
        { options->name && strlen(options->name) >= PLACE_PATH_MAX, "name",
          "is longer than 127 bytes" },
    };
    int status = APPLY(rules, why);

    return status == 0
               ? valid_outputs(options->outputs, options->output_count, options->binding_size, why)
               : status;
}
