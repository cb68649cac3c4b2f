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

/* --- what has ended, and what is left ------------------------------------------------------- */

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

static void add_gone_source(struct assembly *assembly, struct source *source)
{
    struct source **gone;

    pthread_mutex_lock(&assembly->lock);
    gone = realloc(assembly->gone_sources, (assembly->gone_source_count + 1) * sizeof *gone);
    if (gone) {
        assembly->gone_sources = gone;
        gone[assembly->gone_source_count++] = source;
    }
    pthread_mutex_unlock(&assembly->lock);
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

/* --- one by one ------------------------------------------------------------------------------ */

static bool is_stopping(void *context)
{
    const struct assembly *assembly = context;

    return atomic_load_explicit(&assembly->stopping, memory_order_acquire);
}

static void forget_or_keep(void *context, struct part_ref part, bool has_ended)
{
    if (part.kind == PART_SOURCE && has_ended)
        forget_source(context, part.source);
    else if (part.kind == PART_SOURCE)
        add_gone_source(context, part.source);
    else if (has_ended)
        forget_pool(context, part.pool);
    else
        add_gone(context, part.pool);
}

static void forget_one(struct assembly *assembly, struct part_ref part,
                       const struct closing_time *time)
{
    const struct closing_options options = { .timeout_ms = usual_or_left_ms(time),
                                             .is_given_up = is_stopping,
                                             .after = forget_or_keep,
                                             .context = assembly };
    struct closing closing = { .part = part, .timeout_ms = UINT64_MAX };

    (void)closing_run(assembly->runtime, &closing, 1, &options);
}

void closing_forget_sources(struct assembly *assembly, struct source *const *sources,
                            uint32_t count, const struct closing_time *time)
{
    for (uint32_t i = 0; i < count; i++)
        if (sources[i])
            forget_one(assembly, (struct part_ref){ .kind = PART_SOURCE, .source = sources[i] },
                       time);
}

void closing_forget_pools(struct assembly *assembly, struct pool *const *pools, uint32_t count,
                          const struct closing_time *time)
{
    for (uint32_t i = 0; i < count; i++)
        if (pools[i])
            forget_one(assembly, (struct part_ref){ .kind = PART_POOL, .pool = pools[i] }, time);
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
    uint32_t count = assembly->shared->settings->pool_count;

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

uint64_t closing_timeout_ms(struct pool *pool)
{
    /* Also without workers: the actor of the pool ends in a turn of its own. */
    return longer(pool_remove_ms(pool, CLOSING_TIMEOUT_MS, CLOSING_GRACE_MS), CLOSING_GRACE_MS);
}

/* Parts of one kind that close. */
struct parts {
    enum part_kind kind;           /* PART_SOURCE or PART_POOL */
    struct source *const *sources; /* of the kind that they are */
    struct pool *const *pools;
    uint32_t count;
    bool are_removed; /* pools, while others stay */
};

static struct closing closing_at(const struct parts *parts, uint32_t index)
{
    struct closing closing = { .is_removed = parts->are_removed, .timeout_ms = UINT64_MAX };

    if (parts->kind == PART_SOURCE) {
        closing.part = (struct part_ref){ .kind = PART_SOURCE, .source = parts->sources[index] };
        return closing;
    }
    closing.part = (struct part_ref){ .kind = PART_POOL, .pool = parts->pools[index] };
    if (parts->are_removed)
        closing.timeout_ms = closing_timeout_ms(parts->pools[index]);
    return closing;
}

/* True when all have ended in time. Without memory for the order they close one by one, from the
 * last on, since `options` may have the ended ones taken out of the list. */
static bool close_parts(struct assembly *assembly, const struct parts *parts,
                        const struct closing_options *options)
{
    struct closing *closings = calloc((size_t)parts->count + 1, sizeof *closings);
    int status = WEIR_ENOMEM;
    bool in_time = true;

    for (uint32_t i = 0; closings && i < parts->count; i++)
        closings[i] = closing_at(parts, i);
    if (closings)
        status = closing_run(assembly->runtime, closings, parts->count, options);
    free(closings);
    if (status != WEIR_ENOMEM)
        return status == 0;
    for (uint32_t i = parts->count; i-- > 0;) {
        struct closing closing = closing_at(parts, i);

        in_time = closing_run(assembly->runtime, &closing, 1, options) == 0 && in_time;
    }
    return in_time;
}

/* Those that have not ended are among the gone already. */
static void forget_gone(void *context, struct part_ref part, bool has_ended)
{
    if (has_ended)
        forget_pool(context, part.pool);
}

void closing_drain(struct assembly *assembly, uint32_t count)
{
    const struct closing_options options = { .timeout_ms = UINT64_MAX,
                                             .is_given_up = is_stopping,
                                             .after = forget_gone,
                                             .context = assembly };

    /* Those before them have been waited for: they must not hold up every reload that follows. */
    const struct parts removed = { .kind = PART_POOL,
                                   .pools = assembly->gone + assembly->gone_count - count,
                                   .count = count,
                                   .are_removed = true };

    if (count == 0)
        return;
    await_formers(assembly, false, UINT64_MAX);
    (void)close_parts(assembly, &removed, &options);
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

static bool shut(struct assembly *assembly, struct parts parts, const struct closing_time *time)
{
    const struct closing_options options = { .timeout_ms = closing_time_left_ms(time),
                                             .after = parts.are_removed ? forget_gone : NULL,
                                             .context = assembly };

    return close_parts(assembly, &parts, &options);
}

bool closing_shut_down(struct assembly *assembly, uint64_t timeout_ms)
{
    const struct settings *settings = assembly->shared->settings;
    const struct parts sources = { .kind = PART_SOURCE,
                                   .sources = assembly->sources,
                                   .count = settings->source_count };
    const struct parts gone_sources = { .kind = PART_SOURCE,
                                        .sources = assembly->gone_sources,
                                        .count = assembly->gone_source_count };
    const struct parts gone = { .kind = PART_POOL,
                                .pools = assembly->gone,
                                .count = assembly->gone_count,
                                .are_removed = true };
    const struct parts pools = { .kind = PART_POOL,
                                 .pools = assembly->pools,
                                 .count = settings->pool_count };
    struct closing_time time = closing_time_begin(timeout_ms);
    bool in_time = shut(assembly, sources, &time);

    in_time = shut(assembly, gone_sources, &time) && in_time;
    await_formers(assembly, true, closing_time_left_ms(&time) / 2); /* the rest is for the others */
    in_time = shut(assembly, gone, &time) && in_time;
    return shut(assembly, pools, &time) && in_time;
}
