/* SPDX-License-Identifier: MIT */
/*
 * Goal: the test kit shows the messages with a behaviour as origin, and delivers the outcome of
 * each once.
 * Method: a behaviour that emits one message with a token, and notes the outcome in `settled`.
 */
#include <string.h>

#include <weir/testkit.h>

#include "unit/host/suite.h"

struct state {
    struct weir_outcome last;
    uint32_t outcomes;
    int refused;
};

static void then(struct weir_self *self, void *state, void *context, const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    (void)context;
    (void)reply;
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    struct state *state = state_;
    struct weir_message *made = weir_message_new(self, NULL, 8);

    if (!made)
        return WEIR_REJECT;
    state->refused = weir_set_origin(self, made, *(const uint64_t *)message->data);
    if (weir_request(self, 5, made, 10, then, NULL, NULL) != WEIR_EINVALID)
        return WEIR_FAIL;
    if (state->refused == 0 && weir_emit(self, 0, made) == 0)
        return WEIR_DONE;
    weir_message_free(self, made);
    return WEIR_REJECT;
}

static void settled(struct weir_self *self, void *state_, const struct weir_outcome *outcome)
{
    struct state *state = state_;

    (void)self;
    state->last = *outcome;
    state->outcomes++;
}

/* Emits one that joins by itself, one that is detached, and one with an origin of its own. */
static int multiply(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *plain = weir_message_new(self, NULL, 0);
    struct weir_message *detached = weir_message_new(self, NULL, 0);
    struct weir_message *own = weir_message_new(self, NULL, 0);

    (void)state;
    (void)message;
    CU_ASSERT_EQUAL(weir_detach(self, detached), 0);
    CU_ASSERT_EQUAL(weir_set_origin(self, own, 7), 0);
    CU_ASSERT_EQUAL(weir_join(self, own, message), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_emit(self, 0, plain), 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, detached), 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, own), 0);
    return WEIR_DONE;
}

static void tick(struct weir_self *self, void *state, void *context)
{
    struct weir_message *kept = context;
    struct weir_message *joined = weir_message_new(self, NULL, 0);
    struct weir_message *other = weir_message_new(self, NULL, 0);

    (void)state;
    CU_ASSERT_EQUAL(weir_join(self, joined, kept), 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, joined), 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, other), 0);
    CU_ASSERT_EQUAL(weir_settle(self, kept, WEIR_DONE), 0);
}

static int keep(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_after(self, 5, tick, (void *)(uintptr_t)message, NULL), 0);
    return WEIR_KEEP;
}

static const struct weir_output outputs[] = { { .name = "out", .help = "all" }, { 0 } };

static const struct weir_behaviour behaviours[] = {
    { .name = "settles",
      .outputs = outputs,
      .state_size = sizeof(struct state),
      .handle = handle,
      .settled = settled },
    { .name = "multiplies",
      .outputs = outputs,
      .state_size = sizeof(struct state),
      .handle = multiply,
      .settled = settled },
    { .name = "keeps",
      .outputs = outputs,
      .state_size = sizeof(struct state),
      .handle = keep,
      .in_hand = 1 },
    { .name = "mute", .outputs = outputs, .state_size = sizeof(struct state), .handle = handle },
    { 0 },
};

WEIR_PLUGIN("origin", "1.0.0", behaviours);

static struct weir_kit *start(const char *behaviour)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, behaviour);

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open(kit, NULL), 0);
    return kit;
}

static int run(struct weir_kit *kit, uint64_t token)
{
    return weir_kit_handle(kit, "run/1", &token, sizeof token);
}

static void test_outcome_is_reported_once_for_each_token(void)
{
    struct weir_kit *kit = start("settles");
    const struct state *state = weir_kit_state(kit);
    const struct weir_outcome dead = { .token = 7, .result = WEIR_OUTCOME_DEAD };
    const struct weir_outcome again = {
        .token = 8, .result = WEIR_OUTCOME_RETRY, .attempt = 3, .delay_ms = 50
    };

    CU_ASSERT_EQUAL(run(kit, 7), WEIR_DONE);
    CU_ASSERT_EQUAL(run(kit, 8), WEIR_DONE);
    CU_ASSERT_EQUAL(weir_kit_sent(kit, 1)->token, 8);
    CU_ASSERT_EQUAL(weir_kit_tell(kit, &again), 0);
    CU_ASSERT_EQUAL(state->last.attempt, 3);
    CU_ASSERT_EQUAL(state->last.delay_ms, 50);
    CU_ASSERT_EQUAL(weir_kit_tell(kit, &dead), 0);
    CU_ASSERT_EQUAL(state->last.attempt, 1);
    CU_ASSERT_STRING_EQUAL(state->last.reason, "rejected");
    CU_ASSERT_STRING_EQUAL(state->last.detail, "");
    CU_ASSERT_EQUAL(weir_kit_tell(kit, &dead), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(state->outcomes, 2);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_origin_without_settled_or_memory_is_refused(void)
{
    struct weir_kit *kit = start("mute");

    CU_ASSERT_EQUAL(run(kit, 7), WEIR_FAIL); /* without an origin it may be a request */
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = start("settles");
    weir_kit_fail_allocation(kit, 2); /* the message comes first */
    CU_ASSERT_EQUAL(run(kit, 7), WEIR_FAIL);
    CU_ASSERT_EQUAL(((const struct state *)weir_kit_state(kit))->refused, WEIR_ENOMEM);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

static void test_sent_message_says_what_it_joins(void)
{
    struct weir_kit *kit = start("multiplies");
    const struct weir_outcome done = { .token = 7, .result = WEIR_OUTCOME_DONE };

    CU_ASSERT_EQUAL(run(kit, 1), WEIR_DONE);
    CU_ASSERT_PTR_NOT_NULL(weir_kit_sent(kit, 0)->joins);
    CU_ASSERT_PTR_NULL(weir_kit_sent(kit, 1)->joins);
    CU_ASSERT_PTR_NULL(weir_kit_sent(kit, 2)->joins);
    CU_ASSERT_EQUAL(weir_kit_tell(kit, &done), 0);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    kit = start("keeps");
    CU_ASSERT_EQUAL(run(kit, 1), WEIR_KEEP);
    weir_kit_advance(kit, 5);
    CU_ASSERT_PTR_NOT_NULL(weir_kit_sent(kit, 0)->joins);
    CU_ASSERT_PTR_NULL(weir_kit_sent(kit, 1)->joins);
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "outcomes once", test_outcome_is_reported_once_for_each_token },
        { "joined", test_sent_message_says_what_it_joins },
        { "refused", test_origin_without_settled_or_memory_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("sdk: test kit, origins", tests);
}
