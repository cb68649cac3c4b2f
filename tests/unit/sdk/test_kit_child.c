/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit records the children that a behaviour spawns and stops, and ends them with the
 * incarnation.
 * Method: a behaviour that makes a child for each message, stops the one before, and reports its
 * own parent.
 */
#include <weir/testkit.h>

#include "unit/host/suite.h"

struct settings {
    uint32_t number;
};

struct state {
    weir_pid last;
    uint32_t count;
    int status_in_close;
};

static int handle_part(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour part = { .name = "part",
                                            .settings_size = sizeof(struct settings),
                                            .handle = handle_part };

static int spawn_part(struct weir_self *self, uint32_t number, weir_pid *out)
{
    const struct settings settings = { number };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;

    options.behaviour = &part;
    options.settings = &settings;
    options.limit = 4;
    options.flags = WEIR_SPAWN_LINKED;
    return weir_spawn(self, &options, out);
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    struct state *state = state_;
    weir_pid before = state->last;
    int status = spawn_part(self, ++state->count, &state->last);

    if (status != 0)
        return WEIR_FAIL;
    if (before && message->size == 0 && weir_stop(self, before) != 0)
        return WEIR_REJECT;
    if (before && message->size > 0 && weir_stop_now(self, before) != 0)
        return WEIR_REJECT;
    return weir_parent(self) == 5 ? WEIR_STOP : WEIR_DONE;
}

static void close_it(struct weir_self *self, void *state_, int reason)
{
    struct state *state = state_;
    weir_pid pid;

    (void)reason;
    state->status_in_close = spawn_part(self, 0, &pid);
}

static const struct weir_behaviour behaviours[] = {
    { .name = "spawns", .state_size = sizeof(struct state), .handle = handle, .close = close_it },
    { 0 },
};

WEIR_PLUGIN("child", "1.0.0", behaviours);

static struct weir_kit *begin(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "spawns");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static void test_children_are_noted(void)
{
    struct weir_kit *kit = begin();
    const struct weir_kit_child *child;

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL_FATAL(weir_kit_child_count(kit), 1);
    child = weir_kit_child(kit, 0);
    CU_ASSERT_STRING_EQUAL(child->behaviour, "part");
    CU_ASSERT_EQUAL(((const struct settings *)child->settings)->number, 1);
    CU_ASSERT_EQUAL(child->limit, 4);
    CU_ASSERT_EQUAL(child->flags, WEIR_SPAWN_LINKED);
    CU_ASSERT_FALSE(child->stopped);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_TRUE(child->stopped && !child->stopped_now);
    CU_ASSERT_NOT_EQUAL(weir_kit_child(kit, 1)->pid, child->pid);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", "x", 1), WEIR_DONE);
    CU_ASSERT_TRUE(weir_kit_child(kit, 1)->stopped_now);
    CU_ASSERT_FALSE(weir_kit_child(kit, 2)->ended);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_TRUE(weir_kit_child(kit, 2)->ended);
    CU_ASSERT_PTR_NULL(weir_kit_child(kit, 3));
    CU_ASSERT_EQUAL(((const struct state *)weir_kit_state(kit))->status_in_close, WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_child_may_end_and_memory_may_be_out(void)
{
    struct weir_kit *kit = begin();

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_end_child(kit, weir_kit_child(kit, 0)->pid), 0);
    CU_ASSERT_EQUAL(weir_kit_end_child(kit, weir_kit_child(kit, 0)->pid), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_REJECT);
    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_FAIL);
    CU_ASSERT_EQUAL(weir_kit_child_count(kit), 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_it_can_be_a_child_itself(void)
{
    struct weir_kit *kit = begin();

    weir_kit_parent(kit, 5);
    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_STOP);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "noted", test_children_are_noted },
        { "ended", test_child_may_end_and_memory_may_be_out },
        { "parent", test_it_can_be_a_child_itself },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kit child", tests);
}
