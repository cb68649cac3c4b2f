/* SPDX-License-Identifier: MIT */
/*
 * Goal: ${...} is replaced in values alone, before they are typed and never as structure; secrets
 * stay secret.
 * Method: an environment made here, a file of secrets in a directory of its own.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/config/reading.h"
#include "unit/host/suite.h"

static const char *variable(void *context, const char *name)
{
    (void)context;
    if (strcmp(name, "NAME") == 0)
        return "weir";
    if (strcmp(name, "TRICK") == 0)
        return "x, {y: z}]\n- *a ${NAME}";
    if (strcmp(name, "BROKEN") == 0)
        return "\xff";
    if (strcmp(name, "LONG") == 0)
        return "0123456789";
    return strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static int read_text(const char *text, struct report *report, struct config_tree **out)
{
    struct config_source source = { .variable = variable, .limits = { .bytes = 100 } };

    return config_read_text("t.yaml", text, strlen(text), &source, report, out);
}

/* The value of `a` after substitution. */
static void expect_value(const char *text, const char *expected)
{
    struct config_tree *tree = NULL;
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(read_text(text, &report, &tree), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(config_find(tree->root, "a")->text, expected);
    CU_ASSERT(!config_find(tree->root, "a")->null);
    config_tree_destroy(tree);
    report_finish(&report);
}

static void expect_refused(const char *text, const char *expected)
{
    struct config_tree *tree = NULL;
    struct report report;
    char line[512] = "";

    report_init(&report);
    CU_ASSERT_EQUAL(read_text(text, &report, &tree), WEIR_EINVALID);
    if (report.errors.kept)
        (void)report_format(&report.errors.entries[0], line, sizeof line);
    CU_ASSERT_STRING_EQUAL(line, expected);
    report_finish(&report);
}

static void test_variable_is_replaced_wherever_it_stands(void)
{
    expect_value("a: ${NAME}", "weir");
    expect_value("a: x-${NAME}-${NAME}-y", "x-weir-weir-y");
    expect_value("a: \"${NAME}\"", "weir");
    expect_value("a: $NAME $ ${NAME}$", "$NAME $ weir$");
}

static void test_default_stands_in_for_what_is_empty_or_not_set(void)
{
    expect_value("a: ${NOBODY:-else}", "else");
    expect_value("a: ${EMPTY:-else}", "else");
    expect_value("a: ${NAME:-else}", "weir");
    expect_value("a: ${NOBODY:-}", "");
    expect_value("a: ${EMPTY}", "");
}

static void test_dollar_written_twice_stands_for_itself(void)
{
    expect_value("a: $${NAME}", "${NAME}");
    expect_value("a: $$${NAME}", "$${NAME}");
}

static void test_what_is_put_in_is_text_and_nothing_else(void)
{
    expect_value("a: ${TRICK}", "x, {y: z}]\n- *a ${NAME}");
    expect_value("${NAME}: 1\na: b", "b");
}

static void test_wrong_reference_is_reported_with_its_path(void)
{
    expect_refused("b: {c: [1, \"${NOBODY}\"]}",
                   "t.yaml:1:12: b.c[1]: ${NOBODY} is not set and has no default");
    expect_refused("a: \"${NAME\"", "t.yaml:1:4: a: \"${\" is not closed by \"}\"");
    expect_refused("a: ${}", "t.yaml:1:4: a: \"${}\" is no ${NAME}, ${NAME:-default} or "
                             "${file:/path}");
    expect_refused("a: ${BROKEN}", "t.yaml:1:4: a: ${BROKEN} is not valid UTF-8");
}

static void test_alias_is_replaced_once(void)
{
    expect_value("b: &b \"$${NAME}\"\na: *b", "${NAME}");
}

static void test_growth_ends_at_the_limit(void)
{
    expect_refused("a: \"${LONG}${LONG}${LONG}${LONG}\"\n"
                   "b: \"${LONG}${LONG}${LONG}${LONG}${LONG}${LONG}${LONG}\"\n",
                   "t.yaml:2:4: b: makes the values of the file too long");
}

/* --- secrets ---------------------------------------------------------------------------------- */

static void write_secret(char *file, const char *text)
{
    int descriptor = mkstemp(file);

    CU_ASSERT_FATAL(descriptor >= 0);
    CU_ASSERT_EQUAL(write(descriptor, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(descriptor);
}

static void test_secret_is_read_and_never_shown(void)
{
    char file[] = "/tmp/weir-secret-XXXXXX";
    char text[256];
    struct report report;
    struct settings *settings = NULL;
    const struct fake_scale *scale;

    write_secret(file, "hush\n");
    report_init(&report);
    (void)snprintf(text, sizeof text,
                   "pools: {a: {use: thumb.scale, args: {label: \"${file:%s}\"}}}", file);
    CU_ASSERT_EQUAL_FATAL(reading_check(text, &fake_catalogue, &report, &settings), WEIR_OK);
    scale = options_settings(settings->pools[0].use.options);
    CU_ASSERT_STRING_EQUAL(scale->label, "hush");
    CU_ASSERT_STRING_EQUAL(options_text(settings->pools[0].use.options, "label"), "(secret)");
    settings_destroy(settings);
    (void)snprintf(text, sizeof text, "pools: {a: {use: thumb.scale, route: \"${file:%s}\"}}",
                   file);
    CU_ASSERT_EQUAL(reading_check(text, &fake_catalogue, &report, &settings), WEIR_EINVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.errors.entries[0].reason, "got a secret"));
    CU_ASSERT_PTR_NULL(strstr(report.errors.entries[0].reason, "hush"));
    report_finish(&report);
    (void)unlink(file);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "variable", test_variable_is_replaced_wherever_it_stands },
        { "default", test_default_stands_in_for_what_is_empty_or_not_set },
        { "dollar", test_dollar_written_twice_stands_for_itself },
        { "no structure", test_what_is_put_in_is_text_and_nothing_else },
        { "wrong", test_wrong_reference_is_reported_with_its_path },
        { "alias", test_alias_is_replaced_once },
        { "growth", test_growth_ends_at_the_limit },
        { "secret", test_secret_is_read_and_never_shown },
        CU_TEST_INFO_NULL,
    };

    return suite_run("substitute", tests);
}
