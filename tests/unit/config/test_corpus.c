/* SPDX-License-Identifier: MIT */
/*
 * Goal: every mistake of a file is reported with its position, its path and its reason, and a good
 * file has none (promise C1, promise C2; promise O4 by the files called cycle_*, promise H11 by
 * those called keyless*, promise B63 by those called *unbound*, promise B64 by those called
 * *reached*, promise C26 by those called *meetings*, promise C27 by keyed,
 * promise C35 by origins_*).
 * Method: files of tests/config/bad begin with the expected messages, as `# expect: LINE:COL: path:
 * reason`; those of tests/config/good may begin with `# expect-warning:` lines. Both are read and
 * checked against a catalogue of fake behaviours, and the messages are compared whole. With the
 * name of a file as argument the program prints the messages for that file.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "config/check.h"
#include "unit/config/fake_catalogue.h"
#include "unit/host/suite.h"

#define CPUS 4
#define LINE_SIZE 1024

static const char error_word[] = "# expect: ";
static const char warning_word[] = "# expect-warning: ";

/* Environment of all files. */
static const char *variable(void *context, const char *name)
{
    (void)context;
    if (strcmp(name, "SIZE") == 0)
        return "3";
    if (strcmp(name, "MANY") == 0)
        return "many";
    return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static int check_file(const char *file, struct report *report)
{
    struct config_source source = { .variable = variable, .is_checked_next = true };
    struct config_tree *tree = NULL;
    struct settings *settings = NULL;
    int status = config_read_file(file, &source, report, &tree);

    if (status == WEIR_OK)
        status = config_check(tree, &fake_catalogue, CPUS, report, &settings);
    config_tree_destroy(tree);
    settings_destroy(settings);
    return status;
}

/* --- expectations ---------------------------------------------------------------------------- */

/* `LINE:COL: path: reason`; a place in another file than the first keeps its base name. */
static void describe(const struct report_entry *entry, const char *file, char *text, size_t size)
{
    char whole[LINE_SIZE];
    const char *slash = entry->file ? strrchr(entry->file, '/') : NULL;
    size_t skip = slash ? (size_t)(slash - entry->file) + 1 : 0;

    (void)report_format(entry, whole, sizeof whole);
    if (entry->file && strcmp(entry->file, file) == 0)
        skip = strlen(file) + (whole[strlen(file)] == ':' ? 1 : 0);
    (void)snprintf(text, size, "%s", whole + skip);
}

/* The next line of `stream` that begins with `word`, without it; NULL after the last. */
static const char *next_expected(FILE *stream, const char *word, char *line)
{
    while (fgets(line, LINE_SIZE, stream) && line[0] == '#') {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, word, strlen(word)) == 0)
            return line + strlen(word);
    }
    return NULL;
}

static void complain(const char *file, const char *expected, const char *found)
{
    (void)fprintf(stderr, "%s:\n    expected: %s\n    found:    %s\n", file,
                  expected ? expected : "nothing", found ? found : "nothing");
}

static bool compare_list(const char *file, const char *word, const struct report_list *list)
{
    FILE *stream = fopen(file, "r");
    bool same = stream != NULL;
    const char *expected = NULL;
    char line[LINE_SIZE];
    char found[LINE_SIZE];

    for (size_t i = 0; stream && i < list->kept; i++) {
        expected = next_expected(stream, word, line);
        describe(&list->entries[i], file, found, sizeof found);
        if (expected && strcmp(expected, found) == 0)
            continue;
        complain(file, expected, found);
        same = false;
    }
    expected = stream ? next_expected(stream, word, line) : NULL;
    if (expected)
        complain(file, expected, NULL);
    if (stream)
        (void)fclose(stream);
    return same && !expected;
}

static void compare_file(const char *file, int wanted_status)
{
    struct report report;
    int status;

    report_init(&report);
    status = check_file(file, &report);
    CU_ASSERT_EQUAL(status, wanted_status);
    CU_ASSERT_EQUAL(report_count(&report) > 0, status != WEIR_OK);
    CU_ASSERT(compare_list(file, error_word, &report.errors));
    CU_ASSERT(compare_list(file, warning_word, &report.warnings));
    report_finish(&report);
}

static size_t compare_files(const char *pattern, int wanted_status)
{
    glob_t files;
    size_t count = 0;

    if (glob(pattern, 0, NULL, &files) == 0) {
        for (count = 0; count < files.gl_pathc; count++)
            compare_file(files.gl_pathv[count], wanted_status);
    }
    globfree(&files);
    return count;
}

static void test_bad_files_are_refused_with_the_expected_words(void)
{
    CU_ASSERT(compare_files("tests/config/bad/*.yaml", WEIR_EINVALID) >= 60);
}

static void test_good_files_are_accepted(void)
{
    CU_ASSERT(compare_files("tests/config/good/*.yaml", WEIR_OK) >= 10);
}

static int print_file(const char *file)
{
    struct report report;
    char text[LINE_SIZE];
    int status;

    report_init(&report);
    status = check_file(file, &report);
    for (size_t i = 0; i < report.errors.kept; i++) {
        describe(&report.errors.entries[i], file, text, sizeof text);
        (void)printf("%s%s\n", error_word, text);
    }
    for (size_t i = 0; i < report.warnings.kept; i++) {
        describe(&report.warnings.entries[i], file, text, sizeof text);
        (void)printf("%s%s\n", warning_word, text);
    }
    report_finish(&report);
    return status == WEIR_OK ? 0 : 1;
}

int main(int argument_count, char **arguments)
{
    CU_TestInfo tests[] = {
        { "bad files", test_bad_files_are_refused_with_the_expected_words },
        { "good files", test_good_files_are_accepted },
        CU_TEST_INFO_NULL,
    };

    return argument_count > 1 ? print_file(arguments[1]) : suite_run("corpus", tests);
}
