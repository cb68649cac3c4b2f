/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit has the stash, chains that fit in part only, and the remaining time of a
 * requester.
 * Method: a behaviour that stashes everything until an order, and then sends a chain.
 */
#include <string.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    bool goes_on;
    bool stashes_twice;
    int taken;
};

static void send_three(struct weir_self *self, struct state *state)
{
    struct weir_message *messages[3];

    for (uint32_t i = 0; i < 3; i++)
        messages[i] = weir_message_new(self, NULL, 8);
    state->taken = weir_send_chain(self, 5, messages, 3);
    for (int i = state->taken > 0 ? state->taken : 0; i < 3; i++)
        weir_message_free(self, messages[i]);
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    struct state *state = state_;

    if (strcmp(message->tag->name, "go/1") == 0) {
        state->goes_on = true;
        send_three(self, state);
        return weir_unstash(self, UINT32_MAX) > 0 ? WEIR_DONE : WEIR_REJECT;
    }
    if (message->kind == WEIR_REQUEST)
        return weir_time_left(self, message) < 100 ? WEIR_REJECT : WEIR_DONE;
    if (strcmp(message->tag->name, "work/1") == 0)
        return weir_is_wanted(self, message) ? WEIR_DONE : WEIR_REJECT;
    if (state->goes_on) {
        weir_print(self, message->data, message->size);
        return WEIR_DONE;
    }
    if (state->stashes_twice)
        (void)weir_stash(self, message);
    return weir_stash(self, message) == 0 ? WEIR_DONE : WEIR_REJECT;
}

struct keeper {
    const struct weir_message *kept;
};

static int keep(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    ((struct keeper *)state)->kept = message;
    return WEIR_KEEP;
}

/* In a host it is dead by then. */
static void put_back_late(struct weir_self *self, void *state, int reason)
{
    (void)reason;
    CU_ASSERT_EQUAL(weir_put_back(self, ((struct keeper *)state)->kept), WEIR_EINVALID);
}

static const struct weir_behaviour behaviours[] = {
    { .name = "waits", .state_size = sizeof(struct state), .handle = handle },
    { .name = "keeps",
      .state_size = sizeof(struct keeper),
      .handle = keep,
      .close = put_back_late },
    { 0 },
};

WEIR_PLUGIN("stash", "1.0.0", behaviours);

static struct weir_kit *start(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "waits");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static void test_stash_comes_again_in_order(void)
{
    struct weir_kit *kit = start();

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "a", 1), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "b", 1), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_stashed_count(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "go/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_stashed_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_handle_unstashed(kit), 2);
    CU_ASSERT_STRING_EQUAL(weir_kit_printed(kit), "ab");
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 3);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_stash_ends_with_the_incarnation(void)
{
    struct weir_kit *kit = start();

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "a", 1), WEIR_DONE);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(weir_kit_stashed_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "go/1", NULL, 0), WEIR_REJECT); /* nothing to give */
    CU_ASSERT_EQUAL(weir_kit_handle_unstashed(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_message_stashed_twice_is_found(void)
{
    struct weir_kit *kit = start();

    ((struct state *)weir_kit_state(kit))->stashes_twice = true;
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "a", 1), WEIR_REJECT);
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_problems(kit), "was stashed that is neither in hand"));
    CU_ASSERT_PTR_NOT_NULL(strstr(weir_kit_problems(kit), "(text/1) was stashed, and answered"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 2);
}

static void test_chain_is_taken_as_far_as_there_is_room(void)
{
    struct weir_kit *kit = start();
    const struct state *state = weir_kit_state(kit);

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "go/1", NULL, 0), WEIR_REJECT); /* nothing stashed */
    CU_ASSERT_EQUAL(state->taken, 3);
    weir_kit_limit(kit, 2, WEIR_EFULL);
    (void)weir_kit_handle(kit, "go/1", NULL, 0);
    CU_ASSERT_EQUAL(state->taken, 2);
    (void)weir_kit_handle(kit, "go/1", NULL, 0);
    CU_ASSERT_EQUAL(state->taken, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 5);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_time_left_is_as_set(void)
{
    struct weir_kit *kit = start();

    CU_ASSERT_EQUAL(weir_kit_request(kit, "ask/1", NULL, 0), WEIR_DONE);
    weir_kit_time_left(kit, 99);
    CU_ASSERT_EQUAL(weir_kit_request(kit, "ask/1", NULL, 0), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_handler_learns_that_it_is_not_wanted(void)
{
    struct weir_kit *kit = start();

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "work/1", NULL, 0), WEIR_DONE);
    weir_kit_wanted(kit, false);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "work/1", NULL, 0), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_request(kit, "ask/1", NULL, 0), WEIR_REJECT);
    weir_kit_wanted(kit, true);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "work/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_nothing_is_put_back_in_close(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "keeps");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "text/1", "a", 1), WEIR_KEEP);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1); /* it was kept and never settled */
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "stash", test_stash_comes_again_in_order },
        { "end", test_stash_ends_with_the_incarnation },
        { "twice", test_message_stashed_twice_is_found },
        { "chain", test_chain_is_taken_as_far_as_there_is_room },
        { "time left", test_time_left_is_as_set },
        { "wanted", test_handler_learns_that_it_is_not_wanted },
        { "put back in close", test_nothing_is_put_back_in_close },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, stash and chains", tests);
}
