/* SPDX-License-Identifier: MIT */
/*
 * Goal: each incarnation is opened once and closed once, callbacks never overlap, and a PID is
 * never used for another actor.
 *
 * Method: real workers on one and on two threads; every callback counts itself, and one that
 * overlaps another of its incarnation ends the program (probe.c).
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define MANY 400u

/* promises A1 and A2 */
static void run_on(uint32_t threads)
{
    struct probe *probe = probe_create();
    struct ledger_reading ledger;
    struct rig rig;
    struct pool *pool;

    rig_init(&rig, threads, 2);
    pool = rig_workers(&rig, probe, "pool", 3, 0);
    CU_ASSERT_EQUAL(atomic_load(&probe->opened), 3);
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), 0);
    for (uint64_t id = 0; id < MANY; id++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_end(&rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, MANY);
    CU_ASSERT_EQUAL(atomic_load(&probe->opened), 3);
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), 3);
    CU_ASSERT_EQUAL(atomic_load(&probe->last_reason), WEIR_END_SHUTDOWN);
    CU_ASSERT_EQUAL(probe_count(probe), MANY);
    rig_finish(&rig);
    probe_destroy(probe);
}

/* promise A1 */
static void test_message_during_a_callback_begins_no_second_one(void)
{
    struct probe *probe = probe_create();
    struct pool *busy, *other;
    struct rig rig;

    rig_init(&rig, 2, 0);
    busy = rig_workers(&rig, probe, "busy", 1, 0);
    other = rig_workers(&rig, probe, "other", 1, 0);
    CU_ASSERT_EQUAL(rig_send(&rig, busy->pid, (struct order){ .act = probe_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&probe->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&rig, busy->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(rig_send(&rig, other->pid, (struct order){ .id = 3 }), 0);
    /* The idle thread takes what was scheduled before. */
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 3, 1));
    CU_ASSERT_EQUAL(probe_times(probe, 2), 0);
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_end(&rig, busy, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, other, NULL));
    CU_ASSERT_EQUAL(probe_times(probe, 2), 1);
    rig_finish(&rig);
    probe_destroy(probe);
}

static void test_one_thread_opens_handles_and_closes_once(void)
{
    run_on(1);
}

static void test_two_threads_open_handle_and_close_once(void)
{
    run_on(2);
}

/* promise S3 */
static void test_messages_to_one_worker_keep_their_order(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *pool;

    rig_init(&rig, 2, 3);
    pool = rig_workers(&rig, probe, "pool", 1, 0);
    for (uint64_t id = 0; id < MANY; id++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    for (uint32_t i = 0; i < MANY; i++)
        CU_ASSERT_EQUAL(probe_get(probe, i), i);
    rig_finish(&rig);
    probe_destroy(probe);
}

static int refuse_once(struct weir_self *self, struct probe *probe)
{
    (void)self;
    return atomic_load(&probe->refused) == 0 ? WEIR_ENOMEM : 0;
}

static bool has_refused(void *context)
{
    return atomic_load(&((struct probe *)context)->refused) > 0;
}

/* promises A2 and P5 */
static void test_failed_open_is_not_closed(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *pool;
    struct spec *spec;

    probe->opens = refuse_once;
    rig_init(&rig, 1, 0);
    spec = rig_spec(probe);
    pool = rig_pool(&rig, &(struct pool_options){ .spec = spec, .size = 1, .settings.mailbox = 1 });
    CU_ASSERT_TRUE(rig_wait(&rig, has_refused, probe));
    CU_ASSERT_EQUAL(rig_stats(pool).live, 0);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = 1 }), WEIR_EFULL);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&probe->opened), 0);
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), 0);
    spec_unref(spec);
    rig_finish(&rig);
    probe_destroy(probe);
}

/* promise A3 */
static void test_message_to_an_ended_actor_is_refused_for_ever(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *pool;
    weir_pid worker;
    weir_pid first;

    rig_init(&rig, 2, 0);
    pool = rig_workers(&rig, probe, "first", 1, 4);
    worker = rig_worker(pool, 0);
    first = pool->pid;
    CU_ASSERT_EQUAL(rig_send(&rig, worker, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    for (int i = 0; i < 5; i++) { /* their slots are used again */
        pool = rig_workers(&rig, probe, "next", 2, 4);
        CU_ASSERT_EQUAL(rig_send(&rig, worker, (struct order){ .id = 2 }), WEIR_ETERMINATED);
        CU_ASSERT_EQUAL(rig_send(&rig, first, (struct order){ .id = 2 }), WEIR_ETERMINATED);
        CU_ASSERT_NOT_EQUAL(rig_worker(pool, 0), worker);
        CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    }
    CU_ASSERT_EQUAL(probe_times(probe, 2), 0);
    rig_finish(&rig);
    probe_destroy(probe);
}

static void test_pid_of_nobody_is_unknown(void)
{
    struct rig rig;

    rig_init(&rig, 1, 0);
    CU_ASSERT_EQUAL(rig_send(&rig, 0, (struct order){ .id = 1 }), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(rig_send(&rig, UINT64_MAX, (struct order){ .id = 1 }), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(rig_send(&rig, (7ull << 32) | 3, (struct order){ .id = 1 }), WEIR_EUNKNOWN);
    rig_finish(&rig);
}

static int name_itself(struct weir_self *self, struct probe *probe)
{
    int status = weir_name(self, "somebody");

    probe_note(probe, 500 + (uint64_t)-status);
    return 0;
}

static int look_up(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    weir_pid pid = 0;

    (void)message;
    probe_note(probe, (uint64_t)-weir_lookup(self, "somebody", &pid));
    probe_note(probe, pid == weir_pid_of(self));
    return WEIR_DONE;
}

/* promise A5: the name ends with the incarnation, so that the next one can take it. */
static void test_name_is_free_for_the_next_incarnation(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *pool;

    probe->opens = name_itself;
    rig_init(&rig, 1, 0);
    pool = rig_workers(&rig, probe, "pool", 1, 4);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = probe_fail, .id = 100 }), 0);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = look_up, .id = 101 }), 0);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    CU_ASSERT_EQUAL(probe_times(probe, 500), 2);
    CU_ASSERT_EQUAL(probe_get(probe, 4), 0);
    CU_ASSERT_EQUAL(probe_get(probe, 5), 1);
    pool = rig_workers(&rig, probe, "pool", 1, 4);
    CU_ASSERT_EQUAL(probe_times(probe, 500), 3);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "one callback", test_message_during_a_callback_begins_no_second_one },
        { "one thread", test_one_thread_opens_handles_and_closes_once },
        { "two threads", test_two_threads_open_handle_and_close_once },
        { "order", test_messages_to_one_worker_keep_their_order },
        { "failed open", test_failed_open_is_not_closed },
        { "ended", test_message_to_an_ended_actor_is_refused_for_ever },
        { "nobody", test_pid_of_nobody_is_unknown },
        { "name", test_name_is_free_for_the_next_incarnation },
        CU_TEST_INFO_NULL,
    };

    return suite_run("life", tests);
}
