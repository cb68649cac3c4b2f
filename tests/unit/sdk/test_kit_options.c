/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit makes settings from a text as the host does: the same values, and the same
 * mistakes in the same words at the same places. Shows promise B8.
 * Method: one table of options with every kind. Each text is given to the kit, and as a file to the
 * reader of the host, and the answers are compared.
 */
#include <stdlib.h>
#include <string.h>

#include <weir/testkit.h>

#include "base/options.h"
#include "config/fill.h"
#include "config/reader.h"
#include "unit/host/suite.h"

#define LINES_SIZE 8192
#define TEXT_SIZE 1024

/* --- a behaviour with options of every kind --------------------------------------------------- */

struct settings {
    bool flag;
    uint32_t count;
    uint64_t large;
    int64_t offset;
    double factor;
    uint64_t room;
    uint64_t pause;
    const char *text;
    const char *token;
    uint32_t mode;
    struct weir_list paths;
    struct weir_map names;
};

static const char *const modes[] = { "plain", "fancy", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_BOOL(struct settings, flag, .fallback = "true"),
    WEIR_OPTION_U32(struct settings, count, .fallback = "1", .min = 1, .max = 9, .live = true),
    WEIR_OPTION_U64(struct settings, large),
    WEIR_OPTION_I64(struct settings, offset, .min = -5, .max = 5),
    WEIR_OPTION_F64(struct settings, factor, .fallback = "0.5", .live = true),
    WEIR_OPTION_SIZE(struct settings, room, .fallback = "4KiB", .min = 1, .max = 1 << 20),
    WEIR_OPTION_DURATION(struct settings, pause, .fallback = "1s"),
    WEIR_OPTION_STRING(struct settings, text),
    WEIR_OPTION_STRING(struct settings, token, .fallback = "hush", .secret = true),
    WEIR_OPTION_ENUM(struct settings, mode, .fallback = "plain", .choices = modes),
    WEIR_OPTION_LIST(struct settings, paths, .min = 0, .max = 3),
    WEIR_OPTION_MAP(struct settings, names),
    { 0 },
};

static const struct weir_option strict_options[] = {
    WEIR_OPTION_U32(struct settings, count, .required = true, .min = 1, .max = 9),
    WEIR_OPTION_U32(struct settings, mode, .min = 0, .max = 9),
    { 0 },
};

static const struct weir_option wrong_options[] = {
    WEIR_OPTION_U32(struct settings, count, .fallback = "12", .min = 1, .max = 9),
    { 0 },
};

static void check(const void *memory, struct weir_report *report)
{
    const struct settings *settings = memory;

    if (settings->mode == 7)
        weir_report_error(report, "mode", "%u is not for count %u", settings->mode,
                          settings->count);
    if (settings->mode == 8)
        weir_report_error(report, NULL, "nothing can work so");
}

static int open_it(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(uint32_t *)state = ((const struct settings *)settings)->count;
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static void reconfigure(struct weir_self *self, void *state, const void *settings)
{
    (void)self;
    *(uint32_t *)state = ((const struct settings *)settings)->count;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "all",
      .options = options,
      .settings_size = sizeof(struct settings),
      .state_size = sizeof(uint32_t),
      .open = open_it,
      .handle = handle,
      .reconfigure = reconfigure },
    { .name = "strict",
      .options = strict_options,
      .settings_size = sizeof(struct settings),
      .check = check,
      .handle = handle },
    { .name = "wrong",
      .options = wrong_options,
      .settings_size = sizeof(struct settings),
      .handle = handle },
    { .name = "none", .handle = handle },
    { 0 },
};

static const struct weir_plugin plugin = {
    .size = sizeof(struct weir_plugin),
    .abi_minor = WEIR_ABI_MINOR,
    .name = "subject",
    .version = "1.0.0",
    .behaviours = behaviours,
    .behaviour_size = sizeof(struct weir_behaviour),
    .option_size = sizeof(struct weir_option),
    .output_size = sizeof(struct weir_output),
};

/* --- what the host makes of a text ------------------------------------------------------------ */

struct verdict {
    bool read; /* its reader had nothing against it */
    struct options *options;
    char mistakes[LINES_SIZE];
};

static void write_lines(const struct report *report, char *lines)
{
    size_t used = 0;

    lines[0] = '\0';
    for (size_t i = 0; i < report->errors.kept; i++) {
        used += report_format(&report->errors.entries[i], lines + used, LINES_SIZE - used);
        CU_ASSERT_FATAL(used + 1 < LINES_SIZE);
        lines[used++] = '\n';
        lines[used] = '\0';
    }
}

static void fill(const struct config_tree *tree, struct report *report, struct options **out)
{
    const struct option_place place = { "", tree->root->mark };
    struct text_store store;
    struct option_value *values;
    size_t count;

    text_store_init(&store);
    CU_ASSERT_EQUAL_FATAL(fill_values(tree->root, &store, &values, &count), WEIR_OK);
    (void)options_parse(options, sizeof(struct settings), values, count, &place, report, out);
    text_store_finish(&store);
}

static void ask_host(const char *text, struct verdict *out)
{
    struct config_tree *tree = NULL;
    struct report report;

    *out = (struct verdict){ .options = NULL };
    report_init(&report);
    out->read = config_read_text("args", text, strlen(text), NULL, &report, &tree) == WEIR_OK;
    if (out->read)
        fill(tree, &report, &out->options);
    write_lines(&report, out->mistakes);
    report_finish(&report);
    config_tree_destroy(tree);
}

/* --- comparing -------------------------------------------------------------------------------- */

enum found { READ, WRONG, DIFFERS };

static bool same_values(const void *left, const void *right)
{
    struct text_store store;
    bool same = true;

    text_store_init(&store);
    for (const struct weir_option *row = options; row->name; row++)
        same = same &&
               strcmp(option_format(row, left, &store), option_format(row, right, &store)) == 0;
    text_store_finish(&store);
    return same;
}

static enum found compare(struct weir_kit *kit, const char *text)
{
    const void *settings = weir_kit_settings(kit, text);
    const char *mistakes = weir_kit_mistakes(kit);
    struct verdict host;
    enum found found;

    CU_ASSERT_EQUAL(settings == NULL, mistakes[0] != '\0');
    ask_host(text, &host);
    found = settings ? READ : WRONG;
    if (strcmp(mistakes, host.mistakes) != 0 ||
        (settings && !same_values(settings, options_settings(host.options))))
        found = DIFFERS;
    if (found == DIFFERS)
        printf("\n--- text\n%s\n--- the kit\n%s--- the host\n%s", text, mistakes, host.mistakes);
    options_destroy(host.options);
    return found;
}

static void test_chosen_texts_are_read_as_the_host_does(void)
{
    static const struct {
        const char *text;
        enum found wanted;
    } texts[] = {
        { "count: 3", READ },
        { "# said\ncount: 3 # so\n\nflag: false\n", READ },
        { "{count: 3, paths: [a, 'b c', \"d\\n\"], names: {x: y, 'z ': w}}", READ },
        { "paths:\n- a\n- b # c\ntext: it's #1\n", READ },
        { "paths:\n  - 'it''s'\n  - \"\\\"\"\nnames:\n    a: 1\n    b: 2\nmode: fancy", READ },
        { "text: \xc3\xa9t\xc3\xa9 : x\n", WRONG },
        { "text: '\xc3\xa9t\xc3\xa9' # a\ncount: 0", WRONG },
        { "  count: 3\n  offset: -5\n", READ },
        { "names: {}\npaths: []\n", READ },
        { "text: ''", READ },
        { "count: 0\nlarge: -1\noffset: 6\nfactor: x\nroom: 2MiB\npause: 5\n", WRONG },
        { "text: [a]\ntoken: [b]\nmode: fanzy\npaths: [a, b, c, d]\nnames: x\n", WRONG },
        { "text:\nflag: ~\npaths: null # x\ncount:   # y\n", WRONG },
        { "count: 1\n'count': 2\nnames: {a: 1, a: 2}", WRONG },
        { "cuont: 1\nsecret: x", WRONG },
        { "paths: [a, ~]", WRONG },
        { "token: [very, secret]", WRONG },
        { "count: ${WEIR_KIT_NUMBER}", READ },
        { "count: ${WEIR_KIT_NO_NUMBER}", WRONG },
        { "count: &one 1\nlarge: *one", READ },
        { "count: *one", WRONG },
        { "text: |\n  more\n", READ },
        { "text: one\n  two", READ },
        { "paths: [a,\n b]", READ },
        { "paths: [[a]]", WRONG },
        { "---\ncount: 1", READ },
        { "count\t: 1", READ },
        { "text: \xff", WRONG },
        { "text: 'open", WRONG },
        { "<<: {count: 1}", READ },
    };
    struct weir_kit *kit = weir_kit_create(&plugin, "all");

    CU_ASSERT_EQUAL_FATAL(setenv("WEIR_KIT_NUMBER", "3", 1), 0);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        enum found found = compare(kit, texts[i].text);

        if (found != texts[i].wanted)
            printf("\n%s\nfound %d, wanted %d: %s", texts[i].text, found, texts[i].wanted,
                   weir_kit_mistakes(kit));
        CU_ASSERT_EQUAL(found, texts[i].wanted);
    }
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* --- the kit's own functions ------------------------------------------------------------------ */

static void test_mistakes_are_reported_with_their_place(void)
{
    struct weir_kit *kit = weir_kit_create(&plugin, "strict");

    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, ""));
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "args:1:1: count: is required\n");
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "mode: x\ncuont: 3"));
    CU_ASSERT_STRING_EQUAL(
        weir_kit_mistakes(kit),
        "args:2:1: cuont: unknown option, did you mean \"count\"?\n"
        "args:1:1: count: is required\nargs:1:7: mode: must be an integer, got \"x\"\n");
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "count: 2\nmode: 7"));
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "args:2:7: mode: 7 is not for count 2\n");
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "{count: 2, mode: 8}"));
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "args:1:1: nothing can work so\n");
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "a: *b"));
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit),
                           "args:1:4: a: alias *b has no anchor before it\n");
    CU_ASSERT_PTR_NOT_NULL(weir_kit_settings(kit, "count: 2"));
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_more_mistakes_than_are_kept_are_counted(void)
{
    struct weir_kit *kit = weir_kit_create(&plugin, "none");
    char text[TEXT_SIZE] = "";

    for (int i = 0; i < 25; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "k%d: x\n", i);
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, text));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_mistakes(kit), "k19: unknown option\nand 5 more\n"));
    CU_ASSERT_PTR_NOT_NULL(weir_kit_settings(kit, "# nothing\n"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_open_and_reload_take_args(void)
{
    struct weir_kit *kit = weir_kit_create(&plugin, "all");
    const uint32_t *count;

    CU_ASSERT_EQUAL(weir_kit_reconfigure_args(kit, "count: 5"), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "count: 12"), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, "count: 2"), 0);
    count = weir_kit_state(kit);
    CU_ASSERT_EQUAL(*count, 2);
    CU_ASSERT_EQUAL(weir_kit_reconfigure_args(kit, "{count: 4, factor: 2}"), 0);
    CU_ASSERT_EQUAL(*count, 4);
    CU_ASSERT_EQUAL(weir_kit_reconfigure_args(kit, "{count: 99, factor: 2}"), WEIR_EINVALID);
    CU_ASSERT_EQUAL(*count, 4);
    CU_ASSERT_EQUAL(weir_kit_reconfigure_args(kit, "{count: 7, factor: 2, text: new}"),
                    WEIR_ENOTALLOWED);
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit),
                           "text: is not live: a new worker opens with it\n");
    CU_ASSERT_EQUAL(*count, 4);
    CU_ASSERT_EQUAL(weir_kit_reconfigure_args(kit, "factor: 2.0\ncount: 4"), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_wrong_table_is_a_problem(void)
{
    struct weir_kit *kit = weir_kit_create(&plugin, "wrong");

    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_problems(kit), "the table of options: "));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_problems(kit), "count"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
}

static void test_args_without_keys_are_the_defaults(void)
{
    static const char *const texts[] = { "", "# nothing\n", "{}", "~" };
    struct weir_kit *kit = weir_kit_create(&plugin, "all");

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct settings *made = weir_kit_settings(kit, texts[i]);

        CU_ASSERT_PTR_NOT_NULL_FATAL(made);
        CU_ASSERT_EQUAL(made->count, 1);
        CU_ASSERT_STRING_EQUAL(made->token, "hush");
    }
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "- a"));
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "args:1:1: must be a map of keys, got a list\n");
    CU_ASSERT_PTR_NULL(weir_kit_settings(kit, "include: [more.yaml]"));
    CU_ASSERT_STRING_EQUAL(weir_kit_mistakes(kit), "args:1:1: include: unknown option\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "chosen texts", test_chosen_texts_are_read_as_the_host_does },
        { "without keys", test_args_without_keys_are_the_defaults },
        { "mistakes with their place", test_mistakes_are_reported_with_their_place },
        { "many mistakes", test_more_mistakes_than_are_kept_are_counted },
        { "open and reload", test_open_and_reload_take_args },
        { "wrong table", test_wrong_table_is_a_problem },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, options", tests);
}
