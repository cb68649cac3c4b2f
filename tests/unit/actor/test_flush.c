/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that gathers messages gets those that wait, and then `flush`, which settles them:
 * at once after a message that comes alone, when it keeps `in_hand`, and before it closes; also
 * where each turn has one message.
 *
 * Method: a worker waits at a gate while messages come; it and its `flush` leave notes.
 */
#include "actor/actor.h"
#include "dispatch/layout.h"
#include "pool/renewal.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 8
#define FLUSHED 900u /* a note: FLUSHED + messages that were gathered */
#define CLOSED 950u  /* a note: `close` was called */

static struct probe *noted_by;
static const struct weir_message *gathered[LIMIT];
static uint32_t gathered_count;
static int flush_answers;

struct fixture {
    struct rig rig;
    struct pool *pool;
};

static int gather(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    gathered[gathered_count++] = message;
    return WEIR_KEEP;
}

static int wait_and_gather(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    (void)probe_wait(self, probe, message);
    return gather(self, probe, message);
}

/* With WEIR_KEEP and WEIR_STOP it settles the first one as rejected, the others as done. */
static int flush(struct weir_self *self, void *state)
{
    bool settles = flush_answers == WEIR_KEEP || flush_answers == WEIR_STOP;

    (void)state;
    probe_note(noted_by, FLUSHED + gathered_count);
    for (uint32_t i = 0; i < gathered_count && settles; i++)
        CU_ASSERT_EQUAL(weir_settle(self, gathered[i], i == 0 ? WEIR_REJECT : WEIR_DONE), 0);
    gathered_count = 0;
    return flush_answers;
}

static void note_close(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)state;
    (void)reason;
    probe_note(noted_by, CLOSED);
}

static void begin_on(struct fixture *f, uint32_t threads, uint32_t in_hand, uint32_t flags,
                     int answer)
{
    noted_by = probe_create();
    noted_by->behaviour.in_hand = in_hand;
    noted_by->behaviour.flags |= flags;
    noted_by->behaviour.flush = flush;
    gathered_count = 0;
    flush_answers = answer;
    rig_init(&f->rig, threads, 1);
    f->pool = rig_workers(&f->rig, noted_by, "work", 1, LIMIT);
}

static void begin(struct fixture *f, uint32_t in_hand, uint32_t flags, int answer)
{
    begin_on(f, 1, in_hand, flags, answer);
}

static void finish(struct fixture *f, uint64_t done, uint64_t dead)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.dead, dead);
    CU_ASSERT_EQUAL(ledger.accepted, done + dead);
    rig_finish(&f->rig);
    probe_destroy(noted_by);
}

static void expect(const uint64_t *notes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(probe_get(noted_by, i), notes[i]);
}

/* The worker waits in its first message while two others come. */
static void give_three(struct fixture *f)
{
    CU_ASSERT_EQUAL(
        rig_send(&f->rig, f->pool->pid, (struct order){ .act = wait_and_gather, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&noted_by->gate, 1));
    for (uint64_t id = 2; id <= 3; id++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = gather, .id = id }),
                        0);
    gate_open(&noted_by->gate);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
}

/* promise A28 */
static void test_messages_that_wait_are_gathered(void)
{
    static const uint64_t expected[] = { 1, 2, 3, FLUSHED + 3 };
    const uint32_t flags[] = { 0, WEIR_BLOCKING };
    struct fixture f;

    for (uint32_t i = 0; i < 2; i++) {
        begin(&f, LIMIT, flags[i], WEIR_DONE);
        give_three(&f);
        expect(expected, 4);
        finish(&f, 3, 0);
    }
}

/* promise A28 */
static void test_message_that_comes_alone_is_flushed_at_once(void)
{
    static const uint64_t expected[] = { 1, FLUSHED + 1, 2, FLUSHED + 1 };
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_DONE);
    for (uint64_t id = 1; id <= 2; id++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = gather, .id = id }),
                        0);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    }
    expect(expected, 4);
    finish(&f, 2, 0);
}

static void test_worker_that_keeps_in_hand_is_flushed(void)
{
    static const uint64_t expected[] = { 1, 2, FLUSHED + 2, 3, FLUSHED + 1 };
    struct fixture f;

    begin(&f, 2, WEIR_BLOCKING, WEIR_DONE);
    give_three(&f);
    expect(expected, 5);
    finish(&f, 3, 0);
}

/* promise A29 */
static void test_each_message_gets_its_own_verdict(void)
{
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_KEEP);
    give_three(&f);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 1);
    finish(&f, 2, 1);
}

static bool has_crashed(void *context)
{
    return rig_dead(context, DEAD_CRASHED) == 3;
}

/* promise A29 */
static void test_failed_flush_ends_what_was_gathered(void)
{
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_FAIL);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = wait_and_gather, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&noted_by->gate, 1));
    for (uint64_t id = 2; id <= 3; id++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = gather, .id = id }),
                        0);
    gate_open(&noted_by->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_crashed, f.pool));
    finish(&f, 0, 3);
}

static int reject_with_a_reason(struct weir_self *self, struct probe *probe,
                                const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_reason(self, "of the first");
    return WEIR_REJECT;
}

static bool has_two_dead(void *context)
{
    return rig_dead(context, DEAD_CRASHED) + rig_dead(context, DEAD_REJECTED) == 2;
}

/* promise A29: the failure has no reason, and the reason of an earlier message is not its own. */
static void test_failed_flush_has_no_reason_of_an_earlier_message(void)
{
    struct dead_letter letters[2];
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_FAIL);
    for (uint32_t i = 0; i < 2; i++) /* in one turn, which the gate of the third holds back */
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.pool->pid,
                     (struct order){ .act = i == 0 ? wait_and_gather : reject_with_a_reason,
                                     .id = i + 1 }),
            0);
    CU_ASSERT_TRUE(gate_await(&noted_by->gate, 1));
    gate_open(&noted_by->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_two_dead, f.pool));
    CU_ASSERT_EQUAL(dead_letters_read(&f.pool->dead, letters, 2), 2);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_STRING_EQUAL(letters[i].detail,
                               letters[i].reason == DEAD_REJECTED ? "of the first" : "");
    finish(&f, 0, 2);
}

static int fail_by_order(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    CU_ASSERT_EQUAL(weir_exit(self, weir_pid_of(self), WEIR_END_CRASH), 0);
    weir_reason(self, "by order");
    return gather(self, probe, message);
}

/* The order to end waits while it is flushed, and keeps its reason. */
static void test_order_to_end_keeps_its_reason(void)
{
    struct dead_letter letter;
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_FAIL);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = fail_by_order, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(dead_letters_read(&f.pool->dead, &letter, 1), 1);
    CU_ASSERT_STRING_EQUAL(letter.detail, "by order");
    finish(&f, 0, 1);
}

/* promise A29: the worker ends normally, and goes on with the next messages. */
static void test_flush_may_end_the_incarnation(void)
{
    static const uint64_t expected[] = { 1, 2, 3, FLUSHED + 3, CLOSED, 4, FLUSHED + 1 };
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_STOP);
    noted_by->behaviour.close = note_close;
    give_three(&f);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, noted_by, CLOSED, 1));
    flush_answers = WEIR_DONE;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = gather, .id = 4 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    expect(expected, 7);
    noted_by->behaviour.close = NULL;
    finish(&f, 3, 1);
}

static void test_worker_is_flushed_before_it_closes(void)
{
    static const uint64_t expected[] = { 1, FLUSHED + 1, 2, FLUSHED + 1, CLOSED };
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_DONE);
    noted_by->behaviour.close = note_close;
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = wait_and_gather, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&noted_by->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = gather, .id = 2 }), 0);
    rig_close(&f.rig, f.pool);
    gate_open(&noted_by->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, noted_by, CLOSED, 1));
    expect(expected, 5);
    finish(&f, 2, 0);
}

/* promise A28: what an order ends was flushed before. */
static void test_worker_is_flushed_before_it_restarts(void)
{
    static const uint64_t expected[] = { 1, FLUSHED + 1, CLOSED, 2, FLUSHED + 1 };
    struct executor *executor;
    struct fixture f;

    begin(&f, LIMIT, WEIR_BLOCKING, WEIR_DONE);
    noted_by->behaviour.close = note_close;
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = wait_and_gather, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&noted_by->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = gather, .id = 2 }), 0);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(renewal_ask(f.pool, RENEWAL_ALL, executor), 1);
    runtime_leave(executor);
    gate_open(&noted_by->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    expect(expected, 5);
    noted_by->behaviour.close = NULL;
    finish(&f, 2, 0);
}

static struct pool *watched;

static int monitor_wait_and_gather(struct weir_self *self, struct probe *probe,
                                   const struct weir_message *message)
{
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(weir_monitor(self, rig_worker(watched, i), NULL), 0);
    return wait_and_gather(self, probe, message);
}

/* promise A28: a notice is flushed before what has come with it, which may be another callback. */
static void test_worker_is_flushed_behind_each_notice(void)
{
    static const uint64_t expected[] = { 1, FLUSHED + 1, FLUSHED + 1, FLUSHED + 1 };
    struct probe *other = probe_create();
    struct fixture f;

    begin_on(&f, 2, LIMIT, WEIR_BLOCKING, WEIR_DONE);
    noted_by->tied = gather;
    watched = rig_workers(&f.rig, other, "watched", 2, LIMIT);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = monitor_wait_and_gather, .id = 1 }),
        0);
    CU_ASSERT_TRUE(gate_await(&noted_by->gate, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, watched, NULL));
    gate_open(&noted_by->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, noted_by, FLUSHED + 1, 3));
    expect(expected, 4);
    finish(&f, 1, 0);
    probe_destroy(other);
}

/* Notes whether what the callback wakes is given to other threads at once. */
static void note_blocking(struct weir_self *self, void *state, void *context)
{
    (void)state;
    (void)context;
    probe_note(noted_by, actor_of_self(self)->executor->blocking);
}

static int note_blocking_in_flush(struct weir_self *self, void *state)
{
    note_blocking(self, state, NULL);
    return WEIR_DONE;
}

static int gather_with_a_timer(struct weir_self *self, struct probe *probe,
                               const struct weir_message *message)
{
    CU_ASSERT_EQUAL(weir_after(self, 0, note_blocking, NULL, NULL), 0);
    return gather(self, probe, message);
}

/* promise A31 */
static void test_what_never_waits_keeps_what_it_wakes(void)
{
    static const struct {
        uint32_t flags;
        bool blocking;
    } rows[] = { { WEIR_BLOCKING, true }, { WEIR_BLOCKING | WEIR_GATHERS, false } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t expected[] = { 1, rows[i].blocking, rows[i].blocking };
        struct fixture f;

        begin(&f, LIMIT, rows[i].flags, WEIR_DONE);
        noted_by->behaviour.flush = note_blocking_in_flush;
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, f.pool->pid, (struct order){ .act = gather_with_a_timer, .id = 1 }),
            0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, noted_by, rows[i].blocking, 2));
        expect(expected, 3);
        finish(&f, 1, 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reason", test_failed_flush_has_no_reason_of_an_earlier_message },
        { "order to end", test_order_to_end_keeps_its_reason },
        { "never waits", test_what_never_waits_keeps_what_it_wakes },
        { "gathered", test_messages_that_wait_are_gathered },
        { "alone", test_message_that_comes_alone_is_flushed_at_once },
        { "in hand", test_worker_that_keeps_in_hand_is_flushed },
        { "own verdicts", test_each_message_gets_its_own_verdict },
        { "failed flush", test_failed_flush_ends_what_was_gathered },
        { "stopping flush", test_flush_may_end_the_incarnation },
        { "restart", test_worker_is_flushed_before_it_restarts },
        { "behind a notice", test_worker_is_flushed_behind_each_notice },
        { "closing", test_worker_is_flushed_before_it_closes },
        CU_TEST_INFO_NULL,
    };

    return suite_run("flush", tests);
}
