/* SPDX-License-Identifier: MIT */
/*
 * Goal: the figures of leases say how long takers waited and leases lasted, what became of each
 * take, and which workers failed while a holder had them. Shows promise P38.
 *
 * Method: holders of lease_rig.h, with a clock that the test moves.
 */
#include "face/lease_figures.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define NS_PER_MS 1000000u
#define MANY 10u

/* promise P38: a take that waits for 20 ms and holds its worker for 30 ms */
static void test_waits_and_holds_are_counted(void)
{
    struct pool_leases figures;
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    rig_advance(&f.rig, 20);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    rig_advance(&f.rig, 30);
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    pool_look_at_leases(f.pool, &figures);
    CU_ASSERT_EQUAL(histogram_count(&figures.waited), 2);
    CU_ASSERT_EQUAL(figures.waited.max_ns, 20 * NS_PER_MS);
    CU_ASSERT_EQUAL(figures.waited.sum_ns, 20 * NS_PER_MS);
    CU_ASSERT_EQUAL(histogram_count(&figures.lasted), 2);
    CU_ASSERT_EQUAL(figures.lasted.max_ns, 30 * NS_PER_MS);
    CU_ASSERT_EQUAL(figures.lasted.sum_ns, 50 * NS_PER_MS);
    finish(&f);
}

/* promise P38: each take is served, waits, or is counted with the reason why not */
static void test_takes_are_counted_by_what_becomes_of_them(void)
{
    struct pool_leases figures;
    struct fixture f;

    begin(&f, 1, 3);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    act_of(&f, 2, take, 2 + 10 * SLOTS);
    CU_ASSERT_TRUE(queued(&f, 2));
    act(&f, 3, take);
    CU_ASSERT_TRUE(queued(&f, 3));
    act(&f, 4, take);
    CU_ASSERT_TRUE(answered(&f, 4, WEIR_EFULL));
    CU_ASSERT_EQUAL(result(&f, 1, give_up), 0);
    rig_advance(&f.rig, 10);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_ETIMEOUT));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 3, 0));
    pool_look_at_leases(f.pool, &figures);
    CU_ASSERT_EQUAL(figures.begun, 2);
    CU_ASSERT_EQUAL(figures.waiting, 0);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_FULL], 1);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_CANCELLED], 1);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_EXPIRED], 1);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_REFUSED], 0);
    finish(&f);
}

/* promise P38: a take is also a message of its pool, in hand until its lease is over. */
static void test_takes_are_counted_as_messages_too(void)
{
    struct pool_leases figures;
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, 1, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        CU_ASSERT_TRUE(takes(&f, 0));
        CU_ASSERT_EQUAL(rig_ledger(f.pool).in_hand, 1);
        CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
        CU_ASSERT_TRUE(busy(&f, 0));
    }
    ledger = rig_ledger(f.pool);
    CU_ASSERT_EQUAL(ledger.accepted, MANY);
    CU_ASSERT_EQUAL(ledger.done, MANY);
    pool_look_at_leases(f.pool, &figures);
    CU_ASSERT_EQUAL(figures.begun, MANY);
    CU_ASSERT_EQUAL(figures.ended[LEASE_DONE], MANY);
    finish(&f);
}

static uint64_t dead_letters_of(struct pool *pool)
{
    uint64_t dead = 0;

    for (int reason = 0; reason < DEAD_REASONS; reason++)
        dead += rig_dead(pool, (enum dead_reason)reason);
    return dead;
}

/* promise P38: a take without a lease is no message of the user, however it ends. */
static void test_take_that_is_not_served_is_no_dead_letter(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, 1, 4);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    act_of(&f, 2, take, 2 + 10 * SLOTS);
    CU_ASSERT_TRUE(queued(&f, 2));
    CU_ASSERT_EQUAL(result(&f, 1, give_up), 0); /* cancelled */
    rig_advance(&f.rig, 10);                    /* too late */
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_ETIMEOUT));
    act(&f, 3, take);
    CU_ASSERT_TRUE(came(&f, 3));
    act(&f, 3, probe_fail); /* ended */
    CU_ASSERT_TRUE(counts(&f, &f.user->closed, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 4, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    rig_close(&f.rig, f.pool); /* refused */
    CU_ASSERT_TRUE(answered(&f, 4, WEIR_ECLOSED));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    ledger = rig_ledger(f.pool);
    CU_ASSERT_EQUAL(ledger.done, 2);
    CU_ASSERT_EQUAL(ledger.dead, 0);
    CU_ASSERT_EQUAL(ledger.moved, 4);
    CU_ASSERT_EQUAL(dead_letters_of(f.pool), 0);
    finish(&f);
}

/* promise P38: a take that gets the room of a taker that gave up is no refusal, and FULL is one. */
static void test_take_counts_as_refused_once(void)
{
    struct pool_leases figures;
    struct fixture f;

    begin(&f, 1, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    act(&f, 2, take);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_EFULL));
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 1);
    CU_ASSERT_EQUAL(result(&f, 1, give_up), 0);
    act(&f, 3, take);
    (void)result(&f, 3, renew); /* the take came before it, and it has no lease */
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 3, 0));
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 1);
    pool_look_at_leases(f.pool, &figures);
    CU_ASSERT_EQUAL(figures.unserved[TAKE_FULL], 1);
    finish(&f);
}

/* promise P38 */
static void test_failures_are_counted_by_whether_a_holder_had_the_worker(void)
{
    struct pool_leases figures;
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_fail }), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_failed), 0);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 1, use_and_break), 0);
    CU_ASSERT_TRUE(takes(&f, 2));
    act(&f, 2, probe_fail);
    CU_ASSERT_TRUE(takes(&f, 3));
    rig_advance(&f.rig, LEASE_MS);
    CU_ASSERT_TRUE(takes(&f, 4));
    CU_ASSERT_EQUAL(result(&f, 4, return_done), 0);
    pool_look_at_leases(f.pool, &figures);
    CU_ASSERT_EQUAL(figures.failed_free, 1);
    CU_ASSERT_EQUAL(figures.failed_leased, 4);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "waits and holds", test_waits_and_holds_are_counted },
        { "takes", test_takes_are_counted_by_what_becomes_of_them },
        { "as messages", test_takes_are_counted_as_messages_too },
        { "no dead letter", test_take_that_is_not_served_is_no_dead_letter },
        { "refused", test_take_counts_as_refused_once },
        { "failures", test_failures_are_counted_by_whether_a_holder_had_the_worker },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_figures", tests);
}
