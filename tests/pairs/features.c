/* SPDX-License-Identifier: MIT */
/* The features: a new one is a row. pairs.h. */
#include "pairs/rows.h"

#define ROUTE(word, number)                                                                        \
    static void route_by_##word(struct plan *plan)                                                 \
    {                                                                                              \
        plan->routes[plan->route_count++] = (number);                                              \
    }
ROUTE(round_robin, WEIR_ROUTE_ROUND_ROBIN)
ROUTE(least_loaded, WEIR_ROUTE_LEAST_LOADED)
ROUTE(random, WEIR_ROUTE_RANDOM)
ROUTE(hash, WEIR_ROUTE_HASH)
ROUTE(pull, WEIR_ROUTE_PULL)
ROUTE(broadcast, WEIR_ROUTE_BROADCAST)

static void nest(struct plan *plan)
{
    plan->is_nested = true;
}

static void lease(struct plan *plan)
{
    plan->has_leases = true;
}

static void lease_group(struct plan *plan)
{
    plan->has_leases = plan->is_nested = true;
}

static void scale(struct plan *plan, enum weir_scale by)
{
    plan->is_elastic = true;
    plan->leaf.workers = by == WEIR_SCALE_ON_DEMAND ? 0 : 1;
    plan->leaf.workers_min = plan->leaf.workers;
    plan->leaf.workers_max = SIZE_MAX_HERE;
    plan->leaf.scale = by;
    plan->leaf.scale_wait_ms = 1;
    plan->leaf.scale_idle_ms = 2;
}

static void scale_by_wait(struct plan *plan)
{
    scale(plan, WEIR_SCALE_BY_WAIT);
}

static void scale_on_demand(struct plan *plan)
{
    scale(plan, WEIR_SCALE_ON_DEMAND);
}

static void redeliver(struct plan *plan)
{
    plan->leaf.redeliver = 1;
}

static void stop_for_ever(struct plan *plan)
{
    plan->may_stop = true;
    plan->leaf.restart_max = 1;
    plan->leaf.restart_then = WEIR_RESTART_STOP;
}

static void subscribe(struct plan *plan)
{
    plan->has_events = true;
}

static void add_source(struct plan *plan)
{
    plan->has_source = true;
}

static void add_failing_source(struct plan *plan)
{
    plan->has_source = plan->source_fails = true;
}

static void name(struct plan *plan)
{
    plan->has_names = true;
}

static void back_off(struct plan *plan)
{
    plan->leaf.retry_max = 2;
    plan->leaf.retry_backoff_ms_min = 1;
    plan->leaf.retry_backoff_ms_max = 2;
}

static void keep_one_shut(struct plan *plan)
{
    scale_on_demand(plan);
    plan->one_never_opens = true;
}

const struct feature features[] = {
    { "round_robin", .shape = route_by_round_robin },
    { "least_loaded", .shape = route_by_least_loaded },
    { "random", .shape = route_by_random },
    { "hash", .shape = route_by_hash },
    { "pull", .shape = route_by_pull },
    { "broadcast", .shape = route_by_broadcast },
    { "nested", .shape = nest },
    { "lease", .shape = lease, .act = act_take },
    { "lease group", .shape = lease_group, .act = act_take },
    { "take by workers", .shape = lease_group, .handle = deed_take },
    { "scale by wait", .shape = scale_by_wait },
    { "scale on demand", .shape = scale_on_demand },
    { "failing opens", .shape = keep_one_shut },
    { "pause", .act = act_pause, .calm = calm_pause },
    { "resize", .act = act_resize, .calm = calm_resize },
    { "reload", .act = act_reload },
    { "exclusive", .act = act_exclusive },
    { "kill", .act = act_kill },
    { "retry", .handle = deed_retry },
    { "back-off", .shape = back_off, .handle = deed_retry },
    { "postpone", .handle = deed_postpone },
    { "fail", .handle = deed_fail },
    { "redeliver", .shape = redeliver, .handle = deed_fail },
    { "then: stop", .shape = stop_for_ever, .handle = deed_fail },
    { "WEIR_STOP", .handle = deed_stop },
    { "stash", .handle = deed_stash },
    { "put back", .handle = deed_put_back },
    { "events", .shape = subscribe, .handle = deed_publish },
    { "origins, joins", .shape = add_source, .handle = deed_emit },
    { "positions", .shape = add_failing_source, .handle = deed_emit },
    { "delay", .handle = deed_delay },
    { "tasks", .act = act_tasks },
    { "groups", .act = act_group },
    { "requests", .act = act_ask },
    { "requests by workers", .handle = deed_ask },
    { "forward", .handle = deed_forward },
    { "rates", .act = act_rate, .calm = calm_rate, .handle = deed_emit },
    { "ports", .handle = deed_keep },
    { "children", .handle = deed_spawn },
    { "names", .shape = name, .act = act_lookup, .handle = deed_rename },
    { "to one worker", .act = act_direct },
    { "replay", .act = act_replay, .handle = deed_fail },
    { "inspect", .act = act_inspect },
};
const uint32_t feature_count = sizeof features / sizeof features[0];
