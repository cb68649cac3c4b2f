/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that is in back-off when it must end is opened again, and finishes what it and its
 * pool have accepted; only past the time-out the rest is dead.
 *
 * Method: workers that fail twice stand in back-off with messages behind the failure. They are
 * removed in each way, with a back-off of an hour, which ends at the removal, and with a short one
 * while `open` fails until the test lets it succeed.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define MESSAGES 6u
#define HOUR_MS 3600000u
#define SHORT_MS 2u

enum way { BY_RESIZE, BY_CLOSE, BY_SHUTDOWN };

struct row {
    const char *name;
    enum way way;
    uint32_t workers;
    uint32_t route;
    bool direct; /* the messages are for the worker itself */
};

static const struct row rows[] = {
    { "resize", BY_RESIZE, 1, WEIR_ROUTE_ROUND_ROBIN, false },
    { "resize, direct", BY_RESIZE, 1, WEIR_ROUTE_ROUND_ROBIN, true },
    { "resize, two workers", BY_RESIZE, 2, WEIR_ROUTE_ROUND_ROBIN, false },
    { "resize, pull, direct", BY_RESIZE, 1, WEIR_ROUTE_PULL, true },
    { "close", BY_CLOSE, 1, WEIR_ROUTE_ROUND_ROBIN, false },
    { "close, direct", BY_CLOSE, 1, WEIR_ROUTE_ROUND_ROBIN, true },
    { "close, two workers", BY_CLOSE, 2, WEIR_ROUTE_ROUND_ROBIN, false },
    { "close, pull", BY_CLOSE, 1, WEIR_ROUTE_PULL, false },
    { "close, pull, three workers", BY_CLOSE, 3, WEIR_ROUTE_PULL, false },
    { "shutdown", BY_SHUTDOWN, 1, WEIR_ROUTE_ROUND_ROBIN, false },
    { "shutdown, direct", BY_SHUTDOWN, 1, WEIR_ROUTE_ROUND_ROBIN, true },
    { "shutdown, pull", BY_SHUTDOWN, 2, WEIR_ROUTE_PULL, false },
};

#define ROWS (sizeof rows / sizeof rows[0])

struct fixture {
    struct hand hand; /* first: the settings of the workers */
    const struct row *row;
    weir_pid pool;
    _Atomic bool is_shut; /* `open` fails */
    _Atomic uint32_t opens;
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct fixture *f = (struct fixture *)(uintptr_t)settings;

    (void)self;
    *(struct hand **)state = &f->hand;
    atomic_fetch_add(&f->opens, 1);
    return atomic_load(&f->is_shut) ? WEIR_EFULL : 0;
}

/* Fails after the test has sent all messages. */
static int fail_at_gate(struct weir_self *self, struct hand *hand,
                        const struct weir_message *message)
{
    return gate_pass(&hand->gate) ? hand_fail(self, hand, message) : WEIR_DONE;
}

static bool reaches(struct fixture *f, uint32_t opens)
{
    for (uint32_t ms = 0; ms < wait_limit_ms() && atomic_load(&f->opens) < opens; ms++)
        (void)poll(NULL, 0, 1);
    return atomic_load(&f->opens) >= opens;
}

static bool are_all_in_back_off(struct fixture *f, uint32_t failures)
{
    for (uint32_t ms = 0; ms < wait_limit_ms(); ms++) {
        struct weir_pool_stats stats = hand_stats(&f->hand, f->pool);

        if (stats.live == 0 && stats.dead == failures && stats.in_hand == 0)
            return true;
        (void)poll(NULL, 0, 1);
    }
    return false;
}

static void begin(struct fixture *f, const struct row *row, uint32_t back_off_ms,
                  uint64_t timeout_ms)
{
    struct weir_pool_options options;

    memset(f, 0, sizeof *f);
    f->row = row;
    hand_begin(&f->hand, row->workers); /* each may stand at the gate */
    f->hand.behaviour.open = open_worker;
    options = hand_pool_options(&f->hand, "worker");
    options.workers = row->workers;
    options.route = row->route;
    options.limit = 64;
    options.restart_max = 1;
    options.restart_backoff_ms_min = options.restart_backoff_ms_max = back_off_ms;
    options.remove_timeout_ms = timeout_ms;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &options, &f->pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, f->pool, wait_limit_ms()), 0);
}

/* Puts all workers into back-off, with messages that they or the pool have accepted. */
static void fill(struct fixture *f, bool is_shut)
{
    struct weir_member members[3];
    uint32_t count;

    CU_ASSERT_EQUAL(weir_runtime_members(f->hand.runtime, f->pool, members, 3, &count), 0);
    for (uint32_t i = 0; i < 2 * count; i++)
        CU_ASSERT_EQUAL(
            hand_send(&f->hand, members[i % count].pid, (struct hand_order){ fail_at_gate, 0 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->hand.gate, count));
    for (uint32_t i = 0; i < MESSAGES; i++)
        CU_ASSERT_EQUAL(hand_send(&f->hand, f->row->direct ? members[i % count].pid : f->pool,
                                  (struct hand_order){ NULL, 1 }),
                        0);
    gate_admit(&f->hand.gate, count);
    CU_ASSERT_TRUE(gate_await(&f->hand.gate, 2 * count));
    atomic_store(&f->is_shut, is_shut);
    gate_open(&f->hand.gate);
    CU_ASSERT_TRUE(are_all_in_back_off(f, 2 * count));
}

static void take_away(struct fixture *f)
{
    struct weir_runtime *runtime = f->hand.runtime;
    int status;

    if (f->row->way == BY_RESIZE)
        status = weir_runtime_resize(runtime, f->pool, 0, NULL);
    else if (f->row->way == BY_CLOSE)
        status = weir_runtime_close(runtime, f->pool);
    else
        status = weir_runtime_shutdown(runtime, wait_limit_ms());
    CU_ASSERT_EQUAL(status, 0);
}

/* Waits until no message and no worker is left. */
static struct weir_pool_stats await_end(struct fixture *f)
{
    struct weir_pool_stats stats = { 0 };

    for (uint32_t ms = 0; ms < wait_limit_ms(); ms++) {
        stats = hand_stats(&f->hand, f->pool);
        if (stats.accepted == stats.done + stats.dead + stats.moved && stats.live == 0 &&
            stats.starting == 0 && stats.retiring == 0)
            break;
        (void)poll(NULL, 0, 1);
    }
    return stats;
}

static void expect_all(struct fixture *f, uint32_t done, uint32_t removed)
{
    struct weir_pool_stats stats = await_end(f);

    if (stats.done != done || stats.dead_by[WEIR_DEAD_REMOVED] != removed)
        (void)fprintf(stderr, "%s: done %lu, removed %lu\n", f->row->name,
                      (unsigned long)stats.done, (unsigned long)stats.dead_by[WEIR_DEAD_REMOVED]);
    CU_ASSERT_EQUAL(stats.done, done);
    CU_ASSERT_EQUAL(stats.dead_by[WEIR_DEAD_REMOVED], removed);
    CU_ASSERT_EQUAL(atomic_load(&f->hand.sum), done);
    hand_finish(&f->hand);
}

/* promise P6: the back-off ends with the order to leave. */
static void test_worker_in_back_off_finishes_at_once(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct fixture f;

        begin(&f, &rows[i], HOUR_MS, WEIR_FOR_EVER);
        fill(&f, false);
        take_away(&f);
        expect_all(&f, MESSAGES, 0);
    }
}

/* promise P6: it fails further, and waits for its back-off each time. */
static void test_worker_that_fails_to_open_finishes_later(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct fixture f;

        if (rows[i].way == BY_SHUTDOWN)
            continue;
        begin(&f, &rows[i], SHORT_MS, WEIR_FOR_EVER);
        fill(&f, true);
        take_away(&f);
        CU_ASSERT_TRUE(reaches(&f, atomic_load(&f.opens) + 5));
        atomic_store(&f.is_shut, false);
        expect_all(&f, MESSAGES, 0);
    }
}

/* promise P6: never past the time-out. */
static void test_worker_that_never_opens_leaves_in_time(void)
{
    for (size_t i = 0; i < ROWS; i++) {
        struct fixture f;

        begin(&f, &rows[i], SHORT_MS, 50);
        fill(&f, true);
        take_away(&f);
        expect_all(&f, 0, MESSAGES);
    }
}

/* promise P6: without messages it does not open once more. */
static void test_worker_without_messages_just_ends(void)
{
    const struct row row = { "empty", BY_CLOSE, 1, WEIR_ROUTE_PULL, false };
    struct fixture f;

    begin(&f, &row, HOUR_MS, WEIR_FOR_EVER);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(hand_send(&f.hand, f.pool, (struct hand_order){ hand_fail, 0 }), 0);
    CU_ASSERT_TRUE(are_all_in_back_off(&f, 2));
    take_away(&f);
    expect_all(&f, 0, 0);
    CU_ASSERT_EQUAL(atomic_load(&f.opens), 2);
}

/* As above, for urgent messages of a manager, which has no time-out: it opens once. */
static void close_with_manager_in_back_off(bool opens)
{
    struct weir_pool_options options;
    struct fixture f;

    memset(&f, 0, sizeof f);
    hand_begin(&f.hand, 2);
    f.hand.behaviour.open = open_worker;
    options = hand_pool_options(&f.hand, "managed");
    options.manager = &f.hand.behaviour;
    options.manager_settings = &f.hand;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f.hand.runtime, &options, &f.pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    for (uint32_t i = 0; i < 2 + MESSAGES; i++) {
        struct hand_order order = { i < 2 ? fail_at_gate : NULL, i < 2 ? 0 : 1 };
        struct weir_message *message = hand_message(&f.hand, order);

        CU_ASSERT_EQUAL(weir_runtime_send(f.hand.runtime, f.pool, WEIR_HIGH, message), 0);
    }
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 1));
    gate_admit(&f.hand.gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.hand.gate, 2));
    atomic_store(&f.is_shut, true);
    gate_open(&f.hand.gate);
    CU_ASSERT_TRUE(reaches(&f, 4)); /* of the worker 1, of the manager 3, the last in vain */
    atomic_store(&f.is_shut, !opens);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.hand.sum), opens ? MESSAGES : 0);
    CU_ASSERT_TRUE(atomic_load(&f.opens) >= 5);
    hand_finish(&f.hand);
}

static void test_manager_in_back_off_opens_once(void)
{
    close_with_manager_in_back_off(true);
    close_with_manager_in_back_off(false);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "at once", test_worker_in_back_off_finishes_at_once },
        { "later", test_worker_that_fails_to_open_finishes_later },
        { "time-out", test_worker_that_never_opens_leaves_in_time },
        { "manager", test_manager_in_back_off_opens_once },
        { "empty", test_worker_without_messages_just_ends },
        CU_TEST_INFO_NULL,
    };

    return suite_run("back-off", tests);
}
