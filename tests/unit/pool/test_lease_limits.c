/*
 * Goal: the limits of a pool that gives leases are those in force: a renewal after a reload has the
 * new time-out, and takers that gave up leave their bytes to others.
 *
 * Method: holders of lease_rig.h, with a clock that the test moves.
 */
#include "unit/host/suite.h"
#include "unit/pool/lease_rig.h"

#define SHORT_MS 100u

static void set_timeout(struct fixture *f, uint64_t timeout_ms)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change_options options = {
        .size = 1,
        .settings = { .route = WEIR_ROUTE_PULL, .mailbox = 4, .lease = { true, timeout_ms, 2 } },
    };
    struct pool_change *change;

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
}

/* promise P35: the time-out that is in force at the renewal counts from then on. */
static void test_renewal_has_the_time_out_of_the_last_reload(void)
{
    struct fixture f;

    begin(&f, 1, 2);
    CU_ASSERT_TRUE(takes(&f, 0));
    act(&f, 1, take);
    CU_ASSERT_TRUE(queued(&f, 1));
    set_timeout(&f, SHORT_MS);
    CU_ASSERT_EQUAL(result(&f, 0, renew), 0);
    rig_advance(&f.rig, SHORT_MS - 1);
    CU_ASSERT_EQUAL(result(&f, 0, use), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.slots[1].answer), NOT_YET);
    rig_advance(&f.rig, 1);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    CU_ASSERT_EQUAL(result(&f, 0, return_done), WEIR_EUNKNOWN);
    finish(&f);
}

/* Takers wait in the queue of a pool that is bounded by bytes; returns how many have room. */
static uint32_t fill(struct fixture *f)
{
    uint32_t count = 0;

    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        atomic_store(&f->slots[slot].answer, NOT_YET);
        act(f, slot, take);
        (void)result(f, slot, renew); /* the take came before it, and it has no lease */
        if (atomic_load(&f->slots[slot].answer) == WEIR_EFULL)
            break;
        count++;
    }
    return count;
}

/* promise S11 */
static void test_takers_that_gave_up_leave_their_bytes(void)
{
    const struct setup setup = { .size = 1, .queue = 100, .bytes = 100 };
    struct fixture f;
    uint32_t room;

    begin_as(&f, &setup);
    CU_ASSERT_TRUE(takes(&f, 0));
    room = fill(&f);
    CU_ASSERT_TRUE(room > 0 && room < SLOTS - 1);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t slot = 1; slot <= room; slot++)
            CU_ASSERT_EQUAL(result(&f, slot, give_up), 0);
        CU_ASSERT_EQUAL(fill(&f), room);
    }
    CU_ASSERT_EQUAL(result(&f, 0, return_done), 0);
    CU_ASSERT_TRUE(answered(&f, 1, 0));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "renewal", test_renewal_has_the_time_out_of_the_last_reload },
        { "bytes", test_takers_that_gave_up_leave_their_bytes },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease_limits", tests);
}
