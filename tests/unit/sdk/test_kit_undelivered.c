/* SPDX-License-Identifier: MIT */
/*
 * Goal: in the test kit, too, a delayed message without room is reported to the behaviour: by
 * `undelivered`, or, with an origin, by `settled`.
 * Method: a behaviour that sends one delayed message, with an origin or without, and notes the
 * report; the test takes all room away.
 */
#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    uint64_t timer; /* armed */
    uint64_t last_timer;
    int last_status;
    weir_pid last_to;
    uint64_t last_payload;
    uint32_t undelivered;
    uint32_t settled;
};

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    const uint64_t token = *(const uint64_t *)message->data;
    struct state *state = state_;
    struct weir_message *made = weir_message_new(self, NULL, sizeof(uint64_t));

    if (!made)
        return WEIR_REJECT;
    *(uint64_t *)made->data = 11;
    if ((token == 0 || weir_set_origin(self, made, token) == 0) &&
        weir_send_after(self, 9, made, 30, &state->timer) == 0)
        return WEIR_DONE;
    weir_message_free(self, made);
    return WEIR_REJECT;
}

static void undelivered(struct weir_self *self, void *state_, const struct weir_undelivered *what)
{
    struct state *state = state_;

    (void)self;
    state->undelivered++;
    state->last_timer = what->timer;
    state->last_status = what->status;
    state->last_to = what->to;
    state->last_payload = *(const uint64_t *)what->message->data;
}

static void settled(struct weir_self *self, void *state_, const struct weir_outcome *outcome)
{
    struct state *state = state_;

    (void)self;
    CU_ASSERT_EQUAL(outcome->token, 7);
    CU_ASSERT_EQUAL(outcome->result, WEIR_OUTCOME_DEAD);
    CU_ASSERT_STRING_EQUAL(outcome->reason, "full");
    state->settled++;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "late",
      .state_size = sizeof(struct state),
      .handle = handle,
      .settled = settled,
      .undelivered = undelivered },
    { .name = "deaf", .state_size = sizeof(struct state), .handle = handle },
    { 0 },
};

WEIR_PLUGIN("undelivered", "1.0.0", behaviours);

/* Has a message sent in 30 ms, with this token as an origin's; 0: without. */
static struct weir_kit *start(const char *behaviour, uint64_t token)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "run/1", &token, sizeof token), WEIR_DONE);
    return kit;
}

static void test_late_message_without_room_is_reported(void)
{
    struct weir_kit *kit = start("late", 0);
    const struct state *state = weir_kit_state(kit);

    weir_kit_limit(kit, 0, WEIR_ECLOSED);
    weir_kit_advance(kit, 29);
    CU_ASSERT_EQUAL(state->undelivered, 0);
    weir_kit_advance(kit, 1);
    CU_ASSERT_EQUAL(state->undelivered, 1);
    CU_ASSERT_EQUAL(state->last_timer, state->timer);
    CU_ASSERT_EQUAL(state->last_status, WEIR_ECLOSED);
    CU_ASSERT_EQUAL(state->last_to, 9);
    CU_ASSERT_EQUAL(state->last_payload, 11);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_late_message_takes_the_room_there_is(void)
{
    struct weir_kit *kit = start("late", 7);
    const uint64_t none = 0;

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "run/1", &none, sizeof none), WEIR_DONE);
    weir_kit_limit(kit, 1, WEIR_EFULL);
    weir_kit_advance(kit, 30);
    CU_ASSERT_EQUAL_FATAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->token, 7);
    CU_ASSERT_EQUAL(((const struct state *)weir_kit_state(kit))->undelivered, 1);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_late_message_with_an_origin_is_settled(void)
{
    struct weir_kit *kit = start("late", 7);
    const struct state *state = weir_kit_state(kit);

    weir_kit_limit(kit, 0, WEIR_EFULL);
    weir_kit_advance(kit, 30);
    CU_ASSERT_EQUAL(state->settled, 1);
    CU_ASSERT_EQUAL(state->undelivered, 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_behaviour_that_does_not_listen_is_spared(void)
{
    struct weir_kit *kit = start("deaf", 0);

    weir_kit_limit(kit, 0, WEIR_EFULL);
    weir_kit_advance(kit, 30);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reported", test_late_message_without_room_is_reported },
        { "room", test_late_message_takes_the_room_there_is },
        { "origin", test_late_message_with_an_origin_is_settled },
        { "deaf", test_behaviour_that_does_not_listen_is_spared },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, undelivered", tests);
}
