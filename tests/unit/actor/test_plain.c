/* SPDX-License-Identifier: MIT */
/*
 * Goal: a plain actor, which has no pool, does what other actors do, and allocates its optional
 * state only when it is needed.
 *
 * Method: one plain actor of the probe on one thread; the test looks at its struct while it sleeps.
 */
#include "actor/lifecycle.h"
#include "actor/place.h"
#include "actor/spawn.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define BACKOFF_MS 10000

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct actor *actor;
    weir_pid pid;
};

static void begin(struct fixture *f)
{
    f->probe = probe_create();
    rig_init(&f->rig, 1, 0);
    f->spec = rig_spec(f->probe);
}

static void spawn(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct actor_options options = { .dispatcher = f->rig.dispatcher, .spec = f->spec };

    CU_ASSERT_EQUAL_FATAL(actor_spawn(f->rig.runtime, executor, &options, &f->actor), 0);
    f->pid = actor_pid(f->actor);
    runtime_leave(executor);
}

static bool is_open(void *context)
{
    return actor_state(context) == ACTOR_OPEN;
}

static bool has_ended(void *context)
{
    return actor_state(context) == ACTOR_ENDED;
}

static void begin_open(struct fixture *f)
{
    begin(f);
    spawn(f);
    CU_ASSERT_TRUE_FATAL(rig_wait(&f->rig, is_open, f->actor));
}

static void signal_it(struct fixture *f, uint32_t bits)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_EQUAL(actor_signal(f->actor, actor_serial_of(f->pid), executor, bits), 0);
    runtime_leave(executor);
}

static void finish(struct fixture *f)
{
    gate_open(&f->probe->gate);
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static void send(struct fixture *f, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pid, (struct order){ .act = act, .id = id }), 0);
}

static bool sleeps(void *context)
{
    struct actor *actor = context;

    return atomic_load(&actor->mailbox.word) & MAILBOX_IDLE;
}

static void test_actor_that_only_handles_has_nothing_but_its_slot(void)
{
    struct fixture f;

    begin(&f);
    f.probe->behaviour.state_size = 0;
    f.probe->behaviour.open = NULL;
    f.probe->behaviour.close = NULL;
    f.probe->behaviour.handle = NULL; /* rejects */
    spawn(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_open, f.actor));
    send(&f, NULL, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, sleeps, f.actor));
    CU_ASSERT_PTR_NULL(f.actor->place);
    CU_ASSERT_PTR_NULL(f.actor->ext);
    signal_it(&f, SIGNAL_DRAIN);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.actor));
    finish(&f);
}

static int retry_once(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    probe_note(probe, 100 + message->attempt);
    if (message->attempt > 1)
        return WEIR_DONE;
    weir_retry_after(self, 10);
    return WEIR_RETRY;
}

static bool holds(void *context)
{
    struct actor *actor = context;
    struct ledger_reading ledger;

    ledger_read(&actor->ledger, &actor->mailbox, &ledger);
    return ledger.held == 1;
}

/* promise V2 */
static void test_retry_of_a_plain_actor_comes_again(void)
{
    struct fixture f;

    begin_open(&f);
    send(&f, retry_once, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds, f.actor));
    CU_ASSERT_EQUAL(probe_times(f.probe, 102), 0);
    rig_advance(&f.rig, 10);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 102, 1));
    signal_it(&f, SIGNAL_DRAIN);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.actor));
    finish(&f);
}

static int put_aside(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    ((struct order *)message->data)->act = probe_done;
    CU_ASSERT_EQUAL(weir_stash(self, message), 0);
    (void)probe;
    return WEIR_DONE;
}

static int give_back(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)message;
    probe_note(probe, 700 + weir_unstash(self, 8));
    return WEIR_DONE;
}

/* promise A7 */
static void test_stash_of_a_plain_actor_comes_back_in_order(void)
{
    static const uint64_t wanted[] = { 1, 2, 3, 702, 1, 2 };
    struct fixture f;

    begin_open(&f);
    send(&f, put_aside, 1);
    send(&f, put_aside, 2);
    send(&f, give_back, 3);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 2));
    for (uint32_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), wanted[i]);
    signal_it(&f, SIGNAL_DRAIN);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.actor));
    finish(&f);
}

static int open_at_second(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->refused) ? 0 : WEIR_ENOMEM;
}

static bool is_waiting(void *context)
{
    return actor_state(context) == ACTOR_WAITING;
}

/* promise P5 */
static void test_plain_actor_that_cannot_open_is_tried_again(void)
{
    struct fixture f;

    begin(&f);
    f.probe->opens = open_at_second;
    spawn(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_waiting, f.actor));
    rig_advance(&f.rig, BACKOFF_MS);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_open, f.actor));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 1);
    signal_it(&f, SIGNAL_DRAIN);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.actor));
    finish(&f);
}

static int say_and_fail(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)message;
    (void)probe;
    weir_reason(self, "enough");
    return WEIR_FAIL;
}

/* promise A3 */
static void test_plain_actor_that_fails_ends_with_its_backlog(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin_open(&f);
    send(&f, probe_wait, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send(&f, say_and_fail, 2);
    send(&f, probe_done, 3);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.actor));
    ledger_read(&f.actor->ledger, &f.actor->mailbox, &ledger);
    CU_ASSERT_EQUAL(ledger.done, 1);
    CU_ASSERT_EQUAL(ledger.dead, 2);
    CU_ASSERT_EQUAL(ledger_reading_difference(&ledger), 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 3), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pid, (struct order){ .id = 4 }), WEIR_ETERMINATED);
    finish(&f);
}

/* Notes 1000 when the actor is known to be plain, else 1001. */
static void note_plain(struct weir_self *self, struct probe *probe)
{
    probe_note(probe, actor_of_self(self)->flags & ACTOR_PLAIN ? 1000 : 1001);
}

static int is_it_plain(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    note_plain(self, probe);
    (void)message;
    return WEIR_DONE;
}

static int keep_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    note_plain(self, probe);
    probe->context = message_of(message);
    return WEIR_KEEP;
}

static int settle_it(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    note_plain(self, probe);
    CU_ASSERT_EQUAL(weir_settle(self, probe->context, WEIR_DONE), 0);
    (void)message;
    return WEIR_DONE;
}

static int unstash_it(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    note_plain(self, probe);
    CU_ASSERT_EQUAL(weir_unstash(self, 1), 1);
    note_plain(self, probe);
    (void)message;
    return WEIR_DONE;
}

/* The other conditions are checked with each message by an assertion in builds with WEIR_CHECKS. */
static void test_plain_flag_ends_with_each_disturbance(void)
{
    static probe_act *const acts[] = { is_it_plain, keep_it,   is_it_plain, settle_it,
                                       is_it_plain, put_aside, unstash_it,  is_it_plain };
    static const uint64_t wanted[] = { 1000, 1000, 1001, 1001, 1000, 1000, 1001, 1000 };
    struct fixture f;
    uint32_t seen = 0;

    begin(&f);
    f.probe->behaviour.in_hand = 2;
    spec_unref(f.spec);
    f.spec = rig_spec(f.probe);
    spawn(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_open, f.actor));
    for (uint32_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        send(&f, acts[i], i + 1);
    /* The signal disturbs the actor, too, but not during the last handler. */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, sizeof acts / sizeof acts[0], 1));
    signal_it(&f, SIGNAL_DRAIN);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.actor));
    for (uint32_t i = 0; i < probe_count(f.probe) && seen < sizeof wanted / sizeof wanted[0]; i++)
        if (probe_get(f.probe, i) >= 1000)
            CU_ASSERT_EQUAL(probe_get(f.probe, i), wanted[seen++]);
    CU_ASSERT_EQUAL(seen, sizeof wanted / sizeof wanted[0]);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "nothing but its slot", test_actor_that_only_handles_has_nothing_but_its_slot },
        { "retry", test_retry_of_a_plain_actor_comes_again },
        { "stash", test_stash_of_a_plain_actor_comes_back_in_order },
        { "open again", test_plain_actor_that_cannot_open_is_tried_again },
        { "flag", test_plain_flag_ends_with_each_disturbance },
        { "end", test_plain_actor_that_fails_ends_with_its_backlog },
        CU_TEST_INFO_NULL,
    };

    return suite_run("actor/plain", tests);
}
