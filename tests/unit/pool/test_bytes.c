/* SPDX-License-Identifier: MIT */
/*
 * Goal: a pool is full when its bytes are used up, whatever the number of messages; a message that
 * no worker can ever take is refused for good; a waiter for room gets through.
 *
 * Method: workers at a gate; members with limits of their own; a pool whose output leads to one
 * that is bounded by bytes.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SIZE sizeof(struct order)
#define ORDERS 200u

struct fixture {
    struct rig rig;
    struct probe *probe;
};

static void begin(struct fixture *f)
{
    f->probe = probe_create();
    f->probe->act = probe_wait;
    rig_init(&f->rig, 2, 1);
}

static void finish(struct fixture *f)
{
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static struct pool *make(struct fixture *f, const char *path, struct pool *parent, uint64_t bytes)
{
    struct pool_options options = {
        .path = path, .parent = parent, .size = 1, .settings.mailbox_bytes = bytes
    };
    struct pool *pool;

    options.spec = rig_spec(f->probe);
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static uint32_t fill(struct fixture *f, struct pool *pool)
{
    uint32_t count = 0;

    while (rig_send(&f->rig, pool->pid, (struct order){ .id = count + 1 }) == 0)
        count++;
    return count;
}

/* promise S11 */
static void test_pool_is_full_when_its_bytes_are(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *pool;

    begin(&f);
    pool = make(&f, "pool", NULL, 3 * SIZE + SIZE / 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 99 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 99, 1));
    CU_ASSERT_EQUAL(fill(&f, pool), 3);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 4 }), WEIR_EFULL);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, pool));
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 4 }), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 5);
    finish(&f);
}

/* promise S11 */
static void test_message_too_large_for_all_is_invalid(void)
{
    struct fixture f;
    struct pool *top, *small, *large;

    begin(&f);
    gate_open(&f.probe->gate);
    top = rig_pool(&f.rig, &(struct pool_options){ .path = "top" });
    small = make(&f, "top/small", top, SIZE - 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 1 }), WEIR_EINVALID);
    large = make(&f, "top/large", top, SIZE);
    for (uint64_t i = 0; i < 8; i++) { /* wherever the round begins */
        CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 2 }), 0);
        CU_ASSERT_TRUE(rig_drained(&f.rig, top));
    }
    CU_ASSERT_EQUAL(rig_ledger(large).done, 8);
    CU_ASSERT_EQUAL(rig_ledger(small).accepted, 0);
    rig_close(&f.rig, top);
    CU_ASSERT_TRUE(rig_end(&f.rig, small, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, large, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, top, NULL));
    finish(&f);
}

static void test_member_that_is_full_makes_it_full_not_invalid(void)
{
    struct fixture f;
    struct pool *top, *small, *large;

    begin(&f);
    top = rig_pool(&f.rig, &(struct pool_options){ .path = "top" });
    small = make(&f, "top/small", top, SIZE - 1);
    large = make(&f, "top/large", top, SIZE);
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 99 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 99, 1));
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 2 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 3 }), WEIR_EFULL);
    gate_open(&f.probe->gate);
    rig_close(&f.rig, top);
    CU_ASSERT_TRUE(rig_end(&f.rig, small, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, large, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, top, NULL));
    finish(&f);
}

/* Passes its order on, to be done there. */
static int passes(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct order order = { probe_done, probe_order(message)->id + ORDERS, 0 };

    (void)probe;
    return weir_emit(self, 0, probe_message(self, order)) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static void lead(struct fixture *f, struct pool *from, struct pool *to)
{
    struct wiring *wiring = wiring_create(1);
    struct executor *executor = runtime_enter(f->rig.runtime);

    wiring->bindings[0] = (struct binding){ to->pid, WEIR_FULL_WAIT };
    pool_set_wiring(from, wiring, executor);
    runtime_leave(executor);
}

/* promise O1, bounded by bytes */
static void test_who_waits_for_bytes_is_woken(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *first, *second;

    begin(&f);
    gate_open(&f.probe->gate);
    first = rig_workers(&f.rig, f.probe, "first", 2, 0);
    second = make(&f, "second", NULL, 2 * SIZE);
    lead(&f, first, second);
    for (uint64_t i = 0; i < ORDERS; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, first->pid, (struct order){ passes, i, 0 }), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, first, &ledger));
    CU_ASSERT_EQUAL(ledger.done, ORDERS);
    CU_ASSERT_TRUE(rig_end(&f.rig, second, &ledger));
    CU_ASSERT_EQUAL(ledger.done, ORDERS);
    for (uint64_t i = 0; i < ORDERS; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, i + ORDERS), 1);
    finish(&f);
}

/* Emits a message without room, then one that no worker there can ever take, and more. */
static int emits_too_large(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    (void)message;
    for (uint64_t i = 0; i < 4; i++) {
        struct order order = { probe_done, 70 + i, 0 };
        struct weir_message *emitted = i == 1 ? weir_message_new(self, NULL, 3 * SIZE)
                                              : probe_message(self, order);

        if (i == 1)
            *(struct order *)emitted->data = order;
        if (weir_emit(self, 0, emitted) != 0)
            probe_note(probe, 60 + i);
    }
    return WEIR_DONE;
}

static void set_paused(struct fixture *f, struct pool *pool, bool paused)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_pause(pool, paused, executor);
    runtime_leave(executor);
}

static bool holds_its_input(void *context)
{
    return rig_ledger(context).held == 1;
}

/* promises O1 and S11: it does not let later messages wait for room that never comes. */
static void test_too_large_a_message_in_an_outbox_is_dead_and_the_rest_goes_on(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *first, *second;

    begin(&f);
    gate_open(&f.probe->gate);
    first = rig_workers(&f.rig, f.probe, "first", 1, 0);
    second = make(&f, "second", NULL, 2 * SIZE);
    lead(&f, first, second);
    set_paused(&f, second, true);
    CU_ASSERT_EQUAL(rig_send(&f.rig, first->pid, (struct order){ emits_too_large, 2, 0 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, holds_its_input, first));
    set_paused(&f, second, false);
    CU_ASSERT_TRUE(rig_drained(&f.rig, first));
    CU_ASSERT_EQUAL(rig_dead(first, DEAD_NO_TARGET), 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, first, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, second, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 3);
    for (uint64_t i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(probe_times(f.probe, 70 + i), i != 1);
        CU_ASSERT_EQUAL(probe_times(f.probe, 60 + i), 0);
    }
    finish(&f);
}

/* promise S11: one queue for all has the bytes of all. */
static void test_queue_of_a_pulling_pool_is_bounded_by_bytes(void)
{
    struct pool_options options = { .path = "pool",
                                    .size = 2,
                                    .settings.mailbox_bytes = 2 * SIZE,
                                    .settings.route = WEIR_ROUTE_PULL };
    struct ledger_reading ledger;
    struct fixture f;
    struct pool *pool;

    begin(&f);
    options.spec = rig_spec(f.probe);
    pool = rig_pool(&f.rig, &options);
    CU_ASSERT_TRUE(rig_settled(&f.rig, pool));
    for (uint64_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 90 + i }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 90 + i, 1));
    }
    CU_ASSERT_EQUAL(fill(&f, pool), 4);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, pool));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 6);
    options.settings.mailbox_bytes = SIZE - 1;
    pool = rig_pool(&f.rig, &options);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .id = 1 }), WEIR_EINVALID);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    spec_unref(options.spec);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "full", test_pool_is_full_when_its_bytes_are },
        { "too large", test_message_too_large_for_all_is_invalid },
        { "full member", test_member_that_is_full_makes_it_full_not_invalid },
        { "pull", test_queue_of_a_pulling_pool_is_bounded_by_bytes },
        { "outbox", test_too_large_a_message_in_an_outbox_is_dead_and_the_rest_goes_on },
        { "waits", test_who_waits_for_bytes_is_woken },
        CU_TEST_INFO_NULL,
    };

    return suite_run("bytes", tests);
}
