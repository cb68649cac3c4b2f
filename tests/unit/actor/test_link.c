/* SPDX-License-Identifier: MIT */
/*
 * Goal: a link passes an end on unless it is trapped; a monitor reports an end exactly once; both
 * can be removed.
 *
 * Method: two pools of one worker each, linked by orders; notices become notes with their reason.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define TIED 700u /* a note: TIED + reason */

struct fixture {
    struct rig rig;
    struct probe *one;
    struct probe *other;
    struct pool *first;
    struct pool *second;
};

static int note_tie(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const struct weir_end *end = message->data;

    (void)self;
    probe_note(probe, message->kind == WEIR_DOWN ? 800 : 900);
    probe_note(probe, TIED + (uint64_t)end->reason);
    probe_note(probe, end->pid);
    if (end->detail[0])
        probe_note(probe, (uint64_t)end->detail[0]);
    return WEIR_DONE;
}

static void begin(struct fixture *f, uint32_t threads)
{
    f->one = probe_create();
    f->other = probe_create();
    f->one->tied = note_tie;
    f->other->tied = note_tie;
    rig_init(&f->rig, threads, 0);
    f->first = rig_workers(&f->rig, f->one, "first", 1, 8);
    f->second = rig_workers(&f->rig, f->other, "second", 1, 8);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->first, NULL));
    if (f->second)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->second, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->one);
    probe_destroy(f->other);
}

/* Has the first worker do something to the second, and waits until it has. */
static void order_first(struct fixture *f, probe_act *act, uint64_t id)
{
    struct order order = { .act = act, .id = id, .argument = rig_worker(f->second, 0) };

    CU_ASSERT_EQUAL(rig_send(&f->rig, f->first->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->one, id, 1));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->first));
}

/* The second handles a message, so it has received everything that was sent before. */
static void order_second(struct fixture *f, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->second->pid, (struct order){ .act = act, .id = id }), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->other, id, 1));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->second));
}

static int monitor(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t id = 0;

    CU_ASSERT_EQUAL(weir_monitor(self, probe_order(message)->argument, &id), 0);
    CU_ASSERT_NOT_EQUAL(id, 0);
    probe->context = (void *)(uintptr_t)id;
    return WEIR_DONE;
}

/* promise A4 */
static void test_monitor_of_a_crash_gets_one_down(void)
{
    struct fixture f;
    weir_pid pid;

    begin(&f, 2);
    pid = rig_worker(f.second, 0);
    order_first(&f, monitor, 1);
    order_second(&f, probe_fail, 10);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, pid, 1));
    CU_ASSERT_EQUAL(probe_times(f.one, TIED + WEIR_END_CRASH), 1);
    order_second(&f, probe_fail, 11); /* the next incarnation is not the one watched */
    order_first(&f, probe_done, 2);
    CU_ASSERT_EQUAL(probe_times(f.one, 800), 1);
    finish(&f);
}

/* promise A4 */
static void test_monitor_of_an_ended_actor_gets_its_down_at_once(void)
{
    struct fixture f;
    struct order order = { .act = monitor, .id = 1 };

    begin(&f, 1);
    order.argument = rig_worker(f.second, 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.second, NULL));
    f.second = NULL;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.first->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, order.argument, 1)); /* the last note of its down */
    CU_ASSERT_EQUAL(probe_times(f.one, 800), 1);
    finish(&f);
}

/* promise A4 */
static void test_monitor_of_a_removed_worker_gets_one_down(void)
{
    struct fixture f;

    begin(&f, 2);
    order_first(&f, monitor, 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.second, NULL));
    f.second = NULL;
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, TIED + WEIR_END_SHUTDOWN, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.first->pid, (struct order){ .id = 3 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, 3, 1));
    CU_ASSERT_EQUAL(probe_times(f.one, 800), 1);
    finish(&f);
}

static int demonitor(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    uint64_t id = (uint64_t)(uintptr_t)probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_demonitor(self, id), 0);
    CU_ASSERT_EQUAL(weir_demonitor(self, id), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_demonitor(self, 0), WEIR_EUNKNOWN);
    return WEIR_DONE;
}

static void test_monitor_taken_back_reports_nothing(void)
{
    struct fixture f;

    begin(&f, 2);
    order_first(&f, monitor, 1);
    order_first(&f, demonitor, 2);
    order_second(&f, probe_fail, 10);
    order_first(&f, probe_done, 3);
    CU_ASSERT_EQUAL(probe_count(f.one), 3);
    finish(&f);
}

static int tie(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_link(self, probe_order(message)->argument), 0);
    return WEIR_DONE;
}

static int trap_and_tie(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    CU_ASSERT_EQUAL(weir_trap_exits(self, true), 0);
    return tie(self, probe, message);
}

static bool has_reopened(void *context)
{
    return atomic_load(&((struct probe *)context)->opened) == 2;
}

/* promise A4: both ways. */
static void test_crash_passes_a_link(void)
{
    struct fixture f;

    begin(&f, 2);
    order_first(&f, tie, 1);
    order_second(&f, probe_fail, 10);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_reopened, f.one));
    CU_ASSERT_EQUAL(atomic_load(&f.one->last_reason), WEIR_END_CRASH);
    CU_ASSERT_EQUAL(probe_count(f.one), 1);
    order_second(&f, probe_fail, 11); /* the link ended with the incarnations */
    order_first(&f, probe_done, 2);
    CU_ASSERT_EQUAL(atomic_load(&f.one->opened), 2);
    finish(&f);
}

/* promise A4 */
static void test_crash_of_the_linking_one_passes_to_the_linked(void)
{
    struct fixture f;

    begin(&f, 2);
    order_first(&f, tie, 1);
    order_second(&f, probe_done, 10);
    order_first(&f, probe_fail, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_reopened, f.other));
    finish(&f);
}

/* promise A4 */
static void test_trapped_exit_comes_as_a_message(void)
{
    struct fixture f;

    begin(&f, 2);
    order_first(&f, trap_and_tie, 1);
    order_second(&f, probe_fail, 10);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, 900, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, (uint64_t)'o', 1)); /* "order 10" */
    CU_ASSERT_EQUAL(probe_times(f.one, TIED + WEIR_END_CRASH), 1);
    CU_ASSERT_EQUAL(atomic_load(&f.one->opened), 1);
    finish(&f);
}

static int stop(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_STOP;
}

static void test_normal_end_does_not_pass_a_link(void)
{
    struct fixture f;

    begin(&f, 2);
    order_first(&f, tie, 1);
    order_second(&f, stop, 10);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_reopened, f.other));
    order_first(&f, probe_done, 2);
    CU_ASSERT_EQUAL(atomic_load(&f.one->opened), 1);
    finish(&f);
}

static int untie(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_unlink(self, probe_order(message)->argument), 0);
    CU_ASSERT_EQUAL(weir_unlink(self, probe_order(message)->argument), 0);
    return WEIR_DONE;
}

static void test_untied_actors_end_alone(void)
{
    struct fixture f;

    begin(&f, 2);
    order_first(&f, tie, 1);
    order_first(&f, untie, 2);
    order_second(&f, probe_fail, 10);
    order_first(&f, probe_done, 3);
    CU_ASSERT_EQUAL(atomic_load(&f.one->opened), 1);
    finish(&f);
}

static int end_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_exit(self, probe_order(message)->argument, WEIR_END_KILL), 0);
    CU_ASSERT_EQUAL(weir_exit(self, UINT64_MAX, WEIR_END_KILL), WEIR_EUNKNOWN);
    return WEIR_DONE;
}

/* A kill waits for the present message, not for the following ones. */
static void test_killed_worker_is_replaced_before_its_next_message(void)
{
    struct fixture f;
    struct order order = { .act = end_it, .id = 1 };

    begin(&f, 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.second->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.other->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.second->pid, (struct order){ .act = probe_wait }), 0);
    order.argument = rig_worker(f.second, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.first->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, 1, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first));
    gate_admit(&f.other->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.other->gate, 2));
    CU_ASSERT_EQUAL(atomic_load(&f.other->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.other->last_reason), WEIR_END_KILL);
    gate_open(&f.other->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.second));
    CU_ASSERT_EQUAL(rig_ledger(f.second).done, 2);
    finish(&f);
}

static int end_pool(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    CU_ASSERT_EQUAL(weir_exit(self, probe_order(message)->argument, WEIR_END_SHUTDOWN), 0);
    return WEIR_DONE;
}

/* promise P8: a pool that gets an exit closes, and takes its workers along. */
static void test_pool_asked_to_end_drains(void)
{
    struct fixture f;
    struct order order = { .act = end_pool, .id = 1 };

    begin(&f, 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.second->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.other->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.second->pid, (struct order){ .id = 5 }), 0);
    order.argument = f.second->pid;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.first->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, 1, 1));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first));
    CU_ASSERT_FALSE(pool_has_ended(f.second));
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.second->pid, (struct order){ .id = 6 }), WEIR_ECLOSED);
    gate_open(&f.other->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.other, 5, 1));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "monitor", test_monitor_of_a_crash_gets_one_down },
        { "monitor of the ended", test_monitor_of_an_ended_actor_gets_its_down_at_once },
        { "monitor of the removed", test_monitor_of_a_removed_worker_gets_one_down },
        { "demonitor", test_monitor_taken_back_reports_nothing },
        { "crash", test_crash_passes_a_link },
        { "the other way", test_crash_of_the_linking_one_passes_to_the_linked },
        { "trapped", test_trapped_exit_comes_as_a_message },
        { "normal end", test_normal_end_does_not_pass_a_link },
        { "unlink", test_untied_actors_end_alone },
        { "kill", test_killed_worker_is_replaced_before_its_next_message },
        { "end of a pool", test_pool_asked_to_end_drains },
        CU_TEST_INFO_NULL,
    };

    return suite_run("link", tests);
}
