/* SPDX-License-Identifier: MIT */
/*
 * Goal: a start that fails, at any step, gives the reason and leaves nothing behind; it names
 * missing threads as such. Shows promise H8.
 *
 * Method: the nth call of the starting thread fails, for memory, files and threads, from n = 1 on
 * until a start passes without one; AddressSanitizer's build finds leaks.
 */
#include <stdlib.h>
#include <string.h>

#include "host/apply/apply.h"
#include "host/reload/configuration.h"
#include "unit/host/suite.h"
#include "unit/host/workspace.h"
#include "unit/reload/fault.h"

#define SWEEP_MAX 10000u /* calls of one start; there are some hundred */

static const char text[] =
    "version: 1\nhost: {plugins: [\"" TEST_PLUGINS "\"]}\n"
    "dispatchers: {default: {threads: 2}, side: {threads: 3}}\n"
    "sources:\n"
    "  feed: {use: changeling.source, to: work}\n"
    "pools:\n"
    "  work: {use: changeling.worker, size: 2, outputs: {out: nest}, subscribe: [news]}\n"
    "  nest: {members: {one: {use: changeling.worker, size: 1, dispatcher: side},\n"
    "                   two: {use: changeling.worker, size: 1, manager: changeling.manager}}}\n";

struct fixture {
    struct workspace workspace;
    struct configuration configuration;
    char file[256];
};

static void set_up(struct fixture *f)
{
    workspace_init(&f->workspace);
    (void)workspace_path(&f->workspace, "weir.yaml", f->file);
    workspace_write(f->file, text, sizeof text - 1);
    CU_ASSERT_EQUAL_FATAL(configuration_init(&f->configuration, NULL), 0);
}

static void tear_down(struct fixture *f)
{
    configuration_finish(&f->configuration);
    workspace_finish(&f->workspace);
}

/* Starts the file with the nth call of `kinds` failing, and ends it. Reports. */
static int start(struct fixture *f, uint32_t kinds, uint64_t nth, struct report *report)
{
    struct runtime_options options = { .clock = clock_monotonic() };
    struct settings *settings;
    struct assembly assembly;
    struct runtime *runtime;
    int status;

    CU_ASSERT_EQUAL_FATAL(configuration_read(&f->configuration, f->file, NULL, report, &settings),
                          0);
    CU_ASSERT_EQUAL_FATAL(runtime_create(&options, &runtime), 0);
    assembly_init(&assembly, runtime);
    fault_arm(kinds, nth);
    status = apply_from_nothing(&assembly, settings, report);
    fault_arm(0, 0);
    (void)runtime_stop(runtime);
    assembly_finish(&assembly);
    runtime_destroy(runtime);
    return status;
}

static void test_any_call_that_fails_is_reported(void)
{
    uint32_t failed = 0;
    struct fixture f;
    bool whole = false;

    set_up(&f);
    for (uint32_t nth = 1; nth < SWEEP_MAX && !whole; nth++) {
        struct report report;
        int status;

        report_init(&report);
        status = start(&f, FAULT_ANY, nth, &report);
        whole = status == 0;
        failed += !whole;
        CU_ASSERT_EQUAL(report_count(&report) > 0, !whole);
        report_finish(&report);
    }
    CU_ASSERT_TRUE(whole);
    CU_ASSERT(failed > 20);
    tear_down(&f);
}

/* The first thread is the timekeeper's; a missing thread of a dispatcher is reported at its place
 * in the file. */
static void test_thread_that_cannot_start_is_reported_as_such(void)
{
    static const char *const paths[] = { "dispatchers",
                                         "dispatchers.default.threads",
                                         "dispatchers.default.threads",
                                         "dispatchers.side.threads",
                                         "dispatchers.side.threads",
                                         "dispatchers.side.threads" };
    struct fixture f;

    set_up(&f);
    for (uint32_t nth = 1; nth <= sizeof paths / sizeof paths[0]; nth++) {
        struct report report;

        report_init(&report);
        CU_ASSERT_EQUAL(start(&f, FAULT_ONLY(FAULT_THREAD), nth, &report), WEIR_ENOMEM);
        CU_ASSERT_EQUAL_FATAL(report.errors.kept, 1);
        CU_ASSERT_STRING_EQUAL(report.errors.entries[0].path, paths[nth - 1]);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.errors.entries[0].reason, "cannot start: "));
        CU_ASSERT_PTR_NOT_NULL(strstr(report.errors.entries[0].reason, "ulimit -u"));
        report_finish(&report);
    }
    tear_down(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "any call", test_any_call_that_fails_is_reported },
        { "threads", test_thread_that_cannot_start_is_reported_as_such },
        CU_TEST_INFO_NULL,
    };

    fault_follow();
    return suite_run("start", tests);
}
