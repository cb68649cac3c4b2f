/*
 * Goal:   mistakes in `paths` and `position` of files.lines and files.tail are found before a
 *         start, and a glob without a match is in the log.
 * Method: the test kit checks options without opening a source; a source opens over a folder that
 *         has a file for one of two globs.
 */
#include <stdio.h>
#include <string.h>

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
        { "no match of lines", test_glob_without_a_match_is_a_fault_of_lines },
        { "folder of lines", test_folder_among_the_files_is_a_fault_of_lines },
        { "folder of tail", test_folder_is_no_file_of_tail },
        { "no match of tail", test_glob_without_a_match_is_told_once_by_tail },
        CU_TEST_INFO_NULL,
    };

    return suite_run("plugin files paths", tests);
}
