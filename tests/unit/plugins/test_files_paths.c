/* SPDX-License-Identifier: MIT */
/*
 * Goal:   mistakes in `paths` and `position` of files.lines and files.tail are found before a
 *         start, a glob without a match is in the log, and neither the files that `exclude` names
 *         nor those that the process writes are read. Shows promise B21.
 * Method: the test kit checks options without opening a source; a source opens over a folder that
 *         has a file for one of two globs.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "../host/suite.h"
#include "tail_fixture.h"

static const char *const behaviours[] = { "lines", "tail" };

/* `part`: of the mistakes; NULL: there is none. */
static void expect(const char *args, const char *part)
{
    for (size_t i = 0; i < sizeof behaviours / sizeof *behaviours; i++) {
        struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviours[i]);
        const void *settings = weir_kit_settings(kit, args);

        CU_ASSERT_EQUAL(settings != NULL, part == NULL);
        CU_ASSERT_TRUE(!part || strstr(weir_kit_mistakes(kit), part));
        CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    }
}

static void test_empty_words_are_mistakes(void)
{
    expect("paths: [a, '']", "paths: number 2 is empty");
    expect("paths: [a]\nposition: ''", "position: is empty");
    expect("paths: [a]\nposition: state/", "position: must be a file, got the folder state/");
}

static void test_position_among_the_files_is_a_mistake(void)
{
    expect("paths: ['log/*.log', 'log/*']\nposition: log/position",
           "position: log/* of `paths` matches it");
    expect("paths: [log/position]\nposition: log/position", "the source would read its own");
    expect("paths: ['log/*.log']\nposition: log/position", NULL);
    expect("paths: ['log/*']\nposition: log/.position", NULL);
    expect("paths: ['*']\nposition: state/position", NULL);
    expect("paths: ['*']", NULL);
}

static void test_position_among_the_files_by_another_spelling_is_a_mistake(void)
{
    static const char *const folders[] = { "log", "./log", ".//log/.", "linked", "linked/../log" };
    struct scratch scratch;
    char args[256];

    scratch_init(&scratch);
    (void)scratch_directory(&scratch, "log");
    CU_ASSERT_EQUAL_FATAL(chdir(scratch.path), 0);
    CU_ASSERT_EQUAL(symlink("log", "linked"), 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        for (size_t j = 0; j < sizeof folders / sizeof *folders; j++) {
            (void)snprintf(args, sizeof args, "paths: ['%s/*']\nposition: '%s/pos'", folders[i],
                           folders[j]);
            expect(args, "position: ");
            (void)snprintf(args, sizeof args, "paths: ['%s/*']\nexclude: [pos]\nposition: '%s/pos'",
                           folders[i], folders[j]);
            expect(args, NULL);
        }
    }
    expect("paths: ['./no/*']\nposition: no/pos", "position: "); /* a folder that is not there */
    expect("paths: ['*/pos']\nposition: log/pos", "position: ");
    CU_ASSERT_EQUAL(chdir("/"), 0);
    scratch_finish(&scratch);
}

/* --- files that are left out ------------------------------------------------------------------ */

/* Opens `behaviour` with these options over files whose lines are their names. The lines of the
 * files that are read, each with a blank. */
static void read_names(const char *behaviour, const char *more, char *out, size_t size)
{
    static const char *const names[] = { "app.log", "app.log.1", "app.log.2.gz", "app.log.tmp" };
    struct fixture f;
    const struct files_line *line;

    scratch_init(&f.scratch);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture_append_to(&f, names[i], names[i]);
        fixture_append_to(&f, names[i], "\n");
    }
    (void)snprintf(f.args, sizeof f.args, "paths: ['%s/app*']\n", f.scratch.path);
    (void)snprintf(f.args + strlen(f.args), sizeof f.args - strlen(f.args), more, f.scratch.path);
    f.kit = weir_kit_create(&weir_plugin_v1, behaviour);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
    (void)weir_kit_produce_all(f.kit, 10);
    *out = '\0';
    for (size_t i = 0; (line = fixture_line_at(&f, i)); i++)
        (void)snprintf(out + strlen(out), size - strlen(out), "%s ", files_line_text(line));
    fixture_finish(&f);
}

static void test_excluded_files_are_left_out(void)
{
    static const struct {
        const char *more, *names;
    } rows[] = {
        { "exclude: ['*.gz']", "app.log app.log.1 app.log.tmp " },
        { "exclude: ['*.gz', '*.tmp']", "app.log app.log.1 " },
        { "exclude: ['%1$s/app.log.?']", "app.log app.log.2.gz app.log.tmp " },
        { "exclude: ['%1$s/./*.gz']", "app.log app.log.1 app.log.tmp " },
        { "exclude: ['/elsewhere/*']", "app.log app.log.1 app.log.2.gz app.log.tmp " },
        { "exclude: []", "app.log app.log.1 app.log.2.gz app.log.tmp " },
    };
    char got[256], more[256];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        read_names("tail", rows[i].more, got, sizeof got);
        CU_ASSERT_STRING_EQUAL(got, rows[i].names);
        read_names("lines", rows[i].more, got, sizeof got);
        CU_ASSERT_STRING_EQUAL(got, rows[i].names);
        (void)snprintf(more, sizeof more, "position: '%%1$s/position'\n%s", rows[i].more);
        read_names("lines", more, got, sizeof got);
        CU_ASSERT_STRING_EQUAL(got, rows[i].names);
    }
    expect("paths: [a]\nexclude: ['']", "exclude: number 1 is empty");
}

/* A file that was followed and is left out now, is left; it is not looked for under other names. */
static void test_excluded_file_of_the_position_is_left(void)
{
    struct fixture f;

    fixture_begin(&f, "app*", "");
    fixture_append_to(&f, "app.tmp", "one\n");
    fixture_expect(&f, "one\n");
    fixture_done(&f, 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    fixture_append_to(&f, "app.tmp", "two\n");
    fixture_open_with(&f, "app*", "exclude: ['*.tmp']");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_INFO, "no longer in paths, and is left"));
    fixture_expect(&f, "");
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    fixture_finish(&f);
}

/* --- files that this process writes ----------------------------------------------------------- */

static void test_file_that_the_process_writes_is_left_out(void)
{
    struct fixture f;
    FILE *output;

    scratch_init(&f.scratch);
    output = fopen(scratch_path(&f.scratch, "out.log"), "ae");
    CU_ASSERT_PTR_NOT_NULL_FATAL(output);
    CU_ASSERT_TRUE(fputs("an output\n", output) >= 0);
    CU_ASSERT_EQUAL(fflush(output), 0);
    fixture_append_to(&f, "in.log", "one\n");
    fixture_open_with(&f, "*.log", "");
    fixture_expect(&f, "one\n");
    fixture_expect(&f, "");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "out.log"));
    CU_ASSERT_EQUAL(weir_kit_log_count(f.kit), 1);
    /* A path without wildcards is meant. */
    CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
    fixture_open_with(&f, "out.log", "");
    fixture_expect(&f, "an output\n");
    CU_ASSERT_EQUAL(fclose(output), 0);
    fixture_finish(&f);
}

/* The check sees no link behind a wildcard. */
static void test_own_position_behind_a_wildcard_is_left_out(void)
{
    struct fixture f;
    char path[512];

    scratch_init(&f.scratch);
    (void)scratch_directory(&f.scratch, "log");
    (void)snprintf(path, sizeof path, "%s/log", f.scratch.path);
    CU_ASSERT_EQUAL(symlink(path, scratch_path(&f.scratch, "linked")), 0);
    fixture_append_to(&f, "log/a.log", "one\n");
    (void)snprintf(f.args, sizeof f.args, "paths: ['%s/link*/*']\nposition: '%s/position'\n",
                   f.scratch.path, path);
    fixture_start(&f);
    fixture_expect(&f, "one\n");
    for (int i = 0; i < 10; i++)
        fixture_expect(&f, "");
    fixture_finish(&f);
}

/* Opens `behaviour` over two globs, of which one matches. */
static void open_two(struct fixture *f, const char *behaviour, bool with_position)
{
    char one[512];

    scratch_init(&f->scratch);
    fixture_append_to(f, "a.log", "one\n");
    (void)snprintf(one, sizeof one, "%s", scratch_path(&f->scratch, "*.log"));
    (void)snprintf(f->args, sizeof f->args, "paths: ['%s', '%s']\n", one,
                   scratch_path(&f->scratch, "*.txt"));
    if (with_position)
        (void)snprintf(f->args + strlen(f->args), sizeof f->args - strlen(f->args),
                       "position: '%s'\n", scratch_path(&f->scratch, "position"));
    f->seen = 0;
    f->kit = weir_kit_create(&weir_plugin_v1, behaviour);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f->kit, f->args), 0);
}

static void test_glob_without_a_match_is_a_fault_of_lines(void)
{
    for (int with_position = 0; with_position < 2; with_position++) {
        struct fixture f;

        open_two(&f, "lines", with_position);
        (void)weir_kit_produce(f.kit, 100);
        CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "no file matches paths="));
        CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "*.txt"));
        CU_ASSERT_FALSE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "*.log"));
        CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
        fixture_finish(&f);
    }
}

/* With a position, too: then other code reads the files. */
static void test_folder_among_the_files_is_a_fault_of_lines(void)
{
    for (int with_position = 0; with_position < 2; with_position++) {
        struct fixture f;

        open_two(&f, "lines", with_position);
        CU_ASSERT_EQUAL(weir_kit_destroy(f.kit), 0);
        (void)scratch_directory(&f.scratch, "folder.txt");
        f.kit = weir_kit_create(&weir_plugin_v1, "lines");
        CU_ASSERT_EQUAL_FATAL(weir_kit_open_args(f.kit, f.args), 0);
        (void)weir_kit_produce_all(f.kit, 100);
        CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "folder.txt"));
        CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_WARNING, "reason=Is a directory"));
        CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 1);
        fixture_finish(&f);
    }
}

static void test_folder_is_no_file_of_tail(void)
{
    struct fixture f;

    scratch_init(&f.scratch);
    (void)snprintf(f.args, sizeof f.args, "paths: ['%s']\n", f.scratch.path);
    fixture_start(&f);
    fixture_expect(&f, "");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_INFO, "no file matches yet paths="));
    fixture_finish(&f);
}

/* Files may come later: a spool folder is empty most of the time. */
static void test_glob_without_a_match_is_told_once_by_tail(void)
{
    struct fixture f;

    open_two(&f, "tail", true);
    fixture_expect(&f, "one\n");
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_INFO, "no file matches yet paths="));
    CU_ASSERT_TRUE(weir_kit_has_logged(f.kit, WEIR_LOG_INFO, "*.txt"));
    CU_ASSERT_EQUAL(weir_kit_log_count(f.kit), 1);
    fixture_expect(&f, "");
    CU_ASSERT_EQUAL(weir_kit_log_count(f.kit), 1);
    CU_ASSERT_EQUAL(weir_kit_exit_status(f.kit), 0);
    fixture_finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "empty words", test_empty_words_are_mistakes },
        { "position among the files", test_position_among_the_files_is_a_mistake },
        { "spelling", test_position_among_the_files_by_another_spelling_is_a_mistake },
        { "exclude", test_excluded_files_are_left_out },
        { "exclude, position", test_excluded_file_of_the_position_is_left },
        { "output", test_file_that_the_process_writes_is_left_out },
        { "own position", test_own_position_behind_a_wildcard_is_left_out },
        { "no match of lines", test_glob_without_a_match_is_a_fault_of_lines },
        { "folder of lines", test_folder_among_the_files_is_a_fault_of_lines },
        { "folder of tail", test_folder_is_no_file_of_tail },
        { "no match of tail", test_glob_without_a_match_is_told_once_by_tail },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files paths", tests);
}
