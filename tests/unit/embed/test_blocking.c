/* SPDX-License-Identifier: MIT */
/*
 * Goal: callbacks of one pool that block do not stop the others on their dispatcher, whatever kind
 * of callback it is, and whatever the others do; a pool that has half of the threads leaves the
 * next ones to the others; a shutdown takes no longer than its time-out.
 *
 * Method: workers that wait at a gate in one kind of callback, in all threads, beside pools whose
 * callbacks are short. Numbers of callbacks are compared while the gate is shut, so that no outcome
 * depends on time.
 */
#include <poll.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define WORKERS 8u
#define SHORT 10u /* messages */
#define THREADS_MAX 4u

/* --- a pool that blocks ----------------------------------------------------------------------- */

enum kind {
    IN_OPEN,
    IN_HANDLE,
    IN_TICK,
    IN_TAKEN,
    IN_RETURNED,
    IN_CLOSE,
    IN_SETTLED,
    KINDS,
};

/* The settings of its workers. */
struct blocker {
    struct hand *hand;
    struct gate gate;
    enum kind kind;
    weir_pid sink; /* for IN_SETTLED */
    weir_pid pool;
    struct weir_lease leases[WORKERS];
    uint64_t takes[WORKERS];
};

static void block_in(struct blocker *blocker, enum kind kind)
{
    if (blocker->kind == kind)
        CU_ASSERT_TRUE(gate_pass(&blocker->gate));
}

static int open_blocker(struct weir_self *self, const void *settings, void *state)
{
    struct blocker *blocker = *(struct blocker **)state = (struct blocker *)(uintptr_t)settings;

    (void)self;
    block_in(blocker, IN_OPEN);
    return 0;
}

static void tick(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)context;
    block_in(*(struct blocker **)state, IN_TICK);
}

/* Sends a message of which this worker is the origin. */
static int send_with_origin(struct weir_self *self, struct blocker *blocker)
{
    struct weir_message *message = weir_message_new(self, NULL, sizeof(struct hand_order));

    memset(message->data, 0, sizeof(struct hand_order));
    return weir_set_origin(self, message, 1) == 0 && weir_send(self, blocker->sink, message) == 0
               ? WEIR_DONE
               : WEIR_FAIL;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct blocker *blocker = *(struct blocker **)state;
    uint64_t timer;

    (void)message;
    block_in(blocker, IN_HANDLE);
    if (blocker->kind == IN_TICK)
        return weir_after(self, 1, tick, NULL, &timer) == 0 ? WEIR_DONE : WEIR_FAIL;
    return blocker->kind == IN_SETTLED ? send_with_origin(self, blocker) : WEIR_DONE;
}

static int taken(struct weir_self *self, void *state)
{
    (void)self;
    block_in(*(struct blocker **)state, IN_TAKEN);
    return 0;
}

static int returned(struct weir_self *self, void *state)
{
    (void)self;
    block_in(*(struct blocker **)state, IN_RETURNED);
    return 0;
}

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    (void)outcome;
    block_in(*(struct blocker **)state, IN_SETTLED);
}

static void close_blocker(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)reason;
    block_in(*(struct blocker **)state, IN_CLOSE);
}

static const struct weir_behaviour blocking = {
    .name = "blocker",
    .state_size = sizeof(struct blocker *),
    .flags = WEIR_BLOCKING,
    .open = open_blocker,
    .handle = handle,
    .close = close_blocker,
    .settled = settled,
    .taken = taken,
    .returned = returned,
};

static bool needs_leases(enum kind kind)
{
    return kind == IN_TAKEN || kind == IN_RETURNED;
}

static void add_blocker(struct blocker *blocker, struct hand *hand, const char *path,
                        enum kind kind)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    *blocker = (struct blocker){ .hand = hand, .kind = kind };
    gate_init(&blocker->gate);
    if (kind == IN_SETTLED)
        blocker->sink = hand_pool(hand, "sink", 1, 0);
    options.path = path;
    options.behaviour = &blocking;
    options.settings = blocker;
    options.dispatcher = "work";
    options.workers = WORKERS;
    options.lease = needs_leases(kind);
    options.lease_queue = WORKERS;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand->runtime, &options, &blocker->pool), 0);
    if (kind != IN_OPEN)
        CU_ASSERT_EQUAL(weir_runtime_wait_open(hand->runtime, blocker->pool, wait_limit_ms()), 0);
}

static int begin_in_one(struct blocker *blocker, uint32_t index)
{
    struct weir_runtime *runtime = blocker->hand->runtime;

    switch (blocker->kind) {
    case IN_OPEN:
    case IN_CLOSE:
        return 0;
    case IN_TAKEN:
        return weir_runtime_take_request(runtime, blocker->pool, wait_limit_ms(),
                                         &blocker->takes[index]);
    case IN_RETURNED:
        return weir_runtime_take(runtime, blocker->pool, wait_limit_ms(), &blocker->leases[index]);
    default:
        return hand_send(blocker->hand, blocker->pool, (struct hand_order){ 0 });
    }
}

/* Begins a callback of its kind in each worker. */
static void begin_blocking(struct blocker *blocker)
{
    struct weir_runtime *runtime = blocker->hand->runtime;

    for (uint32_t i = 0; i < WORKERS; i++)
        CU_ASSERT_EQUAL(begin_in_one(blocker, i), 0);
    for (uint32_t i = 0; i < WORKERS && blocker->kind == IN_RETURNED; i++)
        CU_ASSERT_EQUAL(weir_runtime_return(runtime, &blocker->leases[i], WEIR_DONE), 0);
    if (blocker->kind == IN_CLOSE)
        CU_ASSERT_EQUAL(weir_runtime_close(runtime, blocker->pool), 0);
}

static void end_blocker(struct blocker *blocker)
{
    struct weir_runtime *runtime = blocker->hand->runtime;

    gate_open(&blocker->gate);
    for (uint32_t i = 0; i < WORKERS && blocker->kind == IN_TAKEN; i++)
        (void)weir_runtime_cancel(runtime, blocker->takes[i]);
    (void)weir_runtime_stop_now(runtime, blocker->pool);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(runtime, blocker->pool, wait_limit_ms()), 0);
    gate_finish(&blocker->gate);
}

static uint32_t arrived(struct blocker *blocker)
{
    uint32_t count;

    pthread_mutex_lock(&blocker->gate.lock);
    count = blocker->gate.arrived;
    pthread_mutex_unlock(&blocker->gate.lock);
    return count;
}

/* --- the others ------------------------------------------------------------------------------- */

struct others {
    weir_pid deals, pulls, gives; /* round robin, pull, leases */
};

static weir_pid add_other(struct hand *hand, const char *path, uint32_t route, uint32_t lease)
{
    struct weir_pool_options options = hand_pool_options(hand, path);
    weir_pid pid;

    options.dispatcher = "work";
    options.workers = 2;
    options.limit = WEIR_UNLIMITED;
    options.route = route;
    options.lease = lease;
    options.lease_queue = 1;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand->runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand->runtime, pid, wait_limit_ms()), 0);
    return pid;
}

static void add_others(struct others *others, struct hand *hand)
{
    others->deals = add_other(hand, "deals", WEIR_ROUTE_ROUND_ROBIN, 0);
    others->pulls = add_other(hand, "pulls", WEIR_ROUTE_PULL, 0);
    others->gives = add_other(hand, "gives", WEIR_ROUTE_PULL, 1);
}

/* Each answer shows that a message was handled. */
static void expect_answers(struct hand *hand, weir_pid pool)
{
    for (uint32_t i = 0; i < SHORT; i++) {
        struct weir_message *message = hand_message(hand, (struct hand_order){ hand_reply, i });
        struct weir_answer answer = WEIR_ANSWER;
        int status = weir_runtime_ask(hand->runtime, pool, message, wait_limit_ms(), &answer);

        CU_ASSERT_EQUAL(status, 0);
        if (status != 0)
            return;
        weir_runtime_message_free(hand->runtime, answer.message);
    }
}

static void expect_leases(struct hand *hand, weir_pid pool)
{
    for (uint32_t i = 0; i < SHORT; i++) {
        struct weir_lease lease;
        int status = weir_runtime_take(hand->runtime, pool, wait_limit_ms(), &lease);

        CU_ASSERT_EQUAL(status, 0);
        if (status != 0)
            return;
        CU_ASSERT_EQUAL(weir_runtime_return(hand->runtime, &lease, WEIR_DONE), 0);
    }
}

/* Also opens and closes a pool. */
static void expect_others_to_work(struct others *others, struct hand *hand)
{
    weir_pid later;

    expect_answers(hand, others->deals);
    expect_answers(hand, others->pulls);
    expect_leases(hand, others->gives);
    later = add_other(hand, "later", WEIR_ROUTE_ROUND_ROBIN, 0);
    expect_answers(hand, later);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand->runtime, later, wait_limit_ms()), 0);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void begin(struct hand *hand, uint32_t threads, uint32_t budget)
{
    hand_begin(hand, 1);
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_dispatcher(hand->runtime, "work", threads, budget), 0);
}

/* Budget 0: the dispatcher is one for blocking work because of its actors. */
static void expect_no_stop(enum kind kind, uint32_t threads, uint32_t budget)
{
    struct blocker blocker;
    struct others others;
    struct hand hand;

    begin(&hand, threads, budget);
    add_others(&others, &hand);
    add_blocker(&blocker, &hand, "blocker", kind);
    begin_blocking(&blocker);
    CU_ASSERT_TRUE(gate_await(&blocker.gate, threads));
    expect_others_to_work(&others, &hand);
    CU_ASSERT_EQUAL(arrived(&blocker), threads);
    end_blocker(&blocker);
    hand_finish(&hand);
}

/* promise D20 */
static void test_callbacks_of_one_pool_do_not_stop_others(void)
{
    for (enum kind kind = 0; kind < KINDS; kind++)
        for (uint32_t threads = 1; threads <= THREADS_MAX; threads *= 2)
            for (uint32_t budget = 0; budget <= 1; budget++)
                expect_no_stop(kind, threads, budget);
}

/* promise D20: each pool that blocks has a thread, and one more pool still works. */
static void test_many_pools_that_block_do_not_stop_one_more(void)
{
    static const char *const paths[] = { "a", "b", "c", "d", "e" };
    struct blocker blockers[5];
    struct others others;
    struct hand hand;

    begin(&hand, 2, 1);
    add_others(&others, &hand);
    for (size_t i = 0; i < 5; i++) {
        add_blocker(&blockers[i], &hand, paths[i], IN_HANDLE);
        begin_blocking(&blockers[i]);
        CU_ASSERT_TRUE(gate_await(&blockers[i].gate, i == 0 ? 2 : 1));
    }
    expect_others_to_work(&others, &hand);
    for (size_t i = 1; i < 5; i++)
        CU_ASSERT_EQUAL(arrived(&blockers[i]), 1);
    for (size_t i = 0; i < 5; i++)
        end_blocker(&blockers[i]);
    hand_finish(&hand);
}

/* promise D20: a pool has all threads while no other one waits, and half of them otherwise. */
static void test_a_pool_with_half_of_the_threads_leaves_the_next_to_others(void)
{
    struct blocker first, second;
    struct hand hand;

    begin(&hand, 4, 1);
    add_blocker(&first, &hand, "first", IN_HANDLE);
    add_blocker(&second, &hand, "second", IN_HANDLE);
    begin_blocking(&first);
    CU_ASSERT_TRUE(gate_await(&first.gate, 4));
    begin_blocking(&second);
    CU_ASSERT_TRUE(gate_await(&second.gate, 1)); /* on an extra thread */
    gate_admit(&first.gate, 1);
    CU_ASSERT_TRUE(gate_await(&second.gate, 2));
    CU_ASSERT_EQUAL(arrived(&first), 4);
    gate_admit(&first.gate, 1);
    CU_ASSERT_TRUE(gate_await(&second.gate, 3)); /* two, and the one on the extra thread */
    CU_ASSERT_EQUAL(arrived(&first), 4);
    gate_admit(&first.gate, 1);
    CU_ASSERT_TRUE(gate_await(&first.gate, 5)); /* it had one of four */
    CU_ASSERT_EQUAL(arrived(&second), 3);
    end_blocker(&second);
    end_blocker(&first);
    hand_finish(&hand);
}

/* promise D20: nothing is lost when all of them go on, over and over. */
static void test_pools_that_block_in_turn_all_finish(void)
{
    struct blocker blockers[3];
    struct hand hand;

    begin(&hand, 3, 1);
    for (size_t i = 0; i < 3; i++)
        add_blocker(&blockers[i], &hand, i == 0 ? "a" : i == 1 ? "b" : "c", IN_HANDLE);
    for (uint32_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < 3; i++)
            begin_blocking(&blockers[(round + i) % 3]);
        for (size_t i = 0; i < 3; i++)
            gate_admit(&blockers[i].gate, WORKERS);
        for (size_t i = 0; i < 3; i++)
            CU_ASSERT_TRUE(gate_await(&blockers[i].gate, (round + 1) * WORKERS));
    }
    for (size_t i = 0; i < 3; i++)
        end_blocker(&blockers[i]);
    hand_finish(&hand);
}

/* Callbacks that hang do not hold up the end of others, or the shutdown. */
static void test_shutdown_ends_at_its_time_out_while_callbacks_hang(void)
{
    struct blocker blocker;
    struct hand hand;
    weir_pid other;

    begin(&hand, 2, 1);
    other = add_other(&hand, "other", WEIR_ROUTE_ROUND_ROBIN, 0);
    add_blocker(&blocker, &hand, "blocker", IN_CLOSE);
    begin_blocking(&blocker);
    CU_ASSERT_TRUE(gate_await(&blocker.gate, 2));
    CU_ASSERT_EQUAL(hand_send(&hand, other, (struct hand_order){ 0 }), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, 50), WEIR_ETIMEOUT);
    for (uint32_t ms = 0; ms < wait_limit_ms() && atomic_load(&hand.closed) < 2; ms++)
        (void)poll(NULL, 0, 1); /* the other pool goes on to close */
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 1);
    CU_ASSERT_EQUAL(atomic_load(&hand.closed), 2);
    gate_open(&blocker.gate);
    hand_finish(&hand);
    gate_finish(&blocker.gate);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "others", test_callbacks_of_one_pool_do_not_stop_others },
        { "many", test_many_pools_that_block_do_not_stop_one_more },
        { "half", test_a_pool_with_half_of_the_threads_leaves_the_next_to_others },
        { "in turn", test_pools_that_block_in_turn_all_finish },
        { "shutdown", test_shutdown_ends_at_its_time_out_while_callbacks_hang },
        CU_TEST_INFO_NULL,
    };

    return suite_run("blocking", tests);
}
