/* SPDX-License-Identifier: MIT */
/*
 * Goal: the workers of a pool that is restarted begin another incarnation in their places, and no
 * message is lost, dead or handled twice; a worker that keeps messages for too long continues
 * without a restart.
 *
 * Method: workers that wait, stash, keep and fail by order; a clock that stands still until it is
 * moved. Shows promise P20.
 */
#include "pool/renewal.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define KEPT_MS 50
#define NOTE_KEPT 900
#define NOTE_TICK 901
#define NOTE_INCARNATIONS 1000 /* beside the number of those that have been closed */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, uint32_t size)
{
    f->probe = probe_create();
    f->probe->behaviour.in_hand = 2;
    rig_init(&f->rig, 2, 0);
    f->pool = rig_workers(&f->rig, f->probe, "work", size, 8);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static uint32_t ask(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    uint32_t count = renewal_ask(f->pool, RENEWAL_ALL, executor);

    runtime_leave(executor);
    return count;
}

static uint32_t take_back(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    uint32_t count = renewal_take_back(f->pool, RENEWAL_ALL, executor);

    runtime_leave(executor);
    return count;
}

static struct renewal_counts counts(struct fixture *f)
{
    struct renewal_counts sum = { 0 };

    renewal_count(f->pool, RENEWAL_ALL, &sum);
    return sum;
}

static bool is_over(void *context)
{
    struct renewal_counts sum = counts(context);

    return sum.asked + sum.begun == 0;
}

static void send(struct fixture *f, uint32_t index, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(
        rig_send(&f->rig, rig_worker(f->pool, index), (struct order){ .act = act, .id = id }), 0);
}

static void test_mailboxes_and_counters_are_kept(void)
{
    struct fixture f;
    weir_pid pid;

    begin(&f, 2);
    pid = rig_worker(f.pool, 0);
    send(&f, 0, probe_wait, 10);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 11; id <= 14; id++)
        send(&f, 0, NULL, id);
    CU_ASSERT_EQUAL(ask(&f), 2);
    CU_ASSERT_EQUAL(counts(&f).asked >= 1, true);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_worker(f.pool, 0), pid);
    for (uint32_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), 10 + i);
    CU_ASSERT_EQUAL(probe_count(f.probe), 5);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 4);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(rig_stats(f.pool).dead, 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).done, 5);
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 0);
    finish(&f);
}

static void test_one_worker_is_restarted_and_no_other(void)
{
    struct fixture f;
    struct executor *executor;
    struct renewal_worker worker;

    begin(&f, 3);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(renewal_ask(f.pool, 3, executor), 0);
    CU_ASSERT_EQUAL(renewal_ask(f.pool, 1, executor), 1);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 4);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 1);
    renewal_look(f.pool, 1, &worker);
    CU_ASSERT_TRUE(worker.is_member && !worker.is_leaving);
    CU_ASSERT_TRUE(worker.count == 3 && worker.lowest == 0 && worker.highest == 2);
    renewal_look(f.pool, 3, &worker);
    CU_ASSERT_FALSE(worker.is_member || worker.is_leaving);
    CU_ASSERT_EQUAL(renewal_kill(f.pool, 3), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(renewal_kill(f.pool, 1), WEIR_ENOTALLOWED);
    finish(&f);
}

/* The first incarnation stashes, the next one handles. */
static int stash_at_first(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    if (atomic_load(&probe->opened) == 1)
        CU_ASSERT_EQUAL(weir_stash(self, message), 0);
    return WEIR_DONE;
}

static void test_stashed_messages_are_given_to_the_next_incarnation_first(void)
{
    static const uint64_t expected[] = { 1, 2, 3, 1, 2, 4 };
    struct fixture f;

    begin(&f, 1);
    send(&f, 0, stash_at_first, 1);
    send(&f, 0, stash_at_first, 2);
    send(&f, 0, probe_wait, 3);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send(&f, 0, NULL, 4);
    CU_ASSERT_EQUAL(ask(&f), 1);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), expected[i]);
    CU_ASSERT_EQUAL(rig_stats(f.pool).dead, 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).done, 4);
    finish(&f);
}

static void settle(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
}

static int keep_for_some_time(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    CU_ASSERT_EQUAL(
        weir_after(self, KEPT_MS, settle, (struct weir_message *)(uintptr_t)message, NULL), 0);
    probe_note(probe, NOTE_KEPT);
    return WEIR_KEEP;
}

static void test_kept_messages_are_settled_before(void)
{
    struct fixture f;

    begin(&f, 1);
    send(&f, 0, keep_for_some_time, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NOTE_KEPT, 1));
    CU_ASSERT_EQUAL(ask(&f), 1);
    send(&f, 0, NULL, 2);
    CU_ASSERT_EQUAL(counts(&f).asked, 1);
    rig_advance(&f.rig, KEPT_MS);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, NOTE_KEPT), 1); /* not given again */
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).dead, 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).done, 2);
    finish(&f);
}

static void note_tick(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    probe_note(context, NOTE_TICK);
}

static void settle_by_reply(struct weir_self *self, void *state, void *context,
                            const struct weir_reply *reply)
{
    (void)reply;
    settle(self, state, context);
}

/* The argument is the PID of a worker that answers when the gate opens. */
static int keep_until_a_reply(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    struct weir_message *request = probe_message(self, (struct order){ .act = probe_wait });

    CU_ASSERT_EQUAL(weir_request(self, probe_order(message)->argument, request, 60000,
                                 settle_by_reply, (struct weir_message *)(uintptr_t)message, NULL),
                    0);
    CU_ASSERT_EQUAL(weir_after(self, KEPT_MS, note_tick, probe, NULL), 0);
    probe_note(probe, NOTE_KEPT);
    return WEIR_KEEP;
}

static int note_incarnation(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    (void)self;
    (void)message;
    probe_note(probe, NOTE_INCARNATIONS + atomic_load(&probe->closed));
    return WEIR_DONE;
}

static void test_worker_restarts_before_the_next_message_when_a_reply_settles_the_last(void)
{
    struct fixture f;

    begin(&f, 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0),
                             (struct order){ .act = keep_until_a_reply,
                                             .id = 1,
                                             .argument = rig_worker(f.pool, 1) }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NOTE_KEPT, 1));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(ask(&f), 2);
    send(&f, 0, note_incarnation, 2);
    rig_advance(&f.rig, KEPT_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NOTE_TICK, 1)); /* it has seen that it was asked */
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, NOTE_INCARNATIONS), 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).dead, 0);
    finish(&f);
}

static void test_worker_that_keeps_messages_goes_on_when_it_is_taken_back(void)
{
    struct fixture f;

    begin(&f, 1);
    send(&f, 0, keep_for_some_time, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NOTE_KEPT, 1));
    CU_ASSERT_EQUAL(ask(&f), 1);
    send(&f, 0, NULL, 2);
    CU_ASSERT_EQUAL(take_back(&f), 1);
    CU_ASSERT_EQUAL(take_back(&f), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    rig_advance(&f.rig, KEPT_MS);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).dead, 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).done, 2);
    finish(&f);
}

static int refuse_second(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->opened) == 1 && atomic_load(&probe->refused) == 0 ? WEIR_EINVALID
                                                                                 : 0;
}

static void test_open_that_fails_is_reported_and_tried_again(void)
{
    struct fixture f;

    begin(&f, 1);
    f.probe->opens = refuse_second;
    CU_ASSERT_EQUAL(ask(&f), 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(counts(&f).failed, 1);
    CU_ASSERT_EQUAL(ask(&f), 1); /* its pause is over at once */
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(counts(&f).failed, 0);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one worker", test_one_worker_is_restarted_and_no_other },
        { "mailboxes", test_mailboxes_and_counters_are_kept },
        { "stash", test_stashed_messages_are_given_to_the_next_incarnation_first },
        { "kept", test_kept_messages_are_settled_before },
        { "reply", test_worker_restarts_before_the_next_message_when_a_reply_settles_the_last },
        { "taken back", test_worker_that_keeps_messages_goes_on_when_it_is_taken_back },
        { "failed open", test_open_that_fails_is_reported_and_tried_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("renewal of a pool", tests);
}
