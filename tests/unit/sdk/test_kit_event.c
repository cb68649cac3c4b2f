/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit has events: owners, subscribers, audiences, published messages.
 * Method: a behaviour that owns an event in `open`, subscribes to another, and publishes each
 * message.
 */
#include <string.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    uint64_t event;
    uint32_t notices;
    uint32_t subscribers;
    uint32_t taken;
};

static int open_it(struct weir_self *self, const void *settings, void *state_)
{
    struct state *state = state_;
    uint64_t second;

    (void)settings;
    if (weir_event(self, "", &second) != WEIR_EINVALID || weir_subscribe(self, "other") != 0)
        return WEIR_EINVALID;
    if (weir_event(self, "news", &state->event) != 0)
        return WEIR_ENOMEM;
    return weir_event(self, "news", &second) == WEIR_EEXISTS ? 0 : WEIR_EINVALID;
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    struct state *state = state_;
    struct weir_message *made = weir_message_new(self, NULL, 8);

    (void)message;
    if (weir_publish(self, 999, made, NULL, NULL) != WEIR_EUNKNOWN ||
        weir_publish(self, state->event, made, &state->taken, NULL) != 0)
        return WEIR_FAIL;
    return weir_unsubscribe(self, "other") == 0 ? WEIR_DONE : WEIR_REJECT;
}

static void audience(struct weir_self *self, void *state_, uint64_t event, uint32_t subscribers)
{
    struct state *state = state_;

    (void)self;
    state->notices += event == state->event;
    state->subscribers = subscribers;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "owns",
      .state_size = sizeof(struct state),
      .open = open_it,
      .handle = handle,
      .audience = audience },
    { 0 },
};

WEIR_PLUGIN("event", "1.0.0", behaviours);

static void test_owner_is_notified_and_publishes(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "owns");
    const struct state *state;

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    state = weir_kit_state(kit);
    CU_ASSERT_TRUE(weir_kit_is_subscribed(kit, "other"));
    CU_ASSERT_FALSE(weir_kit_is_subscribed(kit, "news"));
    CU_ASSERT_EQUAL(weir_kit_audience(kit, "other", 1), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_kit_audience(kit, "news", 2), 0);
    CU_ASSERT_EQUAL(weir_kit_audience(kit, "news", 3), 0); /* no news */
    CU_ASSERT_EQUAL(state->notices, 1);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(state->taken, 3);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->way, WEIR_KIT_PUBLISH);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 0)->token, state->event);
    CU_ASSERT_FALSE(weir_kit_is_subscribed(kit, "other"));
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_REJECT);
    CU_ASSERT_EQUAL(weir_kit_audience(kit, "news", 0), 0);
    CU_ASSERT_EQUAL(state->notices, 2);
    CU_ASSERT_EQUAL(state->subscribers, 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_events_end_with_the_incarnation(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "owns");

    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_FALSE(weir_kit_is_subscribed(kit, "other"));
    CU_ASSERT_EQUAL(weir_kit_audience(kit, "news", 1), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_kit_open(kit, NULL), 0);
    CU_ASSERT_TRUE(weir_kit_is_subscribed(kit, "other"));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "owner", test_owner_is_notified_and_publishes },
        { "end", test_events_end_with_the_incarnation },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, events", tests);
}
