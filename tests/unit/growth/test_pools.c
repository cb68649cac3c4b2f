/* SPDX-License-Identifier: MIT */
/*
 * Goal: the cost of a pool's end for each worker or nested pool does not depend on their number;
 * nor does the cost of members that leave while the pool stays. Shows promise A20.
 *
 * Method: 1,000 and 4,000 members; turns are taken on the thread of the test, and the work is
 * counted.
 */
#include <stdlib.h>

#include "unit/growth/growth.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TURNS_MAX 1000000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *top;
    struct pool **nested;
    uint32_t count, opened;
};

static bool is_open(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->probe->opened) == f->opened;
}

static bool is_over(void *context)
{
    return pool_has_ended(((struct fixture *)context)->top);
}

static bool have_closed(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->probe->closed) == f->count;
}

static void begin(struct fixture *f)
{
    f->probe = probe_create();
    rig_init_still(&f->rig, 1, 0);
    f->spec = rig_spec(f->probe);
}

static void step(struct fixture *f, bool (*done)(void *context))
{
    CU_ASSERT_TRUE(rig_step(&f->rig, done, f, TURNS_MAX));
}

static void finish(struct fixture *f)
{
    for (uint32_t i = 0; f->nested && i < f->count; i++)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->nested[i], NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->top, NULL));
    spec_unref(f->spec);
    free(f->nested);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static uint64_t cost_of_end(struct fixture *f)
{
    uint64_t before = work_done();

    rig_close(&f->rig, f->top);
    step(f, is_over);
    return work_done() - before;
}

static void make_workers(struct fixture *f, uint32_t count)
{
    struct pool_options options = { .path = "top", .spec = f->spec, .size = count };

    f->count = f->opened = count;
    f->top = rig_pool(&f->rig, &options);
    step(f, is_open);
}

static uint64_t workers_of_a_pool_that_ends(uint32_t count)
{
    struct fixture f = { .nested = NULL };
    uint64_t cost;

    begin(&f);
    make_workers(&f, count);
    cost = cost_of_end(&f);
    finish(&f);
    return cost;
}

static void test_end_costs_each_worker_the_same(void)
{
    expect_even_growth(workers_of_a_pool_that_ends);
}

static uint64_t workers_that_leave(uint32_t count)
{
    struct fixture f = { .nested = NULL };
    uint64_t before, cost;

    begin(&f);
    make_workers(&f, count);
    before = work_done();
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.top, 0, NULL), 0);
    step(&f, have_closed);
    cost = work_done() - before;
    (void)cost_of_end(&f);
    finish(&f);
    return cost;
}

static void test_leaving_costs_each_worker_the_same(void)
{
    expect_even_growth(workers_that_leave);
}

static uint64_t nested_pools_that_end(uint32_t count)
{
    struct pool_options options = { .size = 1 };
    struct fixture f = { .count = count };
    uint64_t cost;
    char path[32];

    begin(&f);
    f.nested = calloc(count, sizeof *f.nested);
    f.top = rig_pool(&f.rig, &(struct pool_options){ .path = "top" });
    options.parent = f.top;
    options.spec = f.spec;
    options.path = path;
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "top/%u", i);
        f.nested[i] = rig_pool(&f.rig, &options);
    }
    f.opened = count;
    step(&f, is_open);
    cost = cost_of_end(&f);
    finish(&f);
    return cost;
}

static void test_end_costs_each_nested_pool_the_same(void)
{
    expect_even_growth(nested_pools_that_end);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "workers", test_end_costs_each_worker_the_same },
        { "leave", test_leaving_costs_each_worker_the_same },
        { "nested", test_end_costs_each_nested_pool_the_same },
        CU_TEST_INFO_NULL,
    };

    return suite_run("growth of pools", tests);
}
