/* SPDX-License-Identifier: MIT */
/*
 * Goal: after a return the worker is free within the time-out of its lease, whatever it has left to
 * do: what keeps it longer is cut off with its incarnation.
 *
 * Method: holders of lease_rig.h leave something behind, as a table; a clock that the test moves.
 */
#include "pool/renewal.h"

#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"
#include "unit/support/wait_limit.h"

#define HOUR_MS 3600000u

/* --- what a worker has left to do ------------------------------------------------------------- */

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_KEEP;
}

static int try_later(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_retry_after(self, HOUR_MS);
    return WEIR_RETRY;
}

static int lack_something(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    (void)probe;
    (void)message;
    weir_retry_after(self, HOUR_MS);
    return WEIR_POSTPONE;
}

static int leave_kept(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    return send_under(self, probe, message, keep);
}

static int leave_retry(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    return send_under(self, probe, message, try_later);
}

static int leave_postponed(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    return send_under(self, probe, message, lack_something);
}

static const struct {
    probe_act *leave;
    enum dead_reason dead; /* of the statement */
} rows[] = {
    { leave_kept, DEAD_CRASHED }, /* it has begun */
    { leave_retry, DEAD_CRASHED },
    { leave_postponed, DEAD_REJECTED }, /* it has not */
};

#define ROWS (sizeof rows / sizeof rows[0])

static bool has_answer(void *context)
{
    return atomic_load((_Atomic int *)context) != NOT_YET;
}

/* --- the ways in which a lease is over -------------------------------------------------------- */

static void use_and_return(struct fixture *f, size_t row, probe_act *how)
{
    CU_ASSERT_TRUE(takes(f, 0));
    CU_ASSERT_EQUAL(result(f, 0, rows[row].leave), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->member, 1000, 1));
    atomic_store(&f->slots[0].result, NOT_YET);
    act(f, 0, how);
}

/* Lets time pass until the taker is served: the worker learns of its holder's end by a message. */
static bool takes_in_time(struct fixture *f, uint32_t slot)
{
    act(f, slot, take);
    for (uint32_t i = 0; i < wait_limit_ms() && atomic_load(&f->slots[slot].answer) == NOT_YET;
         i++) {
        rig_advance(&f->rig, LEASE_MS);
        (void)runtime_wait(f->rig.runtime, has_answer, &f->slots[slot].answer, 1);
    }
    return atomic_load(&f->slots[slot].answer) == 0;
}

/* promise P34 */
static void test_way_back_ends_with_the_time_out_of_the_lease(void)
{
    for (size_t row = 0; row < ROWS; row++) {
        struct fixture f;

        begin(&f, 1, 2);
        use_and_return(&f, row, return_done);
        CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].result, 0));
        act(&f, 1, take);
        CU_ASSERT_TRUE(queued(&f, 1));
        rig_advance(&f.rig, LEASE_MS - 1);
        CU_ASSERT_EQUAL(result(&f, 0, renew), WEIR_EUNKNOWN);
        CU_ASSERT_EQUAL(atomic_load(&f.slots[1].answer), NOT_YET);
        rig_advance(&f.rig, 1);
        CU_ASSERT_TRUE(answered(&f, 1, 0));
        CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
        CU_ASSERT_EQUAL(rig_dead(f.pool, rows[row].dead), 1);
        CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
        CU_ASSERT_TRUE(busy(&f, 0));
        finish(&f);
    }
}

static void test_way_back_after_the_end_of_the_holder_is_bounded(void)
{
    for (size_t row = 0; row < ROWS; row++) {
        struct fixture f;

        begin(&f, 1, 2);
        use_and_return(&f, row, stop);
        CU_ASSERT_TRUE(counts(&f, &f.user->closed, 1));
        CU_ASSERT_TRUE(takes_in_time(&f, 1));
        CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
        finish(&f);
    }
}

/* What the lease that ends with the incarnation leaves behind holds up no taker either. */
static void test_lease_that_fails_leaves_nothing_behind(void)
{
    for (size_t row = 0; row < ROWS; row++) {
        struct fixture f;

        begin(&f, 1, 2);
        use_and_return(&f, row, return_failed);
        CU_ASSERT_TRUE(takes(&f, 1));
        CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
        CU_ASSERT_EQUAL(rig_dead(f.pool, rows[row].dead), 1);
        finish(&f);
    }
}

/* --- orders to restart ------------------------------------------------------------------------ */

static void ask_to_restart(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_EQUAL(renewal_ask(f->pool, RENEWAL_ALL, executor), 1);
    runtime_leave(executor);
}

/* promise P20: it begins when the lease is over, and the holder is served until then. */
static void test_leased_worker_that_is_to_restart_serves_its_holder(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    ask_to_restart(&f);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0);
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    finish(&f);
}

static void test_restart_waits_for_the_way_back_no_longer_than_that_takes(void)
{
    for (size_t row = 0; row < ROWS; row++) {
        struct fixture f;

        begin(&f, 1, 2);
        use_and_return(&f, row, return_done);
        CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].result, 0));
        ask_to_restart(&f);
        CU_ASSERT_TRUE(takes_in_time(&f, 1));
        CU_ASSERT_TRUE(atomic_load(&f.member->opened) >= 2);
        finish(&f);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "bounded", test_way_back_ends_with_the_time_out_of_the_lease },
        { "holder ends", test_way_back_after_the_end_of_the_holder_is_bounded },
        { "fails", test_lease_that_fails_leaves_nothing_behind },
        { "restart", test_leased_worker_that_is_to_restart_serves_its_holder },
        { "restart waits", test_restart_waits_for_the_way_back_no_longer_than_that_takes },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_way_back", tests);
}
