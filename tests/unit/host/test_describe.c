/* SPDX-License-Identifier: MIT */
/*
 * Goal: the description of a plugin has the content of its tables, in the units that YAML takes.
 * Method: rows of options, and a plugin built for the tests, described into memory.
 */
#include <stdlib.h>
#include <string.h>

#include "host/plugin/describe.h"
#include "suite.h"

static const char *described(const struct weir_option *option)
{
    static char text[256];

    describe_option(text, sizeof text, option);
    return text;
}

static void test_bounds_are_in_the_units_of_the_kind(void)
{
    struct weir_option number = { .kind = WEIR_U32, .min = 1, .max = 1000, .fallback = "5" };
    struct weir_option size = { .kind = WEIR_SIZE, .min = 512, .max = 4 << 20, .required = true };
    struct weir_option time = { .kind = WEIR_DURATION, .min = 0, .max = 90000, .live = true };
    struct weir_option list = { .kind = WEIR_LIST, .min = 1, .max = 8 };
    struct weir_option below = { .kind = WEIR_I64, .min = -5, .max = -1 };

    CU_ASSERT_STRING_EQUAL(described(&number), "integer 1..1000, default 5");
    CU_ASSERT_STRING_EQUAL(described(&size), "size 512..4MiB, required");
    CU_ASSERT_STRING_EQUAL(described(&time), "duration 0ms..90s, live");
    CU_ASSERT_STRING_EQUAL(described(&list), "list of texts, 1..8 of them");
    CU_ASSERT_STRING_EQUAL(described(&below), "integer -5..-1");
}

static void test_secret_default_is_not_reported(void)
{
    struct weir_option option = { .kind = WEIR_STRING, .fallback = "hush", .secret = true };

    CU_ASSERT_STRING_EQUAL(described(&option), "text, secret");
}

static void test_choices_are_reported(void)
{
    static const char *const choices[] = { "a", "b", NULL };
    struct weir_option option = { .kind = WEIR_ENUM, .choices = choices, .fallback = "a" };

    CU_ASSERT_STRING_EQUAL(described(&option), "one of a | b, default a");
    option.kind = WEIR_LIST;
    CU_ASSERT_STRING_EQUAL(described(&option), "list of texts, or a | b, default a");
    option.max = 9;
    CU_ASSERT_STRING_EQUAL(described(&option), "list of texts, 0..9 of them, or a | b, default a");
}

static void test_long_choices_are_cut_not_overrun(void)
{
    static const char *const choices[] = { "aaaaaaaaaa", "bbbbbbbbbb", NULL };
    struct weir_option option = { .kind = WEIR_ENUM, .choices = choices };
    char text[17] = "";

    text[16] = '!';
    describe_option(text, 16, &option);
    CU_ASSERT_STRING_EQUAL(text, "one of aaaaaaaa");
    CU_ASSERT_EQUAL(text[16], '!');
}

static void test_plugin_is_described_whole(void)
{
    struct loader *loader;
    const struct loaded *loaded;
    struct problem problem = { "" };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL_FATAL(loader_create(NULL, &loader), WEIR_OK);
    CU_ASSERT_EQUAL_FATAL(loader_load_file(loader, TEST_PLUGINS "/sample.so", &loaded, &problem),
                          WEIR_OK);
    describe_plugin(out, loaded, NULL);
    fclose(out);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "sample 1.0.0 (SDK 1.1)\n" TEST_PLUGINS "/sample.so\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nsample.pass (worker)\n  passes messages on\n  args:\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "    keep             integer 1..1000, default 1, live\n"
                                        "                     messages passed on"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "    mode             one of fast | exact, default fast"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "    out              every message; required\n"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\nsample.list (source, blocking)\n"));
    CU_ASSERT_PTR_NOT_NULL(
        strstr(text, "\nsample.bare (worker, exclusive)\n  keeps up to 8 messages in hand\n"));
    CU_ASSERT_PTR_NULL(strstr(text, "hush"));
    free(text);
    loader_destroy(loader);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "bounds are in units", test_bounds_are_in_the_units_of_the_kind },
        { "secret default is not reported", test_secret_default_is_not_reported },
        { "choices are reported", test_choices_are_reported },
        { "long choices are cut", test_long_choices_are_cut_not_overrun },
        { "plugin is described whole", test_plugin_is_described_whole },
        CU_TEST_INFO_NULL,
    };

    return suite_run("describe", tests);
}
