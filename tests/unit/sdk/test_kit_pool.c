/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit delivers the outcome of a manager's resizes, as a pool does.
 * Method: a behaviour that grows its pool by each number, and requests the outcome; each has other
 * figures, in order.
 */
#include <string.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

#define POOL 77u

struct state {
    uint32_t notices;
    struct weir_pool_resized last;
    weir_pid from;
    uint8_t lane;
};

static int grow(struct weir_self *self, const struct weir_message *message)
{
    struct weir_resized resized;
    uint32_t size;

    memcpy(&size, message->data, sizeof size);
    if (weir_pool_resize(self, weir_pool(self), size, &resized) != 0)
        return WEIR_FAIL;
    return weir_pool_tell(self, weir_pool(self), resized.epoch) == 0 ? WEIR_DONE : WEIR_REJECT;
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    struct state *state = state_;

    if (!message->tag || strcmp(message->tag->name, WEIR_POOL_RESIZED) != 0)
        return grow(self, message);
    memcpy(&state->last, message->data, sizeof state->last);
    state->from = message->from;
    state->lane = message->lane;
    state->notices++;
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "grows", .state_size = sizeof(struct state), .handle = handle },
    { 0 },
};
WEIR_PLUGIN("pooling", "1.0.0", behaviours);

static struct weir_kit *begin(void)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "grows");

    weir_kit_place(kit, 0, POOL);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static int give(struct weir_kit *kit, uint32_t size)
{
    return weir_kit_handle(kit, "size", &size, sizeof size);
}

/* promise P11 */
static void test_outcomes_are_reported_in_the_order_of_asking(void)
{
    struct weir_kit *kit = begin();
    const struct state *state = weir_kit_state(kit);

    CU_ASSERT_EQUAL(weir_kit_resized(kit, 1, 0), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(give(kit, 3), WEIR_DONE);
    CU_ASSERT_EQUAL(give(kit, 5), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_resized(kit, 3, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(state->last.epoch, 1);
    CU_ASSERT_EQUAL(state->last.live, 3);
    CU_ASSERT_EQUAL(state->last.error, 0);
    CU_ASSERT_EQUAL(state->from, POOL);
    CU_ASSERT_EQUAL(state->lane, WEIR_HIGH);
    CU_ASSERT_EQUAL(weir_kit_pool(kit)->live, 3);
    CU_ASSERT_EQUAL(weir_kit_resized(kit, 4, WEIR_ENOMEM), WEIR_DONE);
    CU_ASSERT_EQUAL(state->last.epoch, 2);
    CU_ASSERT_EQUAL(state->last.error, WEIR_ENOMEM);
    CU_ASSERT_EQUAL(weir_kit_resized(kit, 5, 0), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(state->notices, 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

/* A request without an outcome is freed; a request may find no memory. */
static void test_asking_without_memory_is_refused(void)
{
    struct weir_kit *kit = begin();

    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(give(kit, 2), WEIR_REJECT);
    CU_ASSERT_EQUAL(give(kit, 3), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "outcomes", test_outcomes_are_reported_in_the_order_of_asking },
        { "no memory", test_asking_without_memory_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kit_pool", tests);
}
