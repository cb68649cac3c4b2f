/* SPDX-License-Identifier: MIT */
/*
 * Goal: a share of descriptors is that of the leased worker, and not of the lease, its taker or a
 * message that waits (promise B28).
 * Method: holders of lease_rig.h, whose orders let the leased worker ask for a share; a clock that
 * the test moves.
 */
#include <weir/descriptors.h>
#include <weir/status.h>

#include "actor/descriptors.h"
#include "pool/renewal.h"

#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define LIMIT 100u
#define SHARE 50u
#define GRANTED 7001u
#define REFUSED 7002u

static uint64_t taken(const struct fixture *f)
{
    return descriptors_taken(&f->rig.runtime->descriptors);
}

static int ask_for_share(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    (void)message;
    probe_note(probe, weir_set_descriptors(self, SHARE) == 0 ? GRANTED : REFUSED);
    return WEIR_DONE;
}

static int use_to_ask(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    return send_under(self, probe, message, ask_for_share);
}

static void begin_limited(struct fixture *f, uint32_t size)
{
    begin(f, size, 2);
    f->rig.runtime->descriptors.limit = LIMIT;
}

static void hold_share(struct fixture *f, uint32_t slot, uint32_t times)
{
    CU_ASSERT_TRUE(takes(f, slot));
    CU_ASSERT_EQUAL(result(f, slot, use_to_ask), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->member, GRANTED, times));
}

/* promise B28 */
static void test_return_leaves_the_share_and_a_failed_one_ends_it(void)
{
    struct fixture f;

    begin_limited(&f, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(taken(&f), 0); /* neither a lease nor a taker has any */
    CU_ASSERT_EQUAL(result(&f, 0, use_to_ask), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, GRANTED, 1));
    CU_ASSERT_EQUAL(taken(&f), SHARE);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 1, 0)); /* the connection that the worker has open stays open */
    CU_ASSERT_EQUAL(taken(&f), SHARE);
    CU_ASSERT_EQUAL(result(&f, 1, return_failed), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    CU_ASSERT_TRUE(busy(&f, 0));
    CU_ASSERT_EQUAL(taken(&f), 0);
    finish(&f);
}

static void test_share_ends_with_a_lease_that_is_revoked(void)
{
    struct fixture f;

    begin_limited(&f, 1);
    hold_share(&f, 0, 1);
    rig_advance(&f.rig, LEASE_MS);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    CU_ASSERT_TRUE(busy(&f, 0));
    CU_ASSERT_EQUAL(taken(&f), 0);
    finish(&f);
}

/* Of members that are leased by different holders, too. */
static void test_leased_members_of_a_pool_count_together(void)
{
    struct fixture f;

    begin_limited(&f, 2);
    hold_share(&f, 0, 1);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 1, use_to_ask), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, REFUSED, 1)); /* 16 of 100 are for others */
    CU_ASSERT_EQUAL(result(&f, 0, return_failed), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 3));
    CU_ASSERT_EQUAL(result(&f, 1, use_to_ask), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, GRANTED, 2));
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    finish(&f);
}

/* --- a message that waits --------------------------------------------------------------------- */

#define WAITED 7003u
#define AGAIN_MS 10u

/* As the bundled plugins do: a share for the work, or the message waits. */
static int work_or_wait(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)message;
    if (weir_set_descriptors(self, SHARE) == 0) {
        probe_note(probe, GRANTED);
        return WEIR_DONE;
    }
    probe_note(probe, WAITED);
    weir_retry_after(self, AGAIN_MS);
    return WEIR_POSTPONE;
}

static int use_to_work(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    return send_under(self, probe, message, work_or_wait);
}

/* promise B28: a statement that waits has no share, and its lease lasts; the next one to ask is
 * granted what a holder gives back. */
static void test_statement_that_waits_has_no_share(void)
{
    struct fixture f;

    begin_limited(&f, 2);
    hold_share(&f, 0, 1);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 1, use_to_work), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, WAITED, 1));
    CU_ASSERT_EQUAL(taken(&f), SHARE);
    CU_ASSERT_EQUAL(result(&f, 1, renew), 0);
    rig_advance(&f.rig, AGAIN_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, WAITED, 2));
    CU_ASSERT_EQUAL(result(&f, 0, return_failed), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 3));
    rig_advance(&f.rig, AGAIN_MS);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, GRANTED, 2));
    CU_ASSERT_EQUAL(taken(&f), SHARE);
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    CU_ASSERT_TRUE(busy(&f, 0));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).dead, 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "return", test_return_leaves_the_share_and_a_failed_one_ends_it },
        { "revoked", test_share_ends_with_a_lease_that_is_revoked },
        { "together", test_leased_members_of_a_pool_count_together },
        { "waits", test_statement_that_waits_has_no_share },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease share", tests);
}
