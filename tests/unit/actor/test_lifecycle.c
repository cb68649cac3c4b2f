/* SPDX-License-Identifier: MIT */
/*
 * Goal: every edge that lifecycle.c allows is taken, and no other one.
 *
 * Method: workers fail, stop, are renewed and are ended in each state, some of them while a child
 * keeps them; the edges are added up over all runtimes, and edges that no test took are printed. A
 * forbidden edge ends the program by an assertion, in every test.
 */
#include <stdio.h>

#include "actor/find.h"
#include "actor/lifecycle.h"

#include "pool/renewal.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct probe *child;
    struct pool *pool;
    struct actor *actor;   /* the worker number 0 */
    _Atomic bool refuses;  /* the worker number 1 does not open */
    enum actor_state seen; /* the state to wait for */
    uint32_t opened;       /* incarnations before that state */
};

static uint64_t taken; /* edges, of all runtimes */

static const struct restart *bound(struct restart *out, uint32_t max, enum weir_restart_then then)
{
    *out = (struct restart){
        .max = max, .within_ms = 10000, .backoff_ms_min = 100, .backoff_ms_max = 400, .then = then
    };
    return out;
}

static int open_unless_refused(struct weir_self *self, struct probe *probe)
{
    const struct fixture *f = probe->context;

    return weir_index(self) == 1 && atomic_load(&f->refuses) ? WEIR_EUNSUPPORTED : 0;
}

static void begin_runtime(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create(), .child = probe_create() };
    f->probe->context = f;
    f->probe->opens = open_unless_refused;
    rig_init(&f->rig, 2, 0);
}

static void make_pool(struct fixture *f, struct pool *parent, uint32_t size, uint32_t max,
                      enum weir_restart_then then)
{
    struct pool_options options = {
        .path = "pool", .parent = parent, .size = size, .settings.mailbox = 8
    };

    options.spec = rig_spec(f->probe);
    (void)bound(&options.spec->restart, max, then);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    f->actor = actor_find(f->rig.runtime, rig_worker(f->pool, 0));
}

static void begin(struct fixture *f, uint32_t max, enum weir_restart_then then)
{
    begin_runtime(f);
    make_pool(f, NULL, 1, max, then);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish_runtime(struct fixture *f)
{
    taken |= atomic_load(&f->rig.runtime->edges);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    probe_destroy(f->child);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    finish_runtime(f);
}

static bool is_seen(void *context)
{
    const struct fixture *f = context;

    return actor_state(f->actor) == f->seen;
}

static void await(struct fixture *f, enum actor_state state)
{
    f->seen = state;
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_seen, f));
}

static void send(struct fixture *f, probe_act *act)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, actor_pid(f->actor), (struct order){ .act = act, .id = 1 }),
                    0);
}

static bool has_opened_again(void *context)
{
    const struct fixture *f = context;

    return atomic_load(&f->probe->opened) > f->opened;
}

/* The worker begins another incarnation in its place. */
static void renew(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_EQUAL(renewal_ask(f->pool, RENEWAL_ALL, executor), 1);
    runtime_leave(executor);
}

/* --- one worker ------------------------------------------------------------------------------ */

static int stop(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_STOP;
}

static void open_again_after(struct fixture *f, probe_act *act)
{
    f->opened = atomic_load(&f->probe->opened);
    send(f, act);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_opened_again, f));
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void test_worker_that_fails_waits_and_opens_again(void)
{
    struct fixture f;

    begin(&f, 1, WEIR_RESTART_KEEP_TRYING);
    open_again_after(&f, probe_fail);
    open_again_after(&f, stop);
    send(&f, probe_fail);
    await(&f, ACTOR_WAITING);
    renew(&f);
    await(&f, ACTOR_OPEN);
    open_again_after(&f, probe_fail);
    send(&f, probe_fail);
    await(&f, ACTOR_WAITING);
    rig_advance(&f.rig, 100);
    await(&f, ACTOR_OPEN);
    finish(&f);
}

static void test_worker_that_waits_ends_with_its_pool(void)
{
    struct fixture f;

    begin(&f, 0, WEIR_RESTART_KEEP_TRYING);
    send(&f, probe_fail);
    await(&f, ACTOR_WAITING);
    finish(&f);
}

static void test_worker_that_is_given_up_stays_closed_until_it_is_renewed(void)
{
    struct fixture f;

    begin(&f, 0, WEIR_RESTART_STOP);
    send(&f, probe_fail);
    await(&f, ACTOR_STOPPED);
    renew(&f);
    await(&f, ACTOR_OPEN);
    send(&f, probe_fail);
    await(&f, ACTOR_STOPPED);
    finish(&f);
}

/* --- two, below another pool ------------------------------------------------------------------ */

static bool has_refused(void *context)
{
    const struct fixture *f = context;

    return atomic_load(&f->probe->refused) > 0 && atomic_load(&f->probe->opened) > 0;
}

static bool has_paused_both(void *context)
{
    const struct fixture *f = context;
    uint64_t both = lifecycle_edge(ACTOR_WAITING, LIFE_PAUSED) |
                    lifecycle_edge(ACTOR_STOPPED, LIFE_PAUSED);

    return (atomic_load(&f->rig.runtime->edges) & both) == both;
}

static bool are_two_live(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 100);
    return rig_stats(f->pool).live == 2;
}

/* One worker has failed too often, the other one waits: the pool above lets both open after a
 * pause. */
static void test_pool_above_pauses_what_waits_and_what_is_given_up(void)
{
    struct restart restart;
    struct pool_options options = {
        .path = "above", .settings.restart = *bound(&restart, 0, WEIR_RESTART_KEEP_TRYING)
    };
    struct fixture f;
    struct pool *above;

    begin_runtime(&f);
    atomic_store(&f.refuses, true);
    above = rig_pool(&f.rig, &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(above);
    make_pool(&f, above, 2, 1, WEIR_RESTART_ESCALATE);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_refused, &f));
    await(&f, ACTOR_OPEN);
    atomic_store(&f.refuses, false);
    f.opened = atomic_load(&f.probe->opened);
    send(&f, probe_fail);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_opened_again, &f));
    send(&f, probe_fail);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_paused_both, &f));
    CU_ASSERT_TRUE(rig_wait(&f.rig, are_two_live, &f));
    rig_close(&f.rig, above);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, above, NULL));
    finish_runtime(&f);
}

/* --- a child keeps the worker ----------------------------------------------------------------- */

/* The probe's `open` finds itself by its settings: those of a child hold its address. */
static int open_by_address(struct weir_self *self, const void *settings, void *state)
{
    struct probe *probe = *(struct probe *const *)settings;

    return probe->behaviour.open(self, probe, state);
}

/* Makes a child that stays in a callback until the gate opens. */
static int spawn(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct weir_behaviour behaviour = f->child->behaviour;
    weir_pid pid;

    (void)message;
    behaviour.open = open_by_address;
    behaviour.settings_size = sizeof f->child;
    options.behaviour = &behaviour;
    options.settings = &f->child;
    CU_ASSERT_EQUAL_FATAL(weir_spawn(self, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_send(self, pid, probe_message(self, (struct order){ probe_wait, 1, 0 })),
                    0);
    return WEIR_DONE;
}

static void stop_now(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_stop_now(f->pool, executor);
    runtime_leave(executor);
}

static bool has_taken(void *context)
{
    const struct fixture *f = context;

    return atomic_load(&f->rig.runtime->edges) & lifecycle_edge(f->seen, LIFE_CLOSED);
}

/* Ends the worker in that state, and again while the child keeps it. */
static void end_in(struct fixture *f, enum actor_state state)
{
    await(f, state);
    stop_now(f);
    await(f, ACTOR_CLOSED);
    stop_now(f);
    f->seen = ACTOR_CLOSED;
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_taken, f));
    gate_open(&f->child->gate);
    finish(f);
}

static void begin_with_child(struct fixture *f, uint32_t max, enum weir_restart_then then)
{
    begin(f, max, then);
    send(f, spawn);
    CU_ASSERT_TRUE(gate_await(&f->child->gate, 1));
}

static void test_open_worker_waits_for_its_child_at_its_end(void)
{
    struct fixture f;

    begin_with_child(&f, 0, WEIR_RESTART_KEEP_TRYING);
    end_in(&f, ACTOR_OPEN);
}

static bool has_begun_again(void *context)
{
    const struct fixture *f = context;

    return atomic_load(&f->rig.runtime->edges) & lifecycle_edge(ACTOR_STARTING, LIFE_AGAIN);
}

static void test_starting_worker_waits_for_its_child_at_its_end(void)
{
    struct fixture f;

    begin_with_child(&f, 5, WEIR_RESTART_KEEP_TRYING);
    send(&f, probe_fail);
    await(&f, ACTOR_STARTING);
    renew(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_begun_again, &f));
    end_in(&f, ACTOR_STARTING);
}

static void test_waiting_worker_waits_for_its_child_at_its_end(void)
{
    struct fixture f;

    begin_with_child(&f, 0, WEIR_RESTART_KEEP_TRYING);
    send(&f, probe_fail);
    end_in(&f, ACTOR_WAITING);
}

static void test_stopped_worker_waits_for_its_child_at_its_end(void)
{
    struct fixture f;

    begin_with_child(&f, 0, WEIR_RESTART_STOP);
    send(&f, probe_fail);
    end_in(&f, ACTOR_STOPPED);
}

/* --- all edges -------------------------------------------------------------------------------- */

static void test_every_legal_edge_was_taken_and_no_other(void)
{
    for (int state = 0; state < ACTOR_STATES; state++)
        for (int event = 0; event < LIFE_EVENTS; event++) {
            enum actor_state from = (enum actor_state)state;
            enum life_event by = (enum life_event)event;
            bool was_taken = taken & lifecycle_edge(from, by);

            if (was_taken != lifecycle_is_legal(from, by))
                printf("\nnot taken: %s by %s\n", lifecycle_state_name(from),
                       lifecycle_event_name(by));
            CU_ASSERT_EQUAL(was_taken, lifecycle_is_legal(from, by));
        }
}

int main(void)
{
    static CU_TestInfo tests[] = {
        { "fails", test_worker_that_fails_waits_and_opens_again },
        { "waits", test_worker_that_waits_ends_with_its_pool },
        { "given up", test_worker_that_is_given_up_stays_closed_until_it_is_renewed },
        { "paused", test_pool_above_pauses_what_waits_and_what_is_given_up },
        { "open", test_open_worker_waits_for_its_child_at_its_end },
        { "starting", test_starting_worker_waits_for_its_child_at_its_end },
        { "waiting", test_waiting_worker_waits_for_its_child_at_its_end },
        { "stopped", test_stopped_worker_waits_for_its_child_at_its_end },
        { "every edge", test_every_legal_edge_was_taken_and_no_other },
        CU_TEST_INFO_NULL,
    };

    return suite_run("lifecycle", tests);
}
