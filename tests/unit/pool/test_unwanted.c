/* SPDX-License-Identifier: MIT */
/*
 * Goal: a waiting message leaves soon after it is not wanted any more, and causes no growth. It
 * waits in the queue of a pool, in a mailbox behind a long callback, or for a retry. It is a
 * request or take whose time-out is over or that was cancelled, or one of a cancelled group.
 *
 * Method: a table of what waits behind the only worker, which is at the gate or leased. The clock
 * moves until the queue is empty.
 */
#include <stdatomic.h>
#include <stdio.h>

#include "actor/group.h"
#include "actor/send.h"
#include "pool/creation.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"
#include "unit/support/wait_limit.h"

#define SOON_MS 250u /* some beats of the pool */
#define FOR_LONG_MS 100000000u
#define WAITING 3u
#define STEP_MS 5u

struct world {
    struct fixture f;
    struct pool *pool; /* the target */
    struct group *group;
};

/* --- what waits ------------------------------------------------------------------------------- */

static void answered_to(struct weir_self *self, void *state, void *context,
                        const struct weir_reply *reply)
{
    struct slot *slot = context;

    (void)self;
    (void)state;
    atomic_store(&slot->answer, reply->status);
}

/* As `take` of lease_rig.h, with a plain request. */
static int request(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    uint64_t argument = probe_order(message)->argument;
    struct slot *slot = &f->slots[argument % SLOTS];

    CU_ASSERT_EQUAL(weir_request(self, f->target,
                                 probe_message(self, (struct order){ .act = probe_done, .id = 9 }),
                                 argument / SLOTS, answered_to, slot, &slot->reference),
                    0);
    return WEIR_DONE;
}

static void ask_all(struct world *w, probe_act *what, uint64_t timeout_ms)
{
    for (uint32_t slot = 0; slot < WAITING; slot++)
        act_of(&w->f, slot, what, slot + SLOTS * timeout_ms);
}

static bool are_there(void *context)
{
    return rig_stats(context).queued == WAITING;
}

static void expire_requests(struct world *w)
{
    ask_all(w, request, SOON_MS);
    CU_ASSERT_TRUE(rig_wait(&w->f.rig, are_there, w->pool));
}

static void cancel_requests(struct world *w)
{
    ask_all(w, request, FOR_LONG_MS);
    CU_ASSERT_TRUE(rig_wait(&w->f.rig, are_there, w->pool));
    for (uint32_t slot = 0; slot < WAITING; slot++)
        act(&w->f, slot, give_up);
}

static void cancel_group(struct world *w)
{
    struct executor *executor = runtime_enter(w->f.rig.runtime);

    CU_ASSERT_EQUAL(group_create(w->f.rig.runtime, 0, &w->group), 0);
    for (uint32_t i = 0; i < WAITING; i++) {
        struct message *message = message_create(&executor->cache, NULL, sizeof(struct order));

        *(struct order *)message->public.data = (struct order){ .act = probe_done, .id = 9 };
        CU_ASSERT_EQUAL(group_join(w->group, message), 0);
        CU_ASSERT_EQUAL(
            send_message(w->f.rig.runtime, executor, w->pool->pid, WEIR_NORMAL, message), 0);
    }
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&w->f.rig, are_there, w->pool));
    group_cancel(w->group);
}

static void expire_takes(struct world *w)
{
    ask_all(w, take, SOON_MS);
    CU_ASSERT_TRUE(rig_wait(&w->f.rig, are_there, w->pool));
}

static void cancel_takes(struct world *w)
{
    ask_all(w, take, FOR_LONG_MS);
    CU_ASSERT_TRUE(rig_wait(&w->f.rig, are_there, w->pool));
    for (uint32_t slot = 0; slot < WAITING; slot++)
        act(&w->f, slot, give_up);
}

struct row {
    const char *name;
    bool leases;
    bool groups;  /* the pool is in a group, which is asked */
    bool mailbox; /* they wait in the worker's own */
    void (*wait)(struct world *w);
};

static const struct row rows[] = {
    { "requests that time out", false, false, false, expire_requests },
    { "requests that are cancelled", false, false, false, cancel_requests },
    { "messages of a group", false, false, false, cancel_group },
    { "takes that time out", true, false, false, expire_takes },
    { "takes that are cancelled", true, false, false, cancel_takes },
    { "takes of a group that time out", true, true, false, expire_takes },
    { "takes of a group that are cancelled", true, true, false, cancel_takes },
    { "requests in a mailbox that time out", false, false, true, expire_requests },
    { "requests in a mailbox that are cancelled", false, false, true, cancel_requests },
    { "messages of a group in a mailbox", false, false, true, cancel_group },
};

/* --- pools ------------------------------------------------------------------------------------ */

static struct pool *make_pool(struct world *w, const struct row *row, struct pool *parent,
                              uint64_t wait_ms)
{
    struct pool_options options = { .path = parent ? "group/pool" : "pool",
                                    .parent = parent,
                                    .size = 1,
                                    .settings = { .route = row->mailbox ? WEIR_ROUTE_ROUND_ROBIN
                                                                        : WEIR_ROUTE_PULL,
                                                  .mailbox = 8,
                                                  .size_max = 4,
                                                  .scale = { wait_ms > 0, wait_ms, FOR_LONG_MS },
                                                  .lease = { row->leases, FOR_LONG_MS, SLOTS } } };
    struct pool *pool;

    options.spec = rig_spec(w->f.member);
    options.spec->in_hand_max = 2;
    pool = rig_pool(&w->f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&w->f.rig, pool));
    return pool;
}

static struct pool *make_group(struct world *w)
{
    struct pool_options options = { .path = "group",
                                    .settings = { .route = WEIR_ROUTE_LEAST_LOADED,
                                                  .lease = { true, FOR_LONG_MS, SLOTS } } };

    return rig_pool(&w->f.rig, &options);
}

/* The worker waits at the gate. */
static bool is_held(struct world *w, struct pool *pool)
{
    return rig_send(&w->f.rig, pool->pid, (struct order){ .act = probe_wait }) == 0 &&
           gate_await(&w->f.member->gate, 1);
}

/* Time goes on with each check. */
static bool is_empty(void *context)
{
    struct world *w = context;

    rig_advance(&w->f.rig, STEP_MS);
    return rig_stats(w->pool).queued == 0;
}

/* The worker is free. */
static void let_go(struct world *w, const struct row *row)
{
    gate_open(&w->f.member->gate);
    if (row->leases) {
        CU_ASSERT_EQUAL(result(&w->f, SLOTS - 1, return_done), 0);
    }
}

static bool has_no_worker(void *context)
{
    return rig_stats(context).live == 0;
}

/* `size`: of the pool, from when the messages wait. */
static void check_row(const struct row *row, uint64_t wait_ms, uint32_t size)
{
    struct world w = { 0 };
    struct executor *executor;
    struct pool *pool;

    begin(&w.f, 1, 0);
    w.pool = row->groups ? make_group(&w) : NULL;
    pool = make_pool(&w, row, w.pool, wait_ms);
    w.pool = w.pool ? w.pool : pool;
    w.f.target = w.pool->pid;
    CU_ASSERT_TRUE(row->leases ? takes(&w.f, SLOTS - 1) : is_held(&w, pool));
    row->wait(&w);
    if (size == 0) {
        CU_ASSERT_EQUAL(rig_resize(&w.f.rig, pool, 0, NULL), 0);
        let_go(&w, row);
        CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_no_worker, pool));
    }
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, is_empty, &w));
    if (w.group) {
        CU_ASSERT_EQUAL(group_wait(w.group, wait_limit_ms(), NULL), 0);
        group_destroy(w.group);
    }
    CU_ASSERT_EQUAL(rig_stats(pool).target, size);
    if (size > 0)
        let_go(&w, row);
    CU_ASSERT_TRUE(rig_end(&w.f.rig, w.pool, NULL));
    executor = runtime_enter(w.f.rig.runtime);
    if (row->groups)
        pool_destroy(pool, executor);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(probe_times(w.f.member, 9), 0);
    finish(&w.f);
}

static void check_rows(uint64_t wait_ms, uint32_t size)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t failures = CU_get_number_of_failures();

        if (size > 0 || !rows[i].mailbox) /* a worker that leaves hands its mailbox on */
            check_row(&rows[i], wait_ms, size);
        if (CU_get_number_of_failures() > failures)
            (void)fprintf(stderr, "%s\n", rows[i].name);
    }
}

/* promise S15 */
static void test_unwanted_messages_leave_the_queue(void)
{
    check_rows(0, 1);
}

/* promises S15 and G1: they would have to wait for longer. */
static void test_unwanted_messages_cause_no_growth(void)
{
    check_rows(1000000, 1);
}

/* promise S15: the queue waits for growth. */
static void test_unwanted_messages_leave_a_pool_of_size_0(void)
{
    check_rows(0, 0);
}

/* --- retries ---------------------------------------------------------------------------------- */

static int retry_late(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_retry_after(self, FOR_LONG_MS);
    return WEIR_RETRY;
}

static atomic_bool has_all; /* what `lack` lacks */

static int lack(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_retry_after(self, STEP_MS);
    return atomic_load(&has_all) ? WEIR_DONE : WEIR_POSTPONE;
}

static const struct weir_message *kept;

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    if (atomic_load(&has_all))
        return WEIR_DONE;
    kept = message;
    return WEIR_KEEP;
}

/* Lacks something for long, and the kept message for a short time. */
static int lack_both(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_retry_after(self, STEP_MS);
    CU_ASSERT_EQUAL(weir_settle(self, kept, WEIR_POSTPONE), 0);
    weir_retry_after(self, FOR_LONG_MS);
    atomic_store(&has_all, true);
    return WEIR_POSTPONE;
}

static bool has_one_cancelled(void *context)
{
    struct world *w = context;

    rig_advance(&w->f.rig, STEP_MS);
    return rig_dead(w->pool, DEAD_CANCELLED) == 1;
}

static bool has_none_held(void *context)
{
    struct world *w = context;

    rig_advance(&w->f.rig, STEP_MS);
    return rig_stats(w->pool).held == 0;
}

static bool has_one_held(void *context)
{
    return rig_stats(context).held == 1;
}

static bool has_two_held(void *context)
{
    return rig_stats(context).held == 2;
}

static void send_of_group(struct world *w, probe_act *does)
{
    struct executor *executor = runtime_enter(w->f.rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof(struct order));

    *(struct order *)message->public.data = (struct order){ .act = does, .id = 9 };
    CU_ASSERT_EQUAL(group_join(w->group, message), 0);
    CU_ASSERT_EQUAL(send_message(w->f.rig.runtime, executor, w->pool->pid, WEIR_NORMAL, message),
                    0);
    runtime_leave(executor);
}

/* A message of the group waits for a retry; if `postpones`, beside one that comes again and again.
 */
static void expect_unwanted_retry_leaves(bool postpones)
{
    const struct row row = { 0 };
    struct world w = { 0 };

    atomic_store(&has_all, false);
    begin(&w.f, 1, 0);
    w.pool = make_pool(&w, &row, NULL, 0);
    CU_ASSERT_EQUAL(group_create(w.f.rig.runtime, 0, &w.group), 0);
    send_of_group(&w, retry_late);
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_one_held, w.pool));
    if (postpones) {
        CU_ASSERT_EQUAL(rig_send(&w.f.rig, w.pool->pid, (struct order){ .act = lack, .id = 8 }), 0);
        CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_two_held, w.pool));
    }
    group_cancel(w.group);
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_one_cancelled, &w));
    CU_ASSERT_EQUAL(group_wait(w.group, wait_limit_ms(), NULL), 0);
    atomic_store(&has_all, true);
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_none_held, &w));
    CU_ASSERT_EQUAL(rig_dead(w.pool, DEAD_CANCELLED), 1);
    group_destroy(w.group);
    CU_ASSERT_TRUE(rig_end(&w.f.rig, w.pool, NULL));
    finish(&w.f);
}

/* promise S15 */
static void test_unwanted_retry_leaves(void)
{
    expect_unwanted_retry_leaves(false);
    expect_unwanted_retry_leaves(true);
}

/* promises S15 and V5: what nobody wants holds back no message that was postponed with it. */
static void test_unwanted_postponed_message_holds_back_none(void)
{
    const struct row row = { 0 };
    struct world w = { 0 };

    atomic_store(&has_all, false);
    begin(&w.f, 1, 0);
    w.pool = make_pool(&w, &row, NULL, 0);
    CU_ASSERT_EQUAL(group_create(w.f.rig.runtime, 0, &w.group), 0);
    CU_ASSERT_EQUAL(rig_send(&w.f.rig, w.pool->pid, (struct order){ .act = keep, .id = 8 }), 0);
    send_of_group(&w, lack_both);
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_two_held, w.pool));
    group_cancel(w.group);
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_one_cancelled, &w));
    CU_ASSERT_TRUE(rig_wait(&w.f.rig, has_none_held, &w));
    CU_ASSERT_EQUAL(group_wait(w.group, wait_limit_ms(), NULL), 0);
    group_destroy(w.group);
    CU_ASSERT_TRUE(rig_end(&w.f.rig, w.pool, NULL));
    finish(&w.f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "unwanted messages leave the queue", test_unwanted_messages_leave_the_queue },
        { "unwanted messages cause no growth", test_unwanted_messages_cause_no_growth },
        { "unwanted messages leave a pool of size 0",
          test_unwanted_messages_leave_a_pool_of_size_0 },
        { "an unwanted retry leaves", test_unwanted_retry_leaves },
        { "an unwanted postponed message", test_unwanted_postponed_message_holds_back_none },
        CU_TEST_INFO_NULL,
    };

    return suite_run("unwanted", tests);
}
