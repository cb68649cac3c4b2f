/* SPDX-License-Identifier: MIT */
/*
 * Goal: a take that is refused costs the same however many takers wait; so do a take and the return
 * of its worker, however many workers the pool has. Shows promise A20.
 *
 * Method: 1,000 and 4,000 takers, or workers; takes come from the thread of the test, which takes
 * all turns as well, and the work is counted.
 */
#include <stdlib.h>

#include "face/leases.h"
#include "face/messages.h"
#include "unit/growth/growth.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TURNS_MAX 1000000u
#define TIMEOUT_MS 1000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint32_t workers;
    uint32_t count;       /* of takes that are accepted */
    uint64_t *references; /* of these */
};

static bool are_open(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->probe->opened) == f->workers;
}

static bool are_taken(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->probe->taken) == f->count;
}

static bool are_returned(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->probe->returned) == f->count;
}

static bool is_over(void *context)
{
    return pool_has_ended(((struct fixture *)context)->pool);
}

static void step(struct fixture *f, bool (*done)(void *context))
{
    CU_ASSERT_TRUE(rig_step(&f->rig, done, f, TURNS_MAX));
}

/* No worker takes a turn before the first step. */
static void begin(struct fixture *f, uint32_t workers, uint32_t count)
{
    struct pool_options options = {
        .path = "leased",
        .size = workers,
        .settings = { .route = WEIR_ROUTE_PULL, .lease = { .on = true, .queue = count } },
    };

    *f = (struct fixture){ .workers = workers, .count = count };
    f->references = calloc(count, sizeof *f->references);
    f->probe = probe_create();
    rig_init_still(&f->rig, 1, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
}

static void finish(struct fixture *f)
{
    rig_close(&f->rig, f->pool);
    step(f, is_over);
    for (uint32_t i = 0; i < f->count; i++)
        (void)runtime_cancel(f->rig.runtime, f->references[i]);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    free(f->references);
}

static int take(struct fixture *f, uint64_t *out_reference)
{
    return runtime_take(f->rig.runtime, NULL, f->pool->pid, TIMEOUT_MS, out_reference);
}

static void take_all(struct fixture *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        CU_ASSERT_EQUAL(take(f, &f->references[i]), 0);
}

static uint64_t takes_that_are_refused(uint32_t count)
{
    uint64_t before, cost, reference;
    struct fixture f;

    begin(&f, 1, count);
    take_all(&f);
    while (take(&f, &reference) == 0) /* a worker that is not in use yet has room for one more */
        ;
    before = work_done();
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(take(&f, &reference), WEIR_EFULL);
    cost = work_done() - before;
    finish(&f);
    return cost;
}

static void test_refused_take_costs_the_same_however_many_takers_wait(void)
{
    expect_even_growth(takes_that_are_refused);
}

static void return_all(struct fixture *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        struct weir_answer answer = WEIR_ANSWER;

        CU_ASSERT_EQUAL_FATAL(runtime_await(f->rig.runtime, f->references[i], &answer), 0);
        CU_ASSERT_EQUAL(runtime_lease_return(f->rig.runtime, LEASE_OF_PROGRAM,
                                             weir_answer_lease(&answer), WEIR_DONE),
                        0);
        runtime_message_free(f->rig.runtime, answer.message);
    }
}

static uint64_t workers_that_are_taken(uint32_t count)
{
    uint64_t before, cost;
    struct fixture f;

    begin(&f, count, count);
    step(&f, are_open);
    before = work_done();
    take_all(&f);
    step(&f, are_taken);
    return_all(&f);
    step(&f, are_returned);
    cost = work_done() - before;
    finish(&f);
    return cost;
}

static void test_take_costs_the_same_however_many_workers_are_taken(void)
{
    expect_even_growth(workers_that_are_taken);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "refused", test_refused_take_costs_the_same_however_many_takers_wait },
        { "taken", test_take_costs_the_same_however_many_workers_are_taken },
        CU_TEST_INFO_NULL,
    };

    return suite_run("growth of leases", tests);
}
