/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool without memory returns the status and is unchanged, after any failed allocation;
 * later it grows. (Elsewhere a growth that fails midway leaves some workers, and reports none.) A
 * nested pool still ends. A sender without memory for waiting does not stop others. A group that
 * cannot be made is refused, and one counts a task that cannot be submitted as never given.
 *
 * Method: shortage.h; the nth allocation of this thread
 * fails, for n = 1 and so on until none has to, or all from there on; or all of other threads.
 */
#include <stdlib.h>

#include "actor/spawn.h"
#include "face/groups.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/shortage.h"
#include "unit/support/wait_limit.h"

#define SIZE 3u
#define MORE 5u
#define ALLOCATIONS_MAX 1000u
#define TASKS_MAX 1000000u /* more than fit into the memory that a thread keeps */

static int add(struct rig *rig, struct pool *pool, uint32_t nth, struct weir_resized *out)
{
    struct executor *executor = runtime_enter(rig->runtime);
    int status;

    shortage_begin(nth, true); /* a label that has no memory is missing, without an error */
    status = pool_add(pool, executor, MORE, out);
    (void)shortage_end();
    runtime_leave(executor);
    return status;
}

/* promise P7 */
static void test_growth_that_fails_midway_changes_nothing(void)
{
    struct weir_resized resized = { 0 };
    struct probe *probe = probe_create();
    struct pool *pool;
    struct rig rig;
    uint32_t nth = 1;

    rig_init(&rig, 2, 0);
    pool = rig_workers(&rig, probe, "pool", SIZE, 4);
    while (nth < ALLOCATIONS_MAX && add(&rig, pool, nth, &resized) != 0) {
        struct weir_pool_stats stats = rig_stats(pool);

        CU_ASSERT_EQUAL(stats.target, SIZE);
        CU_ASSERT_EQUAL(stats.live, SIZE);
        CU_ASSERT_EQUAL(stats.starting + stats.retiring, 0);
        CU_ASSERT_EQUAL(stats.epoch, 0);
        CU_ASSERT_EQUAL(resized.changed, 0);
        nth++;
    }
    CU_ASSERT_TRUE(nth > MORE && nth < ALLOCATIONS_MAX); /* each worker takes at least one */
    CU_ASSERT_EQUAL(resized.changed, MORE);
    CU_ASSERT_EQUAL(resized.size, SIZE + MORE);
    CU_ASSERT_TRUE(rig_settled(&rig, pool));
    CU_ASSERT_EQUAL(atomic_load(&probe->opened), SIZE + MORE);
    for (uint64_t id = 1; id <= SIZE + MORE; id++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), SIZE + MORE);
    rig_finish(&rig);
    probe_destroy(probe);
}

static int make_nested(struct rig *rig, const struct pool_options *options, uint32_t nth,
                       struct pool **out)
{
    struct executor *executor = runtime_enter(rig->runtime);
    int status;

    shortage_begin(nth, true);
    status = pool_create(rig->runtime, executor, options, out);
    (void)shortage_end();
    runtime_leave(executor);
    return status;
}

/* promise P7: also when there is no memory to show its parent's senders that it is not there. */
static void test_nested_pool_that_cannot_be_made_is_never_sent_to(void)
{
    struct pool_options options = { .path = "top/new", .size = 1, .settings.mailbox = 4 };
    struct probe *probe = probe_create();
    struct pool *top, *present, *made = NULL;
    struct rig rig;
    uint32_t nth = 1;

    rig_init(&rig, 2, 0);
    top = rig_pool(&rig, &(struct pool_options){ .path = "top" });
    options.dispatcher = rig.dispatcher;
    options.spec = rig_spec(probe);
    options.parent = top;
    present = rig_pool(&rig,
                       &(struct pool_options){
                           .path = "top/present", .parent = top, .spec = options.spec, .size = 1 });
    CU_ASSERT_TRUE(rig_settled(&rig, present));
    while (nth < ALLOCATIONS_MAX && make_nested(&rig, &options, nth++, &made) != 0)
        for (uint64_t id = 1; id <= 4; id++) /* wherever the round begins */
            CU_ASSERT_EQUAL(rig_send(&rig, top->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(nth > 2 && nth < ALLOCATIONS_MAX);
    CU_ASSERT_PTR_NOT_NULL_FATAL(made);
    CU_ASSERT_EQUAL(rig_stats(top).target, 2);
    CU_ASSERT_TRUE(rig_settled(&rig, top));
    rig_close(&rig, top);
    CU_ASSERT_TRUE(rig_end(&rig, made, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, present, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, top, NULL));
    spec_unref(options.spec);
    rig_finish(&rig);
    probe_destroy(probe);
}

static int never_open(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_ENOMEM;
}

/* promise D3 */
static void test_actor_without_memory_to_wait_with_leaves_others_their_turns(void)
{
    struct probe *stuck = probe_create(), *probe = probe_create();
    struct actor_options options;
    struct executor *executor;
    struct actor *actor;
    struct pool *pool;
    struct rig rig;

    rig_init(&rig, 1, 0);
    pool = rig_workers(&rig, probe, "pool", 1, 4);
    stuck->opens = never_open;
    options = (struct actor_options){ .dispatcher = rig.dispatcher, .spec = rig_spec(stuck) };
    shortage_spare();
    shortage_of_others(true);
    executor = runtime_enter(rig.runtime);
    CU_ASSERT_EQUAL_FATAL(actor_spawn(rig.runtime, executor, &options, &actor), 0);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 1, 1));
    shortage_of_others(false);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    spec_unref(options.spec);
    rig_finish(&rig);
    probe_destroy(stuck);
    probe_destroy(probe);
}

/* Emits, and from then on no thread but the test's has memory. The first emit that must wait needs
 * memory for the outbox: without it the message stays the worker's. */
static int emit_and_lose_memory(struct weir_self *self, struct probe *probe,
                                const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .id = 77 });

    (void)probe;
    (void)message;
    shortage_of_others(true);
    CU_ASSERT_EQUAL(weir_emit(self, 0, out), WEIR_ENOMEM);
    shortage_of_others(false);
    CU_ASSERT_EQUAL(weir_emit(self, 0, out), 0);
    shortage_of_others(true);
    return WEIR_DONE;
}

static bool holds_one(void *context)
{
    return rig_ledger(context).held == 1;
}

/* promise O1: the wait queue for one worker is made with the first one. */
static void test_worker_without_memory_to_stand_in_line_looks_again(void)
{
    struct probe *probe = probe_create(), *held = probe_create();
    struct pool_options options = { .path = "feeder", .size = 1, .output_count = 1 };
    struct binding binding = { .when_full = WEIR_FULL_WAIT };
    struct pool *feeder, *target;
    struct rig rig;

    rig_init(&rig, 2, 0);
    shortage_spare();
    target = rig_workers(&rig, held, "target", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&rig, target->pid, (struct order){ .act = probe_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&held->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&rig, target->pid, (struct order){ .id = 2 }), 0);
    binding.target = rig_worker(target, 0);
    options.spec = rig_spec(probe);
    options.outputs = &binding;
    feeder = rig_pool(&rig, &options);
    CU_ASSERT_TRUE(rig_settled(&rig, feeder));
    CU_ASSERT_EQUAL(
        rig_send(&rig, feeder->pid, (struct order){ .act = emit_and_lose_memory, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_wait(&rig, holds_one, feeder));
    shortage_of_others(false);
    gate_open(&held->gate);
    CU_ASSERT_TRUE(rig_noted(&rig, held, 77, 1));
    CU_ASSERT_TRUE(rig_end(&rig, feeder, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, target, NULL));
    spec_unref(options.spec);
    rig_finish(&rig);
    probe_destroy(probe);
    probe_destroy(held);
}

static bool has_ended(void *context)
{
    return pool_has_ended(context);
}

/* promise P7: without memory to show its parent's senders that it is not there any more. */
static void test_nested_pool_ends_also_when_memory_is_out(void)
{
    struct probe *probe = probe_create();
    struct pool_options options = { .size = 1, .settings.mailbox = 8, .path = "top/leaver" };
    struct pool *top, *leaver, *other;
    struct rig rig;

    rig_init(&rig, 2, 0);
    top = rig_pool(&rig, &(struct pool_options){ .path = "top" });
    options.spec = rig_spec(probe);
    options.parent = top;
    leaver = rig_pool(&rig, &options);
    options.path = "top/other";
    other = rig_pool(&rig, &options);
    CU_ASSERT_TRUE(rig_settled(&rig, top));
    shortage_spare();
    shortage_of_others(true);
    rig_close(&rig, leaver);
    CU_ASSERT_TRUE(rig_wait(&rig, has_ended, leaver));
    shortage_of_others(false);
    for (uint64_t id = 1; id <= 4; id++) /* wherever the round begins */
        CU_ASSERT_EQUAL(rig_send(&rig, top->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_drained(&rig, other));
    CU_ASSERT_EQUAL(rig_ledger(other).done, 4);
    CU_ASSERT_EQUAL(rig_stats(top).target, 1);
    CU_ASSERT_TRUE(rig_end(&rig, leaver, NULL)); /* it is freed with its parent */
    rig_close(&rig, top);
    CU_ASSERT_TRUE(rig_end(&rig, other, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, top, NULL));
    spec_unref(options.spec);
    rig_finish(&rig);
    probe_destroy(probe);
}

/* --- groups ----------------------------------------------------------------------------------- */

static int wait_at_gate(struct weir_task *task, void *argument)
{
    (void)task;
    return gate_pass(argument) ? 0 : 1;
}

/* promise E13 */
static void test_group_without_memory_is_refused(void)
{
    struct group *group = NULL;
    struct rig rig;

    rig_init(&rig, 1, 0);
    shortage_begin(1, false);
    CU_ASSERT_EQUAL(group_create(rig.runtime, 0, &group), WEIR_ENOMEM);
    CU_ASSERT_PTR_NULL(group);
    CU_ASSERT_EQUAL_FATAL(group_create(rig.runtime, 0, &group), 0);
    CU_ASSERT_EQUAL(group_wait(group, 0, NULL), 0);
    group_destroy(group);
    rig_finish(&rig);
}

/* promise E13 */
static void test_task_without_memory_is_not_of_its_group(void)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct submission submission = { .count = 1 };
    struct weir_task_call call = { wait_at_gate, NULL };
    struct probe *probe = probe_create();
    uint32_t accepted = 0, taken = 1;
    struct group *group;
    struct pool *pool;
    struct rig rig;
    int status = 0;

    probe->behaviour.handle = weir_task_handle;
    rig_init(&rig, 1, 0);
    pool = rig_workers(&rig, probe, "tasks", 1, UINT32_MAX);
    call.argument = &probe->gate;
    CU_ASSERT_EQUAL_FATAL(group_create(rig.runtime, 0, &group), 0);
    submission.to = pool->pid;
    submission.calls = &call;
    submission.group = group;
    shortage_begin(1, true);
    while (accepted < TASKS_MAX && status == 0) {
        status = runtime_submit(rig.runtime, &submission, 0, &taken);
        accepted += taken;
    }
    (void)shortage_end();
    CU_ASSERT_EQUAL(status, WEIR_ENOMEM);
    CU_ASSERT_EQUAL(taken, 0);
    gate_open(&probe->gate);
    CU_ASSERT_EQUAL(runtime_submit(rig.runtime, &submission, 0, &taken), 0);
    CU_ASSERT_EQUAL(group_wait(group, wait_limit_ms(), &ended), 0);
    CU_ASSERT_EQUAL(ended.done, accepted + 1);
    CU_ASSERT_EQUAL(ended.failed + ended.cancelled + ended.open, 0);
    group_destroy(group);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "nested", test_nested_pool_that_cannot_be_made_is_never_sent_to },
        { "no memory to wait", test_actor_without_memory_to_wait_with_leaves_others_their_turns },
        { "no memory to stand in line", test_worker_without_memory_to_stand_in_line_looks_again },
        { "midway", test_growth_that_fails_midway_changes_nothing },
        { "nested, at the end", test_nested_pool_ends_also_when_memory_is_out },
        { "group", test_group_without_memory_is_refused },
        { "task of a group", test_task_without_memory_is_not_of_its_group },
        CU_TEST_INFO_NULL,
    };

    return suite_run("shortage", tests);
}
