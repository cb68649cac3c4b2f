/* SPDX-License-Identifier: MIT */
/*
 * Goal: on demand each message for which a sender waits starts a worker, so that workers open side
 * by side: for threads, for a worker that waits with many messages, and for senders to the pool
 * above.
 *
 * Method: an unbuffered pool whose workers hang in `open` until as many are there as messages wait.
 */
#include <pthread.h>

#include "actor/send_wait.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

#define SENDERS 7u
#define WORKERS_MAX 16u
#define IDLE_MS 1000000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pools[3]; /* the first is the target; others are below it */
    uint32_t count;
    struct gate opens;
    pthread_t threads[SENDERS];
    _Atomic uint32_t sent;
};

static int hang(struct weir_self *self, struct probe *probe)
{
    struct fixture *f = probe->context;

    (void)self;
    return gate_pass(&f->opens) ? 0 : WEIR_FAIL;
}

static struct pool *make_pool(struct fixture *f, const char *path, struct pool *parent)
{
    struct pool_options options = { .path = path,
                                    .parent = parent,
                                    .settings = { .mailbox = WEIR_UNBUFFERED,
                                                  .size_max = WORKERS_MAX,
                                                  .scale = { true, 0, IDLE_MS } } };
    struct pool *pool;

    options.spec = rig_spec(f->probe);
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

/* `below`: pools below the target; 0: the target has workers itself. */
static void begin(struct fixture *f, uint32_t below)
{
    static const char *const paths[] = { "top", "top/a", "top/b" };

    *f = (struct fixture){ .count = below + 1 };
    gate_init(&f->opens);
    f->probe = probe_create();
    f->probe->opens = hang;
    f->probe->context = f;
    rig_init(&f->rig, WORKERS_MAX + 2, 0);
    if (below == 0)
        f->pools[0] = make_pool(f, paths[0], NULL);
    else
        f->pools[0] = rig_pool(&f->rig, &(struct pool_options){ .path = paths[0] });
    for (uint32_t i = 1; i <= below; i++)
        f->pools[i] = make_pool(f, paths[i], f->pools[0]);
}

static void finish(struct fixture *f)
{
    for (uint32_t i = f->count; i-- > 0;)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->pools[i], NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    gate_finish(&f->opens);
}

static void *send_one(void *context)
{
    struct fixture *f = context;
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof(struct order));

    *(struct order *)message->public.data = (struct order){ .id = 1 };
    runtime_leave(executor);
    if (send_wait(f->rig.runtime, f->pools[0]->pid, message, wait_limit_ms()) == 0)
        atomic_fetch_add(&f->sent, 1);
    return NULL;
}

struct goal {
    struct fixture *f;
    uint32_t workers;
};

/* Time goes on: a check of the pool may have come before a sender waits. */
static bool has_workers(void *context)
{
    const struct goal *goal = context;
    uint32_t target = 0;

    rig_advance(&goal->f->rig, 1);
    for (uint32_t i = 0; i < goal->f->count; i++)
        target += pool_target(goal->f->pools[i]);
    return target >= goal->workers;
}

static void start_senders(struct fixture *f)
{
    for (uint32_t i = 0; i < SENDERS; i++)
        CU_ASSERT_EQUAL_FATAL(pthread_create(&f->threads[i], NULL, send_one, f), 0);
}

static void join_senders(struct fixture *f)
{
    for (uint32_t i = 0; i < SENDERS; i++)
        (void)pthread_join(f->threads[i], NULL);
    CU_ASSERT_EQUAL(atomic_load(&f->sent), SENDERS);
}

/* promise G3 */
static void test_each_sender_that_waits_starts_a_worker(void)
{
    for (uint32_t below = 0; below <= 2; below++) {
        struct fixture f;
        struct goal goal = { &f, SENDERS };

        begin(&f, below);
        start_senders(&f);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_workers, &goal));
        CU_ASSERT_TRUE(gate_await(&f.opens, SENDERS)); /* all open at the same time */
        gate_open(&f.opens);
        join_senders(&f);
        finish(&f);
    }
}

static bool all_wait(void *context)
{
    const struct fixture *f = context;

    return atomic_load(&f->pools[0]->waiters.count) == SENDERS;
}

/* promise G6: also for those that wait since the size was set by hand. */
static void test_senders_start_workers_when_the_law_goes_on(void)
{
    struct fixture f;
    struct goal goal = { &f, SENDERS };
    struct executor *executor;

    begin(&f, 0);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(pool_resize(f.pools[0], executor, 1, NULL), 0);
    CU_ASSERT_EQUAL(pool_resize(f.pools[0], executor, 0, NULL), 0);
    runtime_leave(executor);
    start_senders(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, all_wait, &f));
    CU_ASSERT_EQUAL(pool_target(f.pools[0]), 0);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(pool_scale_auto(f.pools[0], executor), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_workers, &goal));
    gate_open(&f.opens);
    join_senders(&f);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "when the law goes on", test_senders_start_workers_when_the_law_goes_on },
        { "each sender that waits starts a worker", test_each_sender_that_waits_starts_a_worker },
        CU_TEST_INFO_NULL,
    };

    return suite_run("scale_senders", tests);
}
