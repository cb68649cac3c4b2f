/* SPDX-License-Identifier: MIT */
/*
 * Goal: a callback that takes long, or never returns, holds up nothing but its own worker: what its
 * thread has queued runs elsewhere although every other thread is busy, a spare thread takes the
 * place of a stuck one and leaves when the turn ends, memory is reclaimed meanwhile, and timers and
 * messages from outside are looked at after every long turn.
 *
 * Method: workers held at a gate inside their handlers, beside a worker that always has a message
 * for itself, so that no thread runs out of work. Long turns last until the timekeeper has made two
 * beats, and are counted; no outcome depends on how long that is.
 */
#include "dispatch/timekeeper.h"

#include "base/cpus.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIGHT 200u
#define LONG_TURNS_MAX 8u /* two are needed; without a check of the time it takes 61 */
#define HOG_TURNS_MAX                                                                              \
    (LIGHT / 8) /* none is needed; LIGHT, when only one of the others runs after each */

/* --- what the workers do -------------------------------------------------------------------- */

struct endless {
    _Atomic bool stop;
    _Atomic uint32_t turns;
    _Atomic uint32_t noted; /* `turns` when the other one ran */
    struct dispatcher *dispatcher;
};

static void go_on(struct weir_self *self, const struct weir_message *message, probe_act *act)
{
    struct weir_message *out = probe_message(self, (struct order){ .act = act });

    (void)message;
    if (weir_send(self, weir_pid_of(self), out) != 0)
        weir_message_free(self, out); /* the end came in between */
}

/* Takes turn after turn, so that its thread never runs out of work. */
static int run_for_ever(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    struct endless *endless = probe->context;

    if (!atomic_load(&endless->stop))
        go_on(self, message, run_for_ever);
    return WEIR_DONE;
}

static void last_beats(struct dispatcher *dispatcher, uint32_t count)
{
    uint32_t first = atomic_load(&dispatcher->beat);

    while (atomic_load(&dispatcher->beat) - first < count)
        ;
}

/* Likewise, in long turns that are counted. */
static int run_long_for_ever(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    struct endless *endless = probe->context;

    atomic_fetch_add(&endless->turns, 1);
    last_beats(endless->dispatcher, 2);
    if (!atomic_load(&endless->stop))
        go_on(self, message, run_long_for_ever);
    return WEIR_DONE;
}

static int scatter_and_wait(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    for (uint32_t i = 0; i < LIGHT; i++) {
        struct weir_message *out = probe_message(self, (struct order){ .act = probe_done });

        if (weir_send(self, probe_order(message)->argument, out) != 0)
            return WEIR_FAIL;
    }
    return gate_pass(&probe->gate) ? WEIR_DONE : WEIR_FAIL;
}

static bool all_light_are_done(void *context)
{
    return rig_ledger(context).done == LIGHT;
}

/* --- the run queue of a stuck thread -------------------------------------------------------- */

struct stuck {
    struct rig rig;
    struct probe *probe;
    struct endless endless;
    struct pool *light, *hog, *busy;
};

static void begin(struct stuck *stuck, uint32_t threads, uint32_t budget, uint32_t hogs)
{
    *stuck = (struct stuck){ .probe = probe_create() };
    stuck->probe->context = &stuck->endless;
    rig_init(&stuck->rig, threads, budget);
    stuck->endless.dispatcher = stuck->rig.dispatcher;
    stuck->light = rig_workers(&stuck->rig, stuck->probe, "light", LIGHT, 1);
    stuck->hog = rig_workers(&stuck->rig, stuck->probe, "hog", hogs, 1);
    stuck->busy = rig_workers(&stuck->rig, stuck->probe, "busy", 1, 0);
}

static void keep_a_thread_busy(struct stuck *stuck, probe_act *act)
{
    CU_ASSERT_EQUAL(rig_send(&stuck->rig, stuck->busy->pid, (struct order){ .act = act }), 0);
}

static void finish(struct stuck *stuck)
{
    atomic_store(&stuck->endless.stop, true);
    gate_open(&stuck->probe->gate);
    CU_ASSERT_TRUE(rig_end(&stuck->rig, stuck->busy, NULL));
    CU_ASSERT_TRUE(rig_end(&stuck->rig, stuck->hog, NULL));
    CU_ASSERT_TRUE(rig_end(&stuck->rig, stuck->light, NULL));
    rig_finish(&stuck->rig);
    probe_destroy(stuck->probe);
}

/* promise D6 */
static void test_work_behind_a_stuck_turn_runs_though_all_others_are_busy(void)
{
    struct stuck s;

    begin(&s, 2, 0, 1);
    keep_a_thread_busy(&s, run_for_ever);
    CU_ASSERT_EQUAL(rig_send(&s.rig, s.hog->pid,
                             (struct order){ .act = scatter_and_wait, .argument = s.light->pid }),
                    0);
    CU_ASSERT_TRUE(rig_wait(&s.rig, all_light_are_done, s.light));
    CU_ASSERT_EQUAL(rig_ledger(s.hog).in_hand, 1);
    finish(&s);
}

/* --- spare threads -------------------------------------------------------------------------- */

#define THREADS 2u

struct expected {
    struct stuck *stuck;
    uint32_t threads, spares;
};

static bool is_as_expected(void *context)
{
    const struct expected *expected = context;
    struct dispatcher *dispatcher = expected->stuck->rig.dispatcher;

    return atomic_load(&dispatcher->stuck) == expected->threads &&
           atomic_load(&dispatcher->spares) == expected->spares;
}

static bool becomes(struct stuck *stuck, uint32_t threads, uint32_t spares)
{
    struct expected expected = { stuck, threads, spares };

    return rig_wait(&stuck->rig, is_as_expected, &expected);
}

static void hold_all_threads(struct stuck *stuck)
{
    for (uint32_t i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL(rig_send(&stuck->rig, stuck->hog->pid, (struct order){ .act = probe_wait }),
                        0);
    CU_ASSERT_TRUE(gate_await(&stuck->probe->gate, THREADS));
}

/* promise D15 */
static void test_spare_threads_take_the_place_of_stuck_ones(void)
{
    struct stuck s;

    begin(&s, THREADS, 0, THREADS);
    timekeeper_set_spare_after(s.rig.runtime->timekeeper, 1);
    hold_all_threads(&s);
    for (uint32_t i = 0; i < LIGHT; i++)
        CU_ASSERT_EQUAL(rig_send(&s.rig, s.light->pid, (struct order){ .act = probe_done }), 0);
    CU_ASSERT_TRUE(rig_wait(&s.rig, all_light_are_done, s.light));
    CU_ASSERT_EQUAL(rig_ledger(s.hog).in_hand, THREADS);
    CU_ASSERT_TRUE(becomes(&s, THREADS, THREADS));
    gate_open(&s.probe->gate);
    CU_ASSERT_TRUE(becomes(&s, 0, 0));
    CU_ASSERT_EQUAL(atomic_load(&s.rig.dispatcher->thread_count), THREADS);
    finish(&s);
}

/* promise D15: spares that are stuck as well get no spares of their own. */
static void test_there_are_no_more_spares_than_threads(void)
{
    struct stuck s;

    begin(&s, THREADS, 0, 3 * THREADS);
    timekeeper_set_spare_after(s.rig.runtime->timekeeper, 1);
    for (uint32_t i = 0; i < 3 * THREADS; i++)
        CU_ASSERT_EQUAL(rig_send(&s.rig, s.hog->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&s.probe->gate, 2 * THREADS));
    CU_ASSERT_TRUE(becomes(&s, 2 * THREADS, THREADS));
    CU_ASSERT_EQUAL(atomic_load(&s.rig.dispatcher->running), 2 * THREADS);
    finish(&s);
}

/* promise D15: threads that are to leave, after a change of their number, need no spares. */
static void test_stuck_threads_that_are_to_leave_do_not_count(void)
{
    struct stuck s;

    begin(&s, THREADS, 0, 2 * THREADS);
    timekeeper_set_spare_after(s.rig.runtime->timekeeper, 1);
    for (uint32_t i = 0; i < 2 * THREADS; i++)
        CU_ASSERT_EQUAL(rig_send(&s.rig, s.hog->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&s.probe->gate, 2 * THREADS));
    CU_ASSERT_TRUE(becomes(&s, 2 * THREADS, THREADS));
    CU_ASSERT_EQUAL(dispatcher_resize(s.rig.dispatcher, 1), 0);
    CU_ASSERT_TRUE(becomes(&s, 2, 1)); /* the one that stays, and its spare */
    finish(&s);
}

/* promise D15: callbacks on a dispatcher with a budget of 1 are meant to block. */
static void test_blocking_dispatcher_has_no_spares(void)
{
    struct stuck s;

    begin(&s, THREADS, 1, THREADS);
    timekeeper_set_spare_after(s.rig.runtime->timekeeper, 1);
    hold_all_threads(&s);
    CU_ASSERT_TRUE(becomes(&s, THREADS, 0));
    CU_ASSERT_EQUAL(atomic_load(&s.rig.dispatcher->running), THREADS);
    finish(&s);
}

/* promise D15 */
static void test_without_the_option_there_are_no_spares(void)
{
    struct stuck s;
    uint32_t first;

    begin(&s, THREADS, 0, THREADS);
    hold_all_threads(&s);
    first = atomic_load(&s.rig.dispatcher->beat);
    while (atomic_load(&s.rig.dispatcher->beat) - first < 20)
        (void)runtime_wait(s.rig.runtime, is_as_expected, &(struct expected){ &s, 9, 9 }, 1);
    CU_ASSERT_EQUAL(atomic_load(&s.rig.dispatcher->running), THREADS);
    finish(&s);
}

/* --- memory --------------------------------------------------------------------------------- */

struct scrap {
    struct retired retired; /* first */
    _Atomic bool freed;
};

static void free_scrap(struct retired *retired, struct reader *reader)
{
    (void)reader;
    atomic_store(&((struct scrap *)(void *)retired)->freed, true);
}

struct reclaiming {
    struct executor *executor;
    struct scrap *scrap;
};

static bool is_reclaimed(void *context)
{
    struct reclaiming *reclaiming = context;

    runtime_resume(reclaiming->executor);
    (void)reader_poll(&reclaiming->executor->reader);
    runtime_pause(reclaiming->executor);
    return atomic_load(&reclaiming->scrap->freed);
}

static int wait_and_scatter(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    if (!gate_pass(&probe->gate))
        return WEIR_FAIL;
    return scatter_and_wait(self, probe, message);
}

/* promise D16: the callback is not flagged as blocking, and goes on with calls into the host. */
static void test_memory_is_reclaimed_beside_a_stuck_callback(void)
{
    struct scrap scrap = { .retired = { .free = free_scrap } };
    struct stuck s;

    begin(&s, 2, 0, 1);
    CU_ASSERT_EQUAL(rig_send(&s.rig, s.hog->pid,
                             (struct order){ .act = wait_and_scatter, .argument = s.light->pid }),
                    0);
    CU_ASSERT_TRUE(gate_await(&s.probe->gate, 1));
    {
        struct reclaiming reclaiming = { runtime_enter(s.rig.runtime), &scrap };

        reader_retire(&reclaiming.executor->reader, &scrap.retired);
        CU_ASSERT_TRUE(rig_wait(&s.rig, is_reclaimed, &reclaiming));
        runtime_leave(reclaiming.executor);
    }
    CU_ASSERT_EQUAL(rig_ledger(s.hog).in_hand, 1);
    gate_open(&s.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&s.rig, all_light_are_done, s.light));
    finish(&s);
}

struct scrapping {
    struct timer timer; /* first */
    struct scrap scrap;
};

static void retire_scrap(struct timer *timer, struct executor *executor)
{
    reader_retire(&executor->reader, &((struct scrapping *)(void *)timer)->scrap.retired);
}

static bool all_threads_sleep(void *context)
{
    return idle_parked_count(&((struct dispatcher *)context)->idle) == 2;
}

static bool scrap_is_freed(void *context)
{
    return atomic_load(&((struct scrapping *)context)->scrap.freed);
}

/* promise D11: all threads but the timekeeper sleep when the timer fires. */
static void test_memory_retired_by_the_timekeeper_is_freed_while_all_threads_sleep(void)
{
    struct scrapping scrapping = { .timer = { .fire = retire_scrap },
                                   .scrap = { .retired = { .free = free_scrap } } };
    struct timers *timers;
    struct rig rig;

    rig_init(&rig, 2, 0);
    timers = &rig.dispatcher->timers;
    CU_ASSERT_TRUE(rig_wait(&rig, all_threads_sleep, rig.dispatcher));
    CU_ASSERT_EQUAL(timers_reserve(timers), 0);
    (void)timers_arm(timers, &scrapping.timer, rig.now_ns + 1);
    rig_advance(&rig, 1);
    CU_ASSERT_TRUE(rig_wait(&rig, scrap_is_freed, &scrapping));
    timers_release(timers);
    rig_finish(&rig);
}

/* --- time beside long turns ------------------------------------------------------------------ */

static bool has_taken_turns(void *context)
{
    return atomic_load(&((struct endless *)context)->turns) > 2;
}

static int note_turns(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct endless *endless = probe->context;

    (void)self;
    (void)message;
    atomic_store(&endless->noted, atomic_load(&endless->turns));
    return WEIR_DONE;
}

static bool light_has_noted(void *context)
{
    return rig_ledger(context).done == 1;
}

/* promise D16: on one thread, whose turns are all long. */
static void test_message_from_outside_waits_for_few_long_turns(void)
{
    struct stuck s;
    uint32_t before;

    begin(&s, 1, 1, 1);
    keep_a_thread_busy(&s, run_long_for_ever);
    CU_ASSERT_TRUE(rig_wait(&s.rig, has_taken_turns, &s.endless));
    before = atomic_load(&s.endless.turns);
    CU_ASSERT_EQUAL(rig_send(&s.rig, s.light->pid, (struct order){ .act = note_turns }), 0);
    CU_ASSERT_TRUE(rig_wait(&s.rig, light_has_noted, s.light));
    CU_ASSERT_TRUE(atomic_load(&s.endless.noted) - before <= LONG_TURNS_MAX);
    finish(&s);
}

static int wait_and_run_long_for_ever(struct weir_self *self, struct probe *probe,
                                      const struct weir_message *message)
{
    if (!gate_pass(&probe->gate))
        return WEIR_FAIL;
    return run_long_for_ever(self, probe, message);
}

/* promise D6: many messages from outside arrive during a long turn. */
static void test_many_from_outside_wait_for_few_long_turns(void)
{
    struct stuck s;

    begin(&s, 1, 1, 1);
    keep_a_thread_busy(&s, wait_and_run_long_for_ever);
    CU_ASSERT_TRUE(gate_await(&s.probe->gate, 1));
    for (uint32_t i = 0; i < LIGHT; i++)
        CU_ASSERT_EQUAL(rig_send(&s.rig, s.light->pid, (struct order){ .act = note_turns }), 0);
    gate_open(&s.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&s.rig, all_light_are_done, s.light));
    CU_ASSERT_TRUE(atomic_load(&s.endless.noted) <= HOG_TURNS_MAX);
    finish(&s);
}

/* Takes turns that last until a beat, too short for the timekeeper to move what they hold up. */
static int run_until_beats(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    struct endless *endless = probe->context;

    atomic_fetch_add(&endless->turns, 1);
    last_beats(endless->dispatcher, 1);
    if (!atomic_load(&endless->stop))
        go_on(self, message, run_until_beats);
    return WEIR_DONE;
}

static int send_and_run_until_beats(struct weir_self *self, struct probe *probe,
                                    const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .act = note_turns });

    if (weir_send(self, probe_order(message)->argument, out) != 0)
        return WEIR_FAIL;
    return run_until_beats(self, probe, message);
}

/* promise D6: an actor whose turns last past a beat does not overtake the actors that are queued on
 * its thread. */
static void test_turns_past_a_beat_hold_up_no_neighbour(void)
{
    struct stuck s;

    begin(&s, 1, 1, 1);
    CU_ASSERT_EQUAL(
        rig_send(&s.rig, s.busy->pid,
                 (struct order){ .act = send_and_run_until_beats, .argument = s.light->pid }),
        0);
    CU_ASSERT_TRUE(rig_wait(&s.rig, light_has_noted, s.light));
    CU_ASSERT_TRUE(atomic_load(&s.endless.noted) <= 2);
    finish(&s);
}

static void ring(struct weir_self *self, void *state, void *context)
{
    (void)state;
    (void)note_turns(self, context, NULL);
}

static int set_timer(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)message;
    return weir_after(self, 50, ring, probe, NULL) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static bool timer_has_rung(void *context)
{
    return atomic_load(&((struct endless *)context)->noted) > 0;
}

/* promise D17 */
static void test_timer_waits_for_few_long_turns(void)
{
    struct stuck s;
    uint32_t before;

    begin(&s, 1, 1, 1);
    CU_ASSERT_EQUAL(rig_send(&s.rig, s.light->pid, (struct order){ .act = set_timer }), 0);
    CU_ASSERT_TRUE(rig_wait(&s.rig, light_has_noted, s.light));
    keep_a_thread_busy(&s, run_long_for_ever);
    CU_ASSERT_TRUE(rig_wait(&s.rig, has_taken_turns, &s.endless));
    before = atomic_load(&s.endless.turns);
    rig_advance(&s.rig, 60);
    CU_ASSERT_TRUE(rig_wait(&s.rig, timer_has_rung, &s.endless));
    CU_ASSERT_TRUE(atomic_load(&s.endless.noted) - before <= LONG_TURNS_MAX);
    finish(&s);
}

/* --- crowds ----------------------------------------------------------------------------------- */

static bool is_crowded(void *context)
{
    return dispatcher_is_crowded(context);
}

static bool is_not_crowded(void *context)
{
    return !dispatcher_is_crowded(context);
}

/* promise D21: as long as others have as many threads in a turn as there are CPUs, and not with
 * one less. */
static void test_a_dispatcher_beside_busy_ones_is_crowded(void)
{
    const uint32_t cpus = cpus_effective("");
    struct dispatcher *other;
    struct stuck s;

    begin(&s, cpus + 1, 0, cpus);
    CU_ASSERT_EQUAL(runtime_add_dispatcher(s.rig.runtime, "other", 1, NULL, &other), 0);
    for (uint32_t i = 0; i < cpus; i++)
        CU_ASSERT_EQUAL(rig_send(&s.rig, s.hog->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(rig_wait(&s.rig, is_crowded, other));
    CU_ASSERT_FALSE(dispatcher_is_crowded(s.rig.dispatcher));
    gate_admit(&s.probe->gate, 1);
    CU_ASSERT_TRUE(rig_wait(&s.rig, is_not_crowded, other));
    finish(&s);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "handed over", test_work_behind_a_stuck_turn_runs_though_all_others_are_busy },
        { "spares", test_spare_threads_take_the_place_of_stuck_ones },
        { "bound of spares", test_there_are_no_more_spares_than_threads },
        { "surplus threads", test_stuck_threads_that_are_to_leave_do_not_count },
        { "blocking", test_blocking_dispatcher_has_no_spares },
        { "no spares", test_without_the_option_there_are_no_spares },
        { "memory", test_memory_is_reclaimed_beside_a_stuck_callback },
        { "memory of the timekeeper",
          test_memory_retired_by_the_timekeeper_is_freed_while_all_threads_sleep },
        { "outside", test_message_from_outside_waits_for_few_long_turns },
        { "many from outside", test_many_from_outside_wait_for_few_long_turns },
        { "neighbour", test_turns_past_a_beat_hold_up_no_neighbour },
        { "timer", test_timer_waits_for_few_long_turns },
        { "crowd", test_a_dispatcher_beside_busy_ones_is_crowded },
        CU_TEST_INFO_NULL,
    };

    return suite_run("timekeeper", tests);
}
