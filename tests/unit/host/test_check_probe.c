/* SPDX-License-Identifier: MIT */
/*
 * Goal: a `check` that crashes, ends the program or never returns is an error of the file, at the
 * position of its args, and never runs in the calling process; earlier ones are checked as usual.
 * Shows promise B10.
 * Method: the real program tries the checks of a plugin built for it (tests/plugins/rash); the test
 * itself, which would not survive any of them, reads the same files as a host does.
 */
#include <dirent.h>

#include "host/reload/configuration.h"
#include "suite.h"
#include "workspace.h"

/* Reads a file with these pools; the report is the caller's. */
static int read_pools(const struct workspace *workspace, const char *pools, struct report *report)
{
    struct configuration configuration;
    struct settings *settings = NULL;
    char path[256], text[2048];
    int status;

    (void)snprintf(text, sizeof text, "version: 1\nhost: {plugins: [\"%s\"]}\npools:\n%s",
                   TEST_PLUGINS, pools);
    workspace_write(workspace_path(workspace, "weir.yaml", path), text, strlen(text));
    report_init(report);
    CU_ASSERT_EQUAL_FATAL(configuration_init(&configuration, TEST_PROGRAM), 0);
    status = configuration_read(&configuration, path, NULL, report, &settings);
    settings_destroy(settings);
    configuration_finish(&configuration);
    return status;
}

/* The file is refused, and its errors are these in this order; NULL: no more. */
static void refuses(const char *pools, const char *first, const char *second)
{
    const char *const wanted[] = { first, second };
    struct workspace workspace;
    struct report report;

    workspace_init(&workspace);
    CU_ASSERT_EQUAL(read_pools(&workspace, pools, &report), WEIR_EINVALID);
    CU_ASSERT_EQUAL(report_count(&report), second ? 2 : 1);
    for (size_t i = 0; i < 2 && i < report.errors.kept && wanted[i]; i++) {
        char line[512];

        (void)report_format(&report.errors.entries[i], line, sizeof line);
        CU_ASSERT_PTR_NOT_NULL(strstr(line, wanted[i]));
        if (!strstr(line, wanted[i]))
            printf("%s\n", line);
    }
    report_finish(&report);
    workspace_finish(&workspace);
}

/* promise B10 */
static void test_check_that_crashes_is_an_error_of_its_args(void)
{
    refuses("  a: {use: rash.well}\n"
            "  b: {use: rash.crashes, args: {keep: 2}}\n",
            "weir.yaml:5:32: pools.b.args: its check was killed by SIGSEGV", NULL);
}

/* promise B10 */
static void test_check_that_exits_is_reported_with_its_words(void)
{
    refuses("  a: {use: rash.exits, args: {keep: 2}}\n",
            "pools.a.args: its check ended the program with exit code 3; it said: the licence has "
            "run out",
            NULL);
}

/* promise B10 */
static void test_check_that_never_returns_is_waited_for_no_longer(void)
{
    setenv("WEIR_PLUGIN_TIMEOUT", "3s", 1);
    refuses("  a: {use: rash.hangs, args: {keep: 2}}\n",
            "pools.a.args: its check did not return within 3s", NULL);
    unsetenv("WEIR_PLUGIN_TIMEOUT");
}

/* promise B10: the check before it is called, those after it are not. */
static void test_other_watches_are_reported_as_far_as_possible(void)
{
    refuses("  a: {use: rash.well, args: {keep: 7}}\n"
            "  b: {use: rash.crashes, args: {keep: 2}}\n",
            "pools.a.args.keep: must not be 7", "pools.b.args: its check was killed");
    refuses("  a: {use: rash.crashes, args: {keep: 2}}\n"
            "  b: {use: rash.exits, args: {keep: 2}}\n",
            "pools.a.args: its check was killed by SIGSEGV",
            "pools.b.args: its check is not called: the process that tries it first was killed");
}

static void test_right_checks_are_asked_each(void)
{
    struct workspace workspace;
    struct report report;

    workspace_init(&workspace);
    CU_ASSERT_EQUAL(read_pools(&workspace,
                               "  a: {use: rash.well, args: {keep: 6}}\n"
                               "  b: {use: rash.well, args: {keep: 5}}\n"
                               "  c: {use: rash.well}\n",
                               &report),
                    WEIR_OK);
    report_finish(&report);
    workspace_finish(&workspace);
    refuses("  a: {use: rash.well, args: {keep: 6}}\n"
            "  b: {use: rash.well, args: {keep: 7}}\n",
            "pools.b.args.keep: must not be 7", NULL);
}

/* The process that was killed could not remove its copies. */
static void test_nothing_is_left_behind(void)
{
    struct workspace workspace;
    struct dirent *entry;
    uint32_t left = 0;
    DIR *directory;

    workspace_init(&workspace);
    setenv("WEIR_PLUGIN_TMP", workspace.path, 1);
    refuses("  a: {use: rash.crashes, args: {keep: 2}}\n", "was killed by SIGSEGV", NULL);
    unsetenv("WEIR_PLUGIN_TMP");
    directory = opendir(workspace.path);
    while (directory && (entry = readdir(directory)))
        left += entry->d_name[0] != '.';
    if (directory)
        (void)closedir(directory);
    CU_ASSERT_EQUAL(left, 0);
    workspace_finish(&workspace);
}

int main(void)
{
    /* AddressSanitizer would end the process by an exit code of its own. */
    setenv("ASAN_OPTIONS", "handle_segv=0", 1);
    setenv("TSAN_OPTIONS", "handle_segv=0", 1);
    CU_TestInfo tests[] = {
        { "crash", test_check_that_crashes_is_an_error_of_its_args },
        { "exit", test_check_that_exits_is_reported_with_its_words },
        { "hang", test_check_that_never_returns_is_waited_for_no_longer },
        { "others", test_other_watches_are_reported_as_far_as_possible },
        { "right", test_right_checks_are_asked_each },
        { "left", test_nothing_is_left_behind },
        CU_TEST_INFO_NULL,
    };

    return suite_run("checks in a process of their own", tests);
}
