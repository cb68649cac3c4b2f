/* SPDX-License-Identifier: MIT */
/*
 * Goal: a thread that acquires locks in a wrong order ends the program, which names both places; so
 * does one that waits, or calls out, with a lock. What is allowed is not reported.
 *
 * Method: each wrong step in a child process, whose standard error must have both places,
 * and both names.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
#include "unit/host/suite.h"

#define TEXT_MAX 4096

static struct lock parent, pool, other, below, queue;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void init(void)
{
    lock_init_nested(&parent, LOCK_POOL, 0);
    lock_init_nested(&pool, LOCK_POOL, 1);
    lock_init_nested(&other, LOCK_POOL, 1);
    lock_init_nested(&below, LOCK_POOL, 2);
    lock_init(&queue, LOCK_PULL);
}

static void finish(void)
{
    lock_finish(&parent);
    lock_finish(&pool);
    lock_finish(&other);
    lock_finish(&below);
    lock_finish(&queue);
}

/* --- wrong ------------------------------------------------------------------------------------ */

static void acquire_a_lower_rank(void)
{
    lock_acquire(&queue);
    lock_acquire(&pool);
}

static void acquire_a_lower_depth(void)
{
    lock_acquire(&pool);
    lock_acquire(&parent);
}

static void acquire_the_same_depth(void)
{
    lock_acquire(&pool);
    lock_acquire(&other);
}

static void acquire_twice(void)
{
    lock_acquire(&pool);
    lock_acquire(&pool);
}

static void acquire_after_a_try(void)
{
    (void)lock_try(&queue);
    lock_acquire(&pool);
}

static void acquire_before_the_last_one(void)
{
    lock_acquire(&pool);
    lock_acquire(&queue);
    lock_acquire(&other);
}

static void acquire_beside_without_the_parent(void)
{
    lock_acquire(&parent);
    lock_release(&parent);
    lock_acquire(&pool);
    lock_acquire_beside(&other, &parent);
}

static void acquire_beside_a_lower_rank(void)
{
    lock_acquire(&parent);
    lock_acquire(&queue);
    lock_acquire_beside(&pool, &parent);
}

static void wait_with_another_lock(void)
{
    lock_acquire(&pool);
    lock_acquire(&queue);
    lock_wait(&queue, &condition);
}

static void call_out_with_a_lock(void)
{
    lock_acquire(&pool);
    lock_expect_none_of_core();
}

static const struct wrong {
    const char *name;
    void (*act)(void);
    const char *words[2]; /* of the report */
} wrongs[] = {
    { "rank", acquire_a_lower_rank, { "a pool (depth 1)", "the queue of a pool (depth 0)" } },
    { "depth", acquire_a_lower_depth, { "a pool (depth 0)", "a pool (depth 1)" } },
    { "same depth", acquire_the_same_depth, { "the order of locks", "a pool (depth 1)" } },
    { "twice", acquire_twice, { "a lock twice", "a pool (depth 1)" } },
    { "after a try", acquire_after_a_try, { "a pool (depth 1)", "the queue of a pool" } },
    { "not the last", acquire_before_the_last_one, { "the order of locks", "a pool (depth 1)" } },
    { "no parent",
      acquire_beside_without_the_parent,
      { "without the lock of the parent", "a pool" } },
    { "beside", acquire_beside_a_lower_rank, { "a pool (depth 1)", "the queue of a pool" } },
    { "wait", wait_with_another_lock, { "waits", "a pool (depth 1)" } },
    { "call out", call_out_with_a_lock, { "no lock is held here", "a pool (depth 1)" } },
};

/* The status of a child that does the wrong thing, and its report. */
static int report_of(const struct wrong *wrong, char text[TEXT_MAX])
{
    size_t size = 0;
    ssize_t more;
    int ends[2];
    int status = 0;
    pid_t child;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        wrong->act();
        _exit(0);
    }
    (void)close(ends[1]);
    while ((more = read(ends[0], text + size, TEXT_MAX - 1 - size)) > 0)
        size += (size_t)more;
    text[size] = '\0';
    (void)close(ends[0]);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    return status;
}

/* Each wrong step stands below the one that acquired the lock, in this file. */
static bool names_both_places(const char *text)
{
    const char *wrong = strstr(text, "test_lock_order.c:");
    const char *held = wrong ? strstr(wrong + 1, "test_lock_order.c:") : NULL;
    const size_t skip = strlen("test_lock_order.c:");

    return held && strtoul(held + skip, NULL, 10) > 0 &&
           strtoul(wrong + skip, NULL, 10) > strtoul(held + skip, NULL, 10);
}

static void test_wrong_order_ends_the_program_and_names_both_places(void)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        char text[TEXT_MAX];
        int status;

        init();
        status = report_of(&wrongs[i], text);
        CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        for (int word = 0; word < 2; word++)
            if (!strstr(text, wrongs[i].words[word])) {
                CU_FAIL("the report has the name");
                (void)printf("%s: %s\n", wrongs[i].name, text);
            }
        CU_ASSERT_TRUE(names_both_places(text));
        finish();
    }
}

/* --- right ------------------------------------------------------------------------------------ */

static void test_right_order_is_not_reported(void)
{
    init();
    lock_acquire(&parent);
    lock_acquire_beside(&pool, &parent);
    lock_acquire_beside(&other, &parent);
    lock_acquire_beside(&below, &pool);
    lock_acquire(&queue);
    lock_release(&parent); /* in any order */
    lock_release(&queue);
    lock_release(&below);
    lock_release(&other);
    lock_release(&pool);
    lock_expect_none();
    finish();
}

static void test_try_is_allowed_in_any_order(void)
{
    init();
    lock_acquire(&queue);
    CU_ASSERT_TRUE(lock_try(&pool));
    lock_release(&queue);
    lock_release(&pool);
    lock_expect_none();
    finish();
}

static void test_strands_of_one_thread_have_locks_of_their_own(void)
{
    struct lock_order *of_first;

    init();
    lock_acquire(&queue);
    of_first = lock_order_switch(NULL);
    lock_acquire(&pool);
    lock_release(&pool);
    CU_ASSERT_PTR_NULL(lock_order_switch(of_first));
    lock_release(&queue);
    lock_expect_none();
    finish();
}

static bool waits, is_signalled;

/* Waits, and once more. */
static void *wait_twice(void *argument)
{
    struct timespec until;

    (void)argument;
    lock_acquire(&queue);
    waits = true;
    while (!is_signalled)
        lock_wait(&queue, &condition);
    (void)clock_gettime(CLOCK_REALTIME, &until);
    (void)lock_wait_until(&queue, &condition, &until);
    lock_release(&queue);
    lock_expect_none();
    return NULL;
}

/* With another lock than the thread that waits has. */
static bool signal_it(void)
{
    bool done;

    lock_acquire(&pool);
    lock_acquire(&queue);
    done = waits;
    if (done) {
        is_signalled = true;
        (void)pthread_cond_signal(&condition);
    }
    lock_release(&queue);
    lock_release(&pool);
    return done;
}

static void test_others_have_the_lock_while_a_thread_waits(void)
{
    pthread_t thread;

    init();
    waits = is_signalled = false;
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wait_twice, NULL), 0);
    while (!signal_it())
        (void)sched_yield();
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    lock_expect_none();
    finish();
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "wrong", test_wrong_order_ends_the_program_and_names_both_places },
        { "right", test_right_order_is_not_reported },
        { "try", test_try_is_allowed_in_any_order },
        { "waits", test_others_have_the_lock_while_a_thread_waits },
        { "strands", test_strands_of_one_thread_have_locks_of_their_own },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lock_order", tests);
}
