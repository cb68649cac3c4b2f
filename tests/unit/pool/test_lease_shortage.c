/* SPDX-License-Identifier: MIT */
/*
 * Goal: when memory is out at any step of a take, the use of its lease, its return, or a take that
 * is given up, the taker is answered, and the member is free afterwards.
 *
 * Method: shortage.h; the nth allocation of this thread, which takes all turns, fails, for n = 1
 * and so on until none has to.
 */
#include "face/leases.h"
#include "face/messages.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/shortage.h"

#define STEPS_MAX 10000u
#define FOR_LONG_MS 100000u
#define NOT_YET 1
#define ALLOCATIONS_MIN 5u /* a taker's and a member's tables, and an entry of the pool */
#define ALLOCATIONS_MAX 1000u

struct leasing {
    struct rig rig;
    struct probe *member;
    struct probe *user;
    struct pool *pool;
    struct pool *users;
    struct weir_lease lease; /* of the user */
    uint64_t outside;        /* a take of the test */
    uint64_t reference;      /* of its take */
    int answer;              /* to it */
    int result;              /* of its last other call */
    uint32_t left;           /* allocations until one fails, while none does */
};

static void on_answer(struct weir_self *self, void *state, void *context,
                      const struct weir_reply *reply)
{
    struct leasing *l = context;

    (void)self;
    (void)state;
    if (weir_lease_of(reply))
        l->lease = *weir_lease_of(reply);
    l->answer = reply->status;
}

static int act_take(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct leasing *l = probe->context;
    int status = weir_take(self, l->pool->pid, FOR_LONG_MS, on_answer, l, &l->reference);

    (void)message;
    if (status != 0)
        l->answer = status;
    return WEIR_DONE;
}

static int act_use(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct leasing *l = probe->context;
    struct weir_message *use = weir_message_new(self, NULL, sizeof(uint32_t));

    (void)message;
    l->result = use ? weir_lease_send(self, &l->lease, use) : WEIR_ENOMEM;
    if (use && l->result != 0)
        weir_message_free(self, use);
    return WEIR_DONE;
}

static int act_return(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct leasing *l = probe->context;

    (void)message;
    l->result = weir_return(self, &l->lease, WEIR_DONE);
    return WEIR_DONE;
}

static int act_give_up(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct leasing *l = probe->context;

    (void)message;
    l->result = weir_cancel(self, l->reference);
    return WEIR_DONE;
}

static bool are_open(void *context)
{
    struct leasing *l = context;

    return atomic_load(&l->member->opened) == 1 && atomic_load(&l->user->opened) == 1;
}

static bool is_answered(void *context)
{
    return ((struct leasing *)context)->answer != NOT_YET;
}

static bool has_result(void *context)
{
    return ((struct leasing *)context)->result != NOT_YET;
}

static bool is_queued(void *context)
{
    struct leasing *l = context;

    return is_answered(l) || rig_stats(l->pool).queued == 1;
}

static bool is_free(void *context)
{
    struct pool *pool = ((struct leasing *)context)->pool;

    return rig_stats(pool).busy == 0 && atomic_load(&pool->pull.sleeping) == 1;
}

static bool both_have_ended(void *context)
{
    struct leasing *l = context;

    return pool_has_ended(l->pool) && pool_has_ended(l->users);
}

static bool step(struct leasing *l, bool (*done)(void *context))
{
    return rig_step(&l->rig, done, l, STEPS_MAX);
}

/* As step, and the allocation fails. */
static bool step_short(struct leasing *l, bool (*done)(void *context))
{
    bool is_done;

    shortage_begin(l->left, false);
    is_done = step(l, done);
    l->left = shortage_end();
    return is_done;
}

static void order(struct leasing *l, probe_act *act)
{
    l->result = NOT_YET;
    if (act == act_take)
        l->answer = NOT_YET;
    CU_ASSERT_EQUAL(rig_send(&l->rig, l->users->pid, (struct order){ .act = act }), 0);
}

static void begin_leasing(struct leasing *l, uint32_t nth)
{
    struct pool_options options = {
        .path = "leased",
        .size = 1,
        .settings = { .route = WEIR_ROUTE_PULL, .lease = { .on = true, .queue = 1 } },
    };

    *l = (struct leasing){ .left = nth };
    l->member = probe_create();
    l->user = probe_create();
    l->user->context = l;
    rig_init_still(&l->rig, 1, 0);
    options.spec = rig_spec(l->member);
    l->pool = rig_pool(&l->rig, &options);
    spec_unref(options.spec);
    options = (struct pool_options){ .path = "users", .size = 1, .settings.mailbox = 4 };
    options.spec = rig_spec(l->user);
    l->users = rig_pool(&l->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(step(l, are_open));
    CU_ASSERT_TRUE(step(l, is_free));
}

static void finish_leasing(struct leasing *l)
{
    rig_close(&l->rig, l->users);
    rig_close(&l->rig, l->pool);
    CU_ASSERT_TRUE(step(l, both_have_ended));
    CU_ASSERT_TRUE(rig_end(&l->rig, l->users, NULL));
    CU_ASSERT_TRUE(rig_end(&l->rig, l->pool, NULL));
    rig_finish(&l->rig);
    probe_destroy(l->member);
    probe_destroy(l->user);
}

/* The taker is answered. With a lease it uses the member, or cannot, and returns it. */
static void take_use_and_return(struct leasing *l)
{
    order(l, act_take);
    CU_ASSERT_TRUE(step_short(l, is_answered));
    if (l->answer == 0) {
        order(l, act_use);
        CU_ASSERT_TRUE(step_short(l, has_result));
        CU_ASSERT_TRUE(l->result == 0 || l->result == WEIR_ENOMEM);
        order(l, act_return);
        CU_ASSERT_TRUE(step_short(l, has_result));
        CU_ASSERT_EQUAL(l->result, 0);
    }
    CU_ASSERT_TRUE(step_short(l, is_free));
}

static bool is_outside_answered(void *context)
{
    struct leasing *l = context;

    return runtime_is_answered(l->rig.runtime, l->outside);
}

static struct weir_lease take_outside(struct leasing *l)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_lease lease;

    CU_ASSERT_EQUAL_FATAL(
        runtime_take(l->rig.runtime, NULL, l->pool->pid, FOR_LONG_MS, &l->outside), 0);
    CU_ASSERT_TRUE_FATAL(step(l, is_outside_answered));
    CU_ASSERT_EQUAL_FATAL(runtime_await(l->rig.runtime, l->outside, &answer), 0);
    lease = *weir_answer_lease(&answer);
    runtime_message_free(l->rig.runtime, answer.message);
    return lease;
}

static void return_outside(struct leasing *l, const struct weir_lease *lease)
{
    CU_ASSERT_EQUAL(runtime_lease_return(l->rig.runtime, LEASE_OF_PROGRAM, lease, WEIR_DONE), 0);
}

/* A taker waits for another holder, gives up, and holds nothing when the member is returned. */
static void wait_and_give_up(struct leasing *l)
{
    const struct weir_lease lease = take_outside(l);

    order(l, act_take);
    CU_ASSERT_TRUE(step_short(l, is_queued));
    if (l->answer == NOT_YET) {
        order(l, act_give_up);
        CU_ASSERT_TRUE(step_short(l, is_answered));
        CU_ASSERT_EQUAL(l->answer, WEIR_ECANCELLED);
    }
    return_outside(l, &lease);
    CU_ASSERT_TRUE(step_short(l, is_free));
}

/* Whether the shortage was met. */
static bool lease_with_shortage(uint32_t nth)
{
    struct weir_lease lease;
    struct leasing l;

    begin_leasing(&l, nth);
    take_use_and_return(&l);
    wait_and_give_up(&l);
    lease = take_outside(&l);
    return_outside(&l, &lease);
    CU_ASSERT_TRUE(step(&l, is_free));
    finish_leasing(&l);
    return l.left == 0;
}

/* promise P33, P34 */
static void test_lease_that_lacks_memory_leaves_its_member_free(void)
{
    uint32_t nth = 1;

    while (nth < ALLOCATIONS_MAX && lease_with_shortage(nth))
        nth++;
    CU_ASSERT_TRUE(nth > ALLOCATIONS_MIN && nth < ALLOCATIONS_MAX);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "memory", test_lease_that_lacks_memory_leaves_its_member_free },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lease shortage", tests);
}
