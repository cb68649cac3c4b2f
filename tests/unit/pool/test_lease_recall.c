/* SPDX-License-Identifier: MIT */
/*
 * Goal: a member whose lease is revoked because it has to leave opens again before anybody uses it,
 * also when the pool recalls it meanwhile.
 *
 * Method: a member that cannot end yet, because its child waits at a gate.
 */
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

static void close_at_gate(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)reason;
    (void)gate_pass(*(struct gate **)state);
}

static int open_with_gate(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct gate **)state = *(struct gate *const *)settings;
    return 0;
}

static int ignore(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

/* Of a member: it has a child whose end waits at the gate of the members. */
static int have_child(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    static const struct weir_behaviour child = { .name = "child",
                                                 .settings_size = sizeof(struct gate *),
                                                 .state_size = sizeof(struct gate *),
                                                 .open = open_with_gate,
                                                 .handle = ignore,
                                                 .close = close_at_gate };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct gate *gate = &probe->gate;
    weir_pid pid;

    (void)message;
    options.behaviour = &child;
    options.settings = &gate;
    return weir_spawn(self, &options, &pid) == 0 ? WEIR_DONE : WEIR_REJECT;
}

static int use_and_have_child(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    return send_under(self, probe, message, have_child);
}

/* promise P35: the pool recalls a member before it has left, and after its lease was revoked. What
 * the holder has left behind is not for the next one. */
static void test_member_that_is_revoked_and_recalled_opens_again(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use_and_have_child), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 1000, 1));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(result(&f, 0, renew), 0);
    rig_advance(&f.rig, 500);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.member->closed), 1);
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "recalled", test_member_that_is_revoked_and_recalled_opens_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_recall", tests);
}
