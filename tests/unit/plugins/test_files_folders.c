/* SPDX-License-Identifier: MIT */
/*
 * Goal: a folder or a file that cannot be looked up is never "nothing there" for files.tail and
 * files.lines: it is in the log with its reason, and its files are read once it can be (promise
 * B147). With `on_change: skip` no file is followed twice, and none is read from its start.
 * Method: all calls of scandir, lstat or stat fail with one errno, of a table; then none does.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "faults.h"
#include "tail_fixture.h"

enum meaning { NOTHING, SHORTAGE, TROUBLE };

static const struct {
    int error;
    enum meaning meaning;
} errors[] = {
    { EACCES, TROUBLE },  { EIO, TROUBLE },     { ELOOP, TROUBLE },
    { EPERM, TROUBLE },   { EMFILE, SHORTAGE }, { ENFILE, SHORTAGE },
    { ENOMEM, SHORTAGE }, { ENOENT, NOTHING },  { ENOTDIR, NOTHING },
};

/* A glob, and the call that finds its files. */
static const struct {
    const char *glob;
    const char *call;
} ways[] = {
    { "logs/*.log", "scandir" },
    { "log?/a.log", "lstat" },
    { "logs/a.log", "lstat" },
};

#define ERRORS (sizeof errors / sizeof *errors)
#define WAYS (sizeof ways / sizeof *ways)

static void begin(struct fixture *f, const char *behaviour, const char *args)
{
    scratch_init(&f->scratch);
    (void)scratch_directory(&f->scratch, "logs");
    CU_ASSERT_EQUAL_FATAL(chdir(f->scratch.path), 0);
    fixture_append_to(f, "logs/a.log", "a\n");
    f->seen = 0;
    f->kit = weir_kit_create(&weir_plugin_v1, behaviour);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->kit);
    (void)snprintf(f->args, sizeof f->args, "%s", args);
}

static void end(struct fixture *f)
{
    CU_ASSERT_EQUAL(chdir("/"), 0);
    fixture_finish(f);
}

static void expect_log(const struct fixture *f, const char *no_match, enum meaning meaning)
{
    const struct weir_kit *kit = f->kit;
    bool has_none = weir_kit_has_logged(kit, WEIR_LOG_WARNING, no_match) ||
                    weir_kit_has_logged(kit, WEIR_LOG_INFO, no_match);

    CU_ASSERT_EQUAL(has_none, meaning == NOTHING);
    CU_ASSERT_EQUAL(weir_kit_has_logged(kit, WEIR_LOG_WARNING, "path cannot be looked up"),
                    meaning == TROUBLE);
    CU_ASSERT_EQUAL(
        weir_kit_has_logged(kit, WEIR_LOG_WARNING, "files wait; the host lacks what they need"),
        meaning == SHORTAGE);
}

static void follow(size_t way, size_t number)
{
    const enum meaning meaning = errors[number].meaning;
    struct fixture f;
    char args[128];

    (void)snprintf(args, sizeof args, "paths: ['%s']\n", ways[way].glob);
    begin(&f, "tail", args);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
    faults_begin_at(faults_call(ways[way].call), 1, errors[number].error);
    fixture_expect(&f, "");
    fixture_expect(&f, "");
    CU_ASSERT_TRUE(faults_end() > 0);
    expect_log(&f, "no file matches yet", meaning);
    CU_ASSERT_EQUAL(weir_kit_log_count(f.kit), 1); /* not with each check */
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), meaning == TROUBLE);
    if (meaning != NOTHING) /* else nothing has changed since */
        fixture_expect(&f, "a\n");
    end(&f);
}

/* promise B147 */
static void test_tail_reads_them_later(void)
{
    for (size_t way = 0; way < WAYS; way++)
        for (size_t number = 0; number < ERRORS; number++)
            follow(way, number);
}

static void read_once(size_t way, size_t number)
{
    const enum meaning meaning = errors[number].meaning;
    struct fixture f;
    const void *settings;
    char args[128];
    int status;

    (void)snprintf(args, sizeof args, "paths: ['%s']\n", ways[way].glob);
    begin(&f, "lines", args);
    settings = weir_kit_settings(f.kit, f.args);
    faults_begin_at(faults_call(ways[way].call), 1, errors[number].error);
    status = weir_kit_open(f.kit, settings);
    CU_ASSERT_TRUE(faults_end() > 0);
    CU_ASSERT_EQUAL(status, meaning == SHORTAGE ? WEIR_ENOMEM : 0); /* opened again, later */
    if (status == 0) {
        expect_log(&f, "no file matches", meaning);
        CU_ASSERT_EQUAL(weir_kit_produce_all(f.kit, 3), WEIR_END);
        CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
    }
    end(&f);
}

static void read_with_position(size_t way, size_t number)
{
    const enum meaning meaning = errors[number].meaning;
    struct fixture f;
    char args[128];

    (void)snprintf(args, sizeof args, "paths: ['%s']\nposition: position\n", ways[way].glob);
    begin(&f, "lines", args);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
    faults_begin_at(faults_call(ways[way].call), 1, errors[number].error);
    CU_ASSERT_EQUAL(weir_kit_produce_all(f.kit, 3), meaning == SHORTAGE ? WEIR_WAIT : WEIR_END);
    CU_ASSERT_TRUE(faults_end() > 0);
    expect_log(&f, "no file matches", meaning);
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), meaning != SHORTAGE);
    end(&f);
}

/* promise B147 */
static void test_lines_end_with_1(void)
{
    for (size_t way = 0; way < WAYS; way++) {
        for (size_t number = 0; number < ERRORS; number++) {
            read_once(way, number);
            read_with_position(way, number);
        }
    }
}

/* A name that is found, and cannot be followed to its file. */
static void test_a_match_that_cannot_be_looked_at(void)
{
    for (size_t number = 0; number < ERRORS; number++) {
        const enum meaning meaning = errors[number].meaning;
        struct fixture f;

        begin(&f, "tail", "paths: ['logs/*.log']\n");
        CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
        faults_begin_at(faults_call("stat"), 1, errors[number].error);
        fixture_expect(&f, "");
        fixture_expect(&f, "");
        CU_ASSERT_TRUE(faults_end() > 0);
        CU_ASSERT_EQUAL(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "file cannot be read"),
                        meaning == TROUBLE);
        CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), meaning == TROUBLE);
        if (meaning != NOTHING) /* else nothing has changed since */
            fixture_expect(&f, "a\n");
        end(&f);
    }
}

/* promise B147: it is none that is gone; it may be in the folder. */
static void test_a_file_of_the_position_may_be_in_such_a_folder(void)
{
    const void *settings;
    struct fixture f;

    begin(&f, "tail", "paths: ['logs/*.log', 'old*/*.log']\nposition: position\n");
    (void)scratch_directory(&f.scratch, "old1");
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
    fixture_expect(&f, "a\n");
    fixture_done(&f, 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    fixture_append_to(&f, "logs/a.log", "b\n");
    fixture_move(&f, "logs/a.log", "old1/a.log");
    f.seen = 0;
    f.kit = weir_kit_create(&weir_plugin_v1, "tail");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.kit);
    settings = weir_kit_settings(f.kit, f.args);
    faults_begin(faults_call("scandir"), 3, EIO); /* after logs, and the folder of both */
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(f.kit, settings), 0);
    CU_ASSERT_EQUAL(faults_end(), 1);
    CU_ASSERT_TRUE(
        weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "file of the position cannot be reached"));
    CU_ASSERT_FALSE(
        weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "file of the position has changed"));
    fixture_expect(&f, "b\n");
    end(&f);
}

/* --- on_change: skip -------------------------------------------------------------------------- */

#define SKIP_ARGS "paths: ['logs/*.log']\nposition: position\non_change: skip\n"

static size_t letters(struct fixture *f, char *out, size_t size)
{
    const struct files_line *line;
    size_t count = 0;

    for (; (line = fixture_line_at(f, f->seen)) && count + 1 < size; f->seen++)
        out[count++] = files_line_text(line)[0];
    out[count] = '\0';
    return count;
}

static void expect_letters(struct fixture *f, const char *wanted)
{
    char got[32];

    weir_kit_advance(f->kit, 2 * POLL_MS);
    (void)weir_kit_produce_all(f->kit, 100);
    (void)letters(f, got, sizeof got);
    if (strcmp(got, wanted) != 0)
        (void)printf("\ngot \"%s\", not \"%s\" ", got, wanted);
    CU_ASSERT_STRING_EQUAL(got, wanted);
}

/* The next source, of which a call fails once for want of memory. */
static void open_next(struct fixture *f, size_t call, unsigned nth)
{
    for (int tries = 0; tries < 2; tries++) {
        const void *settings;

        f->seen = 0;
        f->kit = weir_kit_create(&weir_plugin_v1, "lines");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f->kit);
        settings = weir_kit_settings(f->kit, f->args);
        if (tries == 0)
            faults_begin(call, nth, ENOMEM);
        if (weir_kit_open(f->kit, settings) == 0)
            return;
        (void)weir_kit_destroy(f->kit);
    }
    CU_FAIL_FATAL("it does not open");
}

/* promise B18: one file of the position has the name of another one, which is gone. */
static void test_a_renamed_file_is_followed_once(void)
{
    struct fixture f;

    begin(&f, "lines", SKIP_ARGS);
    fixture_append_to(&f, "logs/b.log", "b\nc\n");
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
    expect_letters(&f, "abc");
    fixture_done(&f, 0);
    fixture_done(&f, 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    CU_ASSERT_EQUAL(unlink("logs/a.log"), 0);
    fixture_move(&f, "logs/b.log", "logs/a.log");
    open_next(&f, 0, 0);
    expect_letters(&f, "c");
    fixture_append_to(&f, "logs/a.log", "d\n");
    expect_letters(&f, "d");
    end(&f);
}

static unsigned skip_with_fault(size_t call, unsigned nth)
{
    unsigned failed;
    struct fixture f;

    begin(&f, "lines", SKIP_ARGS);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
    expect_letters(&f, "a");
    fixture_done(&f, 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    fixture_append_to(&f, "logs/new", "n\n");
    fixture_move(&f, "logs/new", "logs/a.log");
    open_next(&f, call, nth);
    expect_letters(&f, "");
    failed = faults_end();
    expect_letters(&f, "");
    if (weir_kit_sent_count(f.kit) > 0)
        (void)printf("%s number %u ", faults_name(call), nth);
    end(&f);
    return failed;
}

/* promise B119 */
static void test_a_shortage_skips_no_less(void)
{
    for (size_t call = 0; faults_name(call); call++)
        for (unsigned nth = 1; nth < 1000 && skip_with_fault(call, nth) > 0; nth++)
            ;
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "tail", test_tail_reads_them_later },
        { "lines", test_lines_end_with_1 },
        { "match", test_a_match_that_cannot_be_looked_at },
        { "position", test_a_file_of_the_position_may_be_in_such_a_folder },
        { "skip, renamed", test_a_renamed_file_is_followed_once },
        { "skip, short", test_a_shortage_skips_no_less },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files folders", tests);
}
