/* SPDX-License-Identifier: MIT */
/*
 * Goal: every route brings a message to one worker, as its name says.
 *
 * Method: workers that note their own number; some of them at a gate, so that others are preferred.
 */
#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define NUMBER 100u /* a note: NUMBER + the worker's index */
#define EXACT 16u   /* members up to which all are looked at */
#define MANY 64u    /* more than that */
#define EACH 100u   /* messages for each of them */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static int note_number(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)message;
    probe_note(probe, NUMBER + weir_index(self));
    return WEIR_DONE;
}

static int note_number_and_wait(struct weir_self *self, struct probe *probe,
                                const struct weir_message *message)
{
    (void)note_number(self, probe, message);
    return probe_wait(self, probe, message);
}

static void begin(struct fixture *f, uint32_t threads, enum weir_route route, uint32_t size,
                  uint32_t limit)
{
    f->probe = probe_create();
    f->probe->act = note_number;
    rig_init(&f->rig, threads, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", size, limit);
    pool_set_route(f->pool, route);
}

static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise P2 */
static void test_round_robin_goes_round_evenly(void)
{
    struct fixture f;

    begin(&f, 2, WEIR_ROUTE_ROUND_ROBIN, 4, 0);
    for (int i = 0; i < 40; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 4; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, NUMBER + i), 10);
    finish(&f, 40);
}

/* promise P2: of pools as of workers, whatever their own route is. */
static void test_round_robin_over_pools_goes_round_evenly(void)
{
    struct pool *children[2];
    struct executor *executor;
    struct fixture f;
    struct pool *top;

    begin(&f, 2, WEIR_ROUTE_ROUND_ROBIN, 1, 0);
    top = rig_pool(&f.rig, &(struct pool_options){ .path = "top" });
    for (uint32_t i = 0; i < 2; i++) {
        struct pool_options options = { .path = i ? "top/other" : "top/one",
                                        .size = i + 1,
                                        .parent = top,
                                        .settings.route = i ? WEIR_ROUTE_LEAST_LOADED
                                                            : WEIR_ROUTE_ROUND_ROBIN,
                                        .spec = rig_spec(f.probe) };

        children[i] = rig_pool(&f.rig, &options);
        spec_unref(options.spec);
        CU_ASSERT_TRUE_FATAL(rig_settled(&f.rig, children[i]));
    }
    for (int i = 0; i < 40; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 1 }), 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct ledger_reading ledger;

        CU_ASSERT_TRUE(rig_drained(&f.rig, children[i]));
        pool_ledger(children[i], &ledger);
        CU_ASSERT_EQUAL(ledger.done, 20);
    }
    CU_ASSERT_TRUE(rig_end(&f.rig, top, NULL));
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(children[0], executor);
    pool_destroy(children[1], executor);
    runtime_leave(executor);
    finish(&f, 0);
}

/* promise P2 */
static void test_workers_of_a_growth_take_part_in_the_round(void)
{
    struct fixture f;

    begin(&f, 2, WEIR_ROUTE_ROUND_ROBIN, 5, 0);
    for (int i = 0; i < 10; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool)); /* or they would be shared */
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 8, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    for (int i = 0; i < 16; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 8; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, NUMBER + i), i < 5 ? 4 : 2);
    finish(&f, 26);
}

/* promise P2 */
static void test_round_robin_passes_over_the_full(void)
{
    struct fixture f;
    uint32_t held;

    begin(&f, 2, WEIR_ROUTE_ROUND_ROBIN, 2, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = note_number_and_wait }),
                    0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    held = (uint32_t)(probe_get(f.probe, 1) - NUMBER);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, held), (struct order){ .id = 1 }), 0);
    for (uint32_t i = 1; i <= 6; i++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 2 }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NUMBER + 1 - held, i));
    }
    gate_open(&f.probe->gate);
    finish(&f, 8);
}

struct tally {
    struct probe *probe;
    uint32_t handled; /* by the workers 2 and 3 */
};

static bool has_handled(void *context)
{
    const struct tally *tally = context;

    return probe_times(tally->probe, NUMBER + 2) + probe_times(tally->probe, NUMBER + 3) >=
           tally->handled;
}

/* promise P2: each of the others gets as many messages. */
static void test_round_goes_on_behind_the_worker_that_had_room(void)
{
    struct fixture f;
    struct tally tally;

    begin(&f, 3, WEIR_ROUTE_ROUND_ROBIN, 4, 1);
    tally = (struct tally){ f.probe, 0 };
    for (uint32_t i = 0; i < 2; i++) {
        weir_pid worker = rig_worker(f.pool, i);

        CU_ASSERT_EQUAL(rig_send(&f.rig, worker, (struct order){ .act = note_number_and_wait }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NUMBER + i, 1));
        CU_ASSERT_EQUAL(rig_send(&f.rig, worker, (struct order){ .id = 1 }), 0);
    }
    while (++tally.handled <= 12) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 2 }), 0);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_handled, &tally));
    }
    CU_ASSERT_EQUAL(probe_times(f.probe, NUMBER + 2), 6);
    CU_ASSERT_EQUAL(probe_times(f.probe, NUMBER + 3), 6);
    gate_open(&f.probe->gate);
    finish(&f, 16);
}

struct work {
    struct pool *pool;
    uint64_t done;
};

/* And its worker has left its handler: inside it would count as loaded as the one at the gate. */
static bool has_done(void *context)
{
    struct work *work = context;

    return rig_ledger(work->pool).done == work->done;
}

/* promise P1 */
static void test_least_loaded_prefers_the_idle(void)
{
    struct fixture f;
    uint32_t held;

    begin(&f, 2, WEIR_ROUTE_LEAST_LOADED, 2, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = note_number_and_wait }),
                    0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    held = (uint32_t)(probe_get(f.probe, 1) - NUMBER);
    for (uint32_t i = 1; i <= 6; i++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 2 }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, NUMBER + 1 - held, i));
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_done, &(struct work){ f.pool, i }));
        CU_ASSERT_EQUAL(probe_times(f.probe, NUMBER + held), 1);
    }
    gate_open(&f.probe->gate);
    finish(&f, 7);
}

/* promise P1: of pools as of workers, by all that waits below them. */
static void test_least_loaded_prefers_the_pool_with_the_least_to_do(void)
{
    struct probe *busy = probe_create();
    struct pool *children[2];
    struct executor *executor;
    struct fixture f;
    struct pool *top;

    begin(&f, 4, WEIR_ROUTE_ROUND_ROBIN, 1, 0);
    busy->act = probe_wait;
    top = rig_pool(
        &f.rig, &(struct pool_options){ .path = "top", .settings.route = WEIR_ROUTE_LEAST_LOADED });
    for (int i = 0; i < 2; i++) {
        struct pool_options options = { .path = i ? "top/idle" : "top/busy",
                                        .size = 2 - (uint32_t)i,
                                        .parent = top };

        options.spec = rig_spec(i ? f.probe : busy);
        children[i] = rig_pool(&f.rig, &options);
        spec_unref(options.spec);
        CU_ASSERT_TRUE_FATAL(rig_settled(&f.rig, children[i]));
    }
    /* Two in hand and one waiting there; one of these would still be more than none here. */
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, children[0]->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&busy->gate, 2));
    for (uint32_t i = 1; i <= 10; i++) {
        CU_ASSERT_EQUAL(rig_send(&f.rig, top->pid, (struct order){ .id = 2 }), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, i));
        CU_ASSERT_TRUE(rig_drained(&f.rig, children[1]));
    }
    gate_open(&busy->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, top, NULL));
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(children[0], executor);
    pool_destroy(children[1], executor);
    runtime_leave(executor);
    finish(&f, 0);
    probe_destroy(busy);
}

/* promise P1 */
static void test_every_route_reaches_exactly_one_worker(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_LEAST_LOADED, WEIR_ROUTE_RANDOM,
                                              WEIR_ROUTE_HASH };

    for (size_t r = 0; r < 3; r++) {
        struct fixture f;

        begin(&f, 2, routes[r], 20, 0); /* more than are looked at one by one */
        for (uint64_t id = 1; id <= 300; id++)
            CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, weir_key(&id, sizeof id),
                                         (struct order){ .id = 1000 + id }),
                            0);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        for (uint64_t id = 1; id <= 300; id++)
            CU_ASSERT_EQUAL(probe_times(f.probe, 1000 + id), 1);
        finish(&f, 300);
    }
}

/* Occupies the only thread, so that messages stay where they were put. */

/* Holds the only thread, so that each message stays in its mailbox. */
static struct pool *begin_held(struct fixture *f, enum weir_route route, uint32_t size)
{
    struct pool *aside;

    begin(f, 1, route, size, 0);
    aside = rig_workers(&f->rig, f->probe, "aside", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&f->rig, aside->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    return aside;
}

static void finish_held(struct fixture *f, struct pool *aside, uint64_t done)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, aside, NULL));
    finish(f, done);
}

/* The least and the most that wait at one of them. */
static void spread(struct fixture *f, uint64_t *out_least, uint64_t *out_most)
{
    struct weir_member members[MANY];
    uint32_t count = pool_members(f->pool, members, sizeof members[0], MANY);

    *out_least = UINT64_MAX;
    *out_most = 0;
    for (uint32_t i = 0; i < count; i++) {
        *out_least = members[i].queued < *out_least ? members[i].queued : *out_least;
        *out_most = members[i].queued > *out_most ? members[i].queued : *out_most;
    }
}

/* promise P1: worker i has i messages; the others come up to the last one, one message by one. */
static void test_least_loaded_is_exact_among_sixteen(void)
{
    struct fixture f;
    struct pool *aside = begin_held(&f, WEIR_ROUTE_LEAST_LOADED, EXACT);
    uint64_t least, most;

    for (uint32_t i = 0; i < EXACT; i++)
        for (uint32_t j = 0; j < i; j++)
            CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, i), (struct order){ .id = 1 }), 0);
    for (uint32_t i = 0; i < EXACT * (EXACT - 1) / 2; i++) {
        spread(&f, &least, &most);
        CU_ASSERT_EQUAL(most, EXACT - 1);
        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
    }
    spread(&f, &least, &most);
    CU_ASSERT_EQUAL(least, EXACT - 1);
    finish_held(&f, aside, EXACT * (EXACT - 1));
}

/* promise P1: the better of two is seldom far from the mean; one by chance is, of so many: three in
 * a hundred thousand times are all of them within the tenth that is allowed here. */
static void test_better_of_two_spreads_evenly(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_RANDOM, WEIR_ROUTE_LEAST_LOADED };

    for (size_t r = 0; r < 2; r++) {
        struct fixture f;
        struct pool *aside = begin_held(&f, routes[r], MANY);
        uint64_t least, most;

        for (uint32_t i = 0; i < MANY * EACH; i++)
            CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), 0);
        spread(&f, &least, &most);
        CU_ASSERT_TRUE(most <= EACH + EACH / 10);
        finish_held(&f, aside, MANY * EACH);
    }
}

/* Time goes on with each check: a new owner looks again and again whether the old ones are done. */
static bool is_handled(void *context)
{
    struct fixture *f = context;
    struct ledger_reading ledger = rig_ledger(f->pool);

    rig_advance(&f->rig, 1);
    return ledger.queued == 0 && ledger.in_hand == 0;
}

/* The worker that handles a key: the number that it notes behind `id`. */
static uint64_t owner_of(struct fixture *f, uint64_t key)
{
    uint32_t before = probe_count(f->probe);

    CU_ASSERT_EQUAL(rig_send_key(&f->rig, f->pool->pid, key, (struct order){ .id = 5 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_handled, f));
    return probe_get(f->probe, before + 1) - NUMBER;
}

/* promise P1 */
static void test_hash_gives_a_key_to_one_worker_always(void)
{
    struct fixture f;
    uint64_t owners[32];
    uint32_t moved = 0;
    uint32_t used = 0;

    begin(&f, 2, WEIR_ROUTE_HASH, 4, 0);
    for (uint64_t key = 1; key <= 32; key++) {
        owners[key - 1] = owner_of(&f, key);
        used |= 1u << owners[key - 1];
        CU_ASSERT_EQUAL(owner_of(&f, key), owners[key - 1]);
    }
    CU_ASSERT_EQUAL(used, 15);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 5, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    for (uint64_t key = 1; key <= 32; key++) {
        uint64_t owner = owner_of(&f, key);

        CU_ASSERT_TRUE(owner == owners[key - 1] || owner == 4);
        moved += owner == 4;
    }
    CU_ASSERT_TRUE(moved > 0 && moved < 32);
    finish(&f, 96);
}

/* promises P1 and S1 */
static void test_hash_refuses_no_key_and_a_full_owner(void)
{
    struct fixture f;
    struct order held = { .act = note_number_and_wait, .id = 1 };

    begin(&f, 2, WEIR_ROUTE_HASH, 2, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), WEIR_EINVALID);
    CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 9, held), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 9, (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 9, (struct order){ .id = 3 }), WEIR_EFULL);
    gate_open(&f.probe->gate);
    finish(&f, 2);
}

static int note_from(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    probe_note(probe, message->from);
    return WEIR_DONE;
}

static int send_on(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_message *out = probe_message(self, (struct order){ .act = note_from, .id = 8 });

    (void)probe;
    CU_ASSERT_EQUAL(weir_send(self, probe_order(message)->argument, out), 0);
    return WEIR_DONE;
}

/* promise P1 */
static void test_worker_sees_the_first_sender(void)
{
    struct probe *other = probe_create();
    struct fixture f;
    struct pool *pool;
    struct order order = { .act = send_on, .id = 1 };

    begin(&f, 2, WEIR_ROUTE_ROUND_ROBIN, 1, 4);
    pool = rig_workers(&f.rig, other, "other", 2, 4);
    order.argument = pool->pid;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, other, rig_worker(f.pool, 0), 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f, 1);
    probe_destroy(other);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "round robin", test_round_robin_goes_round_evenly },
        { "over pools", test_round_robin_over_pools_goes_round_evenly },
        { "grown", test_workers_of_a_growth_take_part_in_the_round },
        { "over the full", test_round_robin_passes_over_the_full },
        { "goes on", test_round_goes_on_behind_the_worker_that_had_room },
        { "least loaded", test_least_loaded_prefers_the_idle },
        { "least loaded pool", test_least_loaded_prefers_the_pool_with_the_least_to_do },
        { "exactly one", test_every_route_reaches_exactly_one_worker },
        { "exact", test_least_loaded_is_exact_among_sixteen },
        { "better of two", test_better_of_two_spreads_evenly },
        { "hash", test_hash_gives_a_key_to_one_worker_always },
        { "hash refuses", test_hash_refuses_no_key_and_a_full_owner },
        { "first sender", test_worker_sees_the_first_sender },
        CU_TEST_INFO_NULL,
    };

    return suite_run("route", tests);
}
