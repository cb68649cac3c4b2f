/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit reports what a host would not forgive, or would hide: a state without size, a
 * leaked message with its line (promise B60); and two kits have one tag for one name (B61).
 * Method: a behaviour that makes each mistake when a message says so.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    uint64_t seen;
    const struct weir_tag *tag;
};

static int line_of_leak, line_of_labelled, line_of_blob, line_of_port;

static void leak(struct weir_self *self)
{
    struct weir_blob *blob = weir_blob_new(self, 8);
    struct weir_port *port = weir_port(self);

    CU_ASSERT_PTR_NOT_NULL_FATAL(port);
    line_of_leak = __LINE__ + 1;
    (void)weir_message_new(self, weir_tag(self, "leak/1"), 8);
    line_of_labelled = __LINE__ + 1;
    (void)weir_message_new_labelled(self, NULL, 8, "label");
    line_of_blob = __LINE__ + 1;
    (void)weir_message_with_blob(self, NULL, blob);
    line_of_port = __LINE__ + 1;
    (void)weir_port_message_new(port, NULL, 8);
    weir_blob_release(blob);
    weir_port_unref(port);
}

static int handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    const char *what = message->data;

    if (strcmp(what, "write") == 0)
        state->seen++;
    else if (strcmp(what, "leak") == 0)
        leak(self);
    return WEIR_DONE;
}

static int open_kept(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;

    (void)settings;
    state->tag = weir_tag(self, "kept/1");
    return state->tag ? 0 : WEIR_ENOMEM;
}

static int open_units(struct weir_self *self, const void *settings, void *memory)
{
    static const char *const units[] = { "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8", "9",
                                         "10", "11", "12", "13", "14", "15", "16", "17" };

    (void)settings;
    (void)memory;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        weir_progress(self, units[i], 1, 0);
    weir_exit_status(self, 74);
    weir_reason(self, "012345678901234567890123456789012345678901234\xc3\xa9\xc3\xa9");
    weir_retry_after(self, UINT64_MAX);
    return 0;
}

#define MANY ((size_t)100000)
#define EACH_TIME 250u /* fewer than an outbox takes */

static void emit_many(struct weir_self *self, void *memory, void *context)
{
    (void)memory;
    (void)context;
    for (uint32_t i = 0; i < EACH_TIME; i++)
        CU_ASSERT_EQUAL(weir_emit(self, 0, weir_message_new(self, NULL, 0)), 0);
    CU_ASSERT_EQUAL(weir_after(self, 1, emit_many, NULL, NULL), 0);
}

static int open_many(struct weir_self *self, const void *settings, void *memory)
{
    (void)settings;
    (void)memory;
    return weir_after(self, 1, emit_many, NULL, NULL);
}

static const struct weir_output outputs[] = {
    { .name = "out", .help = "all" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    { .name = "forgot", .handle = handle },
    { .name = "keeps", .state_size = sizeof(struct state), .open = open_kept, .handle = handle },
    { .name = "reports", .open = open_units, .handle = handle },
    { .name = "many", .outputs = outputs, .open = open_many, .handle = handle },
    { 0 },
};

WEIR_PLUGIN("honest", "1.0.0", behaviours);

static struct weir_kit *open_kit(const char *behaviour)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static void give(struct weir_kit *kit, const char *what)
{
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "do/1", what, strlen(what) + 1), WEIR_DONE);
}

/* promise B60. */
static void test_state_without_size_is_reported(void)
{
    struct weir_kit *kit = open_kit("forgot");

    give(kit, "nothing");
    weir_kit_close(kit, WEIR_END_NORMAL);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "");
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    give(kit, "write");
    weir_kit_close(kit, WEIR_END_NORMAL);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit),
                           "forgot wrote to its state, and its state_size is 0\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
}

static bool names_line(const char *problems, int line)
{
    char wanted[64];

    (void)snprintf(wanted, sizeof wanted, "test_kit_honest.c:%d: a message (", line);
    return strstr(problems, wanted) != NULL;
}

/* The problems of a kit are printed when it is destroyed. */
static const char *printed_by(struct weir_kit *kit, size_t *out_count)
{
    static char text[4096];
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    size_t size;

    CU_ASSERT_FATAL(file && before >= 0);
    CU_ASSERT_FATAL(dup2(fileno(file), STDERR_FILENO) >= 0);
    *out_count = weir_kit_destroy(kit);
    (void)fflush(stderr);
    CU_ASSERT_FATAL(dup2(before, STDERR_FILENO) >= 0);
    (void)close(before);
    rewind(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

/* promise B60. */
static void test_leaked_messages_are_counted_with_their_lines(void)
{
    struct weir_kit *kit = open_kit("keeps");
    const char *problems;
    size_t count;

    give(kit, "leak");
    problems = printed_by(kit, &count);
    CU_ASSERT_EQUAL(count, 4);
    CU_ASSERT_TRUE(names_line(problems, line_of_leak));
    CU_ASSERT_TRUE(names_line(problems, line_of_labelled));
    CU_ASSERT_TRUE(names_line(problems, line_of_blob));
    CU_ASSERT_TRUE(names_line(problems, line_of_port));
    CU_ASSERT_PTR_NOT_NULL(strstr(problems, "a message (leak/1) was made here and neither"));
}

/* promise B61. */
static void test_kits_have_one_tag_for_one_name(void)
{
    struct weir_kit *first = open_kit("keeps"), *second = open_kit("keeps");
    const struct state *state = weir_kit_state(first);
    const struct weir_tag *tag = state->tag;

    CU_ASSERT_PTR_EQUAL(weir_kit_tag(second, "kept/1"), tag);
    CU_ASSERT_PTR_NOT_EQUAL(weir_kit_tag(second, "kept/2"), tag);
    CU_ASSERT_EQUAL(weir_kit_destroy(first), 0);
    CU_ASSERT_PTR_EQUAL(((const struct state *)weir_kit_state(second))->tag, tag);
    CU_ASSERT_STRING_EQUAL(tag->name, "kept/1");
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
}

/* promise B12. */
static void test_figures_have_the_bounds_of_the_host(void)
{
    struct weir_kit *kit = open_kit("reports");

    CU_ASSERT_EQUAL(weir_kit_done(kit, "16"), 1);
    CU_ASSERT_EQUAL(weir_kit_done(kit, "17"), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "17 is a unit too many: the host shows 16\n");
    CU_ASSERT_EQUAL(weir_kit_exit_status(kit), 74);
    CU_ASSERT_STRING_EQUAL(weir_kit_reason(kit),
                           "012345678901234567890123456789012345678901234\xc3\xa9");
    CU_ASSERT_EQUAL(weir_kit_retry_ms(kit), UINT32_MAX);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
}

/* With a search for each of them this takes minutes. */
static void test_many_messages_take_no_search_each(void)
{
    struct weir_kit *kit = open_kit("many");
    size_t found = 0;

    while (weir_kit_sent_count(kit) < MANY)
        weir_kit_advance(kit, 1);
    while (weir_kit_emitted(kit, 0, found))
        found++;
    CU_ASSERT_EQUAL(found, MANY);
    CU_ASSERT_PTR_EQUAL(weir_kit_emitted(kit, 0, 3), weir_kit_sent(kit, 3)->message);
    CU_ASSERT_PTR_EQUAL(weir_kit_emitted(kit, 0, 3), weir_kit_sent(kit, 3)->message);
    CU_ASSERT_PTR_NULL(weir_kit_emitted(kit, 1, 0));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_wrong_name_is_answered_with_those_there_are(void)
{
    char said[256] = "";
    int before = dup(STDERR_FILENO), ends[2];
    struct weir_kit *kit;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_FATAL(before >= 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    kit = weir_kit_create(&weir_plugin_v1, "forgets");
    (void)fflush(stderr);
    CU_ASSERT_EQUAL(dup2(before, STDERR_FILENO), STDERR_FILENO);
    CU_ASSERT_TRUE(read(ends[0], said, sizeof said - 1) > 0);
    CU_ASSERT_STRING_EQUAL(said,
                           "weir_kit_create: the plugin honest has no behaviour \"forgets\"; it "
                           "has forgot, keeps, reports, many\n");
    CU_ASSERT_PTR_NULL(kit);
    CU_ASSERT_EQUAL(weir_kit_open_args(kit, ""), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_open(kit, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "do/1", "leak", 5), WEIR_FAIL);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    close(before);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a state without size", test_state_without_size_is_reported },
        { "leaked messages", test_leaked_messages_are_counted_with_their_lines },
        { "tags of two kits", test_kits_have_one_tag_for_one_name },
        { "many messages", test_many_messages_take_no_search_each },
        { "a wrong name", test_wrong_name_is_answered_with_those_there_are },
        { "figures", test_figures_have_the_bounds_of_the_host },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, honest", tests);
}
