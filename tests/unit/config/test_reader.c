/* SPDX-License-Identifier: MIT */
/*
 * Goal: a text becomes the tree that it describes, and no text can make the reader spend more than
 * its limits or crash (promise C3).
 * Method: small texts whose nodes are looked at; hostile texts, made here, that would take a
 * parser minutes or gigabytes; limits as parameters, so that a few nodes reach them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/reader.h"
#include "unit/host/suite.h"

static int read_text(const char *text, size_t size, const struct config_limits *limits,
                     struct report *report, struct config_tree **out)
{
    struct config_source source = { 0 };

    if (limits)
        source.limits = *limits;
    return config_read_text("t.yaml", text, size, &source, report, out);
}

/* The tree of a text that is right. */
static struct config_tree *tree_of(const char *text)
{
    struct config_tree *tree = NULL;
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(read_text(text, strlen(text), NULL, &report, &tree), WEIR_OK);
    CU_ASSERT_EQUAL(report_count(&report), 0);
    report_finish(&report);
    return tree;
}

/* The first error of a text is `expected`, and there is no tree. */
static void expect_refused(const char *text, size_t size, const struct config_limits *limits,
                           const char *expected)
{
    struct config_tree *tree = NULL;
    struct report report;
    char line[512] = "";

    report_init(&report);
    CU_ASSERT_EQUAL(read_text(text, size, limits, &report, &tree), WEIR_EINVALID);
    if (report.errors.kept)
        (void)report_format(&report.errors.entries[0], line, sizeof line);
    if (strcmp(line, expected) != 0)
        (void)fprintf(stderr, "expected: %s\nfound:    %s\n", expected, line);
    CU_ASSERT_STRING_EQUAL(line, expected);
    CU_ASSERT_PTR_NULL(tree);
    report_finish(&report);
}

/* The tree of a text that is a part of a file; NULL when it is refused as `refusal` says. */
static struct config_tree *tree_of_part(const char *text, const char *refusal)
{
    const struct config_source source = { .is_part = true };
    struct config_tree *tree = NULL;
    struct report report;
    char line[512] = "";

    report_init(&report);
    (void)config_read_text("args", text, strlen(text), &source, &report, &tree);
    if (report.errors.kept)
        (void)report_format(&report.errors.entries[0], line, sizeof line);
    CU_ASSERT_STRING_EQUAL(line, refusal);
    report_finish(&report);
    return tree;
}

/* `part` written `count` times after `start`. Returns owned. */
static char *repeated(const char *start, const char *part, size_t count, size_t *out_size)
{
    size_t before = strlen(start);
    size_t length = strlen(part);
    char *text = malloc(before + length * count + 1);

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    memcpy(text, start, before);
    for (size_t i = 0; i < count; i++)
        memcpy(text + before + i * length, part, length);
    *out_size = before + length * count;
    text[*out_size] = '\0';
    return text;
}

static void expect_repeated_refused(const char *start, const char *part, size_t count,
                                    const char *expected)
{
    size_t size;
    char *text = repeated(start, part, count, &size);

    expect_refused(text, size, NULL, expected);
    free(text);
}

/* --- trees ------------------------------------------------------------------------------------ */

static void test_every_key_and_value_knows_its_place(void)
{
    struct config_tree *tree = tree_of("a: 1\nb:\n  - x\n  - {c: \"d\"}\n");
    const struct config_pair *a = config_find_pair(tree->root, "a");
    const struct config_node *b = config_find(tree->root, "b");

    CU_ASSERT_EQUAL(a->key->mark.line, 1);
    CU_ASSERT_EQUAL(a->value->mark.column, 4);
    CU_ASSERT_STRING_EQUAL(a->value->mark.file, "t.yaml");
    CU_ASSERT_EQUAL_FATAL(b->kind, CONFIG_LIST);
    CU_ASSERT_EQUAL(b->count, 2);
    CU_ASSERT_EQUAL(b->pairs[1].value->mark.line, 4);
    CU_ASSERT_EQUAL(config_find(b->pairs[1].value, "c")->mark.column, 9);
    CU_ASSERT_PTR_NULL(config_find(b, "c"));
    CU_ASSERT_PTR_NULL(config_find(NULL, "c"));
    config_tree_destroy(tree);
}

static void test_nothing_is_reported_from_an_empty_text(void)
{
    struct config_tree *tree = tree_of("a:\nb: ~\nc: null\nd: \"\"\ne: \"null\"\n");

    CU_ASSERT(config_find(tree->root, "a")->null);
    CU_ASSERT(config_find(tree->root, "b")->null);
    CU_ASSERT(config_find(tree->root, "c")->null);
    CU_ASSERT(!config_find(tree->root, "d")->null);
    CU_ASSERT(!config_find(tree->root, "e")->null);
    config_tree_destroy(tree);
}

static void test_merge_adds_what_is_not_there(void)
{
    struct config_tree *tree = tree_of("x: &x {a: 1, b: 2}\n"
                                       "y: &y {b: 3, c: 4}\n"
                                       "z: {<<: [*x, *y], a: 0}\n");
    const struct config_node *z = config_find(tree->root, "z");

    CU_ASSERT_EQUAL(z->count, 3);
    CU_ASSERT_STRING_EQUAL(config_find(z, "a")->text, "0");
    CU_ASSERT_STRING_EQUAL(config_find(z, "b")->text, "2");
    CU_ASSERT_STRING_EQUAL(config_find(z, "c")->text, "4");
    config_tree_destroy(tree);
}

static void test_anchor_defined_again_is_the_later(void)
{
    struct config_tree *tree = tree_of("a: &n 1\nb: *n\nc: &n 2\nd: *n\n");

    CU_ASSERT_STRING_EQUAL(config_find(tree->root, "b")->text, "1");
    CU_ASSERT_STRING_EQUAL(config_find(tree->root, "d")->text, "2");
    config_tree_destroy(tree);
}

static void test_byte_order_mark_shifts_no_column(void)
{
    struct config_tree *tree = tree_of("\xef\xbb\xbf"
                                       "a: 1\n");

    CU_ASSERT_EQUAL(config_find(tree->root, "a")->mark.column, 4);
    config_tree_destroy(tree);
}

static void test_plugin_directories_are_found_before_the_check(void)
{
    struct config_tree *tree = tree_of("host: {plugins: [a, {}, b]}\n");
    struct config_tree *none = tree_of("host: {plugins: a}\n");
    const char *directories[1];

    CU_ASSERT_EQUAL(config_plugin_directories(tree, directories, 1), 2);
    CU_ASSERT_STRING_EQUAL(directories[0], "a");
    CU_ASSERT_EQUAL(config_plugin_directories(none, directories, 1), 0);
    config_tree_destroy(tree);
    config_tree_destroy(none);
}

/* --- hostile texts ---------------------------------------------------------------------------- */

static void test_deep_nesting_ends_at_the_limit(void)
{
    expect_repeated_refused("", "[", 100000, "t.yaml:1:65: is nested deeper than 64 levels");
    expect_repeated_refused("", "{a: ", 60000, "t.yaml:1:257: is nested deeper than 64 levels");
    expect_repeated_refused("", "- ", 100000, "t.yaml:1:129: is nested deeper than 64 levels");
    expect_repeated_refused("", "? ", 100000, "t.yaml:1:129: is nested deeper than 64 levels");
}

static void test_many_directives_are_not_compared_with_each_other(void)
{
    expect_repeated_refused("", "%TAG !a! x\n", 400000,
                            "t.yaml:1:1: %TAG directives are not supported");
    expect_repeated_refused("a: 1\n...\n", "%YAML 1.1\n", 400000,
                            "t.yaml:4:1: not valid YAML: found duplicate %YAML directive");
}

static void test_alias_bomb_ends_at_the_limit(void)
{
    struct config_limits limits = { .nodes = 45 };
    static const char text[] = "a: &a [x, x, x, x]\n"
                               "b: &b [*a, *a, *a]\n"
                               "c: [*b, *b, *b]\n";

    expect_refused(text, strlen(text), &limits,
                   "t.yaml:3:9: c[1]: holds more than 45 values with aliases written out");
}

static void test_merge_counts_as_written_out(void)
{
    struct config_limits limits = { .nodes = 20 };
    static const char text[] = "a: &a {a: 1, b: 2, c: 3}\n"
                               "b: {<<: *a}\n";

    expect_refused(text, strlen(text), &limits,
                   "t.yaml:1:4: b: holds more than 20 values with aliases written out");
}

static void test_text_may_be_as_long_as_the_limit(void)
{
    struct config_limits limits = { .text = 4 };
    struct config_tree *tree = NULL;
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL(read_text("a: 1234\n", 8, &limits, &report, &tree), WEIR_OK);
    report_finish(&report);
    config_tree_destroy(tree);
    expect_refused("a: 12345\n", 9, &limits,
                   "t.yaml:1:4: a text has at most 4, this one has 5 bytes");
}

static void test_alias_cannot_nest_deeper_than_what_is_written(void)
{
    struct config_limits limits = { .depth = 4 };
    static const char text[] = "a: &a [[[x]]]\nb: [*a]\n";
    static const char shallow[] = "a: &a [[[x]]]\nb: *a\n";
    struct config_tree *tree = NULL;
    struct report report;

    expect_refused(text, strlen(text), &limits, "t.yaml:2:5: is nested deeper than 4 levels");
    report_init(&report);
    CU_ASSERT_EQUAL(read_text(shallow, strlen(shallow), &limits, &report, &tree), WEIR_OK);
    report_finish(&report);
    config_tree_destroy(tree);
}

static void test_many_nodes_end_at_the_limit(void)
{
    expect_repeated_refused(
        "a: [", "b,", 600000,
        "t.yaml:1:999999: a[499997]: holds more than 500000 values with aliases written out");
}

static void test_many_anchors_and_keys_are_found_at_once(void)
{
    struct config_tree *tree = NULL;
    struct report report;
    char *text = malloc(4000000);
    size_t used = 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    for (int i = 0; i < 40000; i++)
        used += (size_t)snprintf(text + used, 4000000 - used, "k%d: &a%d x\n", i, i);
    report_init(&report);
    CU_ASSERT_EQUAL(read_text(text, used, NULL, &report, &tree), WEIR_OK);
    CU_ASSERT_EQUAL(tree->root->count, 40000);
    config_tree_destroy(tree);
    report_finish(&report);
    free(text);
}

static void test_text_over_the_limit_is_not_looked_at(void)
{
    struct config_limits limits = { .bytes = 10 };

    expect_refused("a: 1234567\n", 11, &limits, "t.yaml: is longer than 10 bytes");
}

static void test_other_encodings_are_named(void)
{
    static const char little[] = "\xff\xfe"
                                 "a\0:\0";
    static const char big[] = "\0a\0:";
    static const char compiled[] = "\x7f"
                                   "ELF\2\1\1";

    expect_refused(little, sizeof little - 1, NULL,
                   "t.yaml:1:1: is UTF-16 or UTF-32, save it as UTF-8");
    expect_refused(big, sizeof big - 1, NULL, "t.yaml:1:1: is UTF-16 or UTF-32, save it as UTF-8");
    expect_refused(
        compiled, sizeof compiled - 1, NULL,
        "t.yaml:1:1: is compiled, and no configuration; `weir check --plugin FILE` checks "
        "a plugin");
    expect_refused("a: \xf4\x90\x80\x80", 7, NULL, "t.yaml:1:4: is not valid UTF-8");
    expect_refused("a: \xe2\x82", 5, NULL, "t.yaml:1:4: is not valid UTF-8");
    expect_refused("a: \x80", 4, NULL, "t.yaml:1:4: is not valid UTF-8");
    expect_refused("a: b\0c", 6, NULL, "t.yaml:1:5: holds a NUL character");
}

/* Pseudo-random texts of the bytes that mean something in YAML, from fixed seeds. */
static void test_noise_is_answered_and_not_believed(void)
{
    static const char bytes[] = "[]{}:,-?&*!|>'\"%@`#ab \n\t<~.${}";
    struct report report;
    char text[200];
    uint64_t state = 1;

    for (int round = 0; round < 3000; round++) {
        struct config_tree *tree = NULL;

        for (size_t i = 0; i < sizeof text; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            text[i] = bytes[(state >> 33) % (sizeof bytes - 1)];
        }
        report_init(&report);
        CU_ASSERT_EQUAL(read_text(text, sizeof text, NULL, &report, &tree) == WEIR_OK,
                        report_count(&report) == 0);
        config_tree_destroy(tree);
        report_finish(&report);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

static void expect_file_refused(const char *file, int status, const char *expected)
{
    struct config_tree *tree = NULL;
    struct report report;
    char line[512] = "";

    report_init(&report);
    CU_ASSERT_EQUAL(config_read_file(file, NULL, &report, &tree), status);
    if (report.errors.kept)
        (void)report_format(&report.errors.entries[0], line, sizeof line);
    CU_ASSERT_STRING_EQUAL(line, expected);
    report_finish(&report);
}

static void test_what_is_no_regular_file_is_refused_without_waiting(void)
{
    char directory[] = "/tmp/weir-reader-XXXXXX";
    char fifo[64];
    char expected[128];

    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", directory);
    (void)snprintf(expected, sizeof expected, "%s: is not a regular file", fifo);
    CU_ASSERT_EQUAL_FATAL(mkfifo(fifo, 0600), 0);
    expect_file_refused(fifo, WEIR_EINVALID, expected);
    expect_file_refused("/", WEIR_EINVALID, "/: is a directory");
    expect_file_refused("/dev/null", WEIR_EINVALID, "/dev/null: is not a regular file");
    expect_file_refused("/nowhere.yaml", WEIR_EUNKNOWN,
                        "/nowhere.yaml: cannot be opened: No such file or directory");
    (void)unlink(fifo);
    (void)rmdir(directory);
}

static void test_file_over_the_limit_is_refused_by_its_size(void)
{
    char file[] = "/tmp/weir-reader-XXXXXX";
    char expected[128];
    int descriptor = mkstemp(file);

    CU_ASSERT_FATAL(descriptor >= 0);
    CU_ASSERT_EQUAL(ftruncate(descriptor, (8 << 20) + 1), 0);
    (void)close(descriptor);
    (void)snprintf(expected, sizeof expected, "%s: is larger than 8MiB", file);
    expect_file_refused(file, WEIR_EINVALID, expected);
    (void)unlink(file);
}

static void test_part_of_a_file_may_be_empty_and_includes_nothing(void)
{
    static const char *const empty[] = { "", "# nothing\n", "~", "{}" };
    struct config_tree *tree;

    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        tree = tree_of_part(empty[i], "");
        CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
        CU_ASSERT_EQUAL(tree->root->kind, CONFIG_MAP);
        CU_ASSERT_EQUAL(tree->root->count, 0);
        CU_ASSERT_EQUAL(tree->root->mark.line, 1);
        config_tree_destroy(tree);
    }
    tree = tree_of_part("include: [nowhere.yaml]", "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(tree);
    CU_ASSERT_PTR_NOT_NULL(config_find(tree->root, "include"));
    config_tree_destroy(tree);
    CU_ASSERT_PTR_NULL(tree_of_part("- a", "args:1:1: must be a map of keys, got a list"));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "places", test_every_key_and_value_knows_its_place },
        { "nothing", test_nothing_is_reported_from_an_empty_text },
        { "merge", test_merge_adds_what_is_not_there },
        { "anchor again", test_anchor_defined_again_is_the_later },
        { "byte order mark", test_byte_order_mark_shifts_no_column },
        { "plugin directories", test_plugin_directories_are_found_before_the_check },
        { "deep", test_deep_nesting_ends_at_the_limit },
        { "directives", test_many_directives_are_not_compared_with_each_other },
        { "alias bomb", test_alias_bomb_ends_at_the_limit },
        { "merge counts", test_merge_counts_as_written_out },
        { "long text", test_text_may_be_as_long_as_the_limit },
        { "deep alias", test_alias_cannot_nest_deeper_than_what_is_written },
        { "many nodes", test_many_nodes_end_at_the_limit },
        { "many anchors", test_many_anchors_and_keys_are_found_at_once },
        { "long", test_text_over_the_limit_is_not_looked_at },
        { "encodings", test_other_encodings_are_named },
        { "noise", test_noise_is_answered_and_not_believed },
        { "no regular file", test_what_is_no_regular_file_is_refused_without_waiting },
        { "part", test_part_of_a_file_may_be_empty_and_includes_nothing },
        { "large file", test_file_over_the_limit_is_refused_by_its_size },
        CU_TEST_INFO_NULL,
    };

    return suite_run("reader", tests);
}
