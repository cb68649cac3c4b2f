/* SPDX-License-Identifier: MIT */
/*
 * Goal: the cost of reading, checking and planning a file grows evenly with its pools, copies,
 * sources, dispatchers, outputs or included files: no step searches among all of them. The use of
 * files and names is bounded. Shows promise C11 and promise C3.
 *
 * Method: files of one shape with 1,000 and 4,000 parts; more than one and a half times the even
 * growth fails (see work.h): a loop over all inside a loop over all takes sixteen times as much for
 * four times the parts. libyaml is not counted; its work depends only on the length of the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/plan.h"
#include "unit/config/reading.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/support/work.h"

#define FEW 1000u
#define TIMES 4u
#define GROWTH_MAX (TIMES + 2) /* a table that has just grown has cost more than its share */

/* A file: `start`, then `part` once for each number in place of its %u (up to two), then `end`. */
struct shape {
    const char *name;
    const char *start;
    const char *part;
    const char *end;
};

static const struct shape shapes[] = {
    { "pools", "pools:\n", "  p%u: {use: thumb.scale, size: 8, mailbox: 16, args: {label: x}}\n",
      "" },
    { "outputs", "pools:\n  end: {use: sink.null}\n",
      "  p%u: {use: count.words, outputs: {next: end}}\n", "" },
    { "members", "pools:\n  all:\n    members:\n", "      p%u: {use: sink.null}\n", "" },
    { "blocking", "dispatchers: {b: {}, blocking: {}}\npools:\n  end: {use: sink.null}\n",
      "  p%u: {use: integrity.md5, outputs: {changed: end}}\n", "" },
    { "sources", "pools: {end: {use: sink.null}}\nsources:\n",
      "  s%u: {use: files.lines, args: {paths: [a]}, to: end}\n", "" },
    { "asking", "pools: {end: {use: exec.run}}\nsources:\n",
      "  s%u: {use: gen.numbers, args: {log: end}, to: end}\n", "" },
    { "unreached", "sources: {s: {use: gen.numbers, to: p1}}\npools:\n", "  p%u: {use: exec.run}\n",
      "" },
    { "dispatchers", "dispatchers:\n", "  d%u: {budget: %u}\n",
      "pools: {a: {size: 900, pool: {use: sink.null}}}\n" },
    { "keys", "", "x-%u: [%u]\n", "pools: {}\n" },
    { "events", "pools: {a: {size: 100, pool: {use: sink.null, subscribe: [", "e%u, ", "]}}}\n" },
};

/* Returns owned. */
static char *make(const struct shape *shape, unsigned count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    (void)fputs(shape->start, stream);
    for (unsigned i = 0; i < count; i++) {
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

/* The cost of reading and planning. */
struct cost {
    uint64_t check;
    uint64_t plan;       /* from nothing */
    uint64_t other_plan; /* from the same, so that nothing changes */
};

static uint64_t plan_cost(const struct settings *older, const struct settings *newer)
{
    uint64_t before = work_done();
    struct plan *plan = NULL;

    CU_ASSERT_EQUAL_FATAL(plan_create(older, newer, &plan), WEIR_OK);
    CU_ASSERT(!older || plan->count == 0);
    plan_destroy(plan);
    return work_done() - before;
}

static struct cost cost_of(const struct shape *shape, unsigned count)
{
    char *text = make(shape, count);
    uint64_t before = work_done();
    struct settings *settings = reading_settings(text);
    struct cost cost = { .check = work_done() - before };
    struct settings *again = reading_settings(text);

    CU_ASSERT_FATAL(settings && again);
    cost.plan = plan_cost(NULL, settings);
    cost.other_plan = plan_cost(settings, again);
    settings_destroy(settings);
    settings_destroy(again);
    free(text);
    return cost;
}

static void expect_even(const char *name, const char *what, uint64_t few, uint64_t many)
{
    (void)printf("\n    %-12s %-10s %9ju blocks, for %u times the parts %5.2f times", name, what,
                 (uintmax_t)few, TIMES, (double)many / (double)few);
    CU_ASSERT(few > 0);
    CU_ASSERT(many < few * GROWTH_MAX);
}

static void test_more_parts_cost_evenly_more(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct cost few = cost_of(&shapes[i], FEW);
        struct cost many = cost_of(&shapes[i], FEW * TIMES);

        expect_even(shapes[i].name, "check", few.check, many.check);
        expect_even(shapes[i].name, "plan", few.plan, many.plan);
        expect_even(shapes[i].name, "no change", few.other_plan, many.other_plan);
    }
    (void)printf("\n    ");
}

/* --- several files -------------------------------------------------------------------------- */

static void write_text(const struct workspace *workspace, const char *name, const char *text)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", workspace->path, name);
    workspace_write(path, text, strlen(text));
}

static uint64_t cost_of_file(const struct workspace *workspace, const char *name, int expected,
                             const char *words)
{
    char path[512], line[1024] = "";
    struct config_tree *tree = NULL;
    struct report report;
    uint64_t before = work_done();

    (void)snprintf(path, sizeof path, "%s/%s", workspace->path, name);
    report_init(&report);
    CU_ASSERT_EQUAL(config_read_file(path, NULL, &report, &tree), expected);
    before = work_done() - before;
    config_tree_destroy(tree);
    if (report.errors.kept)
        (void)report_format(&report.errors.entries[0], line, sizeof line);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, words));
    report_finish(&report);
    return before;
}

static uint64_t cost_of_includes(unsigned count)
{
    static const struct shape large = { "", "include: ['*.part']\nsources:\n", "  s%u:\n", "" };
    struct workspace workspace;
    char *text = make(&large, 5000);
    uint64_t cost;

    workspace_init(&workspace);
    write_text(&workspace, "whole.yaml", text);
    write_text(&workspace, "always.part", "x-none: 0\n");
    for (unsigned i = 0; i < count; i++) {
        char name[64], part[64];

        (void)snprintf(name, sizeof name, "%u.part", i);
        (void)snprintf(part, sizeof part, "sources: {t%u: }\n", i);
        write_text(&workspace, name, part);
    }
    cost = cost_of_file(&workspace, "whole.yaml", WEIR_OK, "");
    workspace_finish(&workspace);
    free(text);
    return cost;
}

static void test_included_file_costs_the_same_beside_a_large_one(void)
{
    uint64_t none = cost_of_includes(0);
    uint64_t few = cost_of_includes(100);
    uint64_t many = cost_of_includes(400);

    expect_even("includes", "read", few - none, many - none);
    CU_ASSERT(many - none < none); /* not one of them looks at all that is there */
    (void)printf("\n    ");
}

static void test_files_together_are_as_large_as_one_may_be(void)
{
    struct workspace workspace;
    size_t size = (size_t)3 << 20;
    char *text = malloc(size + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memset(text, '\n', size);
    memcpy(text, "{}", 2);
    text[size] = '\0';
    workspace_init(&workspace);
    write_text(&workspace, "a.part", text);
    write_text(&workspace, "b.part", text);
    write_text(&workspace, "two.yaml", "include: ['*.part']\n");
    write_text(&workspace, "many.yaml", "include: [a.part, b.part, a.part, b.part, a.part]\n");
    (void)cost_of_file(&workspace, "two.yaml", WEIR_OK, "");
    (void)cost_of_file(&workspace, "many.yaml", WEIR_EINVALID,
                       "a.part: makes the files that are read larger than 8MiB");
    workspace_finish(&workspace);
    free(text);
}

static void test_pattern_that_leads_everywhere_is_given_up(void)
{
    struct workspace workspace;

    workspace_init(&workspace);
    write_text(&workspace, "wide.yaml",
               "include: ['/*/../*/../*/../*/../*/../*/../*/../*/../*/nowhere']\n");
    (void)cost_of_file(&workspace, "wide.yaml", WEIR_EINVALID,
                       "include: looks at more than 20000 names of files");
    workspace_finish(&workspace);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "parts", test_more_parts_cost_evenly_more },
        { "includes", test_included_file_costs_the_same_beside_a_large_one },
        { "together", test_files_together_are_as_large_as_one_may_be },
        { "everywhere", test_pattern_that_leads_everywhere_is_given_up },
        CU_TEST_INFO_NULL,
    };

    return suite_run("work", tests);
}
