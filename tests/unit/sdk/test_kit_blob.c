/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit has blobs, and finds those that are released too often or never.
 * Method: a behaviour that forwards its blob, or makes one, and releases it a given number of
 * times.
 */
#include <string.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    int releases;
};

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    const struct state *state = state_;
    struct weir_blob *got = weir_message_blob(self, message);
    struct weir_blob *blob = got ? got : weir_blob_new(self, 3);

    if (!blob)
        return WEIR_REJECT;
    if (got)
        weir_blob_hold(blob);
    else
        memcpy(blob->data, "new", 3);
    for (int i = 0; i < 2; i++)
        if (weir_emit(self, 0, weir_message_with_blob(self, NULL, blob)) != 0)
            return WEIR_FAIL;
    for (int i = 0; i < state->releases; i++)
        weir_blob_release(blob);
    return WEIR_DONE;
}

static const struct weir_output outputs[] = { { .name = "out", .help = "all" }, { 0 } };

static const struct weir_behaviour behaviours[] = {
    { .name = "shares", .outputs = outputs, .state_size = sizeof(struct state), .handle = handle },
    { 0 },
};

WEIR_PLUGIN("blob", "1.0.0", behaviours);

static struct weir_kit *start(int releases)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "shares");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    ((struct state *)weir_kit_state(kit))->releases = releases;
    return kit;
}

static void test_messages_share_one_payload(void)
{
    struct weir_kit *kit = start(1);

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(memcmp(weir_kit_emitted(kit, 0, 1)->data, "new", 3), 0);
    CU_ASSERT_PTR_EQUAL(weir_kit_emitted(kit, 0, 0)->data, weir_kit_emitted(kit, 0, 1)->data);
    CU_ASSERT_EQUAL(weir_kit_handle_blob(kit, "any/1", "got", 3), WEIR_DONE);
    CU_ASSERT_EQUAL(memcmp(weir_kit_emitted(kit, 0, 3)->data, "got", 3), 0);
    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_releasing_too_often_or_never_is_found(void)
{
    struct weir_kit *kit = start(2);

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_STRING_EQUAL(weir_kit_problems(kit),
                           "a blob of 3 bytes was released that is not held\n");
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
    kit = start(0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "shared", test_messages_share_one_payload },
        { "holds", test_releasing_too_often_or_never_is_found },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, blobs", tests);
}
