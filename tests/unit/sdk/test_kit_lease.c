/* SPDX-License-Identifier: MIT */
/*
 * Goal: a behaviour that takes leases, and one whose workers are leased, can be tested in the kit.
 *
 * Method: a behaviour that takes a worker of pool 9 for each message, uses it and returns it.
 */
#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    struct weir_lease lease;
    int answer;
    int taken;
};

static void got(struct weir_self *self, void *memory, void *context, const struct weir_reply *reply)
{
    struct state *state = memory;
    struct weir_message *message;

    (void)context;
    state->answer = reply->status;
    if (!weir_lease_of(reply))
        return;
    state->lease = *weir_lease_of(reply);
    message = weir_message_new(self, weir_tag(self, "query"), 0);
    CU_ASSERT_EQUAL(weir_lease_send(self, &state->lease, message), 0);
    CU_ASSERT_EQUAL(weir_lease_renew(self, &state->lease), 0);
    CU_ASSERT_EQUAL(weir_return(self, &state->lease, WEIR_FAIL), 0);
    CU_ASSERT_EQUAL(weir_return(self, &state->lease, WEIR_DONE), WEIR_EUNKNOWN);
    message = weir_message_new(self, weir_tag(self, "query"), 0);
    CU_ASSERT_EQUAL(weir_lease_send(self, &state->lease, message), WEIR_ENOTALLOWED);
    weir_message_free(self, message);
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    (void)message;
    return weir_take(self, 9, 50, got, NULL, NULL) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static int taken(struct weir_self *self, void *memory)
{
    struct state *state = memory;

    (void)self;
    return ++state->taken == 1 ? 0 : WEIR_FAIL;
}

static int returned(struct weir_self *self, void *memory)
{
    (void)self;
    (void)memory;
    return 0;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "user",
      .state_size = sizeof(struct state),
      .handle = handle,
      .taken = taken,
      .returned = returned },
    { 0 },
};

WEIR_PLUGIN("leases", "1.0.0", behaviours);

static struct weir_kit *make(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "user");

    CU_ASSERT_EQUAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static void test_take_is_answered_by_the_test(void)
{
    const struct weir_lease lease = { .pool = 9, .member = 11, .token = 5 };
    struct weir_kit *kit = make();
    const struct state *state = weir_kit_state(kit);

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "go", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->way, WEIR_KIT_TAKE);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->to, 9);
    CU_ASSERT_EQUAL(
        weir_kit_answer(kit, weir_kit_sent(kit, 0)->reference, 0, "", &lease, sizeof lease), 0);
    CU_ASSERT_EQUAL(state->lease.token, 5);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 1)->way, WEIR_KIT_SEND);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 1)->to, 11);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 2)->way, WEIR_KIT_RETURN);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 2)->token, 5);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 2)->how, WEIR_FAIL);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_take_times_out(void)
{
    struct weir_kit *kit = make();
    const struct state *state = weir_kit_state(kit);

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "go", NULL, 0), WEIR_DONE);
    weir_kit_advance(kit, 50);
    CU_ASSERT_EQUAL(state->answer, WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_take_without_room_is_refused(void)
{
    struct weir_kit *kit = make();

    weir_kit_limit(kit, 0, WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "go", NULL, 0), WEIR_FAIL);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_callbacks_of_a_leased_worker_are_called(void)
{
    struct weir_kit *kit = make();

    CU_ASSERT_EQUAL(weir_kit_taken(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_taken(kit), WEIR_FAIL);
    CU_ASSERT_EQUAL(weir_kit_returned(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "taken", test_take_is_answered_by_the_test },
        { "time-out", test_take_times_out },
        { "no room", test_take_without_room_is_refused },
        { "callbacks", test_callbacks_of_a_leased_worker_are_called },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kit_lease", tests);
}
