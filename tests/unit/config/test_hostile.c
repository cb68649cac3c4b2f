/* SPDX-License-Identifier: MIT */
/*
 * Goal: no text costs much more work than a large correct file: endless nesting, words that are too
 * long or too many, or a text of mistakes only is refused early with a clear message, and further
 * mistakes are only counted, up to a limit. Shows promise C3 and promise C1.
 *
 * Method: texts that are meant to slow a reader. The work of reading and checking each is counted
 * (see steps.h and work.h), so that no slow machine fails the test; libyaml's own work is bounded
 * by the size of the text, since the first event past a limit ends it. The CPU times are printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit/config/fake_catalogue.h"
#include "unit/config/reading.h"
#include "unit/host/suite.h"
#include "unit/support/steps.h"
#include "unit/support/work.h"

#define STEPS_MAX 300000u   /* half as many again as a file of 9,999 pools that is right takes */
#define WORK_MAX 100000000u /* blocks; half as many again as the largest file that is right takes */
#define NAME_58 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdef"

/* `start`, then `part` written `count` times, its %u replaced by the number, then `end`. */
struct hostile {
    const char *name;
    const char *start;
    const char *part;
    uint32_t count;
    const char *end;
    const char *expected; /* the first error; NULL = it is right */
};

static const char too_deep[] = "is nested deeper than 64 levels";
static const char too_many[] = "holds more than 500000 values with aliases written out";
static const char too_long[] = "a text has at most 1MiB, this one has";

static const struct hostile texts[] = {
    { "open brackets, 100 KB", "", "[", 100000, "", too_deep },
    { "open brackets, 8 MB", "", "[", 8388600, "", too_deep },
    { "open braces", "", "{a: ", 100000, "", too_deep },
    { "dashes", "x-a:\n", "- ", 100000, "1\n", too_deep },
    { "question marks", "", "? ", 100000, "", too_deep },
    { "a value of 8 MB", "x-a: ", "aaaaaaaa", 1048570, "\n", too_long },
    { "a value in quotes", "x-a: \"", "\\x41", 1100000, "\"\n", too_long },
    { "a value of many lines", "x-a: |\n", "  a\n", 600000, "\n", too_long },
    { "a key of 8 MB", "", "aaaaaaaa", 1048570, ": 1\n", too_long },
    { "an open quote", "x-a: \"", "aaaaaaaa", 300000, "", "not valid YAML" },
    { "blanks", "x-a: 1", "        ", 300000, "\n", NULL },
    { "empty lines", "x-a: 1", "\n\n\n\n", 500000, "\n", NULL },
    { "comments", "x-a: 1\n", "#\n", 1000000, "\n", NULL },
    { "keys", "", "x-%u: 1\n", 260000, "", too_many },
    { "anchors", "x-a: [", "&a%u 1, *a%u, ", 260000, "]\n", too_many },
    { "one anchor", "x-a: [", "&a 1, ", 90000, "]\n", NULL },
    { "aliases of a large value", "x-a: &a [1,2,3,4,5,6,7,8,9]\nx-b: [", "*a, ", 90000, "]\n",
      too_many },
    { "maps that merge", "x-0: &a {k: 1}\nx-m: [", "{<<: *a}, ", 260000, "]\n", too_many },
    { "repeated keys", "", "a: 1\n", 40000, "", "a: is set twice, first in line 1" },
    { "unknown keys", "", "k%u: 1\n", 40000, "", "k0: unknown key" },
    { "20,000 broken pools", "pools:\n", "  p%u: {}\n", 20000, "",
      "makes more than 10000 pools, copies counted" },
    { "9,999 broken pools", "pools:\n", "  p%u: {sise: 1, uze: 2}\n", 9999, "",
      "pools.p0.sise: unknown key, did you mean \"size\"?" },
    { "9,999 unknown behaviours", "pools:\n", "  p%u: {use: n%u.one}\n", 9999, "",
      "pools.p0.use: there is no behaviour n0.one" },
    { "9,999 unknown pools", "pools:\n", "  p%u: {use: count.words, outputs: {next: q%u}}\n", 9999,
      "", "pools.p0.outputs.next: there is no pool \"q0\", did you mean \"p0\"?" },
    { "9,999 pools", "pools:\n", "  p%u: {use: count.words, size: 1}\n", 9999, "", NULL },
    { "9,999 pools with many settings", "pools:\n",
      "  p%u: {use: count.words, size: 1, mailbox: 64, route: random, restart: {max: 5, within: "
      "10s}, "
      "remove: {mode: drain, timeout: 5s}}\n",
      9999, "", NULL },
    { "broken dispatchers", "dispatchers:\n", "  d%u: {threads: 0}\n", 20000, "",
      "dispatchers.d0.threads: must be auto or 1..1024, got \"0\"" },
    { "broken sources", "pools: {a: {use: sink.null}}\nsources:\n", "  s%u: {to: a, too: b}\n",
      12000, "", "sources.s0.too: unknown key, did you mean \"to\"?" },
    { "copies of copies", "pools: {a: {size: 300, pool: {size: 300, pool: {use: sink.null", "", 0,
      "}}}}\n", "pools.a.pool.pool: makes more than 10000 pools, copies counted" },
    { "variables that are not set", "x-a: [", "\"${NO_SUCH_%u}\", ", 40000, "]\n",
      "x-a[0]: ${NO_SUCH_0} is not set and has no default" },
    { "a default in every letter", "x-a: \"", "${A:-b}", 10000, "\"\n", NULL },
    { "includes that are not there", "include: [", "'n%u.yaml', ", 40000, "]\n",
      "include: there is no file \"n0.yaml\"" },
    { "empty variables", "x-a: [", "\"${A:-}${A:-}${A:-}${A:-}\", ", 40000, "]\n",
      "x-a[25000]: has more than 100000 times \"${\" in it and before" },
    { "no variables", "x-a: \"", "$${", 110000, "\"\n",
      "x-a: has more than 100000 times \"${\" in it and before" },
    { "values from files", "x-a: \"", "${file:/proc/version}", 40000, "\"\n",
      "x-a: takes more than 1000 values from files" },
    { "long keys", "", "? x-" NAME_58 NAME_58 "%u\n: 1\n", 49000, "", NULL },
    { "9,999 unknown pools of long names", "pools:\n",
      "  " NAME_58 "%u: {use: count.words, outputs: {next: x" NAME_58 "%u}}\n", 9999, "",
      "there is no pool" },
    { "targets, many sources", "pools: {a: {use: sink.null}}\nsources:\n",
      "  " NAME_58 "%u: {use: files.lines, args: {paths: [a]}, to: x}\n", 8000, "",
      "there is no pool \"x\"" },
    { "dispatchers, the last of them used", "dispatchers:\n", "  d%u:\n", 44000,
      "pools: {a: {size: 9998, pool: {use: sink.null, dispatcher: d43999}}}\n", NULL },
    { "dispatchers that are not there",
      "pools:\n  a: {use: sink.null, dispatcher: x" NAME_58
      "}\n  b: {use: sink.null, dispatcher: y" NAME_58 "}\ndispatchers:\n",
      "  " NAME_58 "%u:\n", 48000, "", "there is no dispatcher" },
    { "copies that take events", "pools: {a: {size: 9998, pool: {use: sink.null, subscribe: [",
      "e%u, ", 40000, "]}}}\n", NULL },
    { "copies with a long text", "pools: {a: {size: 9998, pool: {use: thumb.scale, args: {label: ",
      "aaaaaaaa", 130000, "}}}}\n", NULL },
    { "aliases of a long text",
      "x-a: &a [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "]\nx-b: [",
      "*a, ", 49000, "]\n", NULL },
    { "aliases of eight texts of a megabyte", "x-a: &a '", "aaaaaaaa", 130000,
      "'\nx-b: [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n",
      "holds more than 8MiB of text with aliases written out" },
    { "cycles", "pools:\n", "  p%u: {use: count.words, outputs: {next: p0, odd: p%u}}\n", 9999, "",
      "" },
    { "documents", "", "---\n", 100000, "", "a second document begins here, a file holds one" },
    { "a long tag", "x-a: !", "aaaaaaaa", 100000, " 1\n", "explicit tags are not supported" },
};

/* Returns owned. */
static char *make(const struct hostile *hostile, size_t *out_size)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, out_size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    (void)fputs(hostile->start, stream);
    for (uint32_t i = 0; i < hostile->count; i++) {
        for (const char *at = hostile->part; *at; at++) {
            if (at[0] == '%' && at[1] == 'u' && ++at)
                (void)fprintf(stream, "%u", i);
            else
                (void)fputc(*at, stream);
        }
    }
    (void)fputs(hostile->end, stream);
    (void)fclose(stream);
    return text;
}

static int judge(const char *text, size_t size, struct report *report)
{
    struct config_tree *tree = NULL;
    struct settings *settings = NULL;
    const struct config_source source = { .is_checked_next = true };
    int status = config_read_text("t.yaml", text, size, &source, report, &tree);

    if (status == WEIR_OK)
        status = config_check(tree, &fake_catalogue, READING_CPUS, report, &settings);
    config_tree_destroy(tree);
    settings_destroy(settings);
    return status;
}

static void expect_words(const struct hostile *hostile, const struct report *report)
{
    char line[1024] = "";

    if (report->errors.kept)
        (void)report_format(&report->errors.entries[0], line, sizeof line);
    if (hostile->expected && !strstr(line, hostile->expected))
        (void)fprintf(stderr, "%s:\n    expected: %s\n    found:    %s\n", hostile->name,
                      hostile->expected, line);
    CU_ASSERT_PTR_NOT_NULL(strstr(line, hostile->expected ? hostile->expected : ""));
    CU_ASSERT(report_count(report) <= REPORT_ENOUGH + 2); /* the last part may have more than one */
}

/* Of this thread, without others on the machine. */
static uint64_t cpu_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void try(const struct hostile *hostile)
{
    struct report report;
    size_t size;
    char *text = make(hostile, &size);
    uint64_t begun_ns = cpu_ns();
    uint64_t before = steps_taken();
    uint64_t before_work = work_done();
    uint64_t taken, work;
    int status;

    report_init(&report);
    status = judge(text, size, &report);
    taken = steps_taken() - before;
    work = work_done() - before_work;
    (void)printf("\n    %-36s %8zu bytes %7ju steps %9ju blocks %7.1f ms", hostile->name, size,
                 (uintmax_t)taken, (uintmax_t)work, (double)(cpu_ns() - begun_ns) / 1e6);
    CU_ASSERT_EQUAL(status, hostile->expected ? WEIR_EINVALID : WEIR_OK);
    CU_ASSERT(taken < STEPS_MAX);
    CU_ASSERT(work < WORK_MAX);
    expect_words(hostile, &report);
    report_finish(&report);
    free(text);
}

static void test_hostile_text_costs_no_more_than_a_large_one(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        try(&texts[i]);
    (void)printf("\n    ");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "hostile", test_hostile_text_costs_no_more_than_a_large_one },
        CU_TEST_INFO_NULL,
    };

    return suite_run("hostile", tests);
}
