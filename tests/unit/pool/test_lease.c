/* SPDX-License-Identifier: MIT */
/*
 * Goal: a leased worker serves its holder alone, each lease ends in one way, and no message of a
 * lease that is over is handled: each row of the table of docs/decisions/158-leases.md.
 *
 * Method: a pool of holders takes, uses and returns workers; see lease_rig.h.
 */
#include "face/lease_figures.h"
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define IDLE_MS 10u
#define STEPS_MAX 10000u
#define LIVES 10u

/* --- taking and returning --------------------------------------------------------------------- */

static void test_returned_member_serves_the_next_taker(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(f.slots[0].lease.member, rig_worker(f.pool, 0));
    CU_ASSERT_EQUAL(f.slots[0].lease.pool, f.pool->pid);
    CU_ASSERT_TRUE(busy(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_TRUE(same_member(&f, 0, 1));
    CU_ASSERT_NOT_EQUAL(f.slots[0].lease.token, f.slots[1].lease.token);
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->returned, 2));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    CU_ASSERT_TRUE(busy(&f, 0));
    finish(&f);
}

/* promise P33 */
static void test_takers_wait_in_the_order_in_which_they_came(void)
{
    struct fixture f;

    begin(&f, 1, 4);
    CU_ASSERT_TRUE(takes(&f, 0));
    for (uint32_t slot = 1; slot <= 4; slot++) {
        act(&f, slot, take);
        CU_ASSERT_TRUE(queued(&f, slot));
    }
    act(&f, 5, take);
    CU_ASSERT_TRUE(answered(&f, 5, WEIR_EFULL));
    for (uint32_t slot = 1; slot <= 4; slot++) {
        CU_ASSERT_EQUAL(atomic_load(&f.slots[slot].answer), NOT_YET);
        CU_ASSERT_EQUAL(result(&f, slot - 1, return_done), 0);
        CU_ASSERT_TRUE(answered(&f, slot, 0));
    }
    CU_ASSERT_EQUAL(result(&f, 4, return_done), 0);
    finish(&f);
}

static void test_queue_of_zero_refuses_at_once_and_has_room_for_free_members(void)
{
    struct fixture f;

    begin(&f, 3, 0);
    for (uint32_t slot = 0; slot < 3; slot++)
        CU_ASSERT_TRUE(takes(&f, slot));
    CU_ASSERT_FALSE(same_member(&f, 0, 1));
    CU_ASSERT_FALSE(same_member(&f, 1, 2));
    CU_ASSERT_FALSE(same_member(&f, 0, 2));
    act(&f, 3, take);
    CU_ASSERT_TRUE(answered(&f, 3, WEIR_EFULL));
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    CU_ASSERT_TRUE(busy(&f, 2));
    CU_ASSERT_TRUE(takes(&f, 4));
    CU_ASSERT_TRUE(same_member(&f, 4, 1));
    finish(&f);
}

/* The member that was returned last is taken first: unused members can be culled. */
static void test_member_that_was_used_last_is_taken_first(void)
{
    struct fixture f;

    begin(&f, 3, 0);
    for (uint32_t slot = 0; slot < 3; slot++)
        CU_ASSERT_TRUE(takes(&f, slot));
    for (uint32_t slot = 0; slot < 3; slot++) {
        CU_ASSERT_EQUAL(result(&f, slot, return_done), 0);
        CU_ASSERT_TRUE(busy(&f, 2 - slot));
    }
    for (uint32_t slot = 3; slot < 6; slot++) {
        CU_ASSERT_TRUE(takes(&f, slot));
        CU_ASSERT_TRUE(same_member(&f, slot, 2));
        CU_ASSERT_EQUAL(result(&f, slot, return_done), 0);
        CU_ASSERT_TRUE(busy(&f, 0));
    }
    finish(&f);
}

static void test_only_a_pool_with_leases_gives_them(void)
{
    struct fixture f;

    begin(&f, 1, 0);
    f.target = f.users->pid;
    act(&f, 0, take);
    CU_ASSERT_TRUE(answered(&f, 0, WEIR_EUNSUPPORTED));
    f.target = rig_worker(f.pool, 0);
    act(&f, 1, take);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_EUNSUPPORTED));
    f.target = 0;
    act(&f, 2, take);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_EUNKNOWN));
    finish(&f);
}

static void test_plain_message_is_a_lease_for_its_time(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 2));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 2 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(probe_times(f.member, 1), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(probe_times(f.member, 1), 1);
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    finish(&f);
}

/* --- giving up -------------------------------------------------------------------------------- */

/* promise P33 */
static void test_taker_that_gave_up_is_never_served(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 1, give_up), 0);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_ECANCELLED));
    act_of(&f, 2, take, 2 + 10 * SLOTS);
    CU_ASSERT_TRUE(came(&f, 2));
    rig_advance(&f.rig, 10);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_ETIMEOUT));
    act(&f, 3, take); /* has their room */
    CU_ASSERT_TRUE(came(&f, 3));
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 2);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 3, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    finish(&f);
}

static void test_taker_that_ended_is_never_served(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    act(&f, 1, probe_fail);
    CU_ASSERT_TRUE(counts(&f, &f.user->closed, 1));
    act(&f, 2, take);
    CU_ASSERT_TRUE(queued(&f, 2));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 2, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.slots[1].answer), NOT_YET);
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 1);
    finish(&f);
}

/* The lease is granted, and the taker gives up before its turn: the member is free at once. */
static void test_answer_that_no_taker_waits_for_returns_the_member(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    act(&f, 1, wait_and_give_up);
    CU_ASSERT_TRUE(gate_await(&f.user->gate, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->taken, 2));
    gate_open(&f.user->gate);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_ECANCELLED));
    CU_ASSERT_TRUE(takes(&f, 2));
    CU_ASSERT_EQUAL(result(&f, 2, return_done), 0);
    CU_ASSERT_TRUE(busy(&f, 0));
    finish(&f);
}

/* --- fencing ---------------------------------------------------------------------------------- */

/* promise P32 */
static void test_leased_member_handles_its_holder_alone(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .id = 77 }), 0);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 1000, 1));
    CU_ASSERT_EQUAL(probe_times(f.member, 77), 0);
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_REJECTED), 1);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0);
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(
        rig_send_lane(&f.rig, rig_worker(f.pool, 0), WEIR_HIGH, (struct order){ .id = 78 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.member, 78, 1)); /* the manager's lanes work as ever */
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    finish(&f);
}

static void test_nothing_is_sent_under_a_lease_that_is_over(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, ask), WEIR_ENOTALLOWED);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, renew), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(probe_count(f.member), 0);
    finish(&f);
}

static void return_behind_messages(uint32_t budget)
{
    const struct setup setup = { .size = 1, .queue = 2, .budget = budget };
    struct fixture f;

    begin_as(&f, &setup);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use_long), 0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 3)); /* the taker, and the two messages */
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 0);
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(probe_count(f.member), 3);
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

/* promise P34 */
static void test_return_waits_for_what_was_sent_before_it(void)
{
    return_behind_messages(0);
}

/* promise P34: the turn that handles the last message has no budget left for the return */
static void test_return_is_seen_by_a_member_whose_turn_is_over(void)
{
    return_behind_messages(1);
}

/* promise P34 */
static void test_double_return_and_return_by_another_change_nothing(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    f.slots[1].lease = f.slots[0].lease;
    CU_ASSERT_EQUAL(result(&f, 1, return_done), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 1, renew), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(result(&f, 0, return_failed), WEIR_EUNKNOWN);
    CU_ASSERT_TRUE(takes(&f, 2));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(result(&f, 2, use), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    finish(&f);
}

/* --- the ends of a lease ---------------------------------------------------------------------- */

/* promise P35 */
static void test_member_that_is_returned_as_failed_is_replaced(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_failed), 0);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.member->closed), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 0);
    finish(&f);
}

static void test_holder_that_stops_returns_the_member(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 0, stop);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

static void test_holder_that_fails_has_its_member_replaced(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use_long), 0);
    CU_ASSERT_TRUE(gate_await(&f.member->gate, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    act(&f, 0, probe_fail);
    CU_ASSERT_TRUE(counts(&f, &f.user->closed, 1));
    act(&f, 1, take);
    gate_open(&f.member->gate);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    finish(&f);
}

/* promise P35 */
static void test_lease_that_lasts_too_long_is_revoked(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    rig_advance(&f.rig, LEASE_MS - 1);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, renew), 0);
    rig_advance(&f.rig, LEASE_MS - 1);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.slots[1].answer), NOT_YET);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    finish(&f);
}

static void test_lease_of_a_member_that_fails_is_over(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    f.member->act = probe_fail;
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, 2));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(rig_dead(f.pool, DEAD_CRASHED), 1);
    finish(&f);
}

/* --- the callbacks ---------------------------------------------------------------------------- */

static int fails_once(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->taken) == 1 ? WEIR_FAIL : 0;
}

static void test_taker_gets_another_member_when_the_first_is_unhealthy(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    f.member->takes = fails_once;
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(atomic_load(&f.member->taken), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.member->opened), 2);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    finish(&f);
}

static int fails_always(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_FAIL;
}

/* promise P35: as often as it wants, since this is no failure. */
static void test_member_that_ends_with_its_return_is_replaced_at_once(void)
{
    const struct setup setup = { .size = 1, .queue = 1, .failures = 1 };
    struct pool_leases figures;
    struct fixture f;

    begin_as(&f, &setup);
    f.member->returns = fails_always;
    for (uint32_t life = 1; life <= LIVES; life++) {
        CU_ASSERT_TRUE(takes(&f, 0));
        CU_ASSERT_EQUAL(atomic_load(&f.member->opened), life);
        CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    }
    CU_ASSERT_TRUE(counts(&f, &f.member->opened, LIVES + 1));
    pool_look_at_leases(f.pool, &figures);
    CU_ASSERT_EQUAL(figures.ended[LEASE_DONE], LIVES);
    CU_ASSERT_EQUAL(figures.failed_free + figures.failed_leased, 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 0);
    finish(&f);
}

/* --- size and end ----------------------------------------------------------------------------- */

static void test_free_members_leave_first_and_a_leased_one_after_its_return(void)
{
    struct fixture f;

    begin(&f, 2, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0); /* it is to leave, and serves its holder */
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 2));
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

static void test_lease_of_a_leaving_member_is_revoked_after_the_time_out(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    rig_advance(&f.rig, 500);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    finish(&f);
}

static void test_closing_pool_answers_takers_and_waits_for_holders(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_TRUE(answered(&f, 1, WEIR_ECLOSED));
    act(&f, 2, take);
    CU_ASSERT_TRUE(answered(&f, 2, WEIR_ECLOSED));
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.member->returned), 1);
    finish(&f);
}

/* promise P34: the time of a holder is that of a worker that leaves. */
static void test_holder_that_never_returns_does_not_keep_its_pool(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    CU_ASSERT_TRUE(takes(&f, 0));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.member->closed), 0);
    rig_advance(&f.rig, 500);
    CU_ASSERT_TRUE(counts(&f, &f.member->closed, 1));
    CU_ASSERT_EQUAL(result(&f, 0, use), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    finish(&f);
}

static void test_taker_waits_for_a_pool_that_grows_from_none(void)
{
    const struct setup setup = { .queue = 1, .size_max = 2, .scale = { true, 0, 1000 } };
    struct fixture f;

    begin_as(&f, &setup);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_FALSE(same_member(&f, 0, 1));
    act(&f, 2, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 2, 0));
    finish(&f);
}

/* Lets time pass, in which the lease of slot 0 goes on, until so many members have left. */
static bool have_left(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < STEPS_MAX && atomic_load(&f->member->closed) < count; i++) {
        rig_advance(&f->rig, IDLE_MS);
        CU_ASSERT_EQUAL(result(f, 0, renew), 0);
    }
    return atomic_load(&f->member->closed) == count;
}

static void test_leased_member_does_not_leave_as_unused(void)
{
    const struct setup setup = { .queue = 1, .size_max = 2, .scale = { true, 0, IDLE_MS } };
    struct fixture f;

    begin_as(&f, &setup);
    CU_ASSERT_TRUE(takes(&f, 0));
    CU_ASSERT_TRUE(takes(&f, 1));
    CU_ASSERT_EQUAL(result(&f, 1, return_done), 0);
    CU_ASSERT_TRUE(have_left(&f, 1));
    for (uint32_t i = 0; i < 50; i++) {
        rig_advance(&f.rig, IDLE_MS);
        CU_ASSERT_EQUAL(result(&f, 0, renew), 0);
    }
    CU_ASSERT_EQUAL(atomic_load(&f.member->closed), 1);
    CU_ASSERT_EQUAL(result(&f, 0, ask), 0);
    CU_ASSERT_TRUE(is_equal(&f, &f.slots[0].reply, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "next taker", test_returned_member_serves_the_next_taker },
        { "order", test_takers_wait_in_the_order_in_which_they_came },
        { "no queue", test_queue_of_zero_refuses_at_once_and_has_room_for_free_members },
        { "last used", test_member_that_was_used_last_is_taken_first },
        { "unsupported", test_only_a_pool_with_leases_gives_them },
        { "plain", test_plain_message_is_a_lease_for_its_time },
        { "gave up", test_taker_that_gave_up_is_never_served },
        { "ended", test_taker_that_ended_is_never_served },
        { "late answer", test_answer_that_no_taker_waits_for_returns_the_member },
        { "alone", test_leased_member_handles_its_holder_alone },
        { "over", test_nothing_is_sent_under_a_lease_that_is_over },
        { "return waits", test_return_waits_for_what_was_sent_before_it },
        { "turn is over", test_return_is_seen_by_a_member_whose_turn_is_over },
        { "double return", test_double_return_and_return_by_another_change_nothing },
        { "failed", test_member_that_is_returned_as_failed_is_replaced },
        { "holder stops", test_holder_that_stops_returns_the_member },
        { "holder fails", test_holder_that_fails_has_its_member_replaced },
        { "too long", test_lease_that_lasts_too_long_is_revoked },
        { "member fails", test_lease_of_a_member_that_fails_is_over },
        { "unhealthy", test_taker_gets_another_member_when_the_first_is_unhealthy },
        { "no return", test_member_that_ends_with_its_return_is_replaced_at_once },
        { "shrinks", test_free_members_leave_first_and_a_leased_one_after_its_return },
        { "leaves", test_lease_of_a_leaving_member_is_revoked_after_the_time_out },
        { "closes", test_closing_pool_answers_takers_and_waits_for_holders },
        { "never returned", test_holder_that_never_returns_does_not_keep_its_pool },
        { "unused", test_leased_member_does_not_leave_as_unused },
        { "grows", test_taker_waits_for_a_pool_that_grows_from_none },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease", tests);
}
