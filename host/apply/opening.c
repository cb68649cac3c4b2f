/* SPDX-License-Identifier: MIT */
#include "host/apply/opening.h"

#define SOURCE_TIMEOUT_MS 10000 /* as the default open_timeout of pools */
#define OTHERS_MS 500           /* after a failure: so that one report has all that fail at once */

/* Parts by their state, counted again at each check. */
struct counts {
    const struct opening *opening;
    uint32_t starting;
    uint32_t lacking; /* of these, in parts that need them */
    uint32_t failed;  /* in parts that need them */
};

static void read_pool(const struct opening *opening, uint32_t index, struct pool_opening *out)
{
    if (opening->pools[index])
        pool_opening_here(opening->pools[index], out);
    if (opening->changes && opening->changes[index])
        pool_change_opening(opening->changes[index], out);
}

static bool is_stopping(const struct opening *opening)
{
    return atomic_load_explicit(opening->stopping, memory_order_acquire);
}

/* How many workers must be open. */
static uint32_t needed(const struct settings_pool *pool, const struct pool_opening *state)
{
    uint32_t workers = state->open + state->starting + state->failed;

    return pool->min_ready < workers ? pool->min_ready : workers;
}

/* Failed workers, none when the pool may do without them. Every manager is needed. */
static uint32_t count_failed(const struct settings_pool *pool, const struct pool_opening *state)
{
    if (state->manager || state->open + state->starting < needed(pool, state))
        return state->failed;
    return 0;
}

/* Counts, and returns true when there is nothing more to wait for. */
static bool have_all_tried(void *context)
{
    struct counts *counts = context;
    const struct opening *opening = counts->opening;

    counts->starting = counts->lacking = counts->failed = 0;
    for (uint32_t i = 0; i < opening->pool_count; i++) {
        struct pool_opening pool = { 0 };

        read_pool(opening, i, &pool);
        counts->starting += pool.starting;
        if (pool.open < needed(&opening->settings->pools[i], &pool))
            counts->lacking += pool.starting;
        else if (pool.manager_starts)
            counts->lacking++; /* every manager is needed */
        counts->failed += count_failed(&opening->settings->pools[i], &pool);
    }
    for (uint32_t i = 0; i < opening->source_count; i++) {
        int status = opening->sources[i] ? source_opening(opening->sources[i]) : 0;

        counts->starting += status > 0;
        counts->lacking += status > 0;
        counts->failed += status < 0;
    }
    return counts->starting == 0 || is_stopping(opening);
}

uint32_t opening_count(const struct opening *opening)
{
    struct counts counts = { .opening = opening };

    (void)have_all_tried(&counts);
    return counts.starting;
}

static bool is_decided(void *context)
{
    return have_all_tried(context) || ((const struct counts *)context)->failed > 0;
}

static uint64_t longest_timeout_ms(const struct opening *opening)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < opening->pool_count; i++)
        if (opening->settings->pools[i].core.open_timeout_ms > longest &&
            (opening->pools[i] || (opening->changes && opening->changes[i])))
            longest = opening->settings->pools[i].core.open_timeout_ms;
    for (uint32_t i = 0; i < opening->source_count; i++)
        if (opening->sources[i] && longest < SOURCE_TIMEOUT_MS)
            longest = SOURCE_TIMEOUT_MS;
    return longest;
}

/* The status in words, and the reason that the behaviour gave. */
struct reason {
    char text[256];
};

static struct reason reason_of(int status, const char *said)
{
    struct reason reason;

    (void)snprintf(reason.text, sizeof reason.text, "%s%s%s", weir_status_text(status),
                   said[0] ? ": " : "", said);
    return reason;
}

static void report_failed_pool(const struct settings_pool *pool, const struct pool_opening *state,
                               struct report *report)
{
    struct reason reason = reason_of(state->status, state->reason);

    if (state->manager)
        written_report(&pool->written, "manager", report, "%s failed to open: %s",
                       pool->manager.use, reason.text);
    else
        written_report(&pool->written, "use", report, "%s failed to open: %s", state->path,
                       reason.text);
}

/* A part that is still opening is late only if none has failed: after a failure, the wait was cut
 * short. */
static void report_pool(const struct counts *counts, uint32_t index, struct report *report)
{
    const struct settings_pool *pool = &counts->opening->settings->pools[index];
    struct pool_opening state = { 0 };

    read_pool(counts->opening, index, &state);
    if (count_failed(pool, &state) > 0)
        report_failed_pool(pool, &state, report);
    else if (state.manager_starts && counts->failed == 0)
        written_report(&pool->written, "manager", report, "the manager of %s did not open in time",
                       pool->path);
    else if (state.open < needed(pool, &state) && counts->failed == 0)
        written_report(&pool->written, "open_timeout", report,
                       "%u of the workers of %s did not open in time", state.starting, pool->path);
}

static void report_source(const struct counts *counts, uint32_t index, struct report *report)
{
    const struct settings_source *wanted = &counts->opening->settings->sources[index];
    struct source *source = counts->opening->sources[index];
    int status = source_opening(source);
    char said[ACTOR_DETAIL_SIZE];

    source_opening_reason(source, said, sizeof said);
    if (status < 0)
        written_report(&wanted->written, "use", report, "%s failed to open: %s", wanted->name,
                       reason_of(status, said).text);
    else if (status > 0 && counts->failed == 0)
        written_report(&wanted->written, "use", report, "%s did not open in time", wanted->name);
}

static void report_parts(const struct counts *counts, struct report *report)
{
    const struct opening *opening = counts->opening;

    for (uint32_t i = 0; i < opening->pool_count; i++)
        report_pool(counts, i, report);
    for (uint32_t i = 0; i < opening->source_count; i++)
        if (opening->sources[i])
            report_source(counts, i, report);
}

/* Logs the pools that begin with fewer workers than they should have. */
static void log_degraded(const struct opening *opening, struct runtime *runtime)
{
    for (uint32_t i = 0; i < opening->pool_count; i++) {
        struct pool_opening state = { 0 };

        read_pool(opening, i, &state);
        if (state.starting + state.failed > 0)
            log_event(runtime_log(runtime), WEIR_LOG_WARNING, opening->settings->pools[i].path,
                      "pool is degraded", weir_uint("open", state.open),
                      weir_uint("failed", state.failed), weir_uint("starting", state.starting),
                      weir_str("reason", state.reason),
                      weir_str("effect", "workers that fail to open are tried again by `restart`"));
    }
}

int opening_wait(const struct opening *opening, struct runtime *runtime, struct report *report)
{
    struct counts counts = { .opening = opening };
    bool decided;

    do { /* a failed part may have opened at its next attempt during the wait for the others */
        decided = runtime_wait(runtime, is_decided, &counts, longest_timeout_ms(opening));
        if (counts.failed > 0)
            (void)runtime_wait(runtime, have_all_tried, &counts, OTHERS_MS);
    } while (decided && counts.failed == 0 && counts.starting > 0 && !is_stopping(opening));
    if (counts.failed == 0 && counts.lacking == 0 &&
        (counts.starting == 0 || !is_stopping(opening))) {
        log_degraded(opening, runtime);
        return 0;
    }
    if (is_stopping(opening)) {
        report_add(report, NULL, NULL, "the host is stopping");
        return WEIR_ECANCELLED;
    }
    report_parts(&counts, report);
    return decided ? WEIR_EINVALID : WEIR_ETIMEOUT;
}
