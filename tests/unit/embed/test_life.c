/* SPDX-License-Identifier: MIT */
/*
 * Goal: a runtime has the requested threads and its timekeeper, coexists with others, reports only
 * through its callbacks, ends gracefully in the order of the outputs, and frees everything.
 *
 * Method: threads are counted in /proc/self/task before, with and after one and two runtimes;
 * chains and cycles of pools are shut down while they are full.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

static uint32_t count_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    uint32_t count = 0;

    if (!tasks)
        return 0;
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* promise E1 */
static void test_threads_are_those_asked_for(void)
{
    struct hand one;
    struct hand two;
    uint32_t before;

    /* A sanitizer has a thread of its own from the first one on. */
    hand_begin(&one, 1);
    hand_finish(&one);
    before = count_threads();
    CU_ASSERT_TRUE(before > 0);
    hand_begin(&one, 2);
    CU_ASSERT_EQUAL(count_threads(), before + 2 + 1);
    hand_begin(&two, 3);
    CU_ASSERT_EQUAL(count_threads(), before + 5 + 2);
    CU_ASSERT_EQUAL(weir_runtime_add_dispatcher(one.runtime, "disk", 2, 0), 0);
    CU_ASSERT_EQUAL(weir_runtime_add_dispatcher(one.runtime, "disk", 2, 0), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(weir_runtime_add_dispatcher(one.runtime, "none", 0, 0), WEIR_EINVALID);
    (void)hand_pool(&one, "pool", 100, 1);
    CU_ASSERT_EQUAL(count_threads(), before + 7 + 2);
    hand_finish(&one);
    CU_ASSERT_EQUAL(count_threads(), before + 3 + 1);
    hand_finish(&two);
    CU_ASSERT_EQUAL(count_threads(), before);
}

/* promise E1: with WEIR_THREADS_AUTO as many as the CPUs, at least two. */
static void test_threads_are_as_many_as_the_cpus(void)
{
    cpu_set_t allowed, one;
    struct hand hand;
    uint32_t before;

    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &one);
    CU_ASSERT_EQUAL_FATAL(sched_setaffinity(0, sizeof one, &one), 0);
    before = count_threads();
    hand_begin(&hand, WEIR_THREADS_AUTO);
    CU_ASSERT_EQUAL(count_threads(), before + 2 + 1);
    CU_ASSERT_EQUAL(weir_runtime_add_dispatcher(hand.runtime, "disk", WEIR_THREADS_AUTO, 0), 0);
    CU_ASSERT_EQUAL(count_threads(), before + 4 + 1);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(sched_setaffinity(0, sizeof allowed, &allowed), 0);
}

/* promise E1: names, PIDs, figures and threads of one mean nothing to the other. */
static void test_two_runtimes_work_side_by_side(void)
{
    struct hand hands[2];
    weir_pid pids[2];
    weir_pid found;

    for (uint32_t i = 0; i < 2; i++) {
        hand_begin(&hands[i], 1);
        pids[i] = hand_pool(&hands[i], "pool", 2, 0);
    }
    for (uint64_t id = 1; id <= 200; id++)
        CU_ASSERT_EQUAL(hand_send(&hands[id % 2], pids[id % 2], (struct hand_order){ .id = id }),
                        0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hands[0].runtime, pids[0], wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_runtime_lookup(hands[0].runtime, "pool", &found), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_runtime_lookup(hands[1].runtime, "pool", &found), 0);
    CU_ASSERT_EQUAL(found, pids[1]);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hands[1].runtime, pids[1], wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hands[0].sum), 100 * 101);
    CU_ASSERT_EQUAL(atomic_load(&hands[1].sum), 100 * 100);
    for (uint32_t i = 0; i < 2; i++)
        hand_finish(&hands[i]);
}

/* promise E2 */
static void test_process_is_left_as_it_was(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGSEGV, SIGCHLD };
    struct sigaction before[6];
    struct sigaction now;
    sigset_t mask_before;
    sigset_t mask_now;
    struct hand hand;

    for (size_t i = 0; i < 6; i++)
        sigaction(signals[i], NULL, &before[i]);
    pthread_sigmask(SIG_SETMASK, NULL, &mask_before);
    hand_begin(&hand, 2);
    CU_ASSERT_EQUAL(hand_send(&hand, hand_pool(&hand, "pool", 1, 1),
                              (struct hand_order){ .act = hand_fail, .id = 1 }),
                    0);
    for (size_t i = 0; i < 6; i++) {
        sigaction(signals[i], NULL, &now);
        CU_ASSERT_TRUE(now.sa_handler == before[i].sa_handler);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &mask_now);
    for (int number = 1; number < SIGRTMAX; number++)
        CU_ASSERT_EQUAL(sigismember(&mask_before, number), sigismember(&mask_now, number));
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_TRUE(atomic_load(&hand.lines) > 0); /* the callback got the failure */
    hand_finish(&hand);
}

/* --- the end -------------------------------------------------------------------------------- */

static void bind_to(struct hand *hand, weir_pid from, weir_pid to)
{
    const struct weir_binding binding = { .target = to };

    CU_ASSERT_EQUAL(weir_runtime_bind(hand->runtime, from, &binding, 1), 0);
}

/* promise E3: made in the wrong order, and the last of the chain is too small for all at once. */
static void test_shutdown_finishes_what_was_accepted(void)
{
    struct weir_ledger ledger;
    struct hand hand;
    weir_pid last;
    weir_pid first;

    hand_begin(&hand, 2);
    first = hand_pool(&hand, "first", 3, 0);
    last = hand_pool(&hand, "last", 1, 1);
    bind_to(&hand, first, last);
    for (uint64_t id = 1; id <= 500; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, first, (struct hand_order){ .act = hand_emit, .id = id }),
                        0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 1000);
    CU_ASSERT_EQUAL(atomic_load(&hand.closed), 4);
    ledger = hand_ledger(&hand, last);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, 500);
    ledger = hand_ledger(&hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, 1000);
    CU_ASSERT_EQUAL(hand_send(&hand, first, (struct hand_order){ .id = 1 }), WEIR_ETERMINATED);
    hand_finish(&hand);
}

/* promise E3 */
static void test_circle_of_pools_shuts_down_as_one(void)
{
    struct hand hand;
    weir_pid left;
    weir_pid right;
    weir_pid fed;

    hand_begin(&hand, 2);
    fed = hand_pool(&hand, "fed", 1, 0);
    left = hand_pool(&hand, "left", 1, 0);
    right = hand_pool(&hand, "right", 1, 0);
    bind_to(&hand, left, right);
    bind_to(&hand, right, fed);
    CU_ASSERT_EQUAL(hand_send(&hand, right, (struct hand_order){ .act = hand_emit, .id = 3 }), 0);
    bind_to(&hand, fed, left);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.closed), 3);
    hand_finish(&hand);
}

struct opener {
    struct hand *hand;
    weir_pid watched;
};

/* Opens the gate once the watched pool closes. */
static void *open_when_closing(void *context)
{
    struct opener *opener = context;

    while (hand_send(opener->hand, opener->watched, (struct hand_order){ .id = 0 }) != WEIR_ECLOSED)
        (void)sched_yield();
    gate_open(&opener->hand->gate);
    return NULL;
}

/* promise E3: the nested one feeds its sibling, and waits until that one closes. */
static void test_nested_pools_shut_down_in_the_order_of_their_outputs(void)
{
    struct weir_pool_options top = WEIR_POOL_OPTIONS;
    struct weir_pool_options nested;
    struct weir_ledger ledger;
    struct opener opener;
    pthread_t thread;
    struct hand hand;
    weir_pid pids[3];

    hand_begin(&hand, 2);
    top.path = "top";
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &top, &pids[0]), 0);
    for (int i = 1; i < 3; i++) {
        nested = hand_pool_options(&hand, i == 1 ? "top/one" : "top/two");
        nested.parent = pids[0];
        nested.limit = UINT32_MAX;
        CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &nested, &pids[i]), 0);
    }
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pids[0], wait_limit_ms()), 0);
    bind_to(&hand, pids[1], pids[2]);
    CU_ASSERT_EQUAL(hand_send(&hand, pids[1], (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    for (uint64_t id = 0; id < 100; id++)
        CU_ASSERT_EQUAL(
            hand_send(&hand, pids[1], (struct hand_order){ .act = hand_emit, .id = id }), 0);
    opener = (struct opener){ &hand, pids[1] };
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, open_when_closing, &opener), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    pthread_join(thread, NULL);
    ledger = hand_ledger(&hand, pids[2]);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, 100);
    ledger = hand_ledger(&hand, pids[0]);
    CU_ASSERT_EQUAL(ledger.dead, 0);
    CU_ASSERT_EQUAL(hand_stats(&hand, pids[0]).done, ledger.done);
    hand_finish(&hand);
}

/* A worker with a message for a target that admits nothing; the shutdown has no time-out. */
static void expect_shutdown_beside(void (*shut)(struct hand *hand, weir_pid *out_pid))
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct hand hand;
    weir_pid feeder;
    weir_pid target;

    options.no_room_ms = 1;
    hand_begin_with(&hand, &options, 2);
    feeder = hand_pool(&hand, "feeder", 1, 4);
    shut(&hand, &target);
    bind_to(&hand, feeder, target);
    CU_ASSERT_EQUAL(hand_send(&hand, feeder, (struct hand_order){ .act = hand_emit, .id = 1 }), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(hand_stats(&hand, feeder).dead_by[WEIR_DEAD_NO_TARGET], 1);
    hand_finish(&hand);
}

static void make_what_never_opens(struct hand *hand, weir_pid *out_pid)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;

    hand->open_status = WEIR_ENOMEM;
    options.name = "never";
    options.behaviour = &hand->behaviour;
    options.settings = hand;
    CU_ASSERT_EQUAL(weir_runtime_add_actor(hand->runtime, &options, out_pid), 0);
}

static void make_what_never_opens_in_a_pool(struct hand *hand, weir_pid *out_pid)
{
    struct weir_pool_options options = hand_pool_options(hand, "never");

    hand->open_status = WEIR_ENOMEM;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand->runtime, &options, out_pid), 0);
}

static void make_what_is_paused(struct hand *hand, weir_pid *out_pid)
{
    *out_pid = hand_pool(hand, "paused", 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_pause(hand->runtime, *out_pid), 0);
}

/* promise E3 */
static void test_shutdown_waits_for_nobody_who_lets_nothing_in(void)
{
    expect_shutdown_beside(make_what_never_opens);
    expect_shutdown_beside(make_what_never_opens_in_a_pool);
    expect_shutdown_beside(make_what_is_paused);
}

/* promise E3: the pool between waits for a target that closes two waves after the first feeder. */
static void test_shutdown_closes_a_later_target_that_lets_nothing_in(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct hand_order order = { .act = hand_emit, .id = 1 };
    struct hand hand;
    weir_pid feeder;
    weir_pid between;
    weir_pid target;

    options.no_room_ms = 1;
    hand_begin_with(&hand, &options, 2);
    feeder = hand_pool(&hand, "feeder", 1, 4);
    between = hand_pool(&hand, "between", 1, 1);
    make_what_is_paused(&hand, &target);
    bind_to(&hand, feeder, between);
    bind_to(&hand, between, target);
    CU_ASSERT_EQUAL(hand_send(&hand, between, order), 0);
    while (hand_send(&hand, between, order) == WEIR_EFULL) /* behind the one that is emitted */
        (void)sched_yield();
    CU_ASSERT_EQUAL(hand_send(&hand, feeder, order), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(hand_stats(&hand, between).dead_by[WEIR_DEAD_NO_TARGET], 2);
    CU_ASSERT_EQUAL(hand_stats(&hand, between).done, 3);
    CU_ASSERT_EQUAL(hand_stats(&hand, feeder).dead, 0);
    hand_finish(&hand);
}

/* promise E3 */
static void test_shutdown_past_its_time_names_what_is_left(void)
{
    uint32_t lines;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 1, 4);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    lines = atomic_load(&hand.lines);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, 1), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(atomic_load(&hand.lines), lines + 1);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), WEIR_ECLOSED);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    hand_finish(&hand);
}

#define STUCK_MS 2000u

/* promise E3: the log names only the part that does not end, not those that close after it. */
static void test_part_that_hangs_leaves_time_for_the_others(void)
{
    weir_pid pid, target;
    struct hand hand;
    uint32_t lines;

    hand_begin(&hand, 2);
    target = hand_pool(&hand, "last", 1, 4);
    pid = hand_pool(&hand, "first", 1, 4);
    bind_to(&hand, pid, target);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    lines = atomic_load(&hand.lines);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, STUCK_MS), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(atomic_load(&hand.lines), lines + 1);
    CU_ASSERT_EQUAL(atomic_load(&hand.closed), 1);
    gate_open(&hand.gate);
    hand_finish(&hand);
}

/* Messages in mailboxes are freed then; the sanitizers see it. */
static int destroy_it(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    (void)self;
    (void)message;
    weir_runtime_destroy(hand->runtime);
    return WEIR_DONE;
}

/* promise E17: the runtime works on. */
static void test_destroy_in_a_callback_does_nothing(void)
{
    struct hand hand;
    weir_pid pid;
    uint32_t lines;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 2, 8);
    lines = atomic_load(&hand.lines);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ destroy_it, 1 }), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.lines), lines + 1);
    for (uint64_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = i }), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 5);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    hand_finish(&hand);
}

static void test_destroy_without_shutdown_frees_everything(void)
{
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 2, 0);
    for (uint64_t id = 0; id < 100; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = id }), 0);
    weir_runtime_destroy(hand.runtime);
    gate_finish(&hand.gate);
    weir_runtime_destroy(NULL);
}

static void test_options_of_another_size_are_refused_or_understood(void)
{
    struct {
        struct weir_runtime_options known;
        uint64_t newer;
    } options = { .known = WEIR_RUNTIME_OPTIONS, .newer = 1 };
    struct weir_runtime *runtime = NULL;

    options.known.size = offsetof(struct weir_runtime_options, log_level) - 8;
    CU_ASSERT_EQUAL(weir_runtime_create(&options.known, &runtime), WEIR_EINVALID);
    options.known.size += 8; /* of a program that was built before there was more */
    options.known.log_level = UINT32_MAX;
    CU_ASSERT_EQUAL(weir_runtime_create(&options.known, &runtime), 0);
    weir_runtime_destroy(runtime);
    options.known.log_level = 0;
    options.known.size = sizeof options;
    CU_ASSERT_EQUAL(weir_runtime_create(&options.known, &runtime), 0);
    weir_runtime_destroy(runtime);
    options.known.threads = 0;
    CU_ASSERT_EQUAL(weir_runtime_create(&options.known, &runtime), WEIR_EINVALID);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "threads", test_threads_are_those_asked_for },
        { "auto", test_threads_are_as_many_as_the_cpus },
        { "two runtimes", test_two_runtimes_work_side_by_side },
        { "process", test_process_is_left_as_it_was },
        { "chain", test_shutdown_finishes_what_was_accepted },
        { "circle", test_circle_of_pools_shuts_down_as_one },
        { "nested", test_nested_pools_shut_down_in_the_order_of_their_outputs },
        { "lets nothing in", test_shutdown_waits_for_nobody_who_lets_nothing_in },
        { "a later target", test_shutdown_closes_a_later_target_that_lets_nothing_in },
        { "part that hangs", test_part_that_hangs_leaves_time_for_the_others },
        { "past its time", test_shutdown_past_its_time_names_what_is_left },
        { "destroy in a callback", test_destroy_in_a_callback_does_nothing },
        { "no shutdown", test_destroy_without_shutdown_frees_everything },
        { "options", test_options_of_another_size_are_refused_or_understood },
        CU_TEST_INFO_NULL,
    };

    return suite_run("life", tests);
}
