/* SPDX-License-Identifier: MIT */
/*
 * Goal: a settings struct is filled exactly as its table says, or every mistake is reported;
 * changes between two of them are found; wrong tables are refused (promise C4).
 * Method: tables of this file, values made by hand, fields and messages compared.
 */
#include "base/options.h"
#include "unit/host/suite.h"

#include <stdlib.h>
#include <string.h>

struct everything {
    bool keep;
    uint32_t count;
    uint64_t total;
    int64_t offset;
    double ratio;
    uint64_t bytes;
    uint64_t pause;
    const char *name;
    uint32_t colour;
    struct weir_list items;
    struct weir_map pairs;
    const char *token;
};

static const char *const colours[] = { "red", "green", NULL };

static const struct weir_option table[] = {
    WEIR_OPTION_BOOL(struct everything, keep, .fallback = "true"),
    WEIR_OPTION_U32(struct everything, count, .fallback = "3", .min = 1, .max = 1000, .live = true),
    WEIR_OPTION_U64(struct everything, total, .help = "any"),
    WEIR_OPTION_I64(struct everything, offset, .fallback = "-1"),
    WEIR_OPTION_F64(struct everything, ratio, .fallback = "0.5", .max = 1, .live = true),
    WEIR_OPTION_SIZE(struct everything, bytes, .fallback = "4KiB"),
    WEIR_OPTION_DURATION(struct everything, pause, .fallback = "10s"),
    WEIR_OPTION_STRING(struct everything, name, .required = true),
    WEIR_OPTION_ENUM(struct everything, colour, .fallback = "green", .choices = colours),
    WEIR_OPTION_LIST(struct everything, items, .fallback = "a, b"),
    WEIR_OPTION_MAP(struct everything, pairs, .max = 2),
    WEIR_OPTION_STRING(struct everything, token, .secret = true, .live = true),
    { 0 },
};

#define VALUES_MAX 8

/* Values as a file would give them: `name=text`, each in a line of its own. */
struct given {
    struct option_value values[VALUES_MAX];
    size_t count;
};

static void give(struct given *given, const char *name, const char *text)
{
    uint32_t line = (uint32_t)given->count + 1;
    struct option_value *value = &given->values[given->count++];
    struct mark mark = { "t.yaml", line, 9 };

    *value = (struct option_value){ .name = name,
                                    .name_mark = { "t.yaml", line, 1 },
                                    .mark = mark,
                                    .shape = OPTION_SCALAR,
                                    .scalar = { text, mark, false } };
}

static int parse(const struct given *given, struct report *report, struct options **out)
{
    struct option_place place = { "args", { "t.yaml", 99, 1 } };

    return options_parse(table, sizeof(struct everything), given->values, given->count, &place,
                         report, out);
}

/* Options that must be right. */
static struct options *parsed(const struct given *given)
{
    struct report report;
    struct options *options = NULL;

    report_init(&report);
    CU_ASSERT_EQUAL_FATAL(parse(given, &report, &options), WEIR_OK);
    CU_ASSERT_EQUAL(report_count(&report), 0);
    report_finish(&report);
    return options;
}

static void expect_errors(const struct given *given, const char *expected)
{
    struct report report;
    struct options *options = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    report_init(&report);
    CU_ASSERT_EQUAL(parse(given, &report, &options), WEIR_EINVALID);
    report_print(&report, stream);
    (void)fclose(stream);
    CU_ASSERT_STRING_EQUAL(text, expected);
    CU_ASSERT_PTR_NULL(options);
    free(text);
    report_finish(&report);
}

/* --- filling ---------------------------------------------------------------------------------- */

static void test_defaults_fill_what_is_not_given(void)
{
    struct given given = { .count = 0 };
    const struct everything *settings;
    struct options *options;

    give(&given, "name", "weir");
    options = parsed(&given);
    settings = options_settings(options);
    CU_ASSERT(settings->keep);
    CU_ASSERT_EQUAL(settings->count, 3);
    CU_ASSERT_EQUAL(settings->total, 0);
    CU_ASSERT_EQUAL(settings->offset, -1);
    CU_ASSERT_DOUBLE_EQUAL(settings->ratio, 0.5, 0);
    CU_ASSERT_EQUAL(settings->bytes, 4096);
    CU_ASSERT_EQUAL(settings->pause, 10000);
    CU_ASSERT_STRING_EQUAL(settings->name, "weir");
    CU_ASSERT_EQUAL(settings->colour, 1);
    CU_ASSERT_EQUAL_FATAL(settings->items.count, 2);
    CU_ASSERT_STRING_EQUAL(settings->items.items[1], "b");
    CU_ASSERT_EQUAL(settings->pairs.count, 0);
    CU_ASSERT_PTR_NULL(settings->token);
    options_destroy(options);
}

static void test_given_values_win(void)
{
    struct given given = { .count = 0 };
    const struct everything *settings;
    struct options *options;

    give(&given, "name", "");
    give(&given, "keep", "false");
    give(&given, "count", "1000");
    give(&given, "total", "18446744073709551615");
    give(&given, "offset", "-9223372036854775808");
    give(&given, "bytes", "1MiB");
    give(&given, "colour", "red");
    options = parsed(&given);
    settings = options_settings(options);
    CU_ASSERT(!settings->keep);
    CU_ASSERT_EQUAL(settings->count, 1000);
    CU_ASSERT_EQUAL(settings->total, UINT64_MAX);
    CU_ASSERT_EQUAL(settings->offset, INT64_MIN);
    CU_ASSERT_EQUAL(settings->bytes, 1 << 20);
    CU_ASSERT_STRING_EQUAL(settings->name, "");
    CU_ASSERT_EQUAL(settings->colour, 0);
    CU_ASSERT_EQUAL(options_mark(options, "count").line, 3);
    CU_ASSERT_EQUAL(options_mark(options, "ratio").line, 99);
    CU_ASSERT_EQUAL(options_mark(options, "nothing").line, 99);
    CU_ASSERT_EQUAL(options_mark(options, NULL).line, 99);
    options_destroy(options);
}

static void test_map_keeps_the_order_of_the_file(void)
{
    struct option_text keys[2] = { { .text = "z" }, { .text = "a" } };
    struct option_text items[2] = { { .text = "1" }, { .text = "" } };
    struct given given = { .count = 0 };
    const struct everything *settings;
    struct options *options;

    give(&given, "name", "weir");
    give(&given, "pairs", "");
    given.values[1].shape = OPTION_MAP;
    given.values[1].keys = keys;
    given.values[1].items = items;
    given.values[1].count = 2;
    options = parsed(&given);
    settings = options_settings(options);
    CU_ASSERT_EQUAL_FATAL(settings->pairs.count, 2);
    CU_ASSERT_STRING_EQUAL(settings->pairs.items[0].key, "z");
    CU_ASSERT_STRING_EQUAL(settings->pairs.items[1].value, "");
    CU_ASSERT_STRING_EQUAL(options_text(options, "pairs"), "{z: 1, a: \"\"}");
    options_destroy(options);
}

static void test_every_mistake_is_reported_at_once(void)
{
    struct given given = { .count = 0 };

    give(&given, "count", "1001");
    give(&given, "coutn", "3");
    give(&given, "colour", "gren");
    give(&given, "count", "4");
    give(&given, "pause", "5");
    expect_errors(&given,
                  "t.yaml:2:1: args.coutn: unknown option, did you mean \"count\"?\n"
                  "t.yaml:4:1: args.count: is set twice, first in line 1\n"
                  "t.yaml:1:9: args.count: must be 1..1000, got 1001\n"
                  "t.yaml:5:9: args.pause: a duration needs a unit (ms, s, m, h, d), got 5\n"
                  "t.yaml:99:1: args.name: is required\n"
                  "t.yaml:3:9: args.colour: must be one of red, green; got \"gren\", did you mean "
                  "\"green\"?\n");
}

static void test_no_table_takes_no_value(void)
{
    struct given given = { .count = 0 };
    struct option_place place = { "", { "t.yaml", 1, 1 } };
    struct options *options = NULL;
    struct report report;

    report_init(&report);
    CU_ASSERT_EQUAL(options_parse(NULL, 0, NULL, 0, &place, &report, &options), WEIR_OK);
    CU_ASSERT_PTR_NOT_NULL(options_settings(options));
    options_destroy(options);
    give(&given, "name", "weir");
    CU_ASSERT_EQUAL(options_parse(NULL, 0, given.values, 1, &place, &report, &options),
                    WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(report.errors.entries[0].path, "name");
    report_finish(&report);
}

/* --- secrets ---------------------------------------------------------------------------------- */

static void test_secret_is_shown_nowhere(void)
{
    struct given given = { .count = 0 };
    struct options *options;

    give(&given, "name", "hush");
    give(&given, "token", "hush");
    given.values[0].scalar.secret = true;
    options = parsed(&given);
    CU_ASSERT_STRING_EQUAL(options_text(options, "token"), "(secret)");
    CU_ASSERT_STRING_EQUAL(options_text(options, "name"), "(secret)");
    options_destroy(options);
    give(&given, "count", "hush");
    given.values[2].scalar.secret = true;
    give(&given, "pause", "77");
    given.values[3].scalar.secret = true;
    give(&given, "offset", "99999999999999999999");
    given.values[4].scalar.secret = true;
    expect_errors(&given,
                  "t.yaml:3:9: args.count: must be an integer, got a secret\n"
                  "t.yaml:5:9: args.offset: must be -9223372036854775808..9223372036854775807, got "
                  "a secret\n"
                  "t.yaml:4:9: args.pause: a duration needs a unit (ms, s, m, h, d), got a "
                  "secret\n");
}

/* --- comparing -------------------------------------------------------------------------------- */

static struct options *with(const char *name, const char *text)
{
    struct given given = { .count = 0 };

    give(&given, "name", "weir");
    if (name)
        give(&given, name, text);
    return parsed(&given);
}

static void test_same_values_however_written_are_equal(void)
{
    struct options *plain = with(NULL, NULL);
    struct options *other = with("bytes", "4096");

    CU_ASSERT(options_equal(plain, other));
    CU_ASSERT(options_equal(NULL, NULL));
    CU_ASSERT(!options_equal(plain, NULL));
    CU_ASSERT(!options_changes_live(plain, other));
    options_destroy(plain);
    options_destroy(other);
}

static void test_change_of_live_options_alone_is_live(void)
{
    struct options *plain = with(NULL, NULL);
    struct options *live = with("count", "4");
    struct options *other = with("keep", "false");
    struct option_change change[2];

    CU_ASSERT(options_changes_live(plain, live));
    CU_ASSERT(!options_changes_live(plain, other));
    CU_ASSERT(!options_changes_live(live, other));
    CU_ASSERT_EQUAL(options_changes(plain, live, change, 2), 1);
    CU_ASSERT_STRING_EQUAL(change[0].name, "count");
    CU_ASSERT_STRING_EQUAL(change[0].old_text, "3");
    CU_ASSERT_STRING_EQUAL(change[0].new_text, "4");
    CU_ASSERT(change[0].live);
    CU_ASSERT_EQUAL(options_changes(live, other, change, 1), 2);
    options_destroy(plain);
    options_destroy(live);
    options_destroy(other);
}

static void test_changed_secret_is_seen_and_not_shown(void)
{
    struct options *one = with("token", "hush");
    struct options *two = with("token", "hush!");
    struct option_change change;

    CU_ASSERT_EQUAL(options_changes(one, two, &change, 1), 1);
    CU_ASSERT_STRING_EQUAL(change.old_text, "(secret)");
    CU_ASSERT_STRING_EQUAL(change.new_text, "(secret)");
    CU_ASSERT(change.live);
    options_destroy(one);
    options_destroy(two);
}

static void test_texts_of_different_lists_differ(void)
{
    struct option_text one[2] = { { .text = "a" }, { .text = "b" } };
    struct option_text two[1] = { { .text = "a, b" } };
    struct given first = { .count = 0 };
    struct given second = { .count = 0 };
    struct options *left;
    struct options *right;

    give(&first, "name", "weir");
    give(&first, "items", "");
    first.values[1].shape = OPTION_LIST;
    second = first;
    first.values[1].items = one;
    first.values[1].count = 2;
    second.values[1].items = two;
    second.values[1].count = 1;
    left = parsed(&first);
    right = parsed(&second);
    CU_ASSERT_STRING_EQUAL(options_text(left, "items"), "[a, b]");
    CU_ASSERT_STRING_EQUAL(options_text(right, "items"), "[\"a, b\"]");
    CU_ASSERT(!options_equal(left, right));
    options_destroy(left);
    options_destroy(right);
}

struct listing {
    struct weir_list items;
};

static const char *const words[] = { "true", "none", NULL };
static const struct weir_option worded[] = {
    WEIR_OPTION_LIST(struct listing, items, .fallback = "true", .choices = words, .min = 2,
                     .max = 3),
    { 0 },
};

/* The status; the list as text, or the mistake. */
static int list_of(enum option_shape shape, struct option_text *texts, size_t count, char *text,
                   size_t size)
{
    struct option_place place = { "args", { "t.yaml", 1, 1 } };
    struct option_value value = { .name = "items", .shape = shape };
    struct options *options = NULL;
    struct report report;
    int status;

    if (shape == OPTION_SCALAR)
        value.scalar = texts[0];
    value.items = texts;
    value.count = shape == OPTION_SCALAR ? 0 : count;
    report_init(&report);
    status = options_parse(worded, sizeof(struct listing), &value, shape != OPTION_NONE, &place,
                           &report, &options);
    (void)snprintf(text, size, "%s",
                   status == WEIR_OK ? options_text(options, "items")
                                     : report.errors.entries[0].reason);
    options_destroy(options);
    report_finish(&report);
    return status;
}

static void test_word_may_stand_in_place_of_a_list(void)
{
    struct option_text texts[] = { { .text = "none" }, { .text = "b" } };
    struct option_text other[] = { { .text = "nothing" } };
    char text[160];

    CU_ASSERT_EQUAL(list_of(OPTION_NONE, NULL, 0, text, sizeof text), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(text, "[true]");
    CU_ASSERT_EQUAL(list_of(OPTION_SCALAR, texts, 1, text, sizeof text), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(text, "[none]");
    CU_ASSERT_EQUAL(list_of(OPTION_LIST, texts, 2, text, sizeof text), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(text, "[none, b]");
    CU_ASSERT_EQUAL(list_of(OPTION_LIST, texts, 1, text, sizeof text), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(text, "must have 2..3 items, got 1");
    CU_ASSERT_EQUAL(list_of(OPTION_SCALAR, other, 1, text, sizeof text), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(text, "must be a list of texts, or one of true, none; got \"nothing\"");
    CU_ASSERT_EQUAL(list_of(OPTION_MAP, texts, 0, text, sizeof text), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(text, "must be a list of texts, or one of true, none; got a map");
}

static void test_options_of_another_table_are_gone_or_new(void)
{
    static const struct weir_option other[] = {
        WEIR_OPTION_STRING(struct everything, name, .required = true),
        { .name = "fresh", .kind = WEIR_BOOL },
        { 0 },
    };
    struct options *older = with(NULL, NULL);
    struct options *newer = NULL;
    struct option_change changes[16];
    struct given given = { .count = 0 };
    struct option_place place = { "args", { "t.yaml", 1, 1 } };

    give(&given, "name", "weir");
    CU_ASSERT_EQUAL_FATAL(
        options_parse(other, sizeof(struct everything), given.values, 1, &place, NULL, &newer),
        WEIR_OK);
    CU_ASSERT_EQUAL(options_changes(older, newer, changes, 16), 12);
    CU_ASSERT_STRING_EQUAL(changes[0].name, "fresh");
    CU_ASSERT_PTR_NULL(changes[0].old_text);
    CU_ASSERT_PTR_NULL(changes[1].new_text);
    CU_ASSERT(!options_changes_live(older, newer));
    options_destroy(older);
    options_destroy(newer);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void expect_refused(const struct weir_option *rows, const char *expected)
{
    char why[160] = "";

    CU_ASSERT_EQUAL(options_check_table(rows, 64, why, sizeof why), WEIR_EINVALID);
    CU_ASSERT_STRING_EQUAL(why, expected);
}

static void expect_row_refused(struct weir_option row, const char *expected)
{
    struct weir_option rows[2] = { row, { .name = NULL } };

    expect_refused(rows, expected);
}

static void test_right_table_is_accepted(void)
{
    char why[160] = "";

    CU_ASSERT_EQUAL(options_check_table(table, sizeof(struct everything), why, sizeof why),
                    WEIR_OK);
    CU_ASSERT_EQUAL(options_check_table(NULL, 0, why, sizeof why), WEIR_OK);
    CU_ASSERT_STRING_EQUAL(why, "");
}

static void test_wrong_row_is_refused(void)
{
    expect_row_refused((struct weir_option){ .name = "a", .kind = 99 },
                       "option a: 99 is no kind of option");
    expect_row_refused((struct weir_option){ .name = "a", .kind = 0 },
                       "option a: 0 is no kind of option");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_U64, .offset = 60 },
                       "option a: its field lies outside the 64 bytes of the settings");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_U64, .offset = UINT32_MAX },
                       "option a: its field lies outside the 64 bytes of the settings");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_U64, .offset = 4 },
                       "option a: its field at offset 4 is not aligned");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_U32, .min = 2, .max = 1 },
                       "option a: its min is larger than its max");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_U32, .min = -1, .max = 1 },
                       "option a: its bounds do not fit a u32");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_STRING, .max = 1 },
                       "option a: a string has no bounds");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_ENUM },
                       "option a: an enum needs choices");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_BOOL, .choices = colours },
                       "option a: only an enum or a list has choices");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_LIST, .pools = true },
                       "option a: only a map has pools");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_LIST, .state = true },
                       "option a: only a string has state");
}

static void test_wrong_default_is_refused(void)
{
    expect_row_refused(
        (struct weir_option){ .name = "a", .kind = WEIR_U32, .max = 5, .fallback = "6" },
        "option a: its default must be 0..5, got 6");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_DURATION, .fallback = "6" },
                       "option a: its default a duration needs a unit (ms, s, m, h, d), got 6");
    expect_row_refused((struct weir_option){ .name = "a", .kind = WEIR_MAP, .fallback = "a" },
                       "option a: a map has no default");
    expect_row_refused(
        (struct weir_option){
            .name = "a", .kind = WEIR_LIST, .max = 1, .min = 1, .fallback = "a,b" },
        "option a: its default must have 1..1 items, got 2");
    expect_row_refused(
        (struct weir_option){
            .name = "a", .kind = WEIR_BOOL, .fallback = "true", .required = true },
        "option a: is required and has a default");
}

static void test_rows_that_disturb_each_other_are_refused(void)
{
    static const struct weir_option twice[] = {
        { .name = "a", .kind = WEIR_U32, .offset = 0 },
        { .name = "a", .kind = WEIR_U32, .offset = 4 },
        { 0 },
    };
    static const struct weir_option overlap[] = {
        { .name = "a", .kind = WEIR_U64, .offset = 0 },
        { .name = "b", .kind = WEIR_U32, .offset = 4 },
        { 0 },
    };

    expect_refused(twice, "option a: stands twice in the table");
    expect_refused(overlap, "option b: its field overlaps that of a");
}

static void test_bounds_are_reported_in_their_own_unit(void)
{
    struct weir_option row = { .name = "a", .kind = WEIR_SIZE, .min = 1024, .max = 1 << 30 };
    char text[64];

    option_bounds_text(&row, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "1KiB..1GiB");
    row = (struct weir_option){ .name = "a", .kind = WEIR_DURATION, .min = 1, .max = INT64_MAX };
    option_bounds_text(&row, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "at least 1ms");
    row = (struct weir_option){ .name = "a", .kind = WEIR_U32 };
    option_bounds_text(&row, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "");
    CU_ASSERT_STRING_EQUAL(option_kind_name(WEIR_DURATION), "duration");
    CU_ASSERT_PTR_NULL(option_kind_name(0));
    CU_ASSERT_PTR_NULL(option_kind_name(13));
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "defaults", test_defaults_fill_what_is_not_given },
        { "given", test_given_values_win },
        { "map", test_map_keeps_the_order_of_the_file },
        { "mistakes", test_every_mistake_is_reported_at_once },
        { "no table", test_no_table_takes_no_value },
        { "secret", test_secret_is_shown_nowhere },
        { "equal", test_same_values_however_written_are_equal },
        { "live", test_change_of_live_options_alone_is_live },
        { "changed secret", test_changed_secret_is_seen_and_not_shown },
        { "lists", test_texts_of_different_lists_differ },
        { "words", test_word_may_stand_in_place_of_a_list },
        { "another table", test_options_of_another_table_are_gone_or_new },
        { "right table", test_right_table_is_accepted },
        { "wrong row", test_wrong_row_is_refused },
        { "wrong default", test_wrong_default_is_refused },
        { "wrong rows", test_rows_that_disturb_each_other_are_refused },
        { "bounds", test_bounds_are_reported_in_their_own_unit },
        CU_TEST_INFO_NULL,
    };

    return suite_run("options", tests);
}
