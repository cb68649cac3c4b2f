/*
 * Goal: a worker of an elastic pool that waits for something has something to do, so it does not
 * leave: an answer, a lease that it holds, a timer that is due once, a delayed message, a kept
 * message, a retry, or a child with one of these. When that is over it leaves.
 *
 * Method: a table of acts, each done by both workers of a pool without a minimum. The clock moves
 * by many times `idle`, with a check of the pool at each step; then far enough to end each act.
 */
#include <stdio.h>
#include <string.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#include <weir/lease.h>
#include <weir/spawn.h>
#include <weir/timer.h>

#define WORKERS 2u
#define THREADS 4u /* the helpers hold two of them */
#define IDLE_MS 1000u
#define ACT_MS 100000u /* each act lasts so long */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct pool *helpers; /* wait at the gate with what they get */
    struct pool *leased;
};

/* --- acts ------------------------------------------------------------------------------------- */

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    (void)context;
    (void)reply;
}

static void ticked(struct weir_self *self, void *state, void *context)
{
    (void)self;
    (void)state;
    (void)context;
}

static int await_answer(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_request(self, f->helpers->pid,
                                 probe_message(self, (struct order){ .act = NULL }), ACT_MS,
                                 answered, NULL, NULL),
                    0);
    return WEIR_DONE;
}

static int hold_lease(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_take(self, f->leased->pid, ACT_MS, answered, NULL, NULL), 0);
    return WEIR_DONE;
}

static int set_timer(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_after(self, ACT_MS, ticked, NULL, NULL), 0);
    return WEIR_DONE;
}

static int send_later(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(
        weir_send_after(self, weir_pid_of(self),
                        probe_message(self, (struct order){ .act = probe_done, .id = 3 }), ACT_MS,
                        NULL),
        0);
    return WEIR_DONE;
}

static int retry_later(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)probe;
    if (message->attempt > 1)
        return WEIR_DONE;
    weir_retry_after(self, ACT_MS);
    return WEIR_RETRY;
}

static int open_by_address(struct weir_self *self, const void *settings, void *state)
{
    struct probe *probe = *(struct probe *const *)settings;

    return probe->behaviour.open(self, probe, state);
}

/* A child that does the act at its only message. */
static int give_child(struct weir_self *self, struct probe *probe, probe_act *act)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct weir_behaviour behaviour = probe->behaviour;
    struct weir_message *order = probe_message(self, (struct order){ .act = act, .id = 2 });
    weir_pid child;

    behaviour.open = open_by_address;
    behaviour.settings_size = sizeof probe;
    options.behaviour = &behaviour;
    options.settings = &probe;
    options.limit = 8;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &child), 0);
    CU_ASSERT_EQUAL(weir_send(self, child, order), 0);
    return WEIR_DONE;
}

static int child_awaits(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)message;
    return give_child(self, probe, await_answer);
}

static int child_sets_timer(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    (void)message;
    return give_child(self, probe, set_timer);
}

static int set_repeating_timer(struct weir_self *self, struct probe *probe,
                               const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_every(self, IDLE_MS, ticked, NULL, NULL), 0);
    return WEIR_DONE;
}

static int idle_child(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)message;
    return give_child(self, probe, probe_done);
}

struct row {
    const char *name;
    probe_act *act;
    bool is_used;
};

static const struct row rows[] = {
    { "awaits an answer", await_answer, true },
    { "holds a lease", hold_lease, true },
    { "has a timer", set_timer, true },
    { "sends a delayed message", send_later, true },
    { "has a retry", retry_later, true },
    { "has a child that awaits an answer", child_awaits, true },
    { "has a child with a timer", child_sets_timer, true },
    { "has a timer that repeats", set_repeating_timer, false },
    { "has a child that does nothing", idle_child, false },
};

/* --- the fixture ------------------------------------------------------------------------------ */

static struct pool *make_pool(struct fixture *f, struct probe *probe,
                              const struct pool_options *given)
{
    struct pool_options options = *given;
    struct pool *pool;

    options.spec = rig_spec(probe);
    options.size = WORKERS;
    options.settings.mailbox = 8;
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static bool is_unhandled(void *context)
{
    struct pool **pool = context;

    return rig_dead(*pool, DEAD_UNHANDLED) > 0;
}

/* The checks of the pool that were due are over. */
static void look_has_been(struct fixture *f)
{
    uint64_t before = rig_dead(f->pool, DEAD_UNHANDLED);

    CU_ASSERT_EQUAL(rig_send_lane(&f->rig, f->pool->pid, WEIR_HIGH, (struct order){ .id = 0 }), 0);
    while (rig_dead(f->pool, DEAD_UNHANDLED) == before)
        (void)rig_wait(&f->rig, is_unhandled, &f->pool);
}

static bool is_empty(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, ACT_MS / 8);
    return pool_target(f->pool) == 0;
}

static void check_row(const struct row *row)
{
    const struct pool_options elastic = {
        .path = "elastic", .settings = { .size_max = WORKERS, .scale = { true, 0, IDLE_MS } }
    };
    const struct pool_options helpers = { .path = "helpers" };
    const struct pool_options leased = {
        .path = "leased", .settings = { .route = WEIR_ROUTE_PULL, .lease = { true, ACT_MS, 0 } }
    };
    struct fixture f = { .probe = probe_create() };
    struct probe *others = probe_create();

    f.probe->context = &f;
    others->act = probe_wait;
    rig_init(&f.rig, THREADS, 0);
    f.helpers = make_pool(&f, others, &helpers);
    f.leased = make_pool(&f, others, &leased);
    f.pool = make_pool(&f, f.probe, &elastic);
    for (uint32_t i = 0; i < WORKERS; i++)
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, rig_worker(f.pool, i), (struct order){ .act = row->act, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, WORKERS));
    for (uint32_t i = 0; i < 40 && row->is_used; i++) {
        rig_advance(&f.rig, IDLE_MS / 4);
        look_has_been(&f);
    }
    if (row->is_used)
        CU_ASSERT_EQUAL(pool_target(f.pool), WORKERS);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_empty, &f));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    gate_open(&others->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.helpers, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.leased, NULL));
    rig_finish(&f.rig);
    probe_destroy(f.probe);
    probe_destroy(others);
}

/* promise G4 */
static void test_worker_that_waits_for_something_does_not_leave(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t failures = CU_get_number_of_failures();

        check_row(&rows[i]);
        if (CU_get_number_of_failures() > failures)
            (void)fprintf(stderr, "%s\n", rows[i].name);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a worker that waits for something does not leave",
          test_worker_that_waits_for_something_does_not_leave },
        CU_TEST_INFO_NULL,
    };

    return suite_run("scale_used", tests);
}
