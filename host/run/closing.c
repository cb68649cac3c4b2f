/* SPDX-License-Identifier: MIT */
#include "host/run/closing.h"

#include <stdlib.h>
#include <string.h>

#include "host/run/accounts.h"

#define NS_PER_MS 1000000u

/* --- time ----------------------------------------------------------------------------------- */

struct closing_time closing_time_begin(uint64_t timeout_ms)
{
    struct closing_time time = { .clock = clock_monotonic() };

    time.deadline_ns = clock_after_ms(&time.clock, timeout_ms);
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

/* --- parts that are left behind -------------------------------------------------------------- */

int closing_reserve(struct assembly *assembly, uint32_t pools, uint32_t sources)
{
    struct source **gone_sources;
    struct closing *drains;
    struct pool **gone;

    drains = realloc(assembly->drains,
                     ((size_t)assembly->drain_count + pools + sources + 1) * sizeof *drains);
    if (!drains)
        return WEIR_ENOMEM;
    assembly->drains = drains;
    lock_acquire(&assembly->lock);
    gone = realloc(assembly->gone, ((size_t)assembly->gone_count + pools + 1) * sizeof *gone);
    if (gone)
        assembly->gone = gone;
    gone_sources = realloc(assembly->gone_sources,
                           ((size_t)assembly->gone_source_count + sources + 1) *
                               sizeof *gone_sources);
    if (gone_sources)
        assembly->gone_sources = gone_sources;
    lock_release(&assembly->lock);
    return gone && gone_sources ? 0 : WEIR_ENOMEM;
}

static void add_source_locked(struct assembly *assembly, struct source *source)
{
    struct source_figures figures;

    source_look(source, &figures);
    dead_letters_figures_add(&assembly->gone_dead, &figures.dead);
    assembly->gone_misuses += figures.misuses;
}

static void add_pool_locked(struct assembly *assembly, struct pool *pool)
{
    struct ledger_reading reading;

    if (pool_has_parent(pool))
        return; /* a parent keeps the figures of those below */
    pool_ledger(pool, &reading);
    ledger_reading_add(&assembly->gone_ledger, &reading);
    pool_dead(pool, &assembly->gone_dead);
    assembly->gone_misuses += pool_misuses(pool);
    assembly->gone_unbound += pool_unbound(pool);
}

/*
 * The ended ones move behind the end of the list, where they stay until they are freed. Their
 * figures are added to the sum under the same lock, so that a reader counts each part once, and
 * never a freed one.
 */
static void unlist_ended_sources_locked(struct assembly *assembly)
{
    struct source **list = assembly->gone_sources;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < assembly->gone_source_count; i++) {
        struct source *source = list[i];

        if (source_has_ended(source)) {
            add_source_locked(assembly, source);
            continue;
        }
        list[i] = list[kept];
        list[kept++] = source;
    }
    assembly->gone_source_count = kept;
}

static void unlist_ended_pools_locked(struct assembly *assembly)
{
    struct pool **list = assembly->gone;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < assembly->gone_count; i++) {
        struct pool *pool = list[i];

        if (pool_has_ended(pool)) {
            add_pool_locked(assembly, pool);
            continue;
        }
        list[i] = list[kept];
        list[kept++] = pool;
    }
    assembly->gone_count = kept;
}

/* Orders two places of a list of pointers by address. */
static int compare_places(const void *a, const void *b)
{
    uintptr_t one;
    uintptr_t other;

    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return (one > other) - (one < other);
}

/* So that is_among finds a pointer without a walk. */
static void sort_places(void *first, uint32_t count)
{
    if (count > 0)
        qsort(first, count, sizeof(void *), compare_places);
}

static bool is_among(const void *part, const void *first, uint32_t count)
{
    return count > 0 && bsearch(&part, first, count, sizeof(void *), compare_places);
}

/* The parts that were unlisted just now: they stand behind the ends of the lists, sorted. */
struct unlisted {
    struct source **sources;
    struct pool **pools;
    uint32_t source_count;
    uint32_t pool_count;
};

static struct unlisted unlist_ended_locked(struct assembly *assembly)
{
    struct unlisted unlisted = { .source_count = assembly->gone_source_count,
                                 .pool_count = assembly->gone_count };

    unlist_ended_sources_locked(assembly);
    unlist_ended_pools_locked(assembly);
    unlisted.source_count -= assembly->gone_source_count;
    unlisted.pool_count -= assembly->gone_count;
    if (unlisted.source_count > 0)
        unlisted.sources = assembly->gone_sources + assembly->gone_source_count;
    if (unlisted.pool_count > 0)
        unlisted.pools = assembly->gone + assembly->gone_count;
    sort_places(unlisted.sources, unlisted.source_count);
    sort_places(unlisted.pools, unlisted.pool_count);
    return unlisted;
}

static bool is_unlisted(const struct unlisted *unlisted, struct part_ref part)
{
    if (part.kind == PART_SOURCE)
        return is_among(part.source, unlisted->sources, unlisted->source_count);
    return is_among(part.pool, unlisted->pools, unlisted->pool_count);
}

/* Before they are freed. Not those that have ended since: they are listed, and drain until the next
 * call. */
static void forget_drains(struct assembly *assembly, const struct unlisted *unlisted)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < assembly->drain_count; i++)
        if (!is_unlisted(unlisted, assembly->drains[i].part))
            assembly->drains[kept++] = assembly->drains[i];
    assembly->drain_count = kept;
}

void closing_collect_gone(struct assembly *assembly)
{
    uint32_t count = assembly->gone_source_count + assembly->gone_count;
    struct executor *executor = count > 0 ? runtime_enter(assembly->runtime) : NULL;
    struct unlisted unlisted;

    if (!executor)
        return; /* nothing is there, or no memory; then the next call frees them */
    lock_acquire(&assembly->lock);
    unlisted = unlist_ended_locked(assembly);
    lock_release(&assembly->lock);
    forget_drains(assembly, &unlisted);
    for (uint32_t i = 0; i < unlisted.source_count; i++) {
        accounts_log_source(assembly, unlisted.sources[i]);
        source_destroy(unlisted.sources[i], executor);
    }
    for (uint32_t i = 0; i < unlisted.pool_count; i++)
        pool_destroy(unlisted.pools[i], executor);
    runtime_leave(executor);
}

/* --- former workers ------------------------------------------------------------------------- */

/*
 * Former workers keep the outputs that their pool had before it got another behaviour. The present
 * settings do not name these outputs, so the output order does not include them. Parts that may be
 * such a target close after the former workers.
 */
struct formers {
    const struct assembly *assembly;
    uint32_t next; /* pools before this index have no former workers and get none while this runs */
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

    while ((pool = pool_at(formers->assembly, formers->next)) && !outlet_has_former(pool, &due_ns))
        formers->next++;
    return !pool;
}

bool closing_formers_are_over(const struct assembly *assembly)
{
    struct formers formers = { .assembly = assembly };

    return formers_are_over(&formers);
}

uint64_t closing_formers_timeout_ms(const struct assembly *assembly)
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

static void await_formers(const struct assembly *assembly, uint64_t timeout_ms)
{
    struct formers formers = { .assembly = assembly };
    uint64_t own_ms = closing_formers_timeout_ms(assembly);

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

/* All parts that close together. */
struct closing_list {
    const struct parts *parts;
    uint32_t kinds; /* of parts */
    uint32_t count; /* of all of them */
};

static struct closing_list list_of(const struct parts *parts, uint32_t kinds)
{
    struct closing_list list = { .parts = parts, .kinds = kinds };

    for (uint32_t i = 0; i < kinds; i++)
        list.count += parts[i].count;
    return list;
}

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

/* WEIR_ENOMEM: nothing has happened. */
static int close_in_order(struct assembly *assembly, const struct closing_list *list,
                          const struct closing_options *options)
{
    struct closing *closings = calloc((size_t)list->count + 1, sizeof *closings);
    uint32_t count = 0;
    int status;

    if (!closings)
        return WEIR_ENOMEM;
    for (uint32_t kind = 0; kind < list->kinds; kind++)
        for (uint32_t i = 0; i < list->parts[kind].count; i++)
            closings[count++] = closing_at(&list->parts[kind], i);
    status = closing_run(assembly->runtime, closings, count, options);
    free(closings);
    return status;
}

/* Without memory for the order: kind by kind, each from its last on. */
static bool close_one_by_one(struct assembly *assembly, const struct closing_list *list,
                             const struct closing_options *options)
{
    const struct closing_time time = closing_time_begin(options->timeout_ms);
    struct closing_options one = *options;
    uint32_t later = list->count;
    bool in_time = true;

    for (uint32_t kind = 0; kind < list->kinds; kind++)
        for (uint32_t i = list->parts[kind].count; i-- > 0;) {
            struct closing closing = closing_at(&list->parts[kind], i);

            one.timeout_ms = closing_share_ms(closing_time_left_ms(&time), --later);
            in_time = closing_run(assembly->runtime, &closing, 1, &one) == 0 && in_time;
        }
    return in_time;
}

/* True when all have ended in time. */
static bool close_parts(struct assembly *assembly, const struct parts *parts, uint32_t kinds,
                        const struct closing_options *options)
{
    struct closing_list list = list_of(parts, kinds);
    int status = list.count > 0 ? close_in_order(assembly, &list, options) : 0;

    return status == WEIR_ENOMEM ? close_one_by_one(assembly, &list, options) : status == 0;
}

/* --- some parts ---------------------------------------------------------------------------- */

static bool is_stopping(void *context)
{
    const struct assembly *assembly = context;

    return atomic_load_explicit(&assembly->stopping, memory_order_acquire);
}

/* Waits for parts that are among the gone, and frees those that have ended. */
static void close_gone(struct assembly *assembly, const struct parts *parts, uint64_t timeout_ms)
{
    const struct closing_options options = { .timeout_ms = timeout_ms,
                                             .is_given_up = is_stopping,
                                             .context = assembly };

    if (parts->count == 0)
        return;
    (void)close_parts(assembly, parts, 1, &options);
    closing_collect_gone(assembly);
}

void closing_forget_sources(struct assembly *assembly, struct source *const *sources,
                            uint32_t count, uint64_t timeout_ms)
{
    struct parts parts = { .kind = PART_SOURCE,
                           .sources = assembly->gone_sources + assembly->gone_source_count };

    lock_acquire(&assembly->lock);
    for (uint32_t i = 0; i < count; i++)
        if (sources[i])
            assembly->gone_sources[assembly->gone_source_count + parts.count++] = sources[i];
    assembly->gone_source_count += parts.count;
    lock_release(&assembly->lock);
    close_gone(assembly, &parts, timeout_ms);
}

void closing_forget_pools(struct assembly *assembly, struct pool *const *pools, uint32_t count,
                          uint64_t timeout_ms)
{
    struct parts parts = { .kind = PART_POOL, .pools = assembly->gone + assembly->gone_count };

    lock_acquire(&assembly->lock);
    for (uint32_t i = 0; i < count; i++)
        if (pools[i])
            assembly->gone[assembly->gone_count + parts.count++] = pools[i];
    assembly->gone_count += parts.count;
    lock_release(&assembly->lock);
    close_gone(assembly, &parts, timeout_ms);
}

/* --- all parts ----------------------------------------------------------------------------- */

/* Orders them to end, without waiting. */
static void stop_sources(struct assembly *assembly, const struct parts *sources)
{
    struct executor *executor = runtime_enter(assembly->runtime);

    for (uint32_t i = 0; executor && i < sources->count; i++)
        source_close(sources->sources[i], executor);
    if (executor)
        runtime_leave(executor);
}

bool closing_shut_down(struct assembly *assembly, uint64_t timeout_ms)
{
    const struct settings *settings = assembly->shared->settings;
    const struct parts parts[] = {
        { .kind = PART_SOURCE, .sources = assembly->sources, .count = settings->source_count },
        { .kind = PART_SOURCE,
          .sources = assembly->gone_sources,
          .count = assembly->gone_source_count },
        { .kind = PART_POOL,
          .pools = assembly->gone,
          .count = assembly->gone_count,
          .are_removed = true },
        { .kind = PART_POOL, .pools = assembly->pools, .count = settings->pool_count },
    };
    const struct closing_time time = closing_time_begin(timeout_ms);
    struct closing_options options = { .timeout_ms = timeout_ms, .is_last = true };
    bool in_time;

    stop_sources(assembly, &parts[0]);
    await_formers(assembly, timeout_ms / 2); /* the rest is for the others */
    options.timeout_ms = closing_time_left_ms(&time);
    in_time = close_parts(assembly, parts, sizeof parts / sizeof parts[0], &options);
    closing_collect_gone(assembly);
    return in_time;
}
