/* SPDX-License-Identifier: MIT */
/*
 * Goal: a thread of a program takes a free worker, and returns it, without a turn of that worker;
 * what is promised of leases holds all the same: messages before the return, the order of takers,
 * a shrink, the figures. The time-out is that of unit/pool/test_loan_time.c.
 *
 * Method: the only thread of the runtime is held in a callback of another pool. So what succeeds
 * meanwhile has needed no turn.
 */
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

struct fixture {
    struct hand hand;
    weir_pid pool;
    weir_pid other; /* its worker holds the thread */
};

static void begin(struct fixture *f, uint32_t workers)
{
    struct weir_pool_options options;

    memset(f, 0, sizeof *f);
    hand_begin(&f->hand, 1);
    options = hand_pool_options(&f->hand, "members");
    options.workers = workers;
    options.lease = 1;
    options.lease_timeout_ms = WEIR_FOR_EVER;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &options, &f->pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    f->other = hand_pool(&f->hand, "other", 1, 8);
}

static void finish(struct fixture *f)
{
    struct weir_ledger ledger;

    gate_open(&f->hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    hand_finish(&f->hand);
}

static int take(struct fixture *f, uint64_t timeout_ms, struct weir_lease *out)
{
    return weir_runtime_take(f->hand.runtime, f->pool, timeout_ms, out);
}

static int give_back(struct fixture *f, const struct weir_lease *lease)
{
    return weir_runtime_return(f->hand.runtime, lease, WEIR_DONE);
}

/* Each worker has come to the queue, and is free. */
static void lease_each_once(struct fixture *f, uint32_t workers)
{
    struct weir_lease leases[4];

    for (uint32_t i = 0; i < workers; i++)
        CU_ASSERT_EQUAL_FATAL(take(f, wait_limit_ms(), &leases[i]), 0);
    for (uint32_t i = 0; i < workers; i++)
        CU_ASSERT_EQUAL(give_back(f, &leases[i]), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f->hand.runtime, f->pool, wait_limit_ms()), 0);
}

static void hold_thread(struct fixture *f)
{
    const struct hand_order order = { .act = hand_wait };

    CU_ASSERT_EQUAL(hand_send(&f->hand, f->other, order), 0);
    CU_ASSERT_TRUE_FATAL(gate_await(&f->hand.gate, 1));
}

static int answer_of(struct fixture *f, uint64_t reference, struct weir_lease *out)
{
    struct weir_answer answer = WEIR_ANSWER;
    int status = weir_runtime_await(f->hand.runtime, reference, &answer);

    if (status == 0) {
        *out = *weir_answer_lease(&answer);
        weir_runtime_message_free(f->hand.runtime, answer.message);
    }
    return status;
}

static int send_under(struct fixture *f, const struct weir_lease *lease, uint64_t id)
{
    struct weir_message *message = hand_message(&f->hand, (struct hand_order){ .id = id });
    int status = weir_runtime_lease_send(f->hand.runtime, lease, message);

    if (status != 0)
        weir_runtime_message_free(f->hand.runtime, message);
    return status;
}

/* promise E20: a free worker is taken, and returned, without a turn. */
static void test_free_worker_needs_no_turn(void)
{
    struct weir_lease one, other, none;
    struct weir_pool_stats stats;
    struct fixture f;
    uint64_t reference;

    begin(&f, 2);
    lease_each_once(&f, 2);
    hold_thread(&f);
    for (uint32_t i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL_FATAL(take(&f, wait_limit_ms(), &one), 0);
        CU_ASSERT_EQUAL_FATAL(
            weir_runtime_take_request(f.hand.runtime, f.pool, wait_limit_ms(), &reference), 0);
        CU_ASSERT_EQUAL_FATAL(answer_of(&f, reference, &other), 0);
        CU_ASSERT_NOT_EQUAL(one.member, other.member);
        CU_ASSERT_EQUAL(take(&f, 0, &none), WEIR_EFULL);
        stats = hand_stats(&f.hand, f.pool);
        CU_ASSERT_EQUAL(stats.busy, 2);
        CU_ASSERT_EQUAL(stats.in_hand, 2);
        CU_ASSERT_EQUAL(give_back(&f, &one), 0);
        CU_ASSERT_EQUAL(give_back(&f, &one), WEIR_EUNKNOWN);
        CU_ASSERT_EQUAL(give_back(&f, &other), 0);
    }
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    stats = hand_stats(&f.hand, f.pool);
    CU_ASSERT_EQUAL(stats.busy, 0);
    CU_ASSERT_EQUAL(stats.done, 2 + 200); /* each lease counts as a message */
    CU_ASSERT_EQUAL(stats.accepted, stats.done + stats.moved);
    finish(&f);
}

/* promise E20: a return hands the worker to the thread that has waited longest. */
static void test_return_serves_who_waits_first(void)
{
    struct weir_lease lease, next;
    uint64_t references[3];
    struct fixture f;

    begin(&f, 1);
    lease_each_once(&f, 1);
    hold_thread(&f);
    CU_ASSERT_EQUAL_FATAL(take(&f, wait_limit_ms(), &lease), 0);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL_FATAL(
            weir_runtime_take_request(f.hand.runtime, f.pool, wait_limit_ms(), &references[i]), 0);
    for (uint32_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
        CU_ASSERT_EQUAL_FATAL(answer_of(&f, references[i], &next), 0);
        CU_ASSERT_EQUAL(give_back(&f, &lease), WEIR_EUNKNOWN);
        lease = next;
    }
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    CU_ASSERT_EQUAL_FATAL(take(&f, 0, &lease), 0);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    finish(&f);
}

/* promise E20: one that gave up is passed over, by a turn. */
static void test_who_gave_up_is_passed_over(void)
{
    struct weir_lease lease, next;
    uint64_t references[2];
    struct fixture f;

    begin(&f, 1);
    lease_each_once(&f, 1);
    CU_ASSERT_EQUAL_FATAL(take(&f, wait_limit_ms(), &lease), 0);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL_FATAL(
            weir_runtime_take_request(f.hand.runtime, f.pool, wait_limit_ms(), &references[i]), 0);
    CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, references[0]), 0);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    CU_ASSERT_EQUAL_FATAL(answer_of(&f, references[1], &next), 0);
    CU_ASSERT_EQUAL(give_back(&f, &next), 0);
    finish(&f);
}

/* promise E20: what the worker has accepted before a take is handled before the lease. */
static void test_accepted_message_comes_before_the_lease(void)
{
    struct weir_lease lease;
    struct fixture f;
    uint64_t reference;

    begin(&f, 1);
    CU_ASSERT_EQUAL_FATAL(take(&f, wait_limit_ms(), &lease), 0);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    hold_thread(&f);
    CU_ASSERT_EQUAL(hand_send(&f.hand, lease.member, (struct hand_order){ .id = 7 }), 0);
    CU_ASSERT_EQUAL_FATAL(
        weir_runtime_take_request(f.hand.runtime, f.pool, wait_limit_ms(), &reference), 0);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL_FATAL(answer_of(&f, reference, &lease), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.hand.sum), 7);
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pool).dead, 0);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    finish(&f);
}

/* promise E21: what was sent under a lease is handled before another has the worker. */
static void test_message_of_a_lease_comes_before_the_next(void)
{
    struct weir_lease lease, next;
    struct fixture f;

    begin(&f, 1);
    lease_each_once(&f, 1);
    hold_thread(&f);
    CU_ASSERT_EQUAL_FATAL(take(&f, wait_limit_ms(), &lease), 0);
    CU_ASSERT_EQUAL(send_under(&f, &lease, 7), 0);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    CU_ASSERT_EQUAL(take(&f, 1, &next), WEIR_ETIMEOUT);
    gate_open(&f.hand.gate);
    CU_ASSERT_EQUAL_FATAL(take(&f, wait_limit_ms(), &next), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.hand.sum), 7);
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pool).dead, 0);
    CU_ASSERT_EQUAL(give_back(&f, &next), 0);
    finish(&f);
}

static uint32_t state_of(struct fixture *f, weir_pid pid)
{
    struct weir_member members[4];
    uint32_t count = 0;

    CU_ASSERT_EQUAL(weir_runtime_members(f->hand.runtime, f->pool, members, 4, &count), 0);
    for (uint32_t i = 0; i < count; i++)
        if (members[i].pid == pid)
            return members[i].state;
    return UINT32_MAX;
}

/* promise E23: a free worker leaves before one that was taken, and that one after its return. */
static void test_taken_worker_leaves_after_its_return(void)
{
    struct weir_lease lease;
    struct fixture f;

    begin(&f, 2);
    lease_each_once(&f, 2);
    CU_ASSERT_EQUAL_FATAL(take(&f, wait_limit_ms(), &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(state_of(&f, lease.member), WEIR_MEMBER_OPEN);
    CU_ASSERT_EQUAL(send_under(&f, &lease, 1), 0);
    CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(state_of(&f, lease.member), WEIR_MEMBER_RETIRING);
    CU_ASSERT_EQUAL(send_under(&f, &lease, 2), 0);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    CU_ASSERT_EQUAL(send_under(&f, &lease, 4), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.hand.sum), 3);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "no turn", test_free_worker_needs_no_turn },
        { "waits first", test_return_serves_who_waits_first },
        { "gave up", test_who_gave_up_is_passed_over },
        { "accepted", test_accepted_message_comes_before_the_lease },
        { "messages", test_message_of_a_lease_comes_before_the_next },
        { "shrink", test_taken_worker_leaves_after_its_return },
        CU_TEST_INFO_NULL,
    };

    return suite_run("loans", tests);
}
