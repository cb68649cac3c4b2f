/*
 * Goal: the cost of a start, a reload and an end grows evenly with the file: four times as many
 * pools in one pool, at the top, or sources, cost four times the work. Shows promise C11.
 *
 * Method: an assembly with the threads of the file, and one that opens, starts with few parts and
 * gets many by apply.h, on this thread, whose blocks are counted where lists of parts are walked
 * (see unit/support/work.h): in host/reload, config and the members of core/pool. Once for so many,
 * and once for four times as many.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/plan.h"
#include "host/apply/apply.h"
#include "host/apply/opener.h"
#include "unit/config/fake_catalogue.h"
#include "unit/config/reading.h"
#include "unit/host/suite.h"
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

/* Takes the settings. */
static void take_on(struct assembly *assembly, struct settings *settings)
{
    struct shared_settings *old = assembly->shared;
    struct report report;
    struct apply apply;
    struct plan *plan = NULL;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(plan_create(old->settings, settings, &plan), 0);
    atomic_fetch_add(&old->references, 1); /* the plan borrows from them: see supervisor.c */
    CU_ASSERT_EQUAL_FATAL(apply_prepare(&apply, assembly, settings, plan, &report), 0);
    apply_commit(&apply);
    apply_drain(&apply);
    plan_destroy(plan);
    shared_settings_unref(old);
    report_finish(&report);
}

/* The cost of starting with `count` parts, and of changing to them from `shape->before`. */
struct cost {
    uint64_t start;
    uint64_t reload;
};

static uint64_t cost_of_run(const struct shape *shape, unsigned first, unsigned then)
{
    struct runtime_options options = { .clock = clock_monotonic() };
    struct assembly assembly;
    struct runtime *runtime;
    struct report report;
    uint64_t before;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(runtime_create(&options, &runtime), 0);
    assembly_init(&assembly, runtime);
    before = work_done();
    CU_ASSERT_EQUAL_FATAL(apply_from_nothing(&assembly, settings_of(shape, first), &report), 0);
    CU_ASSERT_EQUAL_FATAL(opener_create(&assembly), 0);
    assembly_go(&assembly);
    if (then != first) {
        struct settings *settings = settings_of(shape, then);

        before = work_done();
        take_on(&assembly, settings);
    }
    before = work_done() - before;
    CU_ASSERT_EQUAL(runtime_stop(runtime), 0);
    assembly_finish(&assembly);
    runtime_destroy(runtime);
    report_finish(&report);
    return before;
}

static struct cost cost_of(const struct shape *shape, unsigned count)
{
    unsigned before = shape->before == ALL_BUT_ONE ? count - 1 : shape->before;

    return (struct cost){ cost_of_run(shape, count, count), cost_of_run(shape, before, count) };
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
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct cost few = cost_of(&shapes[i], FEW);
        struct cost many = cost_of(&shapes[i], FEW * TIMES);

        expect_even(shapes[i].name, "start", few.start, many.start);
        expect_even(shapes[i].name, "reload", few.reload, many.reload);
    }
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
