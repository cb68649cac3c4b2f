/* SPDX-License-Identifier: MIT */
/*
 * Goal: a message or a taker does not depend on the worker that was woken for it. When that worker
 * leaves or fails before it comes to the queue, another one opens. Shows promise P43.
 *
 * Method: a pool that scales itself, with one idle worker. The thread of the test takes all turns,
 * so that the worker is woken after the order to leave, or behind a message that makes it fail, and
 * before its turn. The clock stands: no check and no restart is due.
 */
#include "face/leases.h"
#include "face/messages.h"
#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TURNS_MAX 100000u
#define IDLE_MS 10u
#define LONG_MS 1000000u
#define NOTE 7u

/* What waits. */
enum kind { A_MESSAGE, A_TAKER, A_TAKER_OF_THE_GROUP };

/* Why the worker does not come. */
enum miss { IT_LEAVES, IT_FAILS };

struct world {
    struct rig rig;
    struct probe *probe;
    struct pool *group;
    struct pool *pool;
    enum kind kind;
    uint64_t reference; /* of the take */
};

static bool is_ready(void *context)
{
    struct world *w = context;

    return atomic_load(&w->pool->pull.sleeping) == 1;
}

static bool is_ordered_to_leave(void *context)
{
    return rig_stats(((struct world *)context)->pool).target == 0;
}

static bool is_served(void *context)
{
    struct world *w = context;

    return w->kind == A_MESSAGE ? probe_times(w->probe, NOTE) == 1
                                : runtime_is_answered(w->rig.runtime, w->reference);
}

static bool has_ended(void *context)
{
    struct world *w = context;

    return pool_has_ended(w->pool) && (!w->group || pool_has_ended(w->group));
}

static bool step(struct world *w, bool (*done)(void *context))
{
    return rig_step(&w->rig, done, w, TURNS_MAX);
}

static struct pool *make_pool(struct world *w)
{
    const struct lease_settings lease = { .on = w->kind != A_MESSAGE, .queue = 4 };
    struct pool_options options = { .path = "pool",
                                    .parent = w->group,
                                    .size = 1,
                                    .settings = { .route = WEIR_ROUTE_PULL,
                                                  .mailbox = 4,
                                                  .size_max = 2,
                                                  .scale = { true, 0, IDLE_MS },
                                                  .lease = lease } };
    struct pool *pool;

    options.spec = rig_spec(w->probe);
    options.spec->restart = (struct restart){
        .max = UINT32_MAX, .within_ms = 1, .backoff_ms_min = LONG_MS, .backoff_ms_max = LONG_MS
    };
    pool = rig_pool(&w->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    return pool;
}

static void begin(struct world *w, enum kind kind)
{
    const struct pool_options group = { .path = "group",
                                        .settings = { .route = WEIR_ROUTE_LEAST_LOADED,
                                                      .lease = { .on = true, .queue = 4 } } };

    *w = (struct world){ .kind = kind, .probe = probe_create() };
    rig_init_still(&w->rig, 1, 0);
    if (kind == A_TAKER_OF_THE_GROUP)
        w->group = rig_pool(&w->rig, &group);
    w->pool = make_pool(w);
    CU_ASSERT_TRUE_FATAL(step(w, is_ready));
}

static void return_lease(struct world *w)
{
    struct weir_answer answer = WEIR_ANSWER;

    CU_ASSERT_EQUAL_FATAL(runtime_await(w->rig.runtime, w->reference, &answer), 0);
    CU_ASSERT_PTR_NOT_NULL(weir_answer_lease(&answer));
    if (weir_answer_lease(&answer))
        CU_ASSERT_EQUAL(runtime_lease_return(w->rig.runtime, LEASE_OF_PROGRAM,
                                             weir_answer_lease(&answer), WEIR_DONE),
                        0);
    runtime_message_free(w->rig.runtime, answer.message);
}

static void finish(struct world *w)
{
    struct executor *executor;

    if (w->kind != A_MESSAGE)
        return_lease(w);
    rig_close(&w->rig, w->group ? w->group : w->pool);
    CU_ASSERT_TRUE(step(w, has_ended));
    executor = runtime_enter(w->rig.runtime);
    pool_destroy(w->pool, executor);
    if (w->group)
        pool_destroy(w->group, executor);
    runtime_leave(executor);
    rig_finish(&w->rig);
    probe_destroy(w->probe);
}

static void make_it_miss(struct world *w, enum miss miss)
{
    const struct place *place = LIST_ENTRY(w->pool->places.next, struct place, link);

    if (miss == IT_FAILS) {
        const struct order fail = { .act = probe_fail, .id = 0, .argument = 0 };

        CU_ASSERT_EQUAL(rig_send(&w->rig, actor_pid(place->actor), fail), 0);
        return;
    }
    /* Its first check finds it unused, the second one finds it unused for long enough. */
    rig_advance(&w->rig, IDLE_MS);
    (void)rig_step(&w->rig, is_ordered_to_leave, w, 16);
    rig_advance(&w->rig, IDLE_MS);
    CU_ASSERT_TRUE(step(w, is_ordered_to_leave));
}

static void let_wait(struct world *w)
{
    weir_pid to = w->group ? w->group->pid : w->pool->pid;

    if (w->kind == A_MESSAGE) {
        const struct order done = { .act = probe_done, .id = NOTE, .argument = 0 };

        CU_ASSERT_EQUAL(rig_send(&w->rig, to, done), 0);
        return;
    }
    CU_ASSERT_EQUAL(runtime_take(w->rig.runtime, NULL, to, LONG_MS, &w->reference), 0);
}

static void check(enum kind kind, enum miss miss)
{
    static const char *const kinds[] = { "a message", "a taker", "a taker of the group" };
    static const char *const misses[] = { "leaves", "fails" };
    struct world w;

    (void)printf("\n    %s, and its worker %s", kinds[kind], misses[miss]);
    begin(&w, kind);
    make_it_miss(&w, miss);
    let_wait(&w);
    CU_ASSERT_EQUAL(atomic_load(&w.pool->pull.sleeping), 0);
    CU_ASSERT_TRUE(step(&w, is_served));
    (void)printf("%s", is_served(&w) ? "" : ": waits for ever");
    if (is_served(&w))
        finish(&w);
}

/* promise P43 */
static void test_what_waits_does_not_depend_on_one_worker(void)
{
    /* A pool without workers refuses messages. */
    check(A_MESSAGE, IT_FAILS);
    check(A_TAKER, IT_FAILS);
    check(A_TAKER, IT_LEAVES);
    check(A_TAKER_OF_THE_GROUP, IT_FAILS);
    check(A_TAKER_OF_THE_GROUP, IT_LEAVES);
    (void)printf("\n    ");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "misses", test_what_waits_does_not_depend_on_one_worker },
        CU_TEST_INFO_NULL,
    };

    return suite_run("workers that do not come", tests);
}
