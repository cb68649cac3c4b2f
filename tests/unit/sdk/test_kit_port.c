/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit stands in for a plugin's own threads: calls of a port are recorded, a port
 * closes with its incarnation, and one that is not given back is a problem.
 * Method: a behaviour that keeps its messages, with a port in its state that the test uses.
 */
#include <string.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    struct weir_port *port;
    const struct weir_message *kept;
};

static int open_port(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    ((struct state *)state)->port = weir_port(self);
    return ((struct state *)state)->port ? 0 : WEIR_ENOMEM;
}

static int keep(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    ((struct state *)state)->kept = message;
    return WEIR_KEEP;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "keeps", .state_size = sizeof(struct state), .open = open_port, .handle = keep },
    { 0 },
};

static const struct weir_plugin plugin = {
    .size = sizeof plugin,
    .abi_minor = WEIR_ABI_MINOR,
    .name = "kit_port",
    .version = "1.0.0",
    .behaviours = behaviours,
    .behaviour_size = sizeof(struct weir_behaviour),
    .option_size = sizeof(struct weir_option),
    .output_size = sizeof(struct weir_output),
};

static void test_what_comes_through_a_port_is_seen(void)
{
    struct weir_kit *kit = weir_kit_create(&plugin, "keeps");
    struct weir_message *message;
    struct state *state;
    struct weir_port *port;

    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    state = weir_kit_state(kit);
    port = state->port;
    message = weir_port_message_new(port, NULL, 4);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_EQUAL(weir_port_send(port, 0, message), 0);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 1);
    CU_ASSERT_EQUAL(weir_kit_request(kit, NULL, "x", 1), WEIR_KEEP);
    message = weir_port_message_new(port, NULL, 4);
    CU_ASSERT_EQUAL(weir_port_reply(port, state->kept, message), 0);
    CU_ASSERT_PTR_EQUAL(weir_kit_replied(kit, 0), message);
    CU_ASSERT_EQUAL(weir_port_settle(port, state->kept, WEIR_DONE, 0, NULL), 0);
    CU_ASSERT_EQUAL(weir_kit_settled_count(kit, WEIR_DONE), 1);
    CU_ASSERT_EQUAL(weir_kit_kept_count(kit), 0);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_PTR_NULL(weir_port_message_new(port, NULL, 4));
    CU_ASSERT_EQUAL(weir_port_send(port, 0, NULL), WEIR_ECLOSED);
    weir_port_unref(port);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static int give_7(struct weir_task *task, void *argument)
{
    (void)task;
    *(int *)argument = 1;
    return 7;
}

static void test_tasks_through_a_port_are_seen(void)
{
    struct weir_group_ended ended = WEIR_GROUP_ENDED;
    struct weir_kit *kit = weir_kit_create(&plugin, "keeps");
    struct weir_port_group *group = NULL;
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_port *port;
    uint64_t reference = 0;
    weir_pid pool = 0;
    int ran = 0;

    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    port = ((struct state *)weir_kit_state(kit))->port;
    CU_ASSERT_EQUAL(weir_port_lookup(port, "tasks", &pool), WEIR_EUNKNOWN);
    weir_kit_name(kit, "tasks", 5);
    CU_ASSERT_EQUAL(weir_port_lookup(port, "tasks", &pool), 0);
    CU_ASSERT_EQUAL(pool, 5);
    CU_ASSERT_EQUAL(weir_port_submit(port, 5, give_7, &ran, WEIR_FOR_EVER), 0);
    CU_ASSERT_EQUAL(weir_port_submit(port, 5, NULL, &ran, 0), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_port_submit_request(port, 5, give_7, &ran, 0, &reference), 0);
    CU_ASSERT_EQUAL(weir_port_await(port, reference, &answer), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(weir_kit_sent_count(kit), 2);
    CU_ASSERT_EQUAL_FATAL(weir_port_group_create(port, 0, &group), 0);
    CU_ASSERT_EQUAL(weir_port_group_submit(group, 5, give_7, &ran, 0), 0);
    CU_ASSERT_EQUAL(weir_port_group_wait(group, WEIR_FOR_EVER, &ended), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(ended.open, 1);
    weir_port_group_cancel(group);
    CU_ASSERT_EQUAL(weir_port_group_submit(group, 5, give_7, &ran, 0), WEIR_ECANCELLED);
    CU_ASSERT_EQUAL(weir_port_group_wait(group, WEIR_FOR_EVER, &ended), 0);
    weir_port_group_destroy(group);
    CU_ASSERT_EQUAL(ran, 0);
    weir_kit_close(kit, WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(weir_port_submit(port, 5, give_7, &ran, 0), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(weir_port_lookup(port, "tasks", &pool), WEIR_ECLOSED);
    weir_port_unref(port);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_port_that_is_not_given_back_is_a_problem(void)
{
    struct weir_kit *kit = weir_kit_create(&plugin, "keeps");
    struct weir_port *port;

    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    port = ((struct state *)weir_kit_state(kit))->port;
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 1);
    CU_ASSERT_EQUAL(weir_port_settle(port, NULL, WEIR_DONE, 0, NULL), WEIR_ECLOSED);
    weir_port_unref(port);
}

static void test_port_without_memory_fails_the_open(void)
{
    struct weir_kit *kit = weir_kit_create(&plugin, "keeps");

    weir_kit_fail_allocation(kit, 1);
    CU_ASSERT_EQUAL(weir_kit_open(kit, NULL), WEIR_ENOMEM);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "seen", test_what_comes_through_a_port_is_seen },
        { "tasks", test_tasks_through_a_port_are_seen },
        { "not given back", test_port_that_is_not_given_back_is_a_problem },
        { "no memory", test_port_without_memory_fails_the_open },
        CU_TEST_INFO_NULL,
    };

    return suite_run("kit_port", tests);
}
