#include "host/reload/pool_restart.h"

#include <string.h>

/* The restart of one pool and the pools in it. */
struct restarting {
    struct assembly *assembly;
    struct pool *pool;
    uint64_t keep_timeout_ms; /* the longest time-out of its pools */
    uint64_t open_timeout_ms;
};

static bool is_below(const char *path, const char *above)
{
    size_t length = strlen(above);

    return strncmp(path, above, length) == 0 && (!path[length] || path[length] == '/');
}

static void find_timeouts(struct restarting *restarting, const char *path)
{
    const struct settings *settings = restarting->assembly->shared->settings;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->nested || !is_below(pool->path, path))
            continue;
        if (pool->core.remove.timeout_ms > restarting->keep_timeout_ms)
            restarting->keep_timeout_ms = pool->core.remove.timeout_ms;
        if (pool->core.open_timeout_ms > restarting->open_timeout_ms)
            restarting->open_timeout_ms = pool->core.open_timeout_ms;
    }
}

/* False: there is no such pool. */
static bool find_pool(struct restarting *restarting, const char *path)
{
    struct assembly *assembly = restarting->assembly;
    uint32_t index = settings_find_pool(assembly->shared->settings, path);

    if (index == SETTINGS_NONE)
        return false;
    restarting->pool = assembly->pools[index];
    find_timeouts(restarting, path);
    return true;
}

/* --- waiting -------------------------------------------------------------------------------- */

static bool is_stopping(const struct restarting *restarting)
{
    return atomic_load_explicit(&restarting->assembly->stopping, memory_order_acquire);
}

static struct renewal_counts count(const struct restarting *restarting)
{
    struct renewal_counts counts = { 0 };

    renewal_count(restarting->pool, &counts);
    return counts;
}

static bool have_begun(void *context)
{
    return is_stopping(context) || count(context).asked == 0;
}

static bool have_opened(void *context)
{
    return is_stopping(context) || count(context).begun == 0;
}

static void wait_for(struct restarting *restarting, bool (*done)(void *context), uint64_t ms)
{
    (void)runtime_wait(restarting->assembly->runtime, done, restarting, ms);
}

/* --- the whole ------------------------------------------------------------------------------ */

static void fill_result(struct restarting *restarting, uint32_t asked, uint32_t busy,
                        struct pool_restart_result *out)
{
    struct renewal_counts left = count(restarting);
    uint32_t not_restarted = busy + left.failed + left.begun;

    *out = (struct pool_restart_result){
        .restarted = asked > not_restarted ? asked - not_restarted : 0,
        .busy = busy,
        .failed = left.failed,
        .opening = left.begun,
    };
}

static void restart(struct restarting *restarting, struct executor *executor,
                    struct pool_restart_result *out)
{
    uint32_t asked = renewal_ask(restarting->pool, executor);
    uint32_t busy;

    runtime_pause(executor);
    wait_for(restarting, have_begun, restarting->keep_timeout_ms);
    runtime_resume(executor);
    busy = renewal_take_back(restarting->pool, executor);
    runtime_pause(executor);
    wait_for(restarting, have_opened, restarting->open_timeout_ms);
    runtime_resume(executor);
    fill_result(restarting, asked, busy, out);
}

int pool_restart(struct assembly *assembly, const char *path, struct pool_restart_result *out)
{
    struct restarting restarting = { .assembly = assembly };
    struct executor *executor;

    if (!find_pool(&restarting, path))
        return WEIR_EUNKNOWN;
    executor = runtime_enter(assembly->runtime);
    if (!executor)
        return WEIR_ENOMEM;
    restart(&restarting, executor, out);
    runtime_leave(executor);
    return is_stopping(&restarting) ? WEIR_ECANCELLED : 0;
}
