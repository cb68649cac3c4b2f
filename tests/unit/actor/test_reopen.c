/* SPDX-License-Identifier: MIT */
/*
 * Goal: after files were renamed each worker gets `reopen` once, between two messages; so do a
 * worker with a full mailbox and a child. Shows promise H12.
 *
 * Method: workers wait at a gate with full mailboxes; a behaviour counts its `reopen`.
 */
#include "pool/reopening.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 2
#define NOTE_REOPENED 900
#define NOTE_CHILD 901
#define NOTE_OPEN 902

/* The probe of all workers of this test: their callbacks get no settings. */
static struct probe *noted;

static void note_reopened(struct weir_self *self, void *state)
{
    (void)self;
    (void)state;
    probe_note(noted, NOTE_REOPENED);
}

static void begin(struct rig *rig, struct pool **pool, uint32_t size,
                  void (*reopen)(struct weir_self *self, void *state))
{
    noted = probe_create();
    noted->behaviour.reopen = reopen;
    rig_init(rig, 2, 0);
    *pool = rig_workers(rig, noted, "work", size, LIMIT);
}

static void finish(struct rig *rig, struct pool *pool)
{
    CU_ASSERT_TRUE(rig_end(rig, pool, NULL));
    rig_finish(rig);
    probe_destroy(noted);
}

static void signal_reopen(struct rig *rig, struct pool *pool)
{
    struct executor *executor = runtime_enter(rig->runtime);

    reopening_signal(pool, executor);
    runtime_leave(executor);
}

/* promise H12 */
static void test_worker_with_a_full_mailbox_is_notified_before_the_next_message(void)
{
    static const uint64_t expected[] = { 1, NOTE_REOPENED, 2, 3 };
    struct rig rig;
    struct pool *pool;

    begin(&rig, &pool, 1, note_reopened);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = probe_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&noted->gate, 1));
    for (uint64_t id = 2; id <= 3; id++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = 4 }), WEIR_EFULL);
    signal_reopen(&rig, pool);
    signal_reopen(&rig, pool);
    gate_open(&noted->gate);
    CU_ASSERT_TRUE(rig_drained(&rig, pool));
    CU_ASSERT_EQUAL(probe_count(noted), 4);
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(probe_get(noted, i), expected[i]);
    finish(&rig, pool);
}

static void test_every_idle_worker_is_reported(void)
{
    struct rig rig;
    struct pool *pool;

    begin(&rig, &pool, 3, note_reopened);
    signal_reopen(&rig, pool);
    CU_ASSERT_TRUE(rig_noted(&rig, noted, NOTE_REOPENED, 3));
    finish(&rig, pool);
}

/* --- children ------------------------------------------------------------------------------- */

static void note_child(struct weir_self *self, void *state)
{
    (void)self;
    (void)state;
    probe_note(noted, NOTE_CHILD);
}

/* A child that has handled a message is open. */
static int note_open(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    probe_note(noted, NOTE_OPEN);
    return WEIR_DONE;
}

static int make_child(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    static const struct weir_behaviour child = {
        .name = "child",
        .handle = note_open,
        .reopen = note_child,
    };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    weir_pid pid;

    (void)probe;
    options.behaviour = &child;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_send(self, pid, probe_message(self, *probe_order(message))), 0);
    return WEIR_DONE;
}

/* Also when its own behaviour has no `reopen`. */
static void test_memory_that_a_worker_has_made_is_reported(void)
{
    struct rig rig;
    struct pool *pool;

    begin(&rig, &pool, 1, NULL);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = make_child, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&rig, noted, NOTE_OPEN, 1));
    signal_reopen(&rig, pool);
    CU_ASSERT_TRUE(rig_noted(&rig, noted, NOTE_CHILD, 1));
    finish(&rig, pool);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "full mailbox", test_worker_with_a_full_mailbox_is_notified_before_the_next_message },
        { "idle", test_every_idle_worker_is_reported },
        { "child", test_memory_that_a_worker_has_made_is_reported },
        CU_TEST_INFO_NULL,
    };

    return suite_run("reopen", tests);
}
