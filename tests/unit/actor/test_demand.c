/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker gets as many messages as it demands and no more: none while it demands none; then
 * the other workers get what a shared queue or an unbuffered pool has for them.
 *
 * Method: a worker that sets its demand in a handler and in a timer, by a clock that stands still;
 * a message waits when two later ticks of its worker have passed.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define ANSWER 5000u /* a note: ANSWER + minus what weir_set_demand returned */
#define TICK 6000u   /* a note: TICK + how often the timer of the resting worker fired */
#define RESTS 7000u  /* a note: the worker rests, and its timer runs */

/* Of the one worker that rests. */
static struct probe *noted_by;
static uint32_t ticks_so_far;

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, struct pool_options options, uint32_t in_hand,
                  int (*opens)(struct weir_self *, struct probe *))
{
    f->probe = probe_create();
    f->probe->behaviour.in_hand = in_hand;
    f->probe->opens = opens;
    rig_init(&f->rig, options.size + 1, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.dead);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Each millisecond; at the third time it demands all again. */
static void tick(struct weir_self *self, void *state, void *context)
{
    uint32_t *ticks = context;

    (void)state;
    (*ticks)++;
    probe_note(noted_by, TICK + *ticks);
    if (*ticks == 3)
        CU_ASSERT_EQUAL(weir_set_demand(self, 1), 0);
}

/* Demands nothing, until three milliseconds have passed. */
static void rest(struct weir_self *self, struct probe *probe)
{
    noted_by = probe;
    ticks_so_far = 0;
    CU_ASSERT_EQUAL(weir_set_demand(self, 0), 0);
    CU_ASSERT_EQUAL(weir_every(self, 1, tick, &ticks_so_far, NULL), 0);
    probe_note(probe, RESTS);
}

static int rest_now(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)message;
    rest(self, probe);
    return WEIR_DONE;
}

static int rest_from_open(struct weir_self *self, struct probe *probe)
{
    if (weir_index(self) == 0)
        rest(self, probe);
    return 0;
}

/* The worker has had a turn between two of its ticks: what it may take it has taken by then. */
static void await_ticks(struct fixture *f, uint32_t first, uint32_t last)
{
    for (uint32_t number = first; number <= last; number++) {
        rig_advance(&f->rig, 1);
        CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, TICK + number, 1));
    }
}

/* promise A24 */
static void test_worker_without_demand_gets_nothing_new(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 2, .settings.mailbox = 2 }, 1, NULL);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .act = rest_now, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, RESTS, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .id = 3 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .id = 4 }), WEIR_EFULL);
    await_ticks(&f, 1, 2);
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0);
    await_ticks(&f, 3, 3);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 3, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 1);
    finish(&f, 3);
}

struct sends {
    struct fixture *fixture;
    uint64_t id;
};

static bool is_taken(void *context)
{
    struct sends *sends = context;

    return rig_send(&sends->fixture->rig, sends->fixture->pool->pid,
                    (struct order){ .id = sends->id }) == 0;
}

/* promise A24: also what it demands in `open` counts, for its first message. */
static void check_other_gets_all(struct pool_options options)
{
    struct fixture f;

    options.size = 2;
    begin(&f, options, 1, rest_from_open);
    for (uint64_t id = 1; id <= 8; id++) {
        CU_ASSERT_TRUE(rig_wait(&f.rig, is_taken, &(struct sends){ &f, id }));
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, id, 1));
    }
    await_ticks(&f, 1, 3);
    finish(&f, 8);
}

static void test_other_workers_get_what_nobody_is_bound_to(void)
{
    check_other_gets_all(
        (struct pool_options){ .settings.route = WEIR_ROUTE_PULL, .settings.mailbox = 8 });
    check_other_gets_all((struct pool_options){ .settings.mailbox = WEIR_UNBUFFERED });
}

static int ask_wrongly(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)message;
    probe_note(probe, ANSWER + (uint64_t)-weir_set_demand(self, 4));
    probe_note(probe, ANSWER + (uint64_t)-weir_set_demand(self, 3));
    return WEIR_DONE;
}

/* promise A24 */
static void test_more_than_in_hand_is_refused(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 1, .settings.mailbox = 2 }, 3, NULL);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = ask_wrongly, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, ANSWER + (uint64_t)-WEIR_EINVALID), 1);
    CU_ASSERT_EQUAL(probe_times(f.probe, ANSWER), 1);
    finish(&f, 1);
}

static int rest_and_fail(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_set_demand(self, 0), 0);
    return WEIR_FAIL;
}

/* promise A24 */
static void test_next_incarnation_demands_all_again(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 1, .settings.mailbox = 2 }, 1, NULL);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = rest_and_fail, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_taken, &(struct sends){ &f, 2 }));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    finish(&f, 1);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "nothing", test_worker_without_demand_gets_nothing_new },
        { "others", test_other_workers_get_what_nobody_is_bound_to },
        { "too much", test_more_than_in_hand_is_refused },
        { "next life", test_next_incarnation_demands_all_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("demand", tests);
}
