/* SPDX-License-Identifier: MIT */
/*
 * Goal: a plugin whose loading crashes, ends the program or never returns is refused with that
 * reason, in a separate process; content that was loaded before is not tried again. Shows promise
 * B7.
 * Method: the real program loads plugins built for it (tests/plugins); a script in its place counts
 * its starts.
 */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "host/plugin/loader.h"
#include "host/plugin/probe.h"
#include "suite.h"
#include "workspace.h"

static const char *refusal(const char *program, const char *plugin, int wanted)
{
    static struct problem problem;
    int status;

    problem.text[0] = '\0';
    status = probe_plugin(program, plugin, plugin, &problem);
    if (status != wanted)
        printf("%d %s\n", status, problem.text);
    CU_ASSERT_EQUAL(status, wanted);
    if (status == WEIR_OK)
        return "";
    CU_ASSERT_EQUAL(strncmp(problem.text, plugin, strlen(plugin)), 0);
    return problem.text + strlen(plugin);
}

static void test_right_plugin_passes(void)
{
    unsetenv("WEIR_PLUGIN_TIMEOUT");
    (void)refusal(TEST_PROGRAM, TEST_PLUGINS "/sample.so", WEIR_OK);
}

static void test_wrong_tables_are_reported_as_before(void)
{
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(TEST_PROGRAM, TEST_PLUGINS "/no_callback.so", WEIR_EINVALID),
               ": has neither handle nor produce"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(TEST_PROGRAM, TEST_PLUGINS "/undefined_symbol.so", WEIR_EUNSUPPORTED),
               "function_of_nobody"));
}

static void test_constructor_that_exits_is_reported_with_its_words(void)
{
    CU_ASSERT_STRING_EQUAL(
        refusal(TEST_PROGRAM, TEST_PLUGINS "/constructor_exits.so", WEIR_EUNSUPPORTED),
        ": cannot be loaded: its constructor ended the program with exit code 3; it said: no "
        "licence was found");
}

static void test_constructor_that_crashes_is_reported_by_its_signal(void)
{
    struct rlimit no_core = { 0, 0 };

    setrlimit(RLIMIT_CORE, &no_core);
    /* AddressSanitizer would end it by an exit code of its own. */
    setenv("ASAN_OPTIONS", "handle_segv=0", 1);
    setenv("TSAN_OPTIONS", "handle_segv=0", 1);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(refusal(TEST_PROGRAM, TEST_PLUGINS "/constructor_crashes.so", WEIR_EUNSUPPORTED),
               ": cannot be loaded: killed by SIGSEGV while it was loaded"));
}

/* Its processes become children of this one, so that none of them can go unseen. */
static void test_constructor_that_hangs_is_ended_with_all_it_started(void)
{
    CU_ASSERT_EQUAL(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    setenv("WEIR_PLUGIN_TIMEOUT", "300ms", 1);
    CU_ASSERT_STRING_EQUAL(
        refusal(TEST_PROGRAM, TEST_PLUGINS "/constructor_hangs.so", WEIR_EUNSUPPORTED),
        ": cannot be loaded: its constructor did not return within 300ms");
    unsetenv("WEIR_PLUGIN_TIMEOUT");
    /* Waits for as long as one of them lives. */
    while (waitpid(-1, NULL, 0) > 0)
        ;
    CU_ASSERT_EQUAL(errno, ECHILD);
}

static void test_limit_that_is_none_is_reported(void)
{
    setenv("WEIR_PLUGIN_TIMEOUT", "soon", 1);
    CU_ASSERT_STRING_EQUAL(
        refusal(TEST_PROGRAM, TEST_PLUGINS "/sample.so", WEIR_EINVALID),
        ": cannot be loaded: WEIR_PLUGIN_TIMEOUT must be a duration such as 5s, got \"soon\"");
    setenv("WEIR_PLUGIN_TIMEOUT", "0", 1);
    (void)refusal(TEST_PROGRAM, TEST_PLUGINS "/sample.so", WEIR_EINVALID);
    unsetenv("WEIR_PLUGIN_TIMEOUT");
}

static void test_program_that_is_not_there_is_reported(void)
{
    CU_ASSERT_STRING_EQUAL(
        refusal("/this/is/not/there", TEST_PLUGINS "/sample.so", WEIR_ENOTALLOWED),
        ": no process could be started that loads it first: /this/is/not/there: No such file or "
        "directory");
    CU_ASSERT_STRING_EQUAL(
        refusal("/proc/self/nothing", TEST_PLUGINS "/sample.so", WEIR_ENOTALLOWED),
        ": no process could be started that loads it first: /proc/self/nothing: No such file or "
        "directory; is /proc mounted?");
}

/* A program that starts the real one, and adds a byte to a file with each start. */
static void write_counting_program(const struct workspace *workspace, char *out_program,
                                   char *out_count)
{
    char text[1024];

    workspace_path(workspace, "program", out_program);
    workspace_path(workspace, "count", out_count);
    (void)snprintf(text, sizeof text, "#!/bin/sh\nprintf x >>'%s'\nexec '%s' \"$@\"\n", out_count,
                   TEST_PROGRAM);
    workspace_write(out_program, text, strlen(text));
    CU_ASSERT_EQUAL(chmod(out_program, 0700), 0);
    workspace_write(out_count, "", 0);
}

static long size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

static int load(struct loader *loader, const char *file, struct problem *problem)
{
    const struct loaded *loaded;

    return loader_load_file(loader, file, &loaded, problem);
}

static void test_only_new_content_is_probed(void)
{
    struct workspace workspace;
    struct loader *loader;
    struct problem problem;
    char program[256], count[256], file[256];

    workspace_init(&workspace);
    write_counting_program(&workspace, program, count);
    setenv("WEIR_PLUGIN_TMP", workspace.path, 1);
    CU_ASSERT_EQUAL_FATAL(loader_create(program, &loader), WEIR_OK);
    workspace_copy(TEST_PLUGINS "/sample.so", workspace_path(&workspace, "sample.so", file));
    CU_ASSERT_EQUAL(load(loader, file, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(size_of(count), 1);
    CU_ASSERT_EQUAL(load(loader, file, &problem), WEIR_OK);
    workspace_copy(TEST_PLUGINS "/sample.so", file);
    CU_ASSERT_EQUAL(load(loader, file, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(size_of(count), 1);
    workspace_copy(TEST_PLUGINS "/next/sample.so", file);
    CU_ASSERT_EQUAL(load(loader, file, &problem), WEIR_OK);
    CU_ASSERT_EQUAL(size_of(count), 2);
    /* Refused content may lack something that comes later, so it is tried again. */
    workspace_copy(TEST_PLUGINS "/constructor_exits.so", file);
    CU_ASSERT_EQUAL(load(loader, file, &problem), WEIR_EUNSUPPORTED);
    CU_ASSERT_EQUAL(load(loader, file, &problem), WEIR_EUNSUPPORTED);
    CU_ASSERT_EQUAL(size_of(count), 4);
    CU_ASSERT_EQUAL(strncmp(problem.text, file, strlen(file)), 0);
    loader_destroy(loader);
    workspace_finish(&workspace);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "right plugin", test_right_plugin_passes },
        { "wrong tables", test_wrong_tables_are_reported_as_before },
        { "constructor exits", test_constructor_that_exits_is_reported_with_its_words },
        { "constructor crashes", test_constructor_that_crashes_is_reported_by_its_signal },
        { "constructor hangs", test_constructor_that_hangs_is_ended_with_all_it_started },
        { "limit that is none", test_limit_that_is_none_is_reported },
        { "no program", test_program_that_is_not_there_is_reported },
        { "only new content", test_only_new_content_is_probed },
        CU_TEST_INFO_NULL,
    };

    return suite_run("probe", tests);
}
