/* SPDX-License-Identifier: MIT */
/*
 * Goal: a thread from outside gets an executor that no other user has, the one of its last call
 * when that is free, and a call looks at the clock only for what needs the time.
 *
 * Method: a runtime whose clock counts its readings; executors compared by address. Threads are
 * joined before the next reading, so that each case has one order.
 */
#include <pthread.h>
#include <stdlib.h>

#include "runtime.h"

#include "unit/host/suite.h"

#define CALLS 100

struct counted {
    struct runtime *runtime;
    _Atomic uint64_t looks; /* at the clock: each is a nanosecond later than the one before */
};

static uint64_t count_look(void *context)
{
    return atomic_fetch_add((_Atomic uint64_t *)context, 1);
}

static void begin(struct counted *counted)
{
    struct runtime_options options = { .clock = { count_look, (void *)&counted->looks } };

    atomic_init(&counted->looks, 1);
    if (runtime_create(&options, &counted->runtime) != 0)
        abort();
}

/* Enters and leaves; answers the executor. */
static void *call_once(void *context)
{
    struct executor *executor = runtime_enter(context);

    if (executor)
        runtime_leave(executor);
    return executor;
}

/* On a thread of its own. */
static struct executor *call_elsewhere(struct runtime *runtime)
{
    pthread_t thread;
    void *executor;

    if (pthread_create(&thread, NULL, call_once, runtime) != 0 ||
        pthread_join(thread, &executor) != 0)
        abort();
    return executor;
}

static void test_call_without_need_of_time_looks_at_no_clock(void)
{
    struct counted counted;
    struct executor *executor;
    uint64_t looks;

    begin(&counted);
    (void)call_once(counted.runtime);
    looks = atomic_load(&counted.looks);
    for (uint32_t i = 0; i < CALLS; i++)
        (void)call_once(counted.runtime);
    CU_ASSERT_EQUAL(atomic_load(&counted.looks), looks);
    executor = runtime_enter(counted.runtime);
    CU_ASSERT_EQUAL(executor_time(executor), looks);
    CU_ASSERT_EQUAL(executor_time(executor), looks + 1);
    runtime_leave(executor);
    runtime_destroy(counted.runtime);
}

static void test_executor_in_use_is_given_to_nobody_else(void)
{
    struct counted counted;
    struct executor *outer;
    struct executor *inner;
    struct executor *elsewhere;

    begin(&counted);
    outer = runtime_enter(counted.runtime);
    inner = runtime_borrow(counted.runtime); /* by the same thread */
    CU_ASSERT_PTR_NOT_EQUAL(inner, outer);
    elsewhere = call_elsewhere(counted.runtime);
    CU_ASSERT_PTR_NOT_EQUAL(elsewhere, outer);
    CU_ASSERT_PTR_NOT_EQUAL(elsewhere, inner);
    runtime_pause(outer); /* it is in use still */
    CU_ASSERT_PTR_EQUAL(call_elsewhere(counted.runtime), elsewhere);
    runtime_resume(outer);
    CU_ASSERT_TRUE(runtime_is_entered(counted.runtime));
    runtime_give_back(inner);
    CU_ASSERT_TRUE(runtime_is_entered(counted.runtime));
    runtime_leave(outer);
    CU_ASSERT_FALSE(runtime_is_entered(counted.runtime));
    runtime_destroy(counted.runtime);
}

/* Another thread may use it, when it has ended, or when it is at work elsewhere. */
static void test_thread_gets_the_executor_of_its_last_call(void)
{
    struct counted counted;
    struct executor *outer;
    struct executor *last;

    begin(&counted);
    outer = runtime_enter(counted.runtime);
    last = call_once(counted.runtime);
    runtime_leave(outer);
    CU_ASSERT_PTR_EQUAL(call_once(counted.runtime), last);
    CU_ASSERT_PTR_EQUAL(call_elsewhere(counted.runtime), outer);
    CU_ASSERT_PTR_EQUAL(call_once(counted.runtime), last);
    runtime_destroy(counted.runtime);
}

/* The index of its last call was of another runtime, which has fewer, or more. */
static void test_thread_goes_from_one_runtime_to_another(void)
{
    struct counted many;
    struct counted few;
    struct executor *executors[3];

    begin(&many);
    begin(&few);
    for (uint32_t i = 0; i < 3; i++)
        executors[i] = runtime_enter(many.runtime);
    CU_ASSERT_PTR_EQUAL(call_once(few.runtime), call_once(few.runtime));
    for (uint32_t i = 0; i < 3; i++)
        runtime_leave(executors[i]);
    CU_ASSERT_PTR_NOT_NULL(call_once(many.runtime));
    runtime_destroy(many.runtime);
    CU_ASSERT_PTR_NOT_NULL(call_once(few.runtime));
    runtime_destroy(few.runtime);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "clock", test_call_without_need_of_time_looks_at_no_clock },
        { "in use", test_executor_in_use_is_given_to_nobody_else },
        { "last call", test_thread_gets_the_executor_of_its_last_call },
        { "two runtimes", test_thread_goes_from_one_runtime_to_another },
        CU_TEST_INFO_NULL,
    };

    return suite_run("outside", tests);
}
