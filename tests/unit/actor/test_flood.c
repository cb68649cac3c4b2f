/* SPDX-License-Identifier: MIT */
/*
 * Goal: one turn does not handle everything that is due at once, or that has been given up: it ends
 * after as many as its budget, and other actors get their turn.
 *
 * Method: a worker that sets a thousand timers, or sends a thousand requests and moves the clock
 * past their time-out. Turns are taken one by one, and the work of each is counted.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define COUNT 1000u
#define DELAY_MS 50u
#define IN_A_TURN_MAX 64u /* twice the budget: a step may begin when one is left */
#define TURNS_MAX (4 * COUNT)

struct flood {
    struct rig rig;
    struct probe *probe;
    struct pool *pool, *asked;
    uint32_t rung, timed_out;
};

static void ring(struct weir_self *self, void *state, void *context)
{
    struct flood *flood = context;

    (void)self;
    (void)state;
    flood->rung++;
}

static int set_timers(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)message;
    for (uint32_t i = 0; i < COUNT; i++)
        if (weir_after(self, DELAY_MS, ring, probe->context, NULL) != 0)
            return WEIR_FAIL;
    return WEIR_DONE;
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct flood *flood = context;

    (void)self;
    (void)state;
    flood->timed_out += reply->status == WEIR_ETIMEOUT;
}

static int ask_the_other(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct flood *flood = probe->context;

    (void)message;
    for (uint32_t i = 0; i < COUNT; i++) {
        struct weir_message *request = probe_message(self, (struct order){ .act = probe_reply });

        if (weir_request(self, flood->asked->pid, request, DELAY_MS, answered, flood, NULL) != 0)
            return WEIR_FAIL;
    }
    atomic_fetch_add(&flood->rig.now_ns, 2ull * DELAY_MS * 1000000u);
    return WEIR_DONE;
}

static bool are_open(void *context)
{
    return atomic_load(&((struct probe *)context)->opened) == 2;
}

static struct pool *make_pool(struct flood *flood, const char *path)
{
    struct pool_options options = { .path = path, .size = 1, .spec = rig_spec(flood->probe) };
    struct pool *pool = rig_pool(&flood->rig, &options);

    spec_unref(options.spec);
    return pool;
}

static void begin(struct flood *flood, probe_act *act)
{
    *flood = (struct flood){ .probe = probe_create() };
    flood->probe->context = flood;
    rig_init_still(&flood->rig, 1, 0);
    flood->pool = make_pool(flood, "flooded");
    flood->asked = make_pool(flood, "asked");
    CU_ASSERT_TRUE(rig_step(&flood->rig, are_open, flood->probe, TURNS_MAX));
    CU_ASSERT_EQUAL(rig_send(&flood->rig, flood->pool->pid, (struct order){ .act = act }), 0);
}

static uint64_t expired(const struct flood *flood)
{
    return rig_dead(flood->asked, DEAD_EXPIRED);
}

static uint64_t worked_off(const struct flood *flood)
{
    return flood->rung + flood->timed_out + expired(flood);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

/* Takes turns until `count` have been handled; returns the most of one turn. */
static uint64_t most_of_one_turn(struct flood *flood, uint64_t count)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < TURNS_MAX && worked_off(flood) < count; i++) {
        uint64_t before = worked_off(flood);

        (void)rig_step(&flood->rig, never, NULL, 1);
        if (worked_off(flood) - before > most)
            most = worked_off(flood) - before;
    }
    return most;
}

static bool is_over(void *context)
{
    return pool_has_ended(context);
}

static void end(struct flood *flood, struct pool *pool)
{
    rig_close(&flood->rig, pool);
    CU_ASSERT_TRUE(rig_step(&flood->rig, is_over, pool, TURNS_MAX));
    CU_ASSERT_TRUE(rig_end(&flood->rig, pool, NULL));
}

static void finish(struct flood *flood)
{
    end(flood, flood->pool);
    end(flood, flood->asked);
    rig_finish(&flood->rig);
    probe_destroy(flood->probe);
}

/* promise D3 */
static void test_timers_that_are_due_at_once_take_several_turns(void)
{
    struct flood f;

    begin(&f, set_timers);
    (void)rig_step(&f.rig, never, NULL, 8);
    atomic_fetch_add(&f.rig.now_ns, 2ull * DELAY_MS * 1000000u);
    CU_ASSERT_TRUE(most_of_one_turn(&f, COUNT) <= IN_A_TURN_MAX);
    CU_ASSERT_EQUAL(f.rung, COUNT);
    finish(&f);
}

/* promise D3: of the requester, the time-outs; of the other actor, the requests in its mailbox. */
static void test_requests_that_expire_at_once_take_several_turns(void)
{
    struct flood f;

    begin(&f, ask_the_other);
    CU_ASSERT_TRUE(most_of_one_turn(&f, 2ull * COUNT) <= IN_A_TURN_MAX);
    CU_ASSERT_EQUAL(f.timed_out, COUNT);
    CU_ASSERT_EQUAL(expired(&f), COUNT);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "timers", test_timers_that_are_due_at_once_take_several_turns },
        { "requests", test_requests_that_expire_at_once_take_several_turns },
        CU_TEST_INFO_NULL,
    };

    return suite_run("flood", tests);
}
