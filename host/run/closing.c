#include "host/run/closing.h"

#include <stdlib.h>

#include "host/run/accounts.h"

#define NS_PER_MS 1000000u

/* --- time ----------------------------------------------------------------------------------- */

struct closing_time closing_time_begin(uint64_t timeout_ms)
{
    struct closing_time time = { .clock = clock_monotonic() };

    time.deadline_ns = clock_now_ns(&time.clock) + timeout_ms * NS_PER_MS;
    return time;
}

uint64_t closing_time_left_ms(const struct closing_time *time)
{
    struct clock clock = time->clock;
    uint64_t now = clock_now_ns(&clock);

    return now < time->deadline_ns ? (time->deadline_ns - now) / NS_PER_MS : 0;
}

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a < b ? b : a;
}

static uint64_t usual_or_left_ms(const struct closing_time *time)
{
    return time ? closing_time_left_ms(time) : CLOSING_TIMEOUT_MS;
}

/* --- one by one ------------------------------------------------------------------------------ */

/* The part that is waited for, unless the host is to end first. */
struct awaited {
    const struct assembly *assembly; /* NULL: also while the host ends */
    struct source *source;
    struct pool *pool;
};

static bool is_over(const struct awaited *awaited)
{
    if (awaited->source)
        return source_has_ended(awaited->source);
    return pool_has_ended(awaited->pool);
}

static bool need_not_wait(void *context)
{
    const struct awaited *awaited = context;

    return is_over(awaited) ||
           (awaited->assembly &&
            atomic_load_explicit(&awaited->assembly->stopping, memory_order_acquire));
}

static bool await(struct assembly *assembly, struct awaited awaited, uint64_t timeout_ms)
{
    (void)runtime_wait(assembly->runtime, need_not_wait, &awaited, timeout_ms);
    return is_over(&awaited);
}

static void name_left_behind(struct assembly *assembly, const char *path, struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    if (pool)
        pool_stats(pool, &stats);
    log_event(runtime_log(assembly->runtime), WEIR_LOG_ERROR, path, "did not end in time",
              weir_uint("queued", stats.queued), weir_uint("in_hand", stats.in_hand),
              weir_uint("held", stats.held), weir_str("effect", "left behind"));
}

/* Frees an ended source; its dead letters stay in the sum. */
static void forget_source(struct assembly *assembly, struct source *source)
{
    struct executor *executor = runtime_enter(assembly->runtime);
    struct source_figures figures;

    accounts_log_source(assembly, source);
    source_look(source, &figures);
    pthread_mutex_lock(&assembly->lock);
    dead_letters_figures_add(&assembly->gone_dead, &figures.dead);
    assembly->gone_misuses += figures.misuses;
    pthread_mutex_unlock(&assembly->lock);
    if (!executor)
        return;
    source_destroy(source, executor);
    runtime_leave(executor);
}

static void leave_source_behind(struct assembly *assembly, struct source *source)
{
    struct source **gone;

    name_left_behind(assembly, source_path(source), NULL);
    pthread_mutex_lock(&assembly->lock);
    gone = realloc(assembly->gone_sources, (assembly->gone_source_count + 1) * sizeof *gone);
    if (gone) {
        assembly->gone_sources = gone;
        gone[assembly->gone_source_count++] = source;
    }
    pthread_mutex_unlock(&assembly->lock);
}

void closing_forget_sources(struct assembly *assembly, struct source *const *sources,
                            uint32_t count, const struct closing_time *time)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!sources[i])
            continue;
        if (await(assembly, (struct awaited){ .assembly = assembly, .source = sources[i] },
                  usual_or_left_ms(time)))
            forget_source(assembly, sources[i]);
        else
            leave_source_behind(assembly, sources[i]);
    }
}

/* Removes one that has ended from the list; NULL: there is none. */
static struct source *take_ended(struct assembly *assembly)
{
    struct source *source = NULL;

    pthread_mutex_lock(&assembly->lock);
    for (uint32_t i = 0; !source && i < assembly->gone_source_count; i++) {
        if (!source_has_ended(assembly->gone_sources[i]))
            continue;
        source = assembly->gone_sources[i];
        assembly->gone_sources[i] = assembly->gone_sources[--assembly->gone_source_count];
    }
    pthread_mutex_unlock(&assembly->lock);
    return source;
}

static void collect_gone_sources(struct assembly *assembly)
{
    struct source *source;

    while ((source = take_ended(assembly)))
        forget_source(assembly, source);
}

/* Done with the sum under one lock, so that a reader counts the pool once, and never a freed one.
 * */
static void unlist_gone_locked(struct assembly *assembly, const struct pool *pool)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < assembly->gone_count; i++)
        if (assembly->gone[i] != pool)
            assembly->gone[kept++] = assembly->gone[i];
    assembly->gone_count = kept;
}

/* Frees an ended pool that was removed from `gone`; its ledger stays in the sum. */
static void forget_pool(struct assembly *assembly, struct pool *pool)
{
    struct executor *executor = runtime_enter(assembly->runtime);
    struct ledger_reading reading;

    pool_ledger(pool, &reading);
    pthread_mutex_lock(&assembly->lock);
    if (!pool_has_parent(pool)) { /* a parent keeps the figures of those below */
        ledger_reading_add(&assembly->gone_ledger, &reading);
        pool_dead(pool, &assembly->gone_dead);
        assembly->gone_misuses += pool_misuses(pool);
        assembly->gone_unbound += pool_unbound(pool);
    }
    unlist_gone_locked(assembly, pool);
    pthread_mutex_unlock(&assembly->lock);
    if (executor) {
        pool_destroy(pool, executor);
        runtime_leave(executor);
    }
}

static void add_gone(struct assembly *assembly, struct pool *pool)
{
    struct pool **gone;

    pthread_mutex_lock(&assembly->lock);
    gone = realloc(assembly->gone, (assembly->gone_count + 1) * sizeof *gone);
    if (gone) {
        assembly->gone = gone;
        gone[assembly->gone_count++] = pool;
    }
    pthread_mutex_unlock(&assembly->lock);
}

void closing_forget_pools(struct assembly *assembly, struct pool *const *pools, uint32_t count,
                          const struct closing_time *time)
{
    for (uint32_t i = 0; i < count; i++) {
        struct awaited awaited = { .assembly = assembly, .pool = pools[i] };

        if (!pools[i])
            continue;
        if (await(assembly, awaited, usual_or_left_ms(time))) {
            forget_pool(assembly, pools[i]);
            continue;
        }
        name_left_behind(assembly, pool_path(pools[i]), pools[i]);
        add_gone(assembly, pools[i]);
    }
}

/* --- former workers ------------------------------------------------------------------------- */

/*
 * Former workers keep the outputs that their pool had before it got another behaviour. The present
 * settings do not name these outputs, so the output order does not include them. Parts that may be
 * such a target close after the former workers.
 */
struct formers {
    const struct assembly *assembly;
    bool while_stopping; /* the wait continues while the host ends */
    uint32_t next;       /* pools before this index have no former workers and get none meanwhile */
};

static struct pool *pool_at(const struct assembly *assembly, uint32_t index)
{
    uint32_t count = assembly->held->settings->pool_count;

    if (index < count)
        return assembly->pools[index];
    return index - count < assembly->gone_count ? assembly->gone[index - count] : NULL;
}

static bool formers_are_over(void *context)
{
    struct formers *formers = context;
    struct pool *pool;
    uint64_t due_ns;

    if (!formers->while_stopping &&
        atomic_load_explicit(&formers->assembly->stopping, memory_order_acquire))
        return true;
    while ((pool = pool_at(formers->assembly, formers->next)) && !outlet_has_former(pool, &due_ns))
        formers->next++;
    return !pool;
}

/* The longest time that a former worker may take; those that are overdue do not count. */
static uint64_t formers_timeout_ms(const struct assembly *assembly)
{
    struct clock clock = clock_monotonic();
    uint64_t now_ns = clock_now_ns(&clock);
    uint64_t longest_ms = 0, due_ns;
    struct pool *pool;

    for (uint32_t i = 0; (pool = pool_at(assembly, i)); i++) {
        if (!outlet_has_former(pool, &due_ns))
            continue;
        if (due_ns == 0)
            longest_ms = longer(longest_ms, CLOSING_TIMEOUT_MS);
        else if (due_ns > now_ns)
            longest_ms = longer(longest_ms, (due_ns - now_ns) / NS_PER_MS + CLOSING_GRACE_MS);
    }
    return longest_ms;
}

static void await_formers(const struct assembly *assembly, bool while_stopping, uint64_t timeout_ms)
{
    struct formers formers = { .assembly = assembly, .while_stopping = while_stopping };
    uint64_t own_ms = formers_timeout_ms(assembly);

    if (own_ms > 0)
        (void)runtime_wait(assembly->runtime, formers_are_over, &formers,
                           own_ms < timeout_ms ? own_ms : timeout_ms);
}

/* --- the removed ---------------------------------------------------------------------------- */

static void close_pool(struct assembly *assembly, struct pool *pool,
                       void (*close)(struct pool *pool, struct executor *executor))
{
    struct executor *executor = runtime_enter(assembly->runtime);

    if (executor && !pool_is_closing(pool))
        close(pool, executor);
    if (executor)
        runtime_leave(executor);
}

uint64_t closing_timeout_ms(struct pool *pool)
{
    return pool_remove_ms(pool, CLOSING_TIMEOUT_MS, CLOSING_GRACE_MS);
}

/* The end of the group that begins at number `first`. */
static uint32_t group_end(const struct plan *plan, uint32_t first)
{
    uint32_t end = first + 1;

    while (end < plan->closing_count && plan->closing[end].group == plan->closing[first].group)
        end++;
    return end;
}

/*
 * Frees the pools of `gone` from number `first` to `end` that end within `timeout_ms`, or within
 * their own time-out if that is shorter; returns how many did not. `watched`: waiting stops when
 * this host is to end.
 */
static uint32_t drain_gone(struct assembly *assembly, const struct assembly *watched,
                           uint32_t first, uint32_t end, uint64_t timeout_ms)
{
    uint32_t kept = first;

    for (uint32_t i = first; i < end; i++)
        close_pool(assembly, assembly->gone[i], pool_remove);
    for (uint32_t i = first; i < end; i++) {
        struct pool *pool = assembly->gone[kept];
        uint64_t own_ms = closing_timeout_ms(pool);

        if (await(assembly, (struct awaited){ .assembly = watched, .pool = pool },
                  own_ms < timeout_ms ? own_ms : timeout_ms)) {
            forget_pool(assembly, pool);
            continue;
        }
        name_left_behind(assembly, pool_path(pool), pool);
        kept++;
    }
    return kept - first;
}

void closing_drain(struct assembly *assembly, const struct plan *plan)
{
    /* Earlier pools of the list have had their wait: they must not delay each following reload. */
    uint32_t first = assembly->gone_count - plan->closing_count;

    if (plan->closing_count == 0)
        return;
    await_formers(assembly, false, UINT64_MAX);
    for (uint32_t i = 0, end; i < plan->closing_count; i = end) {
        end = group_end(plan, i);
        first += drain_gone(assembly, assembly, first, first + end - i, UINT64_MAX);
    }
}

static void collect_gone_pools(struct assembly *assembly)
{
    uint32_t kept = 0;

    while (kept < assembly->gone_count) {
        if (pool_has_ended(assembly->gone[kept]))
            forget_pool(assembly, assembly->gone[kept]);
        else
            kept++;
    }
}

bool closing_collect_gone(struct assembly *assembly)
{
    collect_gone_sources(assembly);
    collect_gone_pools(assembly);
    return assembly->gone_count == 0 && assembly->gone_source_count == 0;
}

/* --- all of it ------------------------------------------------------------------------------ */

struct shut_down {
    struct assembly *assembly;
    struct closing_time time;
    bool in_time;
};

static uint64_t time_left_ms(const struct shut_down *down)
{
    return closing_time_left_ms(&down->time);
}

static void close_source(struct assembly *assembly, struct source *source)
{
    struct executor *executor = runtime_enter(assembly->runtime);

    if (executor) {
        source_close(source, executor);
        runtime_leave(executor);
    }
}

static void await_source(struct shut_down *down, struct source *source, bool is_named)
{
    if (await(down->assembly, (struct awaited){ .source = source }, time_left_ms(down)))
        return;
    if (is_named)
        name_left_behind(down->assembly, source_path(source), NULL);
    down->in_time = false;
}

static void close_sources(struct shut_down *down)
{
    struct assembly *assembly = down->assembly;
    uint32_t count = assembly->held->settings->source_count;

    for (uint32_t i = 0; i < count; i++)
        close_source(assembly, assembly->sources[i]);
    for (uint32_t i = 0; i < count; i++)
        await_source(down, assembly->sources[i], true);
    for (uint32_t i = 0; i < assembly->gone_source_count; i++)
        await_source(down, assembly->gone_sources[i], false);
}

/* Pools of one group feed each other: they close together. */
static void close_group(struct shut_down *down, const struct plan_closing *closing, uint32_t count)
{
    struct assembly *assembly = down->assembly;

    for (uint32_t i = 0; i < count; i++)
        close_pool(assembly, assembly->pools[closing[i].pool], pool_close);
    for (uint32_t i = 0; i < count; i++) {
        struct pool *pool = assembly->pools[closing[i].pool];

        if (await(assembly, (struct awaited){ .pool = pool }, time_left_ms(down)))
            continue;
        name_left_behind(assembly, pool_path(pool), pool);
        down->in_time = false;
    }
}

bool closing_shut_down(struct assembly *assembly, const struct plan *plan, uint64_t timeout_ms)
{
    struct shut_down down = { .assembly = assembly,
                              .time = closing_time_begin(timeout_ms),
                              .in_time = true };

    close_sources(&down);
    await_formers(assembly, true, time_left_ms(&down) / 2); /* the rest is for the others */
    if (drain_gone(assembly, NULL, 0, assembly->gone_count, time_left_ms(&down)) > 0)
        down.in_time = false;
    for (uint32_t i = 0, end; i < plan->closing_count; i = end) {
        end = group_end(plan, i);
        close_group(&down, &plan->closing[i], end - i);
    }
    return down.in_time;
}
