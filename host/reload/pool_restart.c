/* SPDX-License-Identifier: MIT */
#include "host/reload/pool_restart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "base/text.h"

/* For workers whose removal has no time-out, so that the answer comes. */
#define UNLIMITED_WAIT_MS 30000u

/* The restart of one pool and the pools in it, or of one worker. */
struct restarting {
    struct assembly *assembly;
    struct turn_watch *watch; /* may be NULL */
    struct pool *pool;
    char path[SETTINGS_PATH_MAX + 1]; /* of the pool */
    uint32_t index;                   /* RENEWAL_ALL, or of the worker */
    bool nested;
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
    uint64_t keep_ms;

    for (uint32_t i = 0; i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->nested || !is_below(pool->path, path))
            continue;
        keep_ms = pool->core.remove.timeout_ms ? pool->core.remove.timeout_ms : UNLIMITED_WAIT_MS;
        if (keep_ms > restarting->keep_timeout_ms)
            restarting->keep_timeout_ms = keep_ms;
        if (pool->core.open_timeout_ms > restarting->open_timeout_ms)
            restarting->open_timeout_ms = pool->core.open_timeout_ms;
    }
}

/* Divides `pool#3`. False: it is neither a path nor a path and a number. */
static bool divide(struct restarting *restarting, const char *path)
{
    const char *mark = strchr(path, '#');
    size_t length = mark ? (size_t)(mark - path) : strlen(path);
    uint64_t index = RENEWAL_ALL;

    if (length > SETTINGS_PATH_MAX)
        return false;
    memcpy(restarting->path, path, length); /* the rest is 0 */
    if (mark && (text_parse_u64(mark + 1, &index) != TEXT_OK || index >= RENEWAL_ALL))
        return false;
    restarting->index = (uint32_t)index;
    return true;
}

/* False: there is no such pool. */
static bool find_pool(struct restarting *restarting)
{
    struct assembly *assembly = restarting->assembly;
    uint32_t index = settings_find_pool(assembly->shared->settings, restarting->path);

    if (index == SETTINGS_NONE)
        return false;
    restarting->pool = assembly->pools[index];
    restarting->nested = assembly->shared->settings->pools[index].nested;
    find_timeouts(restarting, restarting->path);
    return true;
}

/* --- one worker ------------------------------------------------------------------------------- */

void pool_restart_describe_none(const char *path, uint32_t index,
                                const struct renewal_worker *worker, char *out, size_t size)
{
    if (worker->is_leaving)
        (void)snprintf(out, size,
                       "%s#%" PRIu32 " is leaving: it ends when its messages are settled", path,
                       index);
    else if (worker->count == 0)
        (void)snprintf(out, size, "%s has no workers", path);
    else
        (void)snprintf(out, size,
                       "%s has %" PRIu32 " %s, #%" PRIu32 " to #%" PRIu32 ", and no #%" PRIu32,
                       path, worker->count, plural(worker->count, "worker", "workers"),
                       worker->lowest, worker->highest, index);
}

static int find_worker(const struct restarting *restarting, struct pool_restart_result *out)
{
    struct renewal_worker worker;

    if (restarting->nested) {
        (void)snprintf(out->why, sizeof out->why,
                       "the members of %s are pools: name a worker of one of them",
                       restarting->path);
        return WEIR_ENOTALLOWED;
    }
    renewal_look(restarting->pool, restarting->index, &worker);
    if (worker.is_member)
        return 0;
    pool_restart_describe_none(restarting->path, restarting->index, &worker, out->why,
                               sizeof out->why);
    return worker.is_leaving ? WEIR_ENOTALLOWED : WEIR_EUNKNOWN;
}

static void say_is_not_stuck(const struct restarting *restarting, struct pool_restart_result *out)
{
    (void)snprintf(out->why, sizeof out->why,
                   "%s#%" PRIu32 " has no process that could be killed: without --now it is "
                   "restarted after its message in hand",
                   restarting->path, restarting->index);
}

static void say_is_not_stuck_yet(const struct restarting *restarting,
                                 struct pool_restart_result *out)
{
    (void)snprintf(out->why, sizeof out->why,
                   "%s#%" PRIu32 " has no process that could be killed, and its callback has not "
                   "taken longer than `turn_warning` yet: without --now it is restarted after its "
                   "message in hand",
                   restarting->path, restarting->index);
}

static void say_why_it_stays(const struct restarting *restarting, const char *why,
                             struct pool_restart_result *out)
{
    char text[SLOW_TURN_TEXT];

    slow_turn_describe(&out->stuck, text, sizeof text);
    (void)snprintf(out->why, sizeof out->why,
                   "%s#%" PRIu32 " has no process that could be killed, and its thread is not left "
                   "behind: %s; it is %s",
                   restarting->path, restarting->index, why, text);
}

/* Nothing takes a thread out of a callback: see decision 419. */
static int leave_behind(const struct restarting *restarting, struct executor *executor,
                        struct pool_restart_result *out)
{
    const char *why = "";
    struct turn_at at;
    int status;

    /* The turn comes first: it is the one that was reported, if that one still lasts. */
    if (!pool_find_turn(restarting->pool, restarting->index, 0, &at)) {
        say_is_not_stuck(restarting, out);
        return WEIR_ENOTALLOWED;
    }
    if (!turn_watch_find(restarting->watch, restarting->pool, restarting->index, 0, &out->stuck)) {
        say_is_not_stuck_yet(restarting, out);
        return WEIR_ENOTALLOWED;
    }
    status = pool_leave_behind(restarting->pool, restarting->index, &at, executor, &why);
    if (status == WEIR_EUNKNOWN && find_worker(restarting, out) == 0) {
        say_is_not_stuck(restarting, out);
        return WEIR_ENOTALLOWED;
    }
    if (status == WEIR_ENOTALLOWED)
        say_why_it_stays(restarting, why, out);
    out->is_left = status == 0;
    return status;
}

/* Kills its process, or leaves it behind. */
static int end_now(const struct restarting *restarting, struct executor *executor,
                   struct pool_restart_result *out)
{
    int status = renewal_kill(restarting->pool, restarting->index);

    if (status == WEIR_EUNKNOWN && find_worker(restarting, out) != 0)
        return status; /* it has begun to leave since */
    return status == 0 ? 0 : leave_behind(restarting, executor, out);
}

/* --- waiting -------------------------------------------------------------------------------- */

static bool is_stopping(const struct restarting *restarting)
{
    return atomic_load_explicit(&restarting->assembly->stopping, memory_order_acquire);
}

static struct renewal_counts count(const struct restarting *restarting)
{
    struct renewal_counts counts = { 0 };

    renewal_count(restarting->pool, restarting->index, &counts);
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

    out->restarted = asked > not_restarted ? asked - not_restarted : 0;
    out->busy = busy;
    out->failed = left.failed;
    out->opening = left.begun;
    if (busy > 0 && restarting->index != RENEWAL_ALL)
        out->is_stuck = turn_watch_find(restarting->watch, restarting->pool, restarting->index, 0,
                                        &out->stuck);
}

static void await_opening(struct restarting *restarting, struct executor *executor)
{
    runtime_pause(executor);
    wait_for(restarting, have_opened, restarting->open_timeout_ms);
    runtime_resume(executor);
}

/* The process is killed first: after the request an idle worker may already have ended it. */
static int restart(struct restarting *restarting, bool now, struct executor *executor,
                   struct pool_restart_result *out)
{
    int status = now ? end_now(restarting, executor, out) : 0;
    uint32_t asked, busy;

    if (status == 0 && out->is_left) { /* the new worker has begun */
        await_opening(restarting, executor);
        fill_result(restarting, 1, 0, out);
        return 0;
    }
    if (status != 0)
        return status;
    asked = renewal_ask(restarting->pool, restarting->index, executor);
    if (asked == 0 && restarting->index != RENEWAL_ALL)
        status = find_worker(restarting, out); /* it may have begun to leave since */
    if (status != 0)
        return status;
    runtime_pause(executor);
    wait_for(restarting, have_begun, restarting->keep_timeout_ms);
    runtime_resume(executor);
    busy = renewal_take_back(restarting->pool, restarting->index, executor);
    await_opening(restarting, executor);
    fill_result(restarting, asked, busy, out);
    return 0;
}

int pool_restart(struct assembly *assembly, struct turn_watch *watch, const char *path, bool now,
                 struct pool_restart_result *out)
{
    struct restarting restarting = { .assembly = assembly, .watch = watch };
    struct executor *executor;
    int status = 0;

    if (!divide(&restarting, path) || !find_pool(&restarting)) {
        (void)snprintf(out->why, sizeof out->why, "there is no %.200s", path);
        return WEIR_EUNKNOWN;
    }
    if (restarting.index != RENEWAL_ALL)
        status = find_worker(&restarting, out);
    if (status != 0)
        return status;
    executor = runtime_enter(assembly->runtime);
    if (!executor)
        return WEIR_ENOMEM;
    status = restart(&restarting, now, executor, out);
    runtime_leave(executor);
    return is_stopping(&restarting) ? WEIR_ECANCELLED : status;
}
