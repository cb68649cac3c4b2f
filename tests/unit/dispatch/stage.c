/* SPDX-License-Identifier: MIT */
#include "unit/dispatch/stage.h"

#include <CUnit/CUnit.h>

#include "dispatch/press.h"

#define START_NS 1000000000u

static uint64_t now_ns(void *context)
{
    struct stage *stage = context;

    return atomic_fetch_add(&stage->now_ns, stage->read_ns);
}

void stage_advance(struct stage *stage, uint64_t ns)
{
    atomic_fetch_add(&stage->now_ns, ns);
}

static enum turn run(struct schedulable *schedulable, struct executor *executor)
{
    struct job *job = (struct job *)(void *)schedulable;

    atomic_store(&job->ran_on, executor->index);
    atomic_fetch_add(&job->runs, 1);
    return job->act(job, executor);
}

static enum turn finish_turn(struct job *job, struct executor *executor)
{
    (void)job;
    (void)executor;
    return TURN_IDLE;
}

void stage_begin(struct stage *stage)
{
    struct dispatcher_options options = {
        .name = "stage", .threads = 2, .reclaim = &stage->reclaim, .clock = { now_ns, stage }
    };

    *stage = (struct stage){ .now_ns = START_NS };
    reclaim_init(&stage->reclaim);
    gate_init(&stage->gate);
    CU_ASSERT_EQUAL_FATAL(dispatcher_create(&options, &stage->dispatcher), 0);
    CU_ASSERT_EQUAL(executor_init(&stage->outside, NULL, NULL, &stage->reclaim, options.clock), 0);
    for (uint32_t i = 0; i < STAGE_JOBS; i++)
        stage->jobs[i] = (struct job){ .schedulable = { .run = run },
                                       .stage = stage,
                                       .act = finish_turn };
    press_begin(dispatcher_executor(stage->dispatcher, 0));
    press_begin(dispatcher_executor(stage->dispatcher, 1));
}

void stage_relieve(struct stage *stage)
{
    atomic_fetch_add(&stage->dispatcher->beat, PRESS_BEATS + EXEMPT_BEATS);
}

void stage_finish(struct stage *stage)
{
    dispatcher_signal_stop(stage->dispatcher);
    CU_ASSERT_EQUAL(dispatcher_join(stage->dispatcher), 0);
    dispatcher_destroy(stage->dispatcher);
    executor_finish(&stage->outside);
    gate_finish(&stage->gate);
    reclaim_finish(&stage->reclaim);
}

void stage_submit(struct stage *stage, uint32_t index)
{
    executor_submit(&stage->outside, stage->dispatcher, &stage->jobs[index].schedulable);
}

bool stage_step(struct stage *stage, uint32_t thread)
{
    return executor_step(dispatcher_executor(stage->dispatcher, thread));
}

enum turn stage_scatter(struct job *job, struct executor *executor)
{
    struct stage *stage = job->stage;

    for (uint32_t i = stage->first; i <= stage->last; i++)
        executor_submit(executor, stage->dispatcher, &stage->jobs[i].schedulable);
    return TURN_IDLE;
}

void stage_queue(struct stage *stage, uint32_t first, uint32_t count)
{
    stage->first = first;
    stage->last = first + count;
    stage->jobs[0].act = stage_scatter;
    stage_submit(stage, 0);
    CU_ASSERT_TRUE(stage_step(stage, 0));
}
