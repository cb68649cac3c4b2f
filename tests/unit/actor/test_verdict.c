/* SPDX-License-Identifier: MIT */
/*
 * Goal: every verdict has the effect that <weir/plugin.h> describes, on the message and on the
 * incarnation.
 *
 * Method: one worker on one thread, whose orders return the verdict under test; the clock stands
 * still until the test moves it. Ledger, dead letters and callbacks are counted.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
    struct ledger_reading ledger;
};

static void begin(struct fixture *f)
{
    f->probe = probe_create();
    rig_init(&f->rig, 1, 0);
    f->spec = rig_spec(f->probe);
}

/* After the spec was made as the test wants it. */
static void create(struct fixture *f)
{
    f->pool = rig_pool(
        &f->rig, &(struct pool_options){ .spec = f->spec, .size = 1, .settings.mailbox = 16 });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void send(struct fixture *f, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = act, .id = id }), 0);
}

/* Ends the pool; its dead letters are read before that. */
static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &f->ledger));
    CU_ASSERT_EQUAL(atomic_load(&f->probe->opened), atomic_load(&f->probe->closed));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static int reject(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_reason(self, "not mine");
    return WEIR_REJECT;
}

/* promise V1 */
static void test_reject_makes_a_dead_letter_with_its_reason(void)
{
    struct fixture f;
    struct dead_letter letter;

    begin(&f);
    create(&f);
    send(&f, reject, 1);
    send(&f, probe_done, 2);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 1);
    CU_ASSERT_EQUAL(dead_letters_read(&f.pool->dead, &letter, 1), 1);
    CU_ASSERT_STRING_EQUAL(letter.detail, "not mine");
    CU_ASSERT_EQUAL(letter.size, sizeof(struct order));
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.dead, 1);
    CU_ASSERT_EQUAL(f.ledger.done, 1);
}

static int retry(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    probe_note(probe, 100u + message->attempt);
    weir_retry_after(self, 10);
    return WEIR_RETRY;
}

/* Moves the clock until each message is done or dead. */
static bool is_over(void *context)
{
    struct fixture *f = context;
    struct ledger_reading ledger;

    rig_advance(&f->rig, 10);
    ledger = rig_ledger(f->pool);
    return ledger.accepted == ledger.dead + ledger.done;
}

static bool is_held(void *context)
{
    return rig_ledger(context).held == SPEC_RETRIES_MAX;
}

/* promise V2 */
static void test_retry_gives_the_message_again_until_it_is_dead(void)
{
    struct fixture f;

    begin(&f);
    f.spec->retry.max = 2;
    create(&f);
    send(&f, retry, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 101, 1));
    send(&f, probe_done, 50); /* other messages are handled meanwhile */
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 50, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 1);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).held, 1);
    rig_advance(&f.rig, 10);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 102, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_RETRIES), 1);
    CU_ASSERT_EQUAL(probe_times(f.probe, 103), 1);
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 3);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 1);
    CU_ASSERT_EQUAL(f.ledger.dead, 1);
}

/* promise V2 */
static void test_worker_takes_nothing_new_while_many_wait_to_be_given_again(void)
{
    struct fixture f;
    struct pool *other;

    begin(&f);
    f.spec->retry.max = 1;
    create(&f);
    other = rig_workers(&f.rig, f.probe, "other", 1, 1);
    for (uint64_t id = 0; id < SPEC_RETRIES_MAX; id++)
        send(&f, retry, id);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_held, f.pool));
    send(&f, retry, 99);
    /* After it, on the only thread. */
    CU_ASSERT_EQUAL(rig_send(&f.rig, other->pid, (struct order){ .id = 500 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 500, 1));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).held, SPEC_RETRIES_MAX);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 1);
    CU_ASSERT_EQUAL(probe_times(f.probe, 99), 0);
    rig_advance(&f.rig, 10);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 99, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(probe_times(f.probe, 99), 2);
    CU_ASSERT_TRUE(rig_end(&f.rig, other, NULL));
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.dead, SPEC_RETRIES_MAX + 1);
}

/* Also within one turn, for messages that the mailbox has already. promise V2 */
static void test_worker_stops_in_the_middle_of_a_turn_when_many_wait_to_be_given_again(void)
{
    struct fixture f;

    begin(&f);
    create(&f);
    gate_shut(&f.probe->gate);
    send(&f, probe_wait, 500);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 0; id < 15; id++)
        send(&f, retry, id);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 14, 1));
    gate_shut(&f.probe->gate);
    send(&f, probe_wait, 501);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    for (uint64_t id = 15; id < 20; id++)
        send(&f, retry, id);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_held, f.pool));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 20 - SPEC_RETRIES_MAX);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    finish(&f);
}

/* What `postpone` lacks. */
static atomic_bool is_there_again;

static int postpone(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    probe_note(probe, 100u + message->attempt);
    weir_reason(self, "no descriptor");
    weir_retry_after(self, 10);
    return atomic_load(&is_there_again) ? WEIR_DONE : WEIR_POSTPONE;
}

static bool was_postponed_often(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 10);
    return probe_times(f->probe, 1) >= 10;
}

static bool was_each_the_first_attempt(void *context)
{
    return probe_times(context, 101) == probe_times(context, 1);
}

/* promise V5 */
static void test_postponed_message_comes_again_as_the_same_attempt(void)
{
    struct fixture f;

    begin(&f);
    f.spec->retry.max = 1;
    create(&f);
    atomic_store(&is_there_again, false);
    send(&f, postpone, 1);
    send(&f, probe_done, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, was_postponed_often, &f));
    CU_ASSERT_TRUE(rig_wait(&f.rig, was_each_the_first_attempt, f.probe));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 1);
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0); /* a new message would lack the same */
    atomic_store(&is_there_again, true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 2);
    CU_ASSERT_EQUAL(f.ledger.dead, 0);
}

static int fail_first(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    return message->attempt == 1 ? WEIR_FAIL : retry(self, probe, message);
}

static int fail_second(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    if (message->attempt == 2)
        return WEIR_FAIL;
    return message->attempt == 1 ? retry(self, probe, message) : WEIR_DONE;
}

/* Failures and retries on request are counted apart. promise V2 */
static void test_retries_and_failures_are_counted_apart(void)
{
    struct fixture f;

    begin(&f);
    f.spec->retry.max = 2;
    f.spec->redeliver_max = 1;
    create(&f);
    send(&f, fail_first, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 4); /* failed; then thrice, which is once too often */
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_RETRIES), 1);
    send(&f, fail_second, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_over, &f));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 3);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 0);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 1);
}

/* --- keep ----------------------------------------------------------------------------------- */

static void settle_it(struct weir_self *self, void *state, void *context)
{
    struct probe *probe = context;

    (void)state;
    probe_note(probe, 200 + (uint64_t)-weir_settle(self, probe->context, WEIR_DONE));
    probe_note(probe, 300);
}

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    probe->context = (void *)(uintptr_t)message;
    CU_ASSERT_EQUAL(weir_after(self, 5, settle_it, probe, NULL), 0);
    probe_note(probe, 250);
    return WEIR_KEEP;
}

static bool is_in_hand(void *context)
{
    return rig_ledger(context).in_hand == 1 && rig_ledger(context).queued == 1;
}

/* promises V1 and S5: a worker at its in_hand takes no new message until it settles one. */
static void test_kept_message_is_settled_by_a_later_tick(void)
{
    struct fixture f;

    begin(&f);
    create(&f);
    send(&f, keep, 1);
    send(&f, probe_done, 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 250, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_in_hand, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0);
    rig_advance(&f.rig, 5);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_get(f.probe, 2), 200);
    CU_ASSERT_EQUAL(probe_get(f.probe, 4), 2);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 2);
}

/* Settles it twice: the second time it is not kept any more. */
static void settle_as_failed(struct weir_self *self, void *state, void *context)
{
    struct probe *probe = context;

    (void)state;
    probe_note(probe, 200 + (uint64_t)-weir_settle(self, probe->context, WEIR_FAIL));
    probe_note(probe, 400 + (uint64_t)-weir_settle(self, probe->context, WEIR_DONE));
}

static int keep_to_fail(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    probe->context = (void *)(uintptr_t)message;
    CU_ASSERT_EQUAL(weir_after(self, 5, settle_as_failed, probe, NULL), 0);
    probe_note(probe, 250);
    return WEIR_KEEP;
}

static int fail_kept_and_stop(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    (void)message;
    CU_ASSERT_EQUAL(weir_settle(self, probe->context, WEIR_FAIL), 0);
    return WEIR_STOP;
}

static int keep_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    probe->context = (void *)(uintptr_t)message;
    return WEIR_KEEP;
}

/* promise V4 */
static void test_failure_of_a_kept_message_is_stronger_than_a_stop(void)
{
    struct fixture f;

    begin(&f);
    f.spec->in_hand_max = 2;
    create(&f);
    send(&f, keep_it, 1);
    send(&f, fail_kept_and_stop, 2);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), WEIR_END_CRASH);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 1);
}

/* promise V4 */
static void test_kept_message_that_is_settled_as_failed_replaces_the_worker(void)
{
    struct fixture f;

    begin(&f);
    create(&f);
    send(&f, keep_to_fail, 1);
    send(&f, probe_done, 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 250, 1));
    rig_advance(&f.rig, 5);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_get(f.probe, 2), 200);
    CU_ASSERT_EQUAL(probe_get(f.probe, 3), 400 + (uint64_t)-WEIR_EINVALID);
    CU_ASSERT_EQUAL(probe_get(f.probe, 4), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), WEIR_END_CRASH);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 1);
}

static int settle_wrongly(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    probe_note(probe, (uint64_t)-weir_settle(self, message, WEIR_DONE));
    probe_note(probe, (uint64_t)-weir_settle(self, message, WEIR_KEEP));
    return WEIR_DONE;
}

static void test_message_that_is_not_kept_cannot_be_settled(void)
{
    struct fixture f;

    begin(&f);
    create(&f);
    send(&f, settle_wrongly, 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_get(f.probe, 1), (uint64_t)-WEIR_EINVALID);
    CU_ASSERT_EQUAL(probe_get(f.probe, 2), (uint64_t)-WEIR_EINVALID);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 1);
}

static int keep_only(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    (void)probe;
    return message->attempt == 1 ? WEIR_KEEP : WEIR_DONE;
}

/* promise P4 */
static void test_kept_messages_of_a_failed_worker_are_given_again_in_order(void)
{
    struct fixture f;
    static const uint64_t wanted[] = { 1, 2, 3, 1, 2, 3, 4 };

    begin(&f);
    f.spec->in_hand_max = 4;
    f.spec->redeliver_max = 1;
    f.probe->act = keep_only;
    create(&f);
    gate_shut(&f.probe->gate);
    send(&f, probe_wait, 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send(&f, NULL, 1);
    send(&f, NULL, 2);
    send(&f, probe_fail, 3);
    send(&f, probe_done, 4);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 7; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i + 1), wanted[i]);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 4);
    CU_ASSERT_EQUAL(f.ledger.dead, 1);
}

/* --- the end of an incarnation -------------------------------------------------------------- */

static int stop(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_STOP;
}

/* promise V1 */
static void test_stop_opens_the_place_anew_and_is_no_restart(void)
{
    struct fixture f;

    begin(&f);
    create(&f);
    send(&f, stop, 1);
    send(&f, probe_done, 2);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), WEIR_END_NORMAL);
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 0);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 2);
}

static int stop_with_kept(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    (void)self;
    (void)probe;
    return probe_order(message)->argument ? WEIR_STOP : WEIR_KEEP;
}

static void test_message_kept_by_a_stopped_worker_is_dead_kept(void)
{
    struct fixture f;
    struct order last = { .act = stop_with_kept, .id = 2, .argument = 1 };

    begin(&f);
    f.spec->in_hand_max = 2;
    create(&f);
    send(&f, stop_with_kept, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, last), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_KEPT), 1);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 1);
    CU_ASSERT_EQUAL(f.ledger.dead, 1);
}

/* promises V1 and P4 */
static void test_fail_replaces_the_worker_and_keeps_mailbox_and_order(void)
{
    struct fixture f;
    weir_pid pid;

    begin(&f);
    create(&f);
    pid = rig_worker(f.pool, 0);
    send(&f, probe_wait_and_fail, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint64_t id = 2; id < 12; id++)
        send(&f, probe_done, id);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 11; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), i + 1);
    CU_ASSERT_EQUAL(probe_count(f.probe), 11);
    CU_ASSERT_EQUAL(rig_worker(f.pool, 0), pid);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 1);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->last_reason), WEIR_END_CRASH);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 10);
    CU_ASSERT_EQUAL(f.ledger.dead, 1);
}

static int odd(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    return (int)probe_order(message)->argument;
}

/* promise V1 */
static void test_unknown_verdict_is_a_failure(void)
{
    static const int verdicts[] = { -1, 7, 1000, -2147483647 };
    struct fixture f;

    begin(&f);
    create(&f);
    for (size_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.pool->pid,
                     (struct order){ .act = odd, .id = i, .argument = (uint64_t)verdicts[i] }),
            0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 4);
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 4);
    finish(&f);
}

static int fail_at_first(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    (void)self;
    (void)probe;
    return message->attempt <= 2 ? WEIR_FAIL : WEIR_DONE;
}

/* promises P4 and S2 */
static void test_redeliver_gives_the_message_to_the_next_incarnation_first(void)
{
    struct fixture f;
    static const uint64_t wanted[] = { 0, 1, 1, 1, 2 };

    begin(&f);
    f.spec->redeliver_max = 2;
    create(&f);
    send(&f, probe_wait, 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send(&f, fail_at_first, 1);
    send(&f, probe_done, 2);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), wanted[i]);
    finish(&f);
    CU_ASSERT_EQUAL(f.ledger.done, 3);
    CU_ASSERT_EQUAL(f.ledger.dead, 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reject", test_reject_makes_a_dead_letter_with_its_reason },
        { "retry", test_retry_gives_the_message_again_until_it_is_dead },
        { "many retries", test_worker_takes_nothing_new_while_many_wait_to_be_given_again },
        { "many retries in a turn",
          test_worker_stops_in_the_middle_of_a_turn_when_many_wait_to_be_given_again },
        { "apart", test_retries_and_failures_are_counted_apart },
        { "postponed", test_postponed_message_comes_again_as_the_same_attempt },
        { "keep", test_kept_message_is_settled_by_a_later_tick },
        { "fail and stop", test_failure_of_a_kept_message_is_stronger_than_a_stop },
        { "keep and fail", test_kept_message_that_is_settled_as_failed_replaces_the_worker },
        { "not kept", test_message_that_is_not_kept_cannot_be_settled },
        { "kept again", test_kept_messages_of_a_failed_worker_are_given_again_in_order },
        { "stop", test_stop_opens_the_place_anew_and_is_no_restart },
        { "stop with kept", test_message_kept_by_a_stopped_worker_is_dead_kept },
        { "fail", test_fail_replaces_the_worker_and_keeps_mailbox_and_order },
        { "unknown", test_unknown_verdict_is_a_failure },
        { "redeliver", test_redeliver_gives_the_message_to_the_next_incarnation_first },
        CU_TEST_INFO_NULL,
    };

    return suite_run("verdict", tests);
}
