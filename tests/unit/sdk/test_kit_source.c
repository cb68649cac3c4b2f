/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit keeps the position that a source leaves, gives it to another source, and
 * refuses it where the host would.
 * Method: gen's numbers, from one kit to the next; and a behaviour that is no source.
 */
#include <weir/testkit.h>

#include "unit/host/suite.h"

static int leave_in_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    (void)message;
    return weir_leave_position(self, "x", 1) == WEIR_ENOTALLOWED ? WEIR_DONE : WEIR_FAIL;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    uint32_t *next = state;

    *next += credit;
    return weir_leave_position(self, next, sizeof *next) == 0 ? WEIR_MORE : WEIR_END;
}

static void resume(struct weir_self *self, void *state, const void *position, size_t size)
{
    (void)self;
    if (size == sizeof(uint32_t))
        memcpy(state, position, size);
}

static const struct weir_output outputs[] = { { .name = "out" }, { 0 } };

static int leave(struct weir_self *self, void *state)
{
    weir_pid pid = 0;

    (void)state;
    CU_ASSERT_EQUAL(weir_target(self, 1, &pid), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_target(self, 0, &pid), 0);
    CU_ASSERT_EQUAL(pid, WEIR_KIT_TARGET);
    return WEIR_WAIT;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "worker", .handle = leave_in_handle },
    { .name = "source",
      .outputs = outputs,
      .state_size = sizeof(uint32_t),
      .produce = produce,
      .resume = resume,
      .leave = leave },
    { 0 },
};

WEIR_PLUGIN("positions", "1.0.0", behaviours);

static struct weir_kit *start(const char *behaviour)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static void test_position_goes_from_one_source_to_the_next(void)
{
    struct weir_kit *first = start("source");
    struct weir_kit *second = start("source");
    const void *left;
    size_t size = 1;

    CU_ASSERT_PTR_NULL(weir_kit_left(first, &size));
    CU_ASSERT_EQUAL(size, 0);
    CU_ASSERT_EQUAL(weir_kit_produce(first, 7), WEIR_MORE);
    weir_kit_close(first, WEIR_END_SHUTDOWN);
    left = weir_kit_left(first, &size);
    CU_ASSERT_EQUAL_FATAL(size, sizeof(uint32_t));
    weir_kit_resume(second, left, size);
    CU_ASSERT_EQUAL(*(uint32_t *)weir_kit_state(second), 7);
    CU_ASSERT_EQUAL(weir_kit_destroy(first), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(second), 0);
}

static void test_position_without_memory_is_refused(void)
{
    struct weir_kit *kit = start("source");
    size_t size;

    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_END);
    CU_ASSERT_PTR_NULL(weir_kit_left(kit, &size));
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_worker_has_no_position(void)
{
    struct weir_kit *kit = start("worker");

    CU_ASSERT_EQUAL(weir_kit_handle(kit, "any/1", NULL, 0), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_source_that_leaves_says_whether_it_waits(void)
{
    struct weir_kit *kit = start("source");

    CU_ASSERT_EQUAL(weir_kit_leave(kit), WEIR_WAIT);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "handed over", test_position_goes_from_one_source_to_the_next },
        { "no memory", test_position_without_memory_is_refused },
        { "leaving", test_source_that_leaves_says_whether_it_waits },
        { "worker", test_worker_has_no_position },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kit source", tests);
}
