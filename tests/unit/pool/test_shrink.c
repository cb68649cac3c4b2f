/* SPDX-License-Identifier: MIT */
/*
 * Goal: removed workers finish their accepted messages, get no new ones, and can be called back; no
 * message is lost or handled twice.
 *
 * Method: every worker waits inside a message, with a full mailbox; then sizes are changed. The ids
 * of accepted and handled messages are compared.
 */
#include "actor/find.h"
#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SIZE 4u
#define LIMIT 4u
#define INDEX 1000u /* a note: INDEX * (index + 1) + id */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t next;
};

static int note_worker(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    probe_note(probe, INDEX * (weir_index(self) + 1) + probe_order(message)->id);
    return probe_wait(self, probe, message);
}

static void begin(struct fixture *f, uint32_t size, uint32_t limit)
{
    f->probe = probe_create();
    f->probe->act = note_worker;
    f->next = 0;
    rig_init(&f->rig, size, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", size, limit);
}

static int send(struct fixture *f)
{
    int status = rig_send(&f->rig, f->pool->pid, (struct order){ .id = f->next });

    f->next += status == 0;
    return status;
}

/* Every worker has one in hand and a full mailbox. */
static void fill(struct fixture *f, uint32_t size, uint32_t limit)
{
    for (uint32_t i = 0; i < size; i++)
        CU_ASSERT_EQUAL(send(f), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, size));
    for (uint32_t i = 0; i < size * limit; i++)
        CU_ASSERT_EQUAL(send(f), 0);
    CU_ASSERT_EQUAL(send(f), WEIR_EFULL);
}

/* Ends the pool: each id that was accepted was handled once, and the ledger says so. */
static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    for (uint64_t id = 0; id < f->next; id++)
        CU_ASSERT_EQUAL(probe_times(f->probe, id), 1);
    CU_ASSERT_EQUAL(ledger.accepted, f->next + ledger.moved);
    CU_ASSERT_EQUAL(ledger.done, f->next);
    CU_ASSERT_EQUAL(atomic_load(&f->probe->opened), atomic_load(&f->probe->closed));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promises P7, P6, S2 and L1 */
static void test_four_full_workers_shrunk_by_two_lose_nothing(void)
{
    struct weir_resized resized;
    struct weir_pool_stats stats;
    struct fixture f;
    uint64_t epoch;

    begin(&f, SIZE, LIMIT);
    fill(&f, SIZE, LIMIT);
    epoch = rig_stats(f.pool).epoch;
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, &resized), 0);
    CU_ASSERT_EQUAL(resized.changed, 2);
    CU_ASSERT_EQUAL(resized.size, 2);
    CU_ASSERT_EQUAL(resized.epoch, epoch + 1);
    stats = rig_stats(f.pool);
    CU_ASSERT_EQUAL(stats.target, 2);
    CU_ASSERT_EQUAL(stats.live, 2);
    CU_ASSERT_EQUAL(stats.retiring, 2);
    CU_ASSERT_EQUAL(stats.accepted, SIZE * (LIMIT + 1));
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 2);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).done, SIZE * (LIMIT + 1));
    for (uint64_t id = 0; id < f.next; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    CU_ASSERT_EQUAL(send(&f), 0);
    finish(&f);
}

/* promise P7: removed workers get no new message after the return. */
static void test_leaving_worker_gets_nothing_new(void)
{
    struct fixture f;

    begin(&f, 2, 4);
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    for (int i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t id = 2; id < 6; id++) /* the lower number stays */
        CU_ASSERT_EQUAL(probe_times(f.probe, INDEX + id), 1);
    finish(&f);
}

/* A worker counts as open an instant before the turn ends that opened it. */
static bool others_are_asleep(void *context)
{
    struct fixture *f = context;

    for (uint32_t i = 0; i < 2; i++) {
        struct actor *actor = actor_find(f->rig.runtime, rig_worker(f->pool, i));

        if (!(atomic_load(&actor->mailbox.word) & MAILBOX_IDLE))
            return false;
    }
    return true;
}

static void test_idle_workers_leave_first(void)
{
    struct fixture f;
    weir_pid pid;

    begin(&f, 3, 4);
    pid = rig_worker(f.pool, 2); /* the last would leave first */
    CU_ASSERT_EQUAL(rig_send(&f.rig, pid, (struct order){ .id = f.next++ }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, others_are_asleep, &f));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool)); /* while the busy one is held */
    CU_ASSERT_EQUAL(rig_worker(f.pool, 2), pid);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 2);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_NOT_EQUAL(rig_worker(f.pool, 0), 0); /* the lowest number that is free */
    finish(&f);
}

/* promise P19: equally many workers own the same keys, whichever were busy at the change. */
static void test_where_keys_have_owners_the_highest_numbers_leave(void)
{
    const struct members *members;
    struct fixture f;

    begin(&f, 3, 4);
    pool_set_route(f.pool, WEIR_ROUTE_HASH);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 2), (struct order){ .id = f.next++ }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, others_are_asleep, &f));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    members = atomic_load(&f.pool->members);
    for (uint32_t i = 0; i < members->count; i++)
        CU_ASSERT_EQUAL(members->members[i].index, i);
    CU_ASSERT_EQUAL(members->count, 2);
    finish(&f);
}

/* promises P6 and P7 */
static void test_leaving_worker_is_called_back_by_growing(void)
{
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f, 2, 1);
    fill(&f, 2, 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    stats = rig_stats(f.pool);
    CU_ASSERT_EQUAL(stats.retiring, 0);
    CU_ASSERT_EQUAL(stats.live, 2);
    gate_admit(&f.probe->gate, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 0);
    finish(&f);
}

/* promise P6: also while it is busy. */
static void test_worker_that_is_called_back_takes_messages_at_once(void)
{
    struct fixture f;

    begin(&f, 1, 1);
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(send(&f), 0);
    finish(&f);
}

static int fail_after_gate(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    (void)note_worker(self, probe, message);
    return WEIR_FAIL;
}

/* promise P4: one that was called back is a member like any other. */
static void test_worker_that_fails_after_being_called_back_is_replaced(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, 1, 4);
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = fail_after_gate, .id = 500 }), 0);
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2)); /* it knows that it leaves */
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 1));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 1);
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).restarts, 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 3);
    CU_ASSERT_EQUAL(ledger.dead, 1);
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

/* promise P7: a removed worker that fails loses its present message, not the waiting ones. */
static void test_worker_that_fails_while_leaving_finishes_its_mailbox(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, 1, 8);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = fail_after_gate, .id = 500 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = fail_after_gate, .id = 501 }), 0);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    for (uint64_t id = 0; id < 5; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 5);
    CU_ASSERT_EQUAL(ledger.dead, 2);
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

/* Two of four workers leave; each of the four has one in hand, and one that waits. */
static void begin_leaving(struct fixture *f, enum weir_remove mode)
{
    begin(f, SIZE, 2 * LIMIT);
    f->pool->settings.remove.mode = mode;
    for (uint32_t i = 0; i < SIZE; i++)
        CU_ASSERT_EQUAL(send(f), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, SIZE));
    for (uint32_t i = 0; i < SIZE; i++)
        CU_ASSERT_EQUAL(send(f), 0);
    CU_ASSERT_EQUAL(rig_resize(&f->rig, f->pool, SIZE / 2, NULL), 0);
    gate_admit(&f->probe->gate, SIZE);
}

/* promise P6: as wide as its target when the busy ones are done, while the others go on. */
static void test_with_room_the_pool_is_as_wide_as_its_target_at_once(void)
{
    static const enum weir_remove modes[] = { WEIR_REMOVE_DRAIN, WEIR_REMOVE_REROUTE };

    for (size_t i = 0; i < 2; i++) {
        struct fixture f;

        begin_leaving(&f, modes[i]);
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool)); /* the gate holds all that stay */
        CU_ASSERT_EQUAL(rig_stats(f.pool).live, SIZE / 2);
        CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, SIZE / 2);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
        for (uint64_t id = 0; id < f.next; id++)
            CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
        rig_finish(&f.rig);
        probe_destroy(f.probe);
    }
}
int main(void)
{
    CU_TestInfo tests[] = {
        { "four by two", test_four_full_workers_shrunk_by_two_lose_nothing },
        { "nothing new", test_leaving_worker_gets_nothing_new },
        { "idle first", test_idle_workers_leave_first },
        { "owners", test_where_keys_have_owners_the_highest_numbers_leave },
        { "called back", test_leaving_worker_is_called_back_by_growing },
        { "at once", test_worker_that_is_called_back_takes_messages_at_once },
        { "fails after", test_worker_that_fails_after_being_called_back_is_replaced },
        { "fails leaving", test_worker_that_fails_while_leaving_finishes_its_mailbox },
        { "as wide as its target", test_with_room_the_pool_is_as_wide_as_its_target_at_once },
        CU_TEST_INFO_NULL,
    };

    return suite_run("shrink", tests);
}
