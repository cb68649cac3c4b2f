/* SPDX-License-Identifier: MIT */
/*
 * Goal: the cost of ending each of a program's actors, one by one or by a shutdown, alone or in a
 * chain, does not depend on their number; nor does the memory that a shutdown asks for. Shows
 * promise A20.
 *
 * Method: 1,000 and 4,000 actors of libweir; the work of the thread that ends them is counted, not
 * that of the dispatcher. The bytes are those of all threads.
 */
#include <stdlib.h>

#include "unit/growth/growth.h"
#include "unit/host/suite.h"
#include "unit/support/bytes.h"
#include "unit/support/wait_limit.h"

#include <weir/runtime.h>

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour behaviour = { .name = "growth", .handle = handle };

static struct weir_runtime *begin(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_runtime *runtime = NULL;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_create(&options, &runtime), 0);
    return runtime;
}

/* An actor; with a `target`, which its output leads to, or 0. */
static weir_pid add(struct weir_runtime *runtime, weir_pid target)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;
    struct weir_binding binding = { .target = target };
    weir_pid pid = 0;

    options.behaviour = &behaviour;
    options.outputs = &binding;
    options.output_count = 1;
    CU_ASSERT_EQUAL(weir_runtime_add_actor(runtime, &options, &pid), 0);
    return pid;
}

static uint64_t cost_of_shutdown(struct weir_runtime *runtime)
{
    uint64_t before = work_done(), cost;

    CU_ASSERT_EQUAL(weir_runtime_shutdown(runtime, wait_limit_ms()), 0);
    cost = work_done() - before;
    weir_runtime_destroy(runtime);
    return cost;
}

static uint64_t actors_that_shut_down(uint32_t count)
{
    struct weir_runtime *runtime = begin();

    for (uint32_t i = 0; i < count; i++)
        (void)add(runtime, 0);
    return cost_of_shutdown(runtime);
}

static void test_shutdown_costs_each_actor_the_same(void)
{
    expect_even_growth(actors_that_shut_down);
}

static struct weir_runtime *begin_chain(uint32_t count)
{
    struct weir_runtime *runtime = begin();
    weir_pid target = 0;

    for (uint32_t i = 0; i < count; i++)
        target = add(runtime, target);
    return runtime;
}

static uint64_t chain_that_shuts_down(uint32_t count)
{
    return cost_of_shutdown(begin_chain(count));
}

static void test_shutdown_of_a_chain_costs_each_actor_the_same(void)
{
    expect_even_growth(chain_that_shuts_down);
}

static uint64_t bytes_of_shutdown(struct weir_runtime *runtime)
{
    uint64_t before = bytes_allocated(), bytes;

    CU_ASSERT_EQUAL(weir_runtime_shutdown(runtime, wait_limit_ms()), 0);
    bytes = bytes_allocated() - before;
    weir_runtime_destroy(runtime);
    return bytes;
}

static uint64_t bytes_of_actors_that_shut_down(uint32_t count)
{
    struct weir_runtime *runtime = begin();

    for (uint32_t i = 0; i < count; i++)
        (void)add(runtime, 0);
    return bytes_of_shutdown(runtime);
}

static void test_shutdown_asks_for_the_same_memory_for_each_actor(void)
{
    expect_even_growth(bytes_of_actors_that_shut_down);
}

static uint64_t bytes_of_chain_that_shuts_down(uint32_t count)
{
    return bytes_of_shutdown(begin_chain(count));
}

static void test_shutdown_of_a_chain_asks_for_the_same_memory_for_each_actor(void)
{
    expect_even_growth(bytes_of_chain_that_shuts_down);
}

static uint64_t actors_that_are_closed(uint32_t count)
{
    struct weir_runtime *runtime = begin();
    uint64_t before, cost;
    weir_pid *pids = calloc(count, sizeof *pids);

    for (uint32_t i = 0; i < count; i++)
        pids[i] = add(runtime, 0);
    before = work_done();
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(weir_runtime_close_wait(runtime, pids[i], wait_limit_ms()), 0);
    cost = work_done() - before;
    weir_runtime_destroy(runtime);
    free(pids);
    return cost;
}

static void test_close_of_one_costs_the_same_however_many_there_are(void)
{
    expect_even_growth(actors_that_are_closed);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "shutdown", test_shutdown_costs_each_actor_the_same },
        { "chain", test_shutdown_of_a_chain_costs_each_actor_the_same },
        { "bytes", test_shutdown_asks_for_the_same_memory_for_each_actor },
        { "bytes of a chain", test_shutdown_of_a_chain_asks_for_the_same_memory_for_each_actor },
        { "close", test_close_of_one_costs_the_same_however_many_there_are },
        CU_TEST_INFO_NULL,
    };

    return suite_run("growth of libweir", tests);
}
