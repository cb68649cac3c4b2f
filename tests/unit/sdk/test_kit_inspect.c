/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit inspects a behaviour, and lets a test answer its inspects of others.
 * Method: a behaviour with three items that inspects another actor for each message.
 */
#include <string.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    uint32_t asked;
    int status;
    char queued[8];
};

static void inspected(struct weir_self *self, void *state_, void *context,
                      const struct weir_reply *reply)
{
    struct state *state = state_;
    const char *queued = reply->message ? weir_inspected(reply->message, "queued") : NULL;

    (void)self;
    (void)context;
    state->status = reply->status;
    (void)snprintf(state->queued, sizeof state->queued, "%s", queued ? queued : "none");
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    static const char *const items[] = { "queued", NULL };
    struct state *state = state_;
    uint64_t reference;

    if (weir_inspect(self, 0, items, 50, inspected, NULL, NULL) != WEIR_EUNKNOWN ||
        weir_inspect(self, message->from, items, 50, inspected, NULL, &reference) != 0)
        return WEIR_FAIL;
    state->asked++;
    return reference ? WEIR_DONE : WEIR_FAIL;
}

static void inspect(struct weir_self *self, void *state_, struct weir_inspection *out)
{
    const struct state *state = state_;

    (void)self;
    weir_inspect_add(out, "asked", "%u", state->asked);
    if (weir_inspect_wants(out, "share"))
        weir_inspect_add(out, "share", "%.1f", 0.5);
    weir_inspect_add(out, "twice", "1");
    weir_inspect_add(out, "twice", "2");
}

static const struct weir_behaviour behaviours[] = {
    { .name = "looks", .state_size = sizeof(struct state), .handle = handle, .inspect = inspect },
    { .name = "blind", .handle = handle },
    { 0 },
};

WEIR_PLUGIN("inspect", "1.0.0", behaviours);

static void test_behaviour_reports_the_requested_items(void)
{
    static const char *const some[] = { "share", "nonsense", NULL };
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "looks");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, some), "share=0.5\n");
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "");
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, NULL), "asked=0\nshare=0.5\ntwice=1\n");
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit), "the item twice was reported twice\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
}

static void test_what_it_asks_is_answered_by_the_test(void)
{
    static const char answer[] = "queued\0"
                                 "3";
    const struct weir_message like = { .from = 77, .kind = WEIR_MESSAGE };
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "looks");
    const struct state *state;

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    state = weir_kit_state(kit);
    CU_ASSERT_EQUAL(weir_kit_deliver(kit, &like), WEIR_DONE);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->way, WEIR_KIT_INSPECT);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->to, 77);
    CU_ASSERT_EQUAL(
        weir_kit_answer(kit, weir_kit_sent(kit, 0)->reference, 0, NULL, answer, sizeof answer), 0);
    CU_ASSERT_STRING_EQUAL(state->queued, "3");
    CU_ASSERT_EQUAL(weir_kit_deliver(kit, &like), WEIR_DONE);
    weir_kit_advance(kit, 50);
    CU_ASSERT_EQUAL(state->status, WEIR_ETIMEOUT);
    CU_ASSERT_STRING_EQUAL(state->queued, "none");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_asking_for_what_is_not_there_is_a_problem(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "blind");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, NULL), "");
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_STRING_EQUAL(weir_kit_inspect(kit, NULL), "");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 2);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "items", test_behaviour_reports_the_requested_items },
        { "answers", test_what_it_asks_is_answered_by_the_test },
        { "problems", test_asking_for_what_is_not_there_is_a_problem },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kit inspect", tests);
}
