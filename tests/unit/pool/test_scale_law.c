/* SPDX-License-Identifier: MIT */
/*
 * Goal: the law of an elastic pool follows its page (core/pool/scale_law.h): it grows by what
 * waits, shrinks by the unused workers, stays inside its bounds, and does not oscillate.
 *
 * Method: single figures; then a simulation with a fake clock under a step, a ramp, bursts and a
 * flash crowd. The picture of the guide is that of the simulation: `test_pool_scale_law --picture`
 * writes it.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/host/suite.h"
#include "unit/pool/scale_picture.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define PICTURE "docs/guide/scaling.svg"

static const struct scale_law usual = {
    .wait_ns = 50 * MS, .idle_ns = 30 * S, .open_ns = 10 * S, .min = 2, .max = 16
};
static const struct scale_law on_demand = {
    .wait_ns = 0, .idle_ns = 30 * S, .open_ns = 10 * S, .min = 0, .max = 4
};

/* A pool whose workers are all busy while messages wait. */
static struct scale_figures loaded(uint32_t target, uint64_t oldest_ns)
{
    return (struct scale_figures){ .grown_ns = UINT64_MAX,
                                   .shrunk_ns = UINT64_MAX,
                                   .waiting = 10,
                                   .oldest_ns = oldest_ns,
                                   .target = target,
                                   .busy = target,
                                   .is_up = true };
}

/* A pool in which nothing happens. */
static struct scale_figures calm(uint32_t target, uint64_t unused_ns)
{
    return (struct scale_figures){ .grown_ns = UINT64_MAX,
                                   .shrunk_ns = UINT64_MAX,
                                   .unused_ns = unused_ns,
                                   .target = target,
                                   .idle = target,
                                   .is_up = true };
}

static void expect(const struct scale_law *law, struct scale_figures figures, uint32_t target,
                   enum scale_cause cause)
{
    struct scale_verdict verdict = scale_decide(law, &figures);

    CU_ASSERT_EQUAL(verdict.target, target);
    CU_ASSERT_EQUAL(verdict.cause, cause);
}

/* --- growing -------------------------------------------------------------------------------- */

/* promise G1 */
static void test_messages_that_waited_grow_it_by_half(void)
{
    expect(&usual, loaded(2, 50 * MS - 1), 2, SCALE_STAYS);
    expect(&usual, loaded(2, 50 * MS), 3, SCALE_WAITED);
    expect(&usual, loaded(3, 50 * MS), 4, SCALE_WAITED);
    expect(&usual, loaded(8, 70 * MS), 12, SCALE_WAITED);
    expect(&usual, loaded(12, 70 * MS), 16, SCALE_WAITED);
    expect(&usual, loaded(16, 70 * MS), 16, SCALE_FULL);
}

/* promise G1 */
static void test_it_grows_once_in_each_wait(void)
{
    struct scale_figures figures = loaded(4, S);

    figures.grown_ns = 50 * MS - 1;
    expect(&usual, figures, 4, SCALE_STAYS);
    figures.grown_ns = 50 * MS;
    expect(&usual, figures, 6, SCALE_WAITED);
}

/* promise G1: messages that wait for one worker, such as the owner of a key. */
static void test_an_idle_worker_holds_growth_back(void)
{
    struct scale_figures figures = loaded(4, S);

    figures.busy = 3;
    figures.idle = 1;
    expect(&usual, figures, 4, SCALE_STAYS);
}

/* promise G1: workers that wait for a thread, as those that compute do. promise G3: on demand each
 * of them is to take a message. */
static void test_a_worker_between_two_messages_is_not_idle(void)
{
    struct scale_figures figures = loaded(4, S);

    figures.busy = 1;
    figures.ready = 3;
    expect(&usual, figures, 6, SCALE_WAITED);
    figures.target = 2;
    figures.busy = 0;
    figures.ready = 2;
    figures.waiting = 2;
    expect(&on_demand, figures, 2, SCALE_STAYS);
    figures.waiting = 3;
    expect(&on_demand, figures, 3, SCALE_DEMAND);
}

/* promise G2 */
static void test_workers_that_open_are_capacity(void)
{
    struct scale_figures figures = loaded(6, S);

    figures.busy = 4;
    figures.pending = figures.opening = figures.fresh = 2;
    figures.grown_ns = 60 * MS;
    expect(&usual, figures, 6, SCALE_STAYS);
    figures.busy = 5;
    figures.pending = figures.opening = figures.fresh = 1;
    expect(&usual, figures, 7, SCALE_WAITED);
}

/* promise G2 */
static void test_what_hangs_or_is_broken_does_not_hold_up_growth_beside_it(void)
{
    struct scale_figures figures = loaded(2, S);

    figures.busy = 1;
    figures.pending = figures.fresh = 1;
    expect(&usual, figures, 3, SCALE_WAITED);
    figures.waiting = 1;
    expect(&on_demand, figures, 3, SCALE_DEMAND);
    figures.busy = 0; /* none is open, and one closes */
    expect(&usual, figures, 3, SCALE_WAITED);
    expect(&on_demand, figures, 3, SCALE_DEMAND);
}

/* promise G2 */
static void test_while_none_is_open_one_more_starts_in_each_open_timeout(void)
{
    static const struct scale_law *const laws[] = { &usual, &on_demand };
    struct scale_figures down = loaded(3, 3600 * S);

    down.busy = 0;
    down.is_up = false;
    down.pending = 3;
    down.waiting = 3;
    for (uint32_t i = 0; i < 2; i++) {
        enum scale_cause cause = i == 0 ? SCALE_WAITED : SCALE_DEMAND;

        down.fresh = down.opening = 1;
        expect(laws[i], down, 3, SCALE_STAYS);
        down.opening = 0;
        expect(laws[i], down, 3, SCALE_STAYS);
        down.fresh = 0;
        expect(laws[i], down, 4, cause);
    }
    down.waiting = 0;
    expect(&on_demand, down, 3, SCALE_STAYS);
}

/* promise G2: ten waits, half a second at least, and `open_timeout` at most. */
static void test_an_open_counts_for_a_bounded_time(void)
{
    struct scale_law law = usual;

    CU_ASSERT_EQUAL(scale_open_limit_ns(&law), 500 * MS);
    CU_ASSERT_EQUAL(scale_open_limit_ns(&on_demand), 500 * MS);
    law.wait_ns = 200 * MS;
    CU_ASSERT_EQUAL(scale_open_limit_ns(&law), 2 * S);
    law.wait_ns = UINT64_MAX;
    CU_ASSERT_EQUAL(scale_open_limit_ns(&law), 10 * S);
    law.open_ns = 20 * MS;
    CU_ASSERT_EQUAL(scale_open_limit_ns(&law), 20 * MS);
}

/* --- on demand ------------------------------------------------------------------------------ */

/* promise G3 */
static void test_on_demand_each_message_without_a_worker_starts_one(void)
{
    struct scale_figures figures = { .waiting = 1,
                                     .grown_ns = UINT64_MAX,
                                     .shrunk_ns = UINT64_MAX };

    expect(&on_demand, figures, 1, SCALE_DEMAND);
    figures.waiting = 2; /* also when it has no worker */
    expect(&on_demand, figures, 2, SCALE_DEMAND);
    figures.waiting = 1;
    figures.target = 1;
    figures.pending = figures.opening = figures.fresh = 1;
    expect(&on_demand, figures, 1, SCALE_STAYS);
    figures.waiting = 3;
    expect(&on_demand, figures, 3, SCALE_DEMAND);
    figures.target = 3;
    figures.pending = figures.opening = figures.fresh = 0;
    figures.is_up = true;
    figures.busy = 2;
    figures.idle = 1;
    figures.waiting = 1; /* the idle one has yet to take it */
    expect(&on_demand, figures, 3, SCALE_STAYS);
    figures.waiting = 9;
    expect(&on_demand, figures, 4, SCALE_DEMAND);
}

/* promise G3 */
static void test_an_empty_pool_starts_one_for_the_first_message(void)
{
    struct scale_law law = usual;
    struct scale_figures figures = { .grown_ns = 0, .shrunk_ns = 0 };

    law.min = 0;
    expect(&law, figures, 0, SCALE_STAYS);
    figures.waiting = 1; /* whatever its age, and however short ago the last one left */
    expect(&law, figures, 1, SCALE_DEMAND);
}

/* --- shrinking ------------------------------------------------------------------------------ */

/* promise G4 */
static void test_an_unused_worker_leaves_after_its_time(void)
{
    expect(&usual, calm(6, 30 * S - 1), 6, SCALE_STAYS);
    expect(&usual, calm(6, 30 * S), 5, SCALE_UNUSED);
    expect(&usual, calm(2, 3600 * S), 2, SCALE_STAYS);
    expect(&usual, calm(6, 0), 6, SCALE_STAYS);
}

/* promise G4 */
static void test_they_leave_one_at_a_time_and_not_soon_after_a_growth(void)
{
    struct scale_figures figures = calm(6, 60 * S);

    figures.shrunk_ns = 30 * S / SCALE_SHARE - 1;
    expect(&usual, figures, 6, SCALE_STAYS);
    figures.shrunk_ns = 30 * S / SCALE_SHARE;
    expect(&usual, figures, 5, SCALE_UNUSED);
    figures.grown_ns = 30 * S - 1;
    expect(&usual, figures, 6, SCALE_STAYS);
}

/* promise G4: the law would let it grow again at once. */
static void test_it_does_not_shrink_to_what_would_grow(void)
{
    struct scale_figures figures = calm(4, 60 * S);

    figures.busy = 3;
    figures.idle = 1;
    figures.waiting = 1;
    figures.oldest_ns = S;
    expect(&usual, figures, 4, SCALE_STAYS);
    figures.waiting = 0;
    expect(&usual, figures, 3, SCALE_UNUSED);
}

/* promise G1 */
static void test_bounds_come_first(void)
{
    expect(&usual, calm(1, 0), 2, SCALE_BOUNDS);
    expect(&usual, loaded(20, S), 16, SCALE_BOUNDS);
}

/* --- the simulation ------------------------------------------------------------------------- */

static struct scale_world *run(const struct scale_load *load)
{
    struct scale_world *world = calloc(1, sizeof *world);

    if (!world)
        abort();
    scale_picture_world(world);
    scale_world_run(world, load);
    return world;
}

/* Ten workers are busy then: the target has to reach them soon, and goes no further than double. */
static void test_under_a_step_it_follows_within_a_second_and_returns_once(void)
{
    struct scale_world *world = run(&scale_loads[0]);

    CU_ASSERT_TRUE(world->reached_ms[10] > 20000 && world->reached_ms[10] < 21500);
    CU_ASSERT_TRUE(world->largest <= 16);
    CU_ASSERT_TRUE(world->longest_ms < 1500);
    CU_ASSERT_EQUAL(world->reversals, 0);
    CU_ASSERT_EQUAL(world->targets[SCALE_WORLD_SECONDS - 1], 2);
    free(world);
}

static void test_under_a_ramp_it_rises_once_and_falls_once(void)
{
    struct scale_world *world = run(&scale_loads[1]);

    CU_ASSERT_TRUE(world->largest >= 11 && world->largest <= 16);
    CU_ASSERT_TRUE(world->longest_ms < 300);
    CU_ASSERT_EQUAL(world->reversals, 0);
    CU_ASSERT_TRUE(world->targets[219] < world->largest);
    free(world);
}

static void test_under_bursts_it_stays_as_large_as_they_need(void)
{
    struct scale_world *world = run(&scale_loads[2]);

    CU_ASSERT_EQUAL(world->reversals, 0);
    for (uint32_t second = 60; second < 200; second++)
        CU_ASSERT_EQUAL(world->targets[second], world->targets[60]);
    CU_ASSERT_TRUE(world->targets[SCALE_WORLD_SECONDS - 1] < world->largest);
    free(world);
}

static void test_a_flash_crowd_takes_it_to_its_maximum_and_back(void)
{
    struct scale_world *world = run(&scale_loads[3]);

    CU_ASSERT_TRUE(world->reached_ms[16] > 20000 && world->reached_ms[16] < 22000);
    CU_ASSERT_EQUAL(world->largest, 16);
    CU_ASSERT_EQUAL(world->reversals, 0);
    CU_ASSERT_EQUAL(world->targets[SCALE_WORLD_SECONDS - 1], 2);
    free(world);
}

/* promise G2: with a backend that is down it grows by one in each `open_timeout`; when that is
 * back, it goes on. */
static void test_a_backend_that_comes_back_is_used_at_once(void)
{
    struct scale_world *world = calloc(1, sizeof *world);

    if (!world)
        abort();
    scale_picture_world(world);
    world->open_ms = UINT32_MAX;
    world->up_ms = 60000;
    scale_world_run(world, &scale_loads[0]);
    CU_ASSERT_EQUAL(world->targets[59], 2 + 5);
    CU_ASSERT_TRUE(world->reached_ms[16] > 60000 && world->reached_ms[16] < 62000);
    free(world);
}

/* promise G5: many pools, messages and loads; a pool that grows again after it shrank does so for a
 * load that came back, never more often than once in each `idle`. */
static void test_no_pool_grows_and_shrinks_in_turns(void)
{
    for (uint32_t service = 5; service <= 400; service *= 3)
        for (uint32_t open = 0; open <= 2000; open += 500)
            for (uint32_t i = 0; scale_loads[i].name; i++) {
                struct scale_world *world = calloc(1, sizeof *world);

                if (!world)
                    abort();
                scale_picture_world(world);
                world->service_ms = service;
                world->open_ms = open;
                scale_world_run(world, &scale_loads[i]);
                CU_ASSERT_TRUE(world->reversals <= 2);
                free(world);
            }
}

/* --- the picture ---------------------------------------------------------------------------- */

/* promise G5: the guide shows what the law does now. */
static void test_the_picture_of_the_guide_is_that_of_the_simulation(void)
{
    char *drawn = NULL, *kept = NULL;
    size_t drawn_size = 0, kept_size = 0;
    FILE *stream = open_memstream(&drawn, &drawn_size);
    FILE *copy = open_memstream(&kept, &kept_size);
    FILE *file = fopen(PICTURE, "re");
    int c;

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    scale_picture_write(stream);
    while ((c = fgetc(file)) != EOF)
        (void)fputc(c, copy);
    (void)fclose(file);
    (void)fclose(stream);
    (void)fclose(copy);
    CU_ASSERT_EQUAL(drawn_size, kept_size);
    CU_ASSERT_TRUE(drawn_size == kept_size && memcmp(drawn, kept, drawn_size) == 0);
    free(drawn);
    free(kept);
}

int main(int argc, char **argv)
{
    CU_TestInfo tests[] = {
        { "messages that waited grow it by half", test_messages_that_waited_grow_it_by_half },
        { "it grows once in each wait", test_it_grows_once_in_each_wait },
        { "an idle worker holds growth back", test_an_idle_worker_holds_growth_back },
        { "between two messages", test_a_worker_between_two_messages_is_not_idle },
        { "workers that open are capacity", test_workers_that_open_are_capacity },
        { "what hangs or is broken does not hold up growth beside it",
          test_what_hangs_or_is_broken_does_not_hold_up_growth_beside_it },
        { "while none is open one more starts in each open_timeout",
          test_while_none_is_open_one_more_starts_in_each_open_timeout },
        { "an open counts for a bounded time", test_an_open_counts_for_a_bounded_time },
        { "on demand each message without a worker starts one",
          test_on_demand_each_message_without_a_worker_starts_one },
        { "an empty pool starts one for the first message",
          test_an_empty_pool_starts_one_for_the_first_message },
        { "an unused worker leaves after its time", test_an_unused_worker_leaves_after_its_time },
        { "they leave one at a time and not soon after a growth",
          test_they_leave_one_at_a_time_and_not_soon_after_a_growth },
        { "it does not shrink to what would grow", test_it_does_not_shrink_to_what_would_grow },
        { "bounds come first", test_bounds_come_first },
        { "under a step it follows within a second and returns once",
          test_under_a_step_it_follows_within_a_second_and_returns_once },
        { "under a ramp it rises once and falls once",
          test_under_a_ramp_it_rises_once_and_falls_once },
        { "under bursts it stays as large as they need",
          test_under_bursts_it_stays_as_large_as_they_need },
        { "a flash crowd takes it to its maximum and back",
          test_a_flash_crowd_takes_it_to_its_maximum_and_back },
        { "a backend that comes back is used at once",
          test_a_backend_that_comes_back_is_used_at_once },
        { "no pool grows and shrinks in turns", test_no_pool_grows_and_shrinks_in_turns },
        { "the picture of the guide is that of the simulation",
          test_the_picture_of_the_guide_is_that_of_the_simulation },
        CU_TEST_INFO_NULL,
    };

    if (argc == 2 && strcmp(argv[1], "--picture") == 0) {
        scale_picture_write(stdout);
        return 0;
    }
    return suite_run("scale law", tests);
}
