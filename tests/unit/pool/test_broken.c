/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool that shrinks removes workers that do not serve first; a waiter for a member that
 * leaves is woken when its key has another owner; a worker with unfinished work stays.
 *
 * Method: workers that cannot be opened, a clock that stands still; full members that own a key,
 * and the figures of the waiters.
 */
#include "pool/places.h"
#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define INDEX 1000u /* a note: INDEX + the worker's number */

static int refuse_the_first_two(struct weir_self *self, struct probe *probe)
{
    (void)probe;
    return weir_index(self) < 2 ? WEIR_ENOMEM : 0;
}

struct wish {
    struct probe *probe;
    struct pool *pool;
};

static bool two_are_broken(void *context)
{
    struct wish *wish = context;
    struct weir_pool_stats stats = rig_stats(wish->pool);

    return stats.live == 2 && stats.starting == 2 && atomic_load(&wish->probe->refused) == 2;
}

/* promises P5 and P6: workers that do not serve are removed first. */
static void test_shrinking_takes_the_broken_before_the_idle(void)
{
    struct probe *probe = probe_create();
    struct wish wish = { .probe = probe };
    struct spec *spec;
    struct rig rig;

    probe->opens = refuse_the_first_two;
    rig_init(&rig, 2, 0);
    spec = rig_spec(probe);
    wish.pool = rig_pool(&rig,
                         &(struct pool_options){ .spec = spec, .size = 4, .settings.mailbox = 8 });
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_wait(&rig, two_are_broken, &wish));
    CU_ASSERT_EQUAL(rig_resize(&rig, wish.pool, 2, NULL), 0);
    CU_ASSERT_EQUAL(rig_stats(wish.pool).live, 2);
    CU_ASSERT_EQUAL(rig_stats(wish.pool).starting, 0);
    CU_ASSERT_TRUE(rig_settled(&rig, wish.pool));
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), 0);
    CU_ASSERT_EQUAL(rig_send(&rig, wish.pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 1, 1));
    CU_ASSERT_TRUE(rig_end(&rig, wish.pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), 2);
    rig_finish(&rig);
    probe_destroy(probe);
}

/* --- waiting for a key's owner -------------------------------------------------------------- */

struct fixture {
    struct rig rig;
    struct probe *from;
    struct probe *to;
    struct pool *feeding;
    struct pool *fed;
};

/* One order with the key, held where it arrives. */
static int emit_one(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct order order = { .act = probe_wait, .id = 103 };
    struct weir_message *out = probe_message(self, order);

    (void)probe;
    out->key = probe_order(message)->argument;
    CU_ASSERT_EQUAL(weir_emit(self, 0, out), 0);
    return WEIR_DONE;
}

/* Workers that may block: a free place is announced before the next message begins. */
static void begin(struct fixture *f)
{
    f->from = probe_create();
    f->to = probe_create();
    f->to->behaviour.flags = WEIR_BLOCKING;
    rig_init(&f->rig, 4, 0);
}

struct refusals {
    struct pool *pool;
    uint64_t count;
};

static bool has_refused(void *context)
{
    struct refusals *refusals = context;

    return counter_sum(&refusals->pool->refused) >= refusals->count;
}

/* Holds the one worker of `member`, or the worker of that PID, and fills its mailbox. */
static void fill(struct fixture *f, weir_pid member, uint32_t arrived)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, member, (struct order){ .act = probe_wait, .id = 101 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->to->gate, arrived));
    CU_ASSERT_EQUAL(rig_send(&f->rig, member, (struct order){ .act = probe_wait, .id = 102 }), 0);
}

/* Has a worker emit to `fed`, where the owner of the key is full: it waits. */
static void feed(struct fixture *f, uint64_t key)
{
    /* At the emit, before it joins the waiters, and at its second check. */
    struct refusals refusals = { f->fed, counter_sum(&f->fed->refused) + 3 };
    struct binding binding = { f->fed->pid, WEIR_FULL_WAIT };
    struct spec *spec = rig_spec(f->from);
    struct order order = { .act = emit_one, .argument = key };

    f->feeding = rig_pool(&f->rig, &(struct pool_options){ .path = "feeding",
                                                           .spec = spec,
                                                           .size = 1,
                                                           .settings.mailbox = 1,
                                                           .output_count = 1,
                                                           .outputs = &binding });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->feeding);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->feeding));
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->feeding->pid, order), 0);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_refused, &refusals));
    CU_ASSERT_TRUE(wait_queue_any(&f->fed->waiters));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->to->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->feeding, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->fed, &ledger));
    CU_ASSERT_EQUAL(ledger.dead, 0);
    for (uint64_t id = 101; id <= 103; id++)
        CU_ASSERT_EQUAL(probe_times(f->to, id), 1);
    rig_finish(&f->rig);
    probe_destroy(f->from);
    probe_destroy(f->to);
}

static int note_index(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)message;
    probe_note(probe, INDEX + weir_index(self));
    return WEIR_DONE;
}

/* The first key that the fed pool's worker number `index` owns. */
static uint64_t key_of_worker(struct fixture *f, uint32_t index)
{
    struct order order = { .act = note_index, .id = 1 };
    uint64_t key = 0;

    do {
        CU_ASSERT_EQUAL(rig_send_key(&f->rig, f->fed->pid, ++key, order), 0);
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->fed));
    } while (probe_times(f->to, INDEX + index) == 0);
    return key;
}

/* promise O2 */
static void test_waiter_for_a_key_is_woken_when_its_worker_leaves(void)
{
    struct fixture f;
    uint64_t key;

    begin(&f);
    f.fed = rig_workers(&f.rig, f.to, "fed", 2, 1);
    pool_set_route(f.fed, WEIR_ROUTE_HASH);
    key = key_of_worker(&f, 1);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, rig_worker(f.fed, 0), (struct order){ .act = probe_wait, .id = 2 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.to->gate, 1)); /* no worker is idle, so the last one leaves */
    fill(&f, rig_worker(f.fed, 1), 2);
    feed(&f, key);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.fed, 1, NULL), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding)); /* it waits for worker 0 now */
    CU_ASSERT_FALSE(wait_queue_any(&f.fed->waiters));
    finish(&f);
}

static struct pool *nest(struct fixture *f, const char *path)
{
    struct spec *spec = rig_spec(f->to);
    struct pool *pool = rig_pool(
        &f->rig,
        &(struct pool_options){
            .path = path, .parent = f->fed, .spec = spec, .size = 1, .settings.mailbox = 1 });

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

/* The first key that the pool `owner`, below `fed`, owns. */
static uint64_t key_of_pool(struct fixture *f, struct pool *owner)
{
    uint64_t key = 0;

    do {
        CU_ASSERT_EQUAL(rig_send_key(&f->rig, f->fed->pid, ++key, (struct order){ .id = 1 }), 0);
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->fed));
    } while (rig_ledger(owner).accepted == 0);
    return key;
}

/* promises O2 and P8 */
static void test_waiter_for_a_key_is_woken_when_its_pool_has_ended(void)
{
    struct refusals refusals;
    struct pool *leaving;
    struct pool *staying;
    struct fixture f;
    uint64_t key;

    begin(&f);
    f.fed = rig_pool(&f.rig,
                     &(struct pool_options){ .path = "fed", .settings.route = WEIR_ROUTE_HASH });
    staying = nest(&f, "fed/staying");
    leaving = nest(&f, "fed/leaving");
    key = key_of_pool(&f, leaving);
    fill(&f, leaving->pid, 1);
    feed(&f, key);
    refusals = (struct refusals){ f.fed, counter_sum(&f.fed->refused) + 2 };
    rig_close(&f.rig, leaving); /* which wakes it, too */
    gate_admit(&f.to->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.to->gate, 2)); /* the place that was freed is of no use */
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_refused, &refusals));
    gate_admit(&f.to->gate, 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.feeding));
    CU_ASSERT_TRUE(gate_await(&f.to->gate, 3));
    CU_ASSERT_EQUAL(rig_ledger(staying).in_hand, 1);
    gate_open(&f.to->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, leaving, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, staying, NULL));
    finish(&f);
}

/* --- the last check -------------------------------------------------------------------------- */

/* promises S2 and P6: after it ran out of work, and before it closes, it may be removed, called
 * back, sent to, and removed again. */
static void test_worker_with_a_message_in_its_mailbox_may_not_close(void)
{
    struct probe *probe = probe_create();
    struct ledger_reading ledger;
    struct place *place;
    struct pool *pool;
    struct rig rig;

    rig_init(&rig, 1, 0);
    pool = rig_workers(&rig, probe, "pool", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = probe_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&probe->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(rig_resize(&rig, pool, 0, NULL), 0);
    lock_acquire(&pool->lock);
    place = LIST_ENTRY(pool->leavers.next, struct place, link);
    lock_release(&pool->lock);
    CU_ASSERT_FALSE(pool_place_may_close(place, false));
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_settled(&rig, pool));
    CU_ASSERT_TRUE(rig_end(&rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 2);
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "broken first", test_shrinking_takes_the_broken_before_the_idle },
        { "its worker leaves", test_waiter_for_a_key_is_woken_when_its_worker_leaves },
        { "its pool ends", test_waiter_for_a_key_is_woken_when_its_pool_has_ended },
        { "last look", test_worker_with_a_message_in_its_mailbox_may_not_close },
        CU_TEST_INFO_NULL,
    };

    return suite_run("broken", tests);
}
