/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit reports a plugin that leaves a thread, a key of thread-local data or a signal
 * handler behind, and no other plugin.
 * Method: work that leaves one of these behind, and removes it after the report.
 */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct left {
    pthread_t thread;
    int ends[2]; /* of a pipe: the thread waits until it is closed */
    pthread_key_t key;
};

static void leave_nothing(void *context)
{
    (void)context;
}

static void *wait_for_the_end(void *context)
{
    char byte;

    (void)!read(((struct left *)context)->ends[0], &byte, 1);
    return NULL;
}

static void leave_thread(void *context)
{
    struct left *left = context;

    CU_ASSERT_EQUAL_FATAL(pipe(left->ends), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&left->thread, NULL, wait_for_the_end, left), 0);
}

static void leave_key(void *context)
{
    CU_ASSERT_EQUAL_FATAL(pthread_key_create(&((struct left *)context)->key, NULL), 0);
}

static void leave_handler(void *context)
{
    (void)context;
    (void)signal(SIGUSR1, SIG_IGN);
}

/* promise B11 */
static void test_what_is_left_behind_is_found(void)
{
    struct left left;

    CU_ASSERT_TRUE(weir_kit_leaves_nothing(leave_nothing, NULL));
    CU_ASSERT_FALSE(weir_kit_leaves_nothing(leave_thread, &left));
    close(left.ends[1]);
    pthread_join(left.thread, NULL);
    close(left.ends[0]);
    CU_ASSERT_FALSE(weir_kit_leaves_nothing(leave_key, &left));
    (void)pthread_key_delete(left.key);
    CU_ASSERT_FALSE(weir_kit_leaves_nothing(leave_handler, NULL));
    (void)signal(SIGUSR1, SIG_DFL);
    CU_ASSERT_TRUE(weir_kit_leaves_nothing(leave_nothing, NULL));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "what is left behind is found", test_what_is_left_behind_is_found },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kit leaves", tests);
}
