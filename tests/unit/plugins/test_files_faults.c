/* SPDX-License-Identifier: MIT */
/*
 * Goal: a shortage in any call of files.tail is never "not there", "empty" or "another file": each
 * line comes once, and no file counts as changed (promise B119).
 * Method: scenes of starts, rotations and copies. In each scene each call of the C library that
 * looks at files or takes memory fails once, at its first time, its second, and so on until it is
 * not reached any more. Then the scene goes on, and all its lines are counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "faults.h"
#include "tail_fixture.h"

#define LOOKS 4         /* while a call fails */
#define FULL_MS 31000u  /* a check of all files comes */
#define TIMES_MAX 1000u /* of a call in a scene */

struct scene {
    const char *name;
    const char *before; /* options of the first source */
    const char *after;  /* of the next one; NULL: it stays */
    void (*change)(struct fixture *f);
    const char *lines; /* all that come, sorted; each one letter */
};

/* --- what happens ----------------------------------------------------------------------------- */

static void rotate(struct fixture *f)
{
    fixture_append_to(f, "logs/a.log", "b\n");
    fixture_move(f, "logs/a.log", "logs/a.log.1");
    fixture_append_to(f, "logs/a.log", "c\n");
}

static void rename_in_folder(struct fixture *f)
{
    fixture_append_to(f, "logs/a.log", "b\n");
    fixture_move(f, "logs/a.log", "logs/b.log");
}

static void copy_and_truncate(struct fixture *f)
{
    char *text;

    fixture_append_to(f, "logs/a.log", "b\n");
    text = scratch_read(&f->scratch, "logs/a.log");
    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    fixture_append_to(f, "logs/a.log.1", text);
    free(text);
    CU_ASSERT_EQUAL(truncate(scratch_path(&f->scratch, "logs/a.log"), 0), 0);
    fixture_append_to(f, "logs/a.log", "c\n");
}

static void add_files(struct fixture *f)
{
    fixture_append_to(f, "logs/a.log", "b\n");
    fixture_append_to(f, "logs/new.log", "c\n");
    fixture_append_to(f, "logs/x.log", "x\n");
}

static const struct scene scenes[] = {
    { "restart, rotated", "logs/*.log", "logs/*.log", rotate, "abc" },
    { "restart, renamed", "logs/*.log", "logs/*.log", rename_in_folder, "ab" },
    { "restart, respelt", "logs/*.log", "linked/*.log", rename_in_folder, "ab" },
    { "restart, respelt and rotated", "linked/*.log", "./logs/*.log", rotate, "abc" },
    { "restart, copied and truncated", "logs/*.log*", "logs/*.log*", copy_and_truncate, "abc" },
    { "restart, new files", "logs/*.log", "logs/*.log", add_files, "abc" },
    { "rotated", "logs/*.log", NULL, rotate, "abc" },
    { "rotated in paths", "logs/*.log*", NULL, rotate, "abc" },
    { "renamed", "logs/*.log", NULL, rename_in_folder, "ab" },
    { "copied and truncated", "logs/*.log*", NULL, copy_and_truncate, "abc" },
    { "new files", "logs/*.log", NULL, add_files, "abc" },
    { "new files, respelt", "linked/*.log", NULL, add_files, "abc" },
};

/* --- a scene with a fault --------------------------------------------------------------------- */

struct seen {
    char letters[64];
    size_t count;
};

static void take_lines(struct fixture *f, struct seen *seen)
{
    const struct files_line *line;

    for (; (line = fixture_line_at(f, f->seen)); f->seen++) {
        if (seen->count + 1 < sizeof seen->letters)
            seen->letters[seen->count++] = files_line_text(line)[0];
        fixture_done(f, f->seen);
    }
}

static void look(struct fixture *f, struct seen *seen, int times)
{
    for (int i = 0; i < times; i++) {
        fixture_look(f);
        take_lines(f, seen);
    }
}

/* With `exclude` of one name by its folder, which is resolved, too. */
static void set_args(struct fixture *f, const char *glob)
{
    (void)snprintf(f->args, sizeof f->args,
                   "paths: ['%s']\nexclude: ['./logs/x.log']\nrotate_wait: 1s\n"
                   "position: '%s'\n",
                   glob, scratch_path(&f->scratch, "position"));
}

/* The fault is one of the plugin. A host opens a source again that lacked something. */
static void open_at_last(struct fixture *f, size_t call, unsigned nth)
{
    const void *settings;

    f->kit = weir_kit_create(&weir_plugin_v1, "tail");
    f->seen = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->kit);
    settings = weir_kit_settings(f->kit, f->args);
    faults_begin(call, nth, ENOMEM);
    if (weir_kit_open(f->kit, settings) == 0)
        return;
    (void)weir_kit_destroy(f->kit);
    fixture_start(f);
}

static int by_byte(const void *left, const void *right)
{
    return *(const char *)left - *(const char *)right;
}

/* Returns how many calls have failed. */
static unsigned play(const struct scene *scene, size_t call, unsigned nth)
{
    struct seen seen = { .count = 0 };
    struct fixture f;
    unsigned failed;

    scratch_init(&f.scratch);
    (void)scratch_directory(&f.scratch, "logs");
    CU_ASSERT_EQUAL(symlink("logs", scratch_path(&f.scratch, "linked")), 0);
    CU_ASSERT_EQUAL_FATAL(chdir(f.scratch.path), 0);
    fixture_append_to(&f, "logs/a.log", "a\n");
    set_args(&f, scene->before);
    fixture_start(&f);
    look(&f, &seen, 2);
    if (scene->after) {
        CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
        set_args(&f, scene->after);
    }
    scene->change(&f);
    if (scene->after)
        open_at_last(&f, call, nth);
    else
        faults_begin(call, nth, ENOMEM);
    look(&f, &seen, LOOKS);
    failed = faults_end();
    look(&f, &seen, 2 * LOOKS);
    weir_kit_advance(f.kit, FULL_MS);
    look(&f, &seen, LOOKS);
    qsort(seen.letters, seen.count, 1, by_byte);
    if (strcmp(seen.letters, scene->lines) != 0 ||
        weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "file of the position has changed"))
        (void)printf("\n%s: %s number %u fails: \"%s\" ", scene->name, faults_name(call), nth,
                     seen.letters);
    CU_ASSERT_STRING_EQUAL(seen.letters, scene->lines);
    CU_ASSERT_FALSE(
        weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "file of the position has changed"));
    CU_ASSERT_EQUAL(chdir("/"), 0);
    fixture_finish(&f);
    return failed;
}

/* promise B119 */
static void test_no_call_that_fails_loses_or_repeats_a_line(void)
{
    unsigned all = 0;

    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        for (size_t call = 0; faults_name(call); call++) {
            unsigned nth = 1;

            while (nth < TIMES_MAX && play(&scenes[i], call, nth) > 0)
                nth++;
            CU_ASSERT_TRUE(nth < TIMES_MAX);
            all += nth - 1;
        }
    }
    (void)printf("%u faults ", all);
    CU_ASSERT_TRUE(all > 100);
}

/* --- files.lines ------------------------------------------------------------------------------ */

/* Opens the source with a fault, or, when that keeps it from opening, without. */
static void open_lines(struct fixture *f, size_t call, unsigned nth, int error)
{
    f->seen = 0;
    for (int tries = 0; tries < 2; tries++) {
        const void *settings;

        f->kit = weir_kit_create(&weir_plugin_v1, "lines");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f->kit);
        settings = weir_kit_settings(f->kit, f->args);
        if (tries == 0 && weir_is_short(error))
            faults_begin(call, nth, error);
        else if (tries == 0)
            faults_begin_at(call, nth, error);
        if (weir_kit_open(f->kit, settings) == 0)
            return;
        (void)weir_kit_destroy(f->kit);
        f->kit = NULL;
        if (!weir_is_short(error))
            return;
    }
    CU_FAIL_FATAL("the source does not open");
}

/* Returns the exit code of a host whose source ends; -1: it does not. */
static int read_to_end(struct fixture *f, struct seen *seen)
{
    int result = WEIR_WAIT, status;

    if (!f->kit) /* the source has not opened: the host ends with an error */
        return 1;
    for (int i = 0; i < 4 * LOOKS && result != WEIR_END; i++) {
        result = weir_kit_produce_all(f->kit, 100);
        take_lines(f, seen);
        weir_kit_advance(f->kit, POLL_MS);
    }
    weir_kit_close(f->kit, WEIR_END_NORMAL);
    status = weir_kit_exit_status(f->kit);
    CU_ASSERT_EQUAL(weir_kit_destroy(f->kit), 0);
    return result == WEIR_END ? status : -1;
}

/* Returns how many calls have failed. The lines are in one file, or in two. */
static unsigned read_with_fault(size_t call, unsigned nth, int error, bool is_one)
{
    struct seen seen = { .count = 0 };
    unsigned failed;
    struct fixture f;
    int status;
    bool is_all, is_right;

    scratch_init(&f.scratch);
    (void)scratch_directory(&f.scratch, "logs");
    CU_ASSERT_EQUAL_FATAL(chdir(f.scratch.path), 0);
    fixture_append_to(&f, "logs/a.log", "a\nb\n");
    fixture_append_to(&f, is_one ? "logs/a.log" : "logs/b.log", "c\n");
    if (weir_is_short(error))
        fixture_append_to(&f, "logs/x.log", "x\n");
    (void)snprintf(f.args, sizeof f.args, "paths: ['logs/*.log']\n%s\nposition: '%s'\n",
                   weir_is_short(error) ? "exclude: ['./logs/x.log']" : "",
                   scratch_path(&f.scratch, "position"));
    open_lines(&f, call, nth, error);
    status = read_to_end(&f, &seen);
    failed = faults_end();
    is_all = seen.count == 3;
    is_right = is_all ? status >= 0 : status == 1 || status == EX_IOERR;
    if (weir_is_short(error))
        is_right = is_all && (status == 0 || status == EX_IOERR);
    open_lines(&f, call, 0, 0);
    is_right = read_to_end(&f, &seen) >= 0 && is_right;
    qsort(seen.letters, seen.count, 1, by_byte);
    if (weir_is_short(error) && status == 0) /* else no position was saved */
        is_right &= strcmp(seen.letters, "abc") == 0;
    is_right &= strspn("abc", seen.letters) == 3;
    if (!is_right)
        (void)printf("\n%s number %u fails with %s: \"%s\", exit code %d ", faults_name(call), nth,
                     strerrorname_np(error), seen.letters, status);
    CU_ASSERT_TRUE(is_right);
    CU_ASSERT_EQUAL(chdir("/"), 0);
    scratch_finish(&f.scratch);
    return failed;
}

/* Without a position no line has an origin. Returns how many calls have failed. */
static unsigned read_in_one_go(size_t call, unsigned nth)
{
    int result = WEIR_WAIT;
    unsigned failed;
    struct fixture f;

    scratch_init(&f.scratch);
    (void)scratch_directory(&f.scratch, "logs");
    CU_ASSERT_EQUAL_FATAL(chdir(f.scratch.path), 0);
    fixture_append_to(&f, "logs/a.log", "a\nb\n");
    fixture_append_to(&f, "logs/b.log", "c\n");
    (void)snprintf(f.args, sizeof f.args, "paths: ['logs/*.log']\n");
    open_lines(&f, call, nth, ENOMEM);
    for (int i = 0; i < 4 * LOOKS && result != WEIR_END; i++) {
        result = weir_kit_produce_all(f.kit, 100);
        weir_kit_advance(f.kit, POLL_MS);
    }
    failed = faults_end();
    CU_ASSERT_EQUAL(result, WEIR_END);
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    CU_ASSERT_PTR_NOT_NULL(weir_kit_emitted(f.kit, 0, 2));
    CU_ASSERT_PTR_NULL(weir_kit_emitted(f.kit, 0, 3));
    weir_kit_close(f.kit, WEIR_END_NORMAL);
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    CU_ASSERT_EQUAL(chdir("/"), 0);
    scratch_finish(&f.scratch);
    return failed;
}

static void test_lines_without_a_position_wait_while_something_is_short(void)
{
    unsigned all = 0;

    for (size_t call = 0; faults_name(call); call++) {
        unsigned nth = 1;

        while (read_in_one_go(call, nth) > 0)
            nth++;
        all += nth - 1;
    }
    CU_ASSERT_TRUE(all > 0);
}

/* promise B119: after a shortage all lines come; after another fault the exit code says that some
 * are missing, and the next start sends them. */
static void test_lines_end_with_all_lines_or_with_1(void)
{
    static const int errors[] = { ENOMEM, EIO };
    unsigned all = 0;

    for (size_t i = 0; i < 2 * sizeof errors / sizeof *errors; i++) {
        const int error = errors[i / 2];

        for (size_t call = 0; faults_name(call); call++) {
            unsigned nth = 1;

            if (faults_is_of_memory(call) && !weir_is_short(error))
                continue;
            while (nth < TIMES_MAX && read_with_fault(call, nth, error, i % 2 == 0) > 0)
                nth++;
            CU_ASSERT_TRUE(nth < TIMES_MAX);
            all += nth - 1;
        }
    }
    (void)printf("%u faults ", all);
    CU_ASSERT_TRUE(all > 100);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "files.lines", test_lines_end_with_all_lines_or_with_1 },
        { "without a position", test_lines_without_a_position_wait_while_something_is_short },
        { "each call", test_no_call_that_fails_loses_or_repeats_a_line },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files faults", tests);
}
