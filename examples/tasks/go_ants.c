/* SPDX-License-Identifier: MIT */
/* The calls of ants: go.h. */
#include "go.h"

static void use_pool(struct weir_runtime *runtime, weir_pid pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    _Atomic int ran = 0;

    /* pool.Submit(count) */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, WEIR_FOR_EVER) == 0);
    /* the same with WithNonblocking(true): WEIR_EFULL is ErrPoolOverload, WEIR_ECLOSED is
     * ErrPoolClosed */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 0) == 0);
    /* pool.Tune(2) */
    EXPECT(weir_runtime_resize(runtime, pool, 2, NULL) == 0);
    /* pool.Cap(), pool.Running(), pool.Free() */
    EXPECT(weir_runtime_pool_stats(runtime, pool, &stats) == 0);
    EXPECT(stats.target == 2 && stats.busy <= 4);
    printf("free: %d\n", (int)stats.target - (int)stats.busy);
    /* pool.Release() */
    EXPECT(weir_runtime_close(runtime, pool) == 0);
    /* pool.ReleaseTimeout(100 * time.Second) */
    EXPECT(weir_runtime_close_wait(runtime, pool, 100000) == 0);
    /* pool.IsClosed() */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 0) != 0);
    EXPECT(atomic_load(&ran) == 2);
}

/* ants.NewPool(1): it has no queue */
static weir_pid make_unbuffered(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid pool;

    options.path = "ants";
    options.workers = 1;
    options.limit = WEIR_UNBUFFERED;
    EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == 0);
    return pool;
}

/* A full pool, a release that takes too long, and the pool made again. */
static void use_full_pool(struct weir_runtime *runtime)
{
    struct gate gate = { false, false };
    weir_pid pool = make_unbuffered(runtime);
    _Atomic int ran = 0;
    int status;

    EXPECT(weir_runtime_submit(runtime, pool, wait_at_gate, &gate, WEIR_FOR_EVER) == 0);
    await_arrival(&gate);
    /* WithNonblocking(true): ErrPoolOverload */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 0) == WEIR_EFULL);
    /* instead of WithMaxBlockingTasks(1) */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 10) == WEIR_ETIMEOUT);
    /* pool.ReleaseTimeout(time.Millisecond): the task still runs */
    EXPECT(weir_runtime_close_wait(runtime, pool, 1) == WEIR_ETIMEOUT);
    /* ErrPoolClosed */
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, 0) == WEIR_ECLOSED);
    atomic_store(&gate.open, true);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
    status = weir_runtime_submit(runtime, pool, count, &ran, 0);
    EXPECT(status == WEIR_ETERMINATED || status == WEIR_EUNKNOWN);
    /* pool.Reboot(): a pool with the same path */
    pool = make_unbuffered(runtime);
    EXPECT(weir_runtime_submit(runtime, pool, count, &ran, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
    EXPECT(atomic_load(&ran) == 1);
}

/* ants.NewMultiPool(2, 4, ants.RoundRobin), and ants.LeastTasks */
static weir_pid make_pools(struct weir_runtime *runtime, enum weir_route route)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid above, pool;

    options.path = "many";
    options.workers = 0;
    options.route = route;
    EXPECT(weir_runtime_add_pool(runtime, &options, &above) == 0);
    for (int i = 0; i < 2; i++) {
        options = (struct weir_pool_options)WEIR_POOL_OPTIONS;
        options.path = i == 0 ? "many/one" : "many/two";
        options.parent = above;
        options.workers = 4;
        EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == 0);
    }
    return above;
}

static void use_pools(struct weir_runtime *runtime)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED };

    for (int i = 0; i < 2; i++) {
        weir_pid above = make_pools(runtime, routes[i]);
        _Atomic int ran = 0;

        for (int task = 0; task < 8; task++)
            EXPECT(weir_runtime_submit(runtime, above, count, &ran, WEIR_FOR_EVER) == 0);
        EXPECT(weir_runtime_close_wait(runtime, above, WEIR_FOR_EVER) == 0);
        EXPECT(atomic_load(&ran) == 8);
    }
}

/* ants.NewPool(8, ants.WithExpiryDuration(time.Second)); pond's MinWorkers(1) and IdleTimeout */
static void use_pool_that_scales_itself(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    _Atomic int ran = 0;
    weir_pid pool;

    options.path = "scaled";
    options.workers = 1;
    options.workers_min = 1;
    options.workers_max = 8;
    options.scale = WEIR_SCALE_ON_DEMAND;
    options.scale_idle_ms = 1000;
    EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == 0);
    for (int i = 0; i < 100; i++)
        EXPECT(weir_runtime_submit(runtime, pool, count, &ran, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
    EXPECT(atomic_load(&ran) == 100);
}

/* Instead of WithPanicHandler: a failure is a number, and a dead letter. */
static void fail_a_task(struct weir_runtime *runtime)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    weir_pid pool = make_pool(runtime, "failing");
    int result;

    EXPECT(weir_runtime_submit_wait(runtime, pool, fail, NULL, WEIR_FOR_EVER, &result) == 0);
    EXPECT(result == 7);
    EXPECT(weir_runtime_wait_idle(runtime, pool, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_pool_stats(runtime, pool, &stats) == 0);
    EXPECT(stats.dead_by[WEIR_DEAD_REJECTED] == 1);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}

/* WithPreAlloc(true) is the default; pool.Tune(-1) is not possible. */
static void make_wide_pool(struct weir_runtime *runtime)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct weir_pool_stats stats = { .size = sizeof stats };
    weir_pid pool;

    options.path = "wide";
    options.workers = 65537;
    EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == WEIR_EINVALID);
    options.workers = 1000;
    EXPECT(weir_runtime_add_task_pool(runtime, &options, &pool) == 0);
    EXPECT(weir_runtime_wait_open(runtime, pool, WEIR_FOR_EVER) == 0);
    EXPECT(weir_runtime_pool_stats(runtime, pool, &stats) == 0);
    EXPECT(stats.live == 1000 && stats.busy == 0);
    EXPECT(weir_runtime_close_wait(runtime, pool, WEIR_FOR_EVER) == 0);
}

void like_ants(struct weir_runtime *runtime)
{
    use_pool(runtime, make_pool(runtime, "ants"));
    use_full_pool(runtime);
    use_pools(runtime);
    use_pool_that_scales_itself(runtime);
    fail_a_task(runtime);
    make_wide_pool(runtime);
}
