/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that must end may wait for something outside of the program, as the end of a
 * child process, without a thread: `leave` of all workers of a pool comes before any `close`, its
 * timers go on, and it gets no message any more; the pool grows beside it, and its time is bounded.
 *
 * Method: workers whose `leave` says WEIR_WAIT until the test lets them go; a timer calls them
 * again. One thread, so that a worker that held it would stop all others; two when one waits at a
 * gate.
 */
#include <poll.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define WORKERS 32u
#define AGAIN_MS 1u

struct fixture {
    struct hand hand;
    weir_pid pool;
    _Atomic bool lets_go;
    _Atomic uint32_t opened, left, late, closed; /* late: messages after `leave` */
    _Atomic uint32_t ticks;                      /* of workers that leave */
};

struct worker {
    struct fixture *f;
    bool leaves;
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct worker *worker = state;

    (void)self;
    worker->f = (struct fixture *)(uintptr_t)settings;
    atomic_fetch_add(&worker->f->opened, 1);
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    const struct hand_order *order = message->data;

    atomic_fetch_add(&worker->f->late, worker->leaves);
    atomic_fetch_add(&worker->f->hand.handled, 1);
    return order->act ? order->act(self, &worker->f->hand, message) : WEIR_DONE;
}

static void again(struct weir_self *self, void *state, void *context)
{
    struct worker *worker = state;

    (void)context;
    CU_ASSERT_TRUE(worker->leaves);
    atomic_fetch_add(&worker->f->ticks, 1);
    CU_ASSERT_EQUAL(weir_after(self, AGAIN_MS, again, NULL, NULL), 0);
}

static int leave(struct weir_self *self, void *state)
{
    struct worker *worker = state;

    if (!worker->leaves) {
        CU_ASSERT_EQUAL(weir_after(self, AGAIN_MS, again, NULL, NULL), 0);
        worker->leaves = true;
        atomic_fetch_add(&worker->f->left, 1);
    }
    return atomic_load(&worker->f->lets_go) ? WEIR_END : WEIR_WAIT;
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    struct worker *worker = state;

    (void)self;
    (void)reason;
    atomic_fetch_add(&worker->f->closed, 1);
}

static const struct weir_behaviour behaviour = {
    .name = "leaver",
    .state_size = sizeof(struct worker),
    .flags = WEIR_BLOCKING,
    .open = open_worker,
    .handle = handle,
    .close = close_worker,
    .leave = leave,
};

static void begin_with(struct fixture *f, uint32_t threads, uint32_t route, uint64_t timeout_ms)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    *f = (struct fixture){ 0 };
    hand_begin(&f->hand, threads);
    options.path = "leavers";
    options.behaviour = &behaviour;
    options.settings = f;
    options.workers = WORKERS;
    options.limit = WEIR_UNLIMITED;
    options.route = route;
    options.remove_timeout_ms = timeout_ms;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &options, &f->pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, f->pool, wait_limit_ms()), 0);
}

static void begin(struct fixture *f, uint32_t route, uint64_t timeout_ms)
{
    begin_with(f, 1, route, timeout_ms);
}

static void finish(struct fixture *f)
{
    struct weir_ledger ledger;

    atomic_store(&f->lets_go, true);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(atomic_load(&f->late), 0);
    CU_ASSERT_EQUAL(atomic_load(&f->closed), atomic_load(&f->opened));
    hand_finish(&f->hand);
}

static bool reaches(_Atomic uint32_t *number, uint32_t wanted)
{
    for (uint32_t ms = 0; ms < wait_limit_ms() && atomic_load(number) < wanted; ms++)
        (void)poll(NULL, 0, 1);
    return atomic_load(number) >= wanted;
}

static bool becomes(_Atomic uint32_t *number, uint32_t wanted)
{
    return reaches(number, wanted) && atomic_load(number) == wanted;
}

/* Each message that was accepted before is handled. */
static void send_some(struct fixture *f)
{
    for (uint32_t i = 0; i < WORKERS; i++)
        CU_ASSERT_EQUAL(hand_send(&f->hand, f->pool, (struct hand_order){ 0 }), 0);
}

enum order {
    ORDER_CLOSE,
    ORDER_SHRINK,
    ORDERS,
};

static int give_order(struct fixture *f, enum order order)
{
    return order == ORDER_CLOSE ? weir_runtime_close(f->hand.runtime, f->pool)
                                : weir_runtime_resize(f->hand.runtime, f->pool, 0, NULL);
}

static void leave_by(enum order order, uint32_t route)
{
    struct fixture f;

    begin(&f, route, WEIR_FOR_EVER);
    send_some(&f);
    CU_ASSERT_EQUAL(give_order(&f, order), 0);
    CU_ASSERT_TRUE(becomes(&f.left, WORKERS));
    CU_ASSERT_EQUAL(atomic_load(&f.closed), 0);
    if (order == ORDER_CLOSE)
        CU_ASSERT_EQUAL(atomic_load(&f.hand.handled), WORKERS);
    atomic_store(&f.lets_go, true);
    CU_ASSERT_TRUE(becomes(&f.closed, WORKERS));
    finish(&f);
}

/* promise O11 */
static void test_all_workers_leave_before_one_is_closed(void)
{
    for (enum order order = 0; order < ORDERS; order++) {
        leave_by(order, WEIR_ROUTE_ROUND_ROBIN);
        leave_by(order, WEIR_ROUTE_PULL);
    }
}

static void grow_beside(uint32_t route)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct fixture f;

    begin(&f, route, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 0, NULL), 0);
    CU_ASSERT_TRUE(becomes(&f.left, WORKERS));
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.opened), WORKERS + 1);
    CU_ASSERT_EQUAL(weir_runtime_ask(f.hand.runtime, f.pool,
                                     hand_message(&f.hand, (struct hand_order){ hand_reply, 1 }),
                                     wait_limit_ms(), &answer),
                    0);
    weir_runtime_message_free(f.hand.runtime, answer.message);
    CU_ASSERT_EQUAL(atomic_load(&f.closed), 0);
    finish(&f);
}

/* promise O11 */
static void test_pool_grows_beside_workers_that_leave(void)
{
    grow_beside(WEIR_ROUTE_ROUND_ROBIN);
    grow_beside(WEIR_ROUTE_PULL);
}

static void expect_nothing_is_handled(struct fixture *f)
{
    uint32_t before = atomic_load(&f->ticks);

    CU_ASSERT_TRUE(reaches(&f->ticks, before + 4 * WORKERS));
    CU_ASSERT_EQUAL(atomic_load(&f->hand.handled), 1);
}

/* The one that stays: the last ones leave first. */
static weir_pid first_worker(struct fixture *f)
{
    struct weir_member members[WORKERS];
    uint32_t count = 0;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_members(f->hand.runtime, f->pool, members, WORKERS, &count),
                          0);
    CU_ASSERT_EQUAL_FATAL(count, WORKERS);
    return members[0].pid;
}

/* promise O11: the worker that stays is busy, so the message waits in the queue of the pool; also
 * when the pool closes, and its leavers finish the queue. */
static void test_worker_that_leaves_takes_nothing_from_the_queue(void)
{
    struct fixture f;

    begin_with(&f, 2, WEIR_ROUTE_PULL, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(hand_send(&f.hand, first_worker(&f), (struct hand_order){ hand_wait, 0 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 1, NULL), 0);
    CU_ASSERT_TRUE(becomes(&f.left, WORKERS - 1));
    CU_ASSERT_EQUAL(hand_send(&f.hand, f.pool, (struct hand_order){ 0 }), 0);
    expect_nothing_is_handled(&f);
    CU_ASSERT_EQUAL(weir_runtime_close(f.hand.runtime, f.pool), 0);
    expect_nothing_is_handled(&f);
    gate_open(&f.hand.gate);
    CU_ASSERT_TRUE(becomes(&f.hand.handled, 2));
    finish(&f);
}

/* promise O11 */
static void test_worker_that_leaves_for_too_long_is_closed(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 50);
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 0, NULL), 0);
    CU_ASSERT_TRUE(becomes(&f.closed, WORKERS));
    CU_ASSERT_EQUAL(atomic_load(&f.left), WORKERS);
    finish(&f);
}

/* promise O11: an order to end now does not wait. */
static void test_worker_that_is_stopped_now_does_not_wait(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(weir_runtime_stop_now(f.hand.runtime, f.pool), 0);
    CU_ASSERT_TRUE(becomes(&f.closed, WORKERS));
    finish(&f);
}

/* promise O11 */
static void test_worker_that_leaves_can_be_stopped_now(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(weir_runtime_close(f.hand.runtime, f.pool), 0);
    CU_ASSERT_TRUE(becomes(&f.left, WORKERS));
    CU_ASSERT_EQUAL(weir_runtime_stop_now(f.hand.runtime, f.pool), 0);
    CU_ASSERT_TRUE(becomes(&f.closed, WORKERS));
    finish(&f);
}

static void test_actor_leaves_too(void)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;
    struct fixture f;
    weir_pid pid;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, WEIR_FOR_EVER);
    options.name = "alone";
    options.behaviour = &behaviour;
    options.settings = &f;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_actor(f.hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f.hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_runtime_close(f.hand.runtime, pid), 0);
    CU_ASSERT_TRUE(becomes(&f.left, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.closed), 0);
    atomic_store(&f.lets_go, true);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.closed), 1);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "together", test_all_workers_leave_before_one_is_closed },
        { "growth", test_pool_grows_beside_workers_that_leave },
        { "queue", test_worker_that_leaves_takes_nothing_from_the_queue },
        { "time-out", test_worker_that_leaves_for_too_long_is_closed },
        { "stopped now", test_worker_that_is_stopped_now_does_not_wait },
        { "stopped later", test_worker_that_leaves_can_be_stopped_now },
        { "actor", test_actor_leaves_too },
        CU_TEST_INFO_NULL,
    };

    return suite_run("leaving", tests);
}
