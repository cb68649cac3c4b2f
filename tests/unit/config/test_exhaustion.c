/* SPDX-License-Identifier: MIT */
/*
 * Goal: when any allocation fails, reading, checking and planning return WEIR_ENOMEM, without leaks
 * and without half a result (promise C3).
 * Method: the linker puts this file's allocator between the language and libc; the first, second,
 * third ... call fails, until a run needs no more calls. The sanitizer finds leaks.
 */
#include <stdlib.h>

#include "config/plan.h"
#include "unit/config/reading.h"
#include "unit/host/suite.h"
#include "unit/support/wrapped.h"

#define RUNS_MAX 5000 /* far more calls than one run makes: the loop must end by itself */

/* The call that fails, counted from now; negative = none. */
static long calls_left = -1;

static bool call_fails(void)
{
    if (calls_left > 0 && --calls_left == 0) {
        calls_left = -1;
        return true;
    }
    return false;
}

void *__wrap_malloc(size_t size)
{
    return call_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return call_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return call_fails() ? NULL : __real_realloc(memory, size);
}

static const char older_text[] =
    "x-w: &w {use: thumb.scale, size: 2}\n"
    "dispatchers: {slow: {threads: 2}}\n"
    "sources: {l: {use: files.lines, args: {paths: [p, q]}, to: a}}\n"
    "pools:\n"
    "  a: {<<: *w, args: {sizes: [x], headers: {k: v}, label: \"${HOME:-h}\"}, manager: "
    "sink.null}\n"
    "  g: {members: {m: {use: count.words, outputs: {next: a}, dispatcher: slow}}}\n"
    "  s: {size: 3, pool: {use: integrity.md5, outputs: {changed: {to: a}}}}\n";

static const char newer_text[] =
    "pools:\n"
    "  a: {use: thumb.scale, size: 3, args: {keep: false}, restart: {backoff: 1s..2s}}\n"
    "  n: {use: sink.null}\n";

static const char wrong_text[] =
    "pools: {a: {use: thumb.scale, siz: 3, args: {kep: 1, format: gif}, outputs: {don: b}}}\n";

/* Reads, checks and plans; the worst status of all steps. */
static int run(void)
{
    struct settings *older = NULL;
    struct settings *newer = NULL;
    struct plan *plan = NULL;
    struct report report;
    int status;

    report_init(&report);
    status = reading_check(older_text, &fake_catalogue, &report, &older);
    if (status == WEIR_OK)
        status = reading_check(newer_text, &fake_catalogue, &report, &newer);
    if (status == WEIR_OK)
        status = plan_create(older, newer, &plan);
    plan_destroy(plan);
    settings_destroy(older);
    settings_destroy(newer);
    report_finish(&report);
    return status;
}

static int run_wrong(void)
{
    struct settings *settings = NULL;
    struct report report;
    int status;

    report_init(&report);
    status = reading_check(wrong_text, &fake_catalogue, &report, &settings);
    CU_ASSERT_PTR_NULL(settings);
    report_finish(&report);
    return status;
}

/* Fails one call after another until `one_run` answers `expected`; how many runs that took. */
static long runs_until(int (*one_run)(void), int expected)
{
    long calls = 0;
    int status;

    do {
        calls_left = ++calls;
        status = one_run();
        calls_left = -1;
        CU_ASSERT(status == expected || status == WEIR_ENOMEM);
    } while (status == WEIR_ENOMEM && calls < RUNS_MAX);
    return calls;
}

static void test_every_failed_allocation_is_answered(void)
{
    long runs = runs_until(run, WEIR_OK);

    CU_ASSERT(runs > 30);
    CU_ASSERT(runs < RUNS_MAX);
}

/* An entry of the report may lose its words, but the verdict stays. */
static void test_failed_allocation_never_makes_a_wrong_file_right(void)
{
    for (long calls = 1; calls < 300; calls++) {
        int status;

        calls_left = calls;
        status = run_wrong();
        calls_left = -1;
        CU_ASSERT(status == WEIR_EINVALID || status == WEIR_ENOMEM);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "every allocation", test_every_failed_allocation_is_answered },
        { "wrong file", test_failed_allocation_never_makes_a_wrong_file_right },
        CU_TEST_INFO_NULL,
    };

    return suite_run("exhaustion", tests);
}
