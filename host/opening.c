#include "host/opening.h"

#define SOURCE_TIMEOUT_MS 10000 /* as the default open_timeout of pools */

/* How things stand: counted anew at each look. */
struct look {
    const struct opening *opening;
    uint32_t starting;
    uint32_t failed;
};

static void look_at_pool(const struct opening *opening, uint32_t index, struct pool_opening *out)
{
    if (opening->pools[index])
        pool_opening(opening->pools[index], out);
    if (opening->changes && opening->changes[index])
        pool_opening_prepared(opening->changes[index]->pool, out);
}

static bool is_stopping(const struct opening *opening)
{
    return atomic_load_explicit(opening->stopping, memory_order_acquire);
}

static bool is_decided(void *context)
{
    struct look *look = context;
    const struct opening *opening = look->opening;

    look->starting = 0;
    look->failed = 0;
    for (uint32_t i = 0; i < opening->pool_count; i++) {
        struct pool_opening pool = { 0 };

        look_at_pool(opening, i, &pool);
        look->starting += pool.starting;
        look->failed += pool.failed;
    }
    for (uint32_t i = 0; i < opening->source_count; i++) {
        int status = opening->sources[i] ? source_opening(opening->sources[i]) : 0;

        look->starting += status > 0;
        look->failed += status < 0;
    }
    return look->failed > 0 || look->starting == 0 || is_stopping(opening);
}

static uint64_t longest_timeout_ms(const struct opening *opening)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < opening->pool_count; i++)
        if (opening->settings->pools[i].open_timeout_ms > longest &&
            (opening->pools[i] || (opening->changes && opening->changes[i])))
            longest = opening->settings->pools[i].open_timeout_ms;
    for (uint32_t i = 0; i < opening->source_count; i++)
        if (opening->sources[i] && longest < SOURCE_TIMEOUT_MS)
            longest = SOURCE_TIMEOUT_MS;
    return longest;
}

static void tell_pool(const struct settings_pool *pool, const struct pool_opening *state,
                      struct report *report)
{
    if (state->failed)
        report_add(report, NULL, pool->path, "%u of its workers failed to open: %s", state->failed,
                   weir_status_text(state->status));
    else if (state->starting)
        report_add(report, NULL, pool->path, "%u of its workers did not open in time",
                   state->starting);
}

static void tell(const struct look *look, struct report *report)
{
    const struct opening *opening = look->opening;

    for (uint32_t i = 0; i < opening->pool_count; i++) {
        struct pool_opening state = { 0 };

        look_at_pool(opening, i, &state);
        tell_pool(&opening->settings->pools[i], &state, report);
    }
    for (uint32_t i = 0; i < opening->source_count; i++) {
        int status = opening->sources[i] ? source_opening(opening->sources[i]) : 0;

        if (status < 0)
            report_add(report, NULL, opening->sources[i]->path, "failed to open: %s",
                       weir_status_text(status));
        else if (status > 0)
            report_add(report, NULL, opening->sources[i]->path, "did not open in time");
    }
}

int opening_wait(const struct opening *opening, struct runtime *runtime, struct report *report)
{
    struct look look = { .opening = opening };
    bool decided = runtime_wait(runtime, is_decided, &look, longest_timeout_ms(opening));

    if (decided && look.failed == 0 && look.starting == 0)
        return 0;
    if (is_stopping(opening)) {
        report_add(report, NULL, NULL, "the host is to end");
        return WEIR_ECANCELLED;
    }
    tell(&look, report);
    return decided ? WEIR_EINVALID : WEIR_ETIMEOUT;
}
