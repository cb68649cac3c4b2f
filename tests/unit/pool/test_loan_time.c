/* SPDX-License-Identifier: MIT */
/*
 * Goal: the lease of a thread that took a free worker without a turn ends after its time-out, and
 * not before, whether a timer of the worker is armed when it begins or not.
 *
 * Method: the thread of the test takes all turns and moves the clock.
 */
#include "face/leases.h"
#include "face/messages.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LEASE_MS 1000u
#define TURNS 100u /* more than there are */

struct fixture {
    struct rig rig;
    struct pool *pool;
    uint32_t closed;
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct fixture **)state = (struct fixture *)(uintptr_t)settings;
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)reason;
    (*(struct fixture **)state)->closed++;
}

static const struct weir_behaviour behaviour = { .name = "plain",
                                                 .state_size = sizeof(struct fixture *),
                                                 .open = open_worker,
                                                 .handle = handle,
                                                 .close = close_worker };

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool has_ended(void *context)
{
    return pool_has_ended(((struct fixture *)context)->pool);
}

static void take_turns(struct fixture *f)
{
    (void)rig_step(&f->rig, never, NULL, TURNS);
}

static void advance(struct fixture *f, uint32_t ms)
{
    rig_advance(&f->rig, ms);
    take_turns(f);
}

static void begin(struct fixture *f)
{
    struct pool_options options = {
        .path = "leased",
        .size = 1,
        .settings = { .route = WEIR_ROUTE_PULL,
                      .lease = { .on = true, .timeout_ms = LEASE_MS, .queue = 4 } },
    };

    *f = (struct fixture){ 0 };
    rig_init_still(&f->rig, 1, 0);
    options.spec = spec_create(&behaviour, f);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    take_turns(f);
}

static void finish(struct fixture *f)
{
    rig_close(&f->rig, f->pool);
    CU_ASSERT_TRUE(rig_step(&f->rig, has_ended, f, TURNS));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
}

static struct weir_lease take(struct fixture *f, bool by_turn)
{
    struct weir_lease lease = { 0 };
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;

    CU_ASSERT_EQUAL_FATAL(
        runtime_take(f->rig.runtime, NULL, f->pool->pid, WEIR_FOR_EVER, &reference), 0);
    if (by_turn)
        take_turns(f);
    CU_ASSERT_EQUAL_FATAL(runtime_await(f->rig.runtime, reference, &answer), 0);
    lease = *weir_answer_lease(&answer);
    runtime_message_free(f->rig.runtime, answer.message);
    return lease;
}

static int give_back(struct fixture *f, const struct weir_lease *lease)
{
    return runtime_lease_return(f->rig.runtime, LEASE_OF_PROGRAM, lease, WEIR_DONE);
}

/* The first lease arms the timer, and is returned by a turn. */
static void lease_once(struct fixture *f)
{
    const struct weir_lease lease = take(f, true);

    CU_ASSERT_EQUAL(give_back(f, &lease), 0);
    take_turns(f);
}

static void expect_revoked_in(struct fixture *f, const struct weir_lease *lease, uint32_t ms)
{
    advance(f, ms - 1);
    CU_ASSERT_EQUAL(runtime_lease_renew(f->rig.runtime, LEASE_OF_PROGRAM, lease), 0);
    advance(f, LEASE_MS - 1);
    CU_ASSERT_EQUAL(f->closed, 0);
    advance(f, 1);
    CU_ASSERT_EQUAL(f->closed, 1);
    CU_ASSERT_EQUAL(give_back(f, lease), WEIR_EUNKNOWN);
}

/* promise E22: the time-out ends a lease while the timer of an earlier one is armed. */
static void test_earlier_timer_is_armed_again(void)
{
    struct weir_lease lease;
    struct fixture f;

    begin(&f);
    lease_once(&f);
    advance(&f, LEASE_MS / 2);
    lease = take(&f, false);
    expect_revoked_in(&f, &lease, LEASE_MS);
    finish(&f);
}

/* promise E22: and while none is. */
static void test_timer_is_armed(void)
{
    struct weir_lease lease;
    struct fixture f;

    begin(&f);
    lease_once(&f);
    advance(&f, LEASE_MS);
    lease = take(&f, false);
    expect_revoked_in(&f, &lease, LEASE_MS);
    finish(&f);
}

/* promise E22: a return without a turn leaves no time-out behind. */
static void test_returned_worker_stays(void)
{
    struct weir_lease lease;
    struct fixture f;

    begin(&f);
    lease_once(&f);
    for (uint32_t i = 0; i < 10; i++) {
        lease = take(&f, false);
        advance(&f, LEASE_MS / 4);
        CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
        take_turns(&f);
    }
    advance(&f, 2 * LEASE_MS);
    CU_ASSERT_EQUAL(f.closed, 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "earlier timer", test_earlier_timer_is_armed_again },
        { "no timer", test_timer_is_armed },
        { "returned", test_returned_worker_stays },
        CU_TEST_INFO_NULL,
    };

    return suite_run("time of loans", tests);
}
