/* SPDX-License-Identifier: MIT */
/*
 * Goal: while a pool with `route: hash` grows, or gets workers of another spec, the messages of one
 * key are handled one after the other, in the order of their sender.
 *
 * Method: a gate holds an old worker, with messages of all keys behind it. New workers come, and
 * get more messages of the same keys. The clock stands still until the test moves it.
 */
#include "actor/handover.h"
#include "pool/change.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define KEYS 16u
#define ROUND 100u /* ids: ROUND * round + key */
#define MANY 4000u
#define THREADS 4u
#define TIMEOUT_MS 1000u
#define IN_HAND 4u

struct key {
    _Atomic uint32_t inside; /* workers that handle a message of it */
    _Atomic uint64_t last;   /* id */
};

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t sent;
    struct key keys[KEYS];
    _Atomic uint32_t disorders;
    const struct weir_message *kept[2]; /* of each worker */
    _Atomic bool keeps_none;
};

static struct key *key_of(struct fixture *f, const struct weir_message *message)
{
    return &f->keys[message->key - 1];
}

static void enter(struct fixture *f, const struct weir_message *message)
{
    uint64_t id = probe_order(message)->id;

    if (atomic_fetch_add(&key_of(f, message)->inside, 1) != 0 ||
        atomic_exchange(&key_of(f, message)->last, id) > id)
        atomic_fetch_add(&f->disorders, 1);
}

static int handle(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct fixture *f = probe->context;

    enter(f, message);
    for (uint32_t i = 0; i < 2000; i++)
        (void)weir_is_wanted(self, message);
    atomic_fetch_sub(&key_of(f, message)->inside, 1);
    return WEIR_DONE;
}

/* Settles in order, and is never without a message in hand. */
static int keep_the_last(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct fixture *f = probe->context;
    const struct weir_message **kept = &f->kept[weir_index(self)];
    struct key *before = *kept ? key_of(f, *kept) : NULL;

    if (before) {
        atomic_fetch_sub(&before->inside, 1);
        (void)weir_settle(self, *kept, WEIR_DONE);
        *kept = NULL;
    }
    if (atomic_load(&f->keeps_none))
        return handle(self, probe, message);
    enter(f, message);
    *kept = message;
    return WEIR_KEEP;
}

static void begin_with(struct fixture *f, uint32_t size, probe_act *act, uint32_t in_hand,
                       uint32_t timeout_ms)
{
    struct spec *spec;

    *f = (struct fixture){ .probe = probe_create() };
    f->probe->act = act;
    f->probe->context = f;
    f->probe->behaviour.in_hand = in_hand;
    rig_init(&f->rig, THREADS, 0);
    spec = rig_spec(f->probe);
    spec->in_order = true;
    f->pool = rig_pool(&f->rig, &(struct pool_options){ .path = "pool",
                                                        .spec = spec,
                                                        .size = size,
                                                        .settings.mailbox = 4 * KEYS,
                                                        .settings.route = WEIR_ROUTE_HASH,
                                                        .settings.remove.timeout_ms = timeout_ms });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void begin(struct fixture *f, uint32_t size)
{
    begin_with(f, size, handle, 1, TIMEOUT_MS);
}

static bool try_send(struct fixture *f, uint64_t key, struct order order)
{
    bool is_sent = rig_send_key(&f->rig, f->pool->pid, key, order) == 0;

    f->sent += is_sent;
    return is_sent;
}

static void send_round(struct fixture *f, uint64_t round)
{
    for (uint64_t key = 1; key <= KEYS; key++)
        CU_ASSERT_TRUE(try_send(f, key, (struct order){ .id = ROUND * round + key }));
}

/* Old workers are at the gate with a message of the first key, and have one of each key behind it.
 */
static void hold(struct fixture *f)
{
    CU_ASSERT_TRUE(try_send(f, 1, (struct order){ .act = probe_wait }));
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    send_round(f, 1);
}

static uint32_t begun_of_round(struct fixture *f, uint64_t round)
{
    uint32_t count = 0;

    for (uint64_t key = 1; key <= KEYS; key++)
        count += probe_times(f->probe, ROUND * round + key);
    return count;
}

/* Whether no sender uses the old members any more, as the last of the workers sees it. */
static bool is_marked(void *context)
{
    struct fixture *f = context;
    struct executor *executor = runtime_enter(f->rig.runtime);
    const struct members *members = atomic_load(&f->pool->members);
    struct place *place = members->members[members->count - 1].actor->place;
    struct handover *handover = atomic_load(&place->handover);
    bool marked = handover && atomic_load(&handover->marked);

    runtime_leave(executor);
    rig_advance(&f->rig, 0);
    return marked;
}

/* The new workers check again and again whether they may begin. */
static void let_them_check(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_marked, f));
    for (uint32_t i = 0; i < 20; i++) {
        rig_advance(&f->rig, 20);
        CU_ASSERT_TRUE(rig_stats(f->pool).live > 0);
    }
}

static bool is_drained(void *context)
{
    struct fixture *f = context;
    struct ledger_reading ledger;

    rig_advance(&f->rig, 1);
    ledger = rig_ledger(f->pool);
    return ledger.done == f->sent;
}

static void drain(struct fixture *f)
{
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_drained, f));
}

static void finish(struct fixture *f)
{
    drain(f);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise G9 */
static void test_new_workers_wait_for_the_old_one(void)
{
    struct fixture f;

    begin(&f, 1);
    hold(&f);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 8, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    send_round(&f, 2);
    let_them_check(&f);
    CU_ASSERT_EQUAL(begun_of_round(&f, 2), 0);
    drain(&f);
    CU_ASSERT_EQUAL(begun_of_round(&f, 2), KEYS);
    CU_ASSERT_EQUAL(atomic_load(&f.disorders), 0);
    finish(&f);
}

static bool have_all_begun(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 1);
    return begun_of_round(f, 3) == KEYS;
}

/* promise G9: a worker that settles in order is done when it has in hand what it accepted later. */
static void test_a_busy_worker_hands_over(void)
{
    struct fixture f;

    begin_with(&f, 1, keep_the_last, IN_HAND, 0);
    hold(&f);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    send_round(&f, 2);
    let_them_check(&f);
    CU_ASSERT_EQUAL(begun_of_round(&f, 2), 0);
    send_round(&f, 3);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, have_all_begun, &f));
    CU_ASSERT_EQUAL(atomic_load(&f.disorders), 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).in_hand, 2);
    atomic_store(&f.keeps_none, true);
    send_round(&f, 4);
    finish(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.disorders), 0);
}

/* promise G9: which of its messages another worker has in hand is not known. */
static void test_a_worker_without_order_hands_over_when_it_has_none(void)
{
    struct fixture f;

    begin_with(&f, 1, keep_the_last, IN_HAND, 0);
    f.pool->spec->in_order = false;
    hold(&f);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    send_round(&f, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_marked, &f));
    send_round(&f, 3);
    gate_open(&f.probe->gate);
    let_them_check(&f);
    CU_ASSERT_TRUE(begun_of_round(&f, 2) < KEYS);
    atomic_store(&f.keeps_none, true);
    send_round(&f, 4);
    finish(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.disorders), 0);
}

/* promise G9: workers that come while others still wait wait for these, too. */
static void test_growth_after_growth(void)
{
    struct fixture f;

    begin(&f, 1);
    hold(&f);
    for (uint32_t size = 2; size <= 8; size++) {
        CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, size, NULL), 0);
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
        CU_ASSERT_TRUE(try_send(&f, size, (struct order){ .id = ROUND * size + size }));
    }
    let_them_check(&f);
    finish(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.disorders), 0);
}

/* Half of the second round: with seven new workers beside the old one more keys have moved. */
static bool have_half_begun(void *context)
{
    return begun_of_round(context, 2) >= KEYS / 2;
}

/* promise G9: an old worker that hangs holds up the new ones for `remove.timeout`. */
static void test_the_wait_has_an_end(void)
{
    struct fixture f;

    begin(&f, 1);
    hold(&f);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 8, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    send_round(&f, 2);
    let_them_check(&f);
    CU_ASSERT_EQUAL(begun_of_round(&f, 2), 0);
    rig_advance(&f.rig, TIMEOUT_MS);
    CU_ASSERT_TRUE(rig_wait(&f.rig, have_half_begun, &f));
    finish(&f);
}

static bool is_prepared(void *context)
{
    struct pool_opening opening = { 0 };

    pool_opening_prepared(context, &opening);
    return opening.starting == 0;
}

/* promise G9: workers of another spec begin when those of before have finished. */
static void test_workers_that_replace_others_wait_for_them(void)
{
    struct pool_change_options options = { .size = 2,
                                           .settings = { .mailbox = 2 * KEYS,
                                                         .route = WEIR_ROUTE_HASH,
                                                         .remove.timeout_ms = TIMEOUT_MS } };
    struct pool_change *change = NULL;
    struct executor *executor;
    struct fixture f;

    begin(&f, 1);
    hold(&f);
    options.spec = rig_spec(f.probe);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(pool_change_prepare(f.pool, executor, &options, &change), 0);
    runtime_leave(executor);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_prepared, f.pool));
    executor = runtime_enter(f.rig.runtime);
    pool_change_commit(change, executor);
    runtime_leave(executor);
    send_round(&f, 2);
    let_them_check(&f);
    CU_ASSERT_EQUAL(begun_of_round(&f, 2), 0);
    drain(&f);
    CU_ASSERT_EQUAL(begun_of_round(&f, 2), KEYS);
    CU_ASSERT_EQUAL(atomic_load(&f.disorders), 0);
    finish(&f);
}

static bool is_sent(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 1);
    while (f->sent < MANY) {
        uint32_t size = 2 + (uint32_t)f->sent / (MANY / 6);

        if (rig_stats(f->pool).target < size)
            CU_ASSERT_EQUAL(rig_resize(&f->rig, f->pool, size, NULL), 0);
        if (!try_send(f, 1 + f->sent % KEYS, (struct order){ .id = f->sent }))
            return false;
    }
    return true;
}

/* promise G9: one sender and sixteen keys, while the pool grows from two workers to eight. */
static void test_keys_stay_in_order_under_load(void)
{
    struct fixture f;

    begin(&f, 2);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_sent, &f));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 8);
    finish(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.disorders), 0);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "new workers wait for the old one", test_new_workers_wait_for_the_old_one },
        { "a busy worker hands over", test_a_busy_worker_hands_over },
        { "a worker without order", test_a_worker_without_order_hands_over_when_it_has_none },
        { "growth after growth", test_growth_after_growth },
        { "the wait has an end", test_the_wait_has_an_end },
        { "workers that replace others wait for them",
          test_workers_that_replace_others_wait_for_them },
        { "keys stay in order under load", test_keys_stay_in_order_under_load },
        CU_TEST_INFO_NULL,
    };

    return suite_run("moving_keys", tests);
}
