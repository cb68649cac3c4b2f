/* SPDX-License-Identifier: MIT */
/*
 * Goal: the cost of a start, a reload and an end grows evenly with the file: four times as many
 * pools in one pool, at the top, or sources, cost four times the work, also when they are removed.
 * Shows promise C11.
 *
 * Method: an assembly with the threads of the file, and one that opens, starts with few parts and
 * gets many by apply.h, on this thread, whose blocks are counted where lists of parts are walked
 * (see unit/support/work.h): in host/apply, host/run, config, the order of closing and the members
 * of core/pool. Once for so many,
 * and once for four times as many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/plan.h"
#include "host/apply/apply.h"
#include "host/apply/opener.h"
#include "host/run/closing.h"
#include "unit/config/fake_catalogue.h"
#include "unit/config/reading.h"
#include "unit/host/suite.h"
#include "unit/support/wait_limit.h"
#include "unit/support/work.h"

#define FEW 100u
#define TIMES 4u
#define ALL_BUT_ONE UINT32_MAX
#define GROWTH_MAX (TIMES + 1) /* a key index that has just grown has cost more than its share */

/* A file: `start`, then `part` once for each number in place of its %u, then `end`. */
struct shape {
    const char *name;
    const char *start;
    const char *part;
    const char *end;
    unsigned before; /* parts that are there before the reload; or ALL_BUT_ONE */
};

static const struct shape shapes[] = {
    { "pools", "pools:\n  end: {use: sink.null, size: 0}\n", "  p%u: {use: sink.null, size: 0}\n",
      "", 1 },
    { "a new pool's", "pools:\n  end: {use: sink.null, size: 0}\n",
      "  n%u: {members: {a: {use: sink.null, size: 0}, b: {use: sink.null, size: 0}}}\n", "", 1 },
    { "members", "pools:\n  all:\n    members:\n", "      p%u: {use: sink.null, size: 0}\n", "",
      1 },
    { "all members", "pools:\n  all:\n    members:\n", "      p%u: {use: sink.null, size: 0}\n", "",
      0 },
    { "copies", "pools:\n  all:\n    pool: {use: sink.null, size: 0}\n    size: ", "%u", "\n", 0 },
    { "sources", "pools: {end: {use: sink.null, size: 0}}\nsources:\n",
      "  s%u: {use: files.lines, args: {paths: [a]}, to: end}\n", "", 1 },
    { "one source", "pools: {end: {use: sink.null, size: 0}}\nsources:\n",
      "  s%u: {use: files.lines, args: {paths: [a]}, to: end}\n", "", ALL_BUT_ONE },
    { "one member", "pools:\n  all:\n    members:\n", "      p%u: {use: sink.null, size: 0}\n", "",
      ALL_BUT_ONE },
};

/* Returns owned. */
static char *make(const struct shape *shape, unsigned count)
{
    bool is_number = strcmp(shape->part, "%u") == 0;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    if (count == 0) {
        (void)fputs("pools: {}\n", stream);
        (void)fclose(stream);
        return text;
    }
    (void)fputs(shape->start, stream);
    for (unsigned i = is_number ? count - 1 : 0; i < count; i++) {
        for (const char *at = shape->part; *at; at++) {
            if (at[0] == '%' && at[1] == 'u' && ++at)
                (void)fprintf(stream, "%u", i + 1);
            else
                (void)fputc(*at, stream);
        }
    }
    (void)fputs(shape->end, stream);
    (void)fclose(stream);
    return text;
}

static struct settings *settings_of(const struct shape *shape, unsigned count)
{
    char *text = make(shape, count);
    struct settings *settings = reading_settings(text);

    free(text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(settings);
    return settings;
}

static bool sources_have_ended(void *context)
{
    const struct source_changes *changes = context;

    for (uint32_t i = 0; i < changes->closed_count; i++)
        if (!source_has_ended(changes->closed[i]))
            return false;
    return true;
}

/* Takes the settings. Its work, without that of a wait for the ends of the removed sources, so that
 * each run collects the same parts. */
static uint64_t take_on(struct assembly *assembly, struct settings *settings)
{
    struct shared_settings *old = assembly->shared;
    struct report report;
    struct apply apply;
    struct plan *plan = NULL;
    uint64_t before = work_done();
    uint64_t waiting;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(plan_create(old->settings, settings, &plan), 0);
    atomic_fetch_add(&old->references, 1); /* the plan borrows from them: see supervisor.c */
    CU_ASSERT_EQUAL_FATAL(apply_prepare(&apply, assembly, settings, plan, &report), 0);
    apply_commit(&apply);
    waiting = work_done();
    CU_ASSERT_TRUE(
        runtime_wait(assembly->runtime, sources_have_ended, &apply.sources, wait_limit_ms()));
    waiting = work_done() - waiting;
    apply_drain(&apply);
    plan_destroy(plan);
    shared_settings_unref(old);
    report_finish(&report);
    return work_done() - before - waiting;
}

/* What is counted. */
enum stage {
    STAGE_START,  /* with all parts */
    STAGE_ADD,    /* by a reload, from `shape->before` to all parts */
    STAGE_REMOVE, /* by a reload, the other way */
    STAGE_END,    /* of all parts */
    STAGES,
};

static const char *const stage_names[STAGES] = { "start", "add", "remove", "end" };

struct run {
    struct runtime *runtime;
    struct assembly assembly;
};

static void begin(struct run *run, struct settings *settings)
{
    struct runtime_options options = { .clock = clock_monotonic() };
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(runtime_create(&options, &run->runtime), 0);
    assembly_init(&run->assembly, run->runtime);
    CU_ASSERT_EQUAL_FATAL(apply_from_nothing(&run->assembly, settings, &report), 0);
    CU_ASSERT_EQUAL_FATAL(opener_create(&run->assembly), 0);
    assembly_go(&run->assembly);
    report_finish(&report);
}

static void finish(struct run *run)
{
    CU_ASSERT_EQUAL(runtime_stop(run->runtime), 0);
    assembly_finish(&run->assembly);
    runtime_destroy(run->runtime);
}

/* The cost of starting with `count` parts. */
static uint64_t cost_of_start(const struct shape *shape, unsigned count)
{
    struct settings *settings = settings_of(shape, count);
    uint64_t before = work_done();
    struct run run;

    begin(&run, settings);
    before = work_done() - before;
    finish(&run);
    return before;
}

static uint64_t cost_of_reload(const struct shape *shape, unsigned first, unsigned then)
{
    struct settings *settings = settings_of(shape, then);
    struct run run;
    uint64_t work;

    begin(&run, settings_of(shape, first));
    work = take_on(&run.assembly, settings);
    finish(&run);
    return work;
}

static uint64_t cost_of_end(const struct shape *shape, unsigned count)
{
    uint64_t before;
    struct run run;

    begin(&run, settings_of(shape, count));
    before = work_done();
    CU_ASSERT_TRUE(closing_shut_down(&run.assembly, wait_limit_ms()));
    before = work_done() - before;
    finish(&run);
    return before;
}

static uint64_t cost_of(const struct shape *shape, unsigned count, enum stage stage)
{
    unsigned before = shape->before == ALL_BUT_ONE ? count - 1 : shape->before;

    switch (stage) {
    case STAGE_START:
        return cost_of_start(shape, count);
    case STAGE_ADD:
        return cost_of_reload(shape, before, count);
    case STAGE_REMOVE:
        return cost_of_reload(shape, count, before);
    default:
        return cost_of_end(shape, count);
    }
}

static void expect_even(const char *name, const char *what, uint64_t few, uint64_t many)
{
    (void)printf("\n    %-14s %-8s %9ju blocks, for %u times the parts %5.2f times", name, what,
                 (uintmax_t)few, TIMES, (double)many / (double)few);
    CU_ASSERT(few > 0);
    CU_ASSERT(many < few * GROWTH_MAX);
}

/* promise C11 */
static void test_more_parts_cost_evenly_more(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (enum stage stage = 0; stage < STAGES; stage++)
            expect_even(shapes[i].name, stage_names[stage], cost_of(&shapes[i], FEW, stage),
                        cost_of(&shapes[i], FEW * TIMES, stage));
    (void)printf("\n    ");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "parts", test_more_parts_cost_evenly_more },
        CU_TEST_INFO_NULL,
    };

    return suite_run("work of reloads", tests);
}
