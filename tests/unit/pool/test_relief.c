/* SPDX-License-Identifier: MIT */
/*
 * Goal: what a pool has routed to a worker does not wait behind one slow message while another
 * worker of the pool is idle. What was sent to the worker itself stays, and every message is
 * handled once.
 *
 * Method: a gate holds one worker inside its callback. It stays closed until the others have begun
 * everything that they may.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SLOW 1u
#define SHORT 100u  /* ids of messages that take no time */
#define OWN 500u    /* ids of messages to the worker itself */
#define INDEX 1000u /* a note: INDEX * (index + 1) + id */
#define COUNT 12u
#define THREADS 4u
#define MANY 20000u
#define SLOW_SHARE 256u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t sent;
};

static int note_worker(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    probe_note(probe, INDEX * (weir_index(self) + 1) + probe_order(message)->id);
    return WEIR_DONE;
}

static void begin(struct fixture *f, enum weir_route route, uint32_t size, uint32_t mailbox,
                  uint32_t flags)
{
    struct spec *spec;

    *f = (struct fixture){ .probe = probe_create() };
    f->probe->act = note_worker;
    f->probe->behaviour.flags |= flags;
    rig_init(&f->rig, THREADS, 0);
    spec = rig_spec(f->probe);
    spec->redeliver_max = 1;
    f->pool = rig_pool(&f->rig, &(struct pool_options){ .path = "pool",
                                                        .spec = spec,
                                                        .size = size,
                                                        .settings.mailbox = mailbox,
                                                        .settings.route = route });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void send(struct fixture *f, weir_pid to, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, to, (struct order){ .act = act, .id = id }), 0);
    f->sent++;
}

static void send_shorts(struct fixture *f, uint64_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        send(f, f->pool->pid, NULL, from + i);
}

/* One worker is inside its callback until the gate opens. */
static void hold_one(struct fixture *f)
{
    send(f, f->pool->pid, probe_wait, SLOW);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
}

static void await_shorts(struct fixture *f, uint64_t from, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, from + i, 1));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->sent);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.moved);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* How often a worker has begun the message. */
static uint32_t begun_by(struct fixture *f, uint32_t index, uint64_t id)
{
    return probe_times(f->probe, INDEX * (index + 1) + id);
}

/* --- idle members --------------------------------------------------------------------------- */

/* promise G8: in each route without keys, whatever the pool knows about its workers. */
static void test_idle_workers_take_what_waits_behind_a_slow_message(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED,
                                              WEIR_ROUTE_RANDOM };
    static const uint32_t flags[] = { 0, WEIR_BLOCKING };

    for (uint32_t i = 0; i < 3 * 2 * 2; i++) {
        bool is_warm = i / 6;
        struct fixture f;

        begin(&f, routes[i % 3], 2, 4 * COUNT, flags[i / 3 % 2]);
        if (is_warm) { /* known to be quick */
            send_shorts(&f, 200, 4 * COUNT);
            await_shorts(&f, 200, 4 * COUNT);
        }
        hold_one(&f);
        send_shorts(&f, SHORT, COUNT);
        await_shorts(&f, SHORT, COUNT);
        finish(&f);
    }
}

/* promise G8: the old worker does not reach the end of its message. */
static void test_workers_that_come_take_what_waits_behind_a_slow_message(void)
{
    static const uint32_t flags[] = { 0, WEIR_BLOCKING };

    for (uint32_t i = 0; i < 2; i++) {
        struct fixture f;

        begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, COUNT, flags[i]);
        hold_one(&f);
        send_shorts(&f, SHORT, COUNT);
        CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 4, NULL), 0);
        await_shorts(&f, SHORT, COUNT);
        finish(&f);
    }
}

/* promise G8: two are slow, and a third one comes to be so while it helps. */
static void test_it_goes_on_while_others_become_slow(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 4 * COUNT, 0);
    hold_one(&f);
    for (uint32_t i = 0; i < 2; i++) {
        send_shorts(&f, SHORT + i * COUNT, COUNT);
        send(&f, f.pool->pid, probe_wait, SLOW);
    }
    send_shorts(&f, SHORT + 2 * COUNT, COUNT);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 4, NULL), 0);
    await_shorts(&f, SHORT, 3 * COUNT);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    finish(&f);
}

static int call_until_told(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    atomic_bool *told = probe->context;

    while (!atomic_load(told))
        (void)weir_is_wanted(self, message);
    return WEIR_DONE;
}

/* promise G8: the slow callback is seldom outside the runtime. */
static void test_a_callback_that_calls_all_the_time(void)
{
    static const uint32_t flags[] = { 0, WEIR_BLOCKING };

    for (uint32_t i = 0; i < 2; i++) {
        atomic_bool told = false;
        struct fixture f;

        begin(&f, WEIR_ROUTE_ROUND_ROBIN, 2, 4 * COUNT, flags[i]);
        f.probe->context = &told;
        send(&f, f.pool->pid, call_until_told, SLOW);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, SLOW, 1));
        send_shorts(&f, SHORT, COUNT);
        await_shorts(&f, SHORT, COUNT);
        atomic_store(&told, true);
        finish(&f);
    }
}

/* --- what stays ----------------------------------------------------------------------------- */

/* promise G8: also between messages that go. */
static void test_messages_to_the_worker_itself_stay(void)
{
    struct fixture f;
    uint64_t last = 0;
    weir_pid worker;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 4 * COUNT, 0);
    worker = rig_worker(f.pool, 0);
    hold_one(&f);
    for (uint32_t i = 0; i < COUNT; i++) {
        send(&f, worker, NULL, OWN + 2 * i);
        send_shorts(&f, SHORT + i, 1);
        send(&f, worker, NULL, OWN + 2 * i + 1);
    }
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 3, NULL), 0);
    await_shorts(&f, SHORT, COUNT);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, 2 * COUNT);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        CU_ASSERT_EQUAL(begun_by(&f, 0, OWN + i), 1);
    for (uint32_t i = 0; i < probe_count(f.probe); i++) {
        uint64_t note = probe_get(f.probe, i);

        if (note < INDEX + OWN || note >= 2 * INDEX)
            continue;
        CU_ASSERT_TRUE(note > last);
        last = note;
    }
    finish(&f);
}

/* promise G8: the key selects the worker. */
static void test_messages_with_a_key_stay(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_HASH, 2, 4 * COUNT, 0);
    for (uint32_t i = 0; i <= COUNT; i++) {
        struct order order = { .act = i ? NULL : probe_wait, .id = i ? SHORT + i : SLOW };

        CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 7, order), 0);
        f.sent++;
    }
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    rig_advance(&f.rig, 100);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, COUNT);
    finish(&f);
    CU_ASSERT_EQUAL(f.sent, COUNT + 1);
}

/* --- room, figures, ends ---------------------------------------------------------------------- */

static bool has_room_for_one(void *context)
{
    struct fixture *f = context;
    bool sent = rig_send(&f->rig, f->pool->pid, (struct order){ .id = OWN }) == 0;

    f->sent += sent;
    return sent;
}

static bool is_exact(void *context)
{
    struct fixture *f = context;
    struct ledger_reading ledger = rig_ledger(f->pool);

    CU_ASSERT_EQUAL(ledger.accepted - ledger.moved, f->sent);
    CU_ASSERT_EQUAL(ledger_reading_difference(&ledger), 0);
    return ledger.done == f->sent - 1;
}

/* promise G8: senders get the places; the figures count each message once at each instant. */
static void test_the_places_are_free_and_the_figures_exact(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, COUNT, 0);
    hold_one(&f);
    send_shorts(&f, SHORT, COUNT);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 999 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_exact, &f));
    for (uint32_t i = 0; i < 4 * COUNT; i++)
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_room_for_one, &f));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_exact, &f));
    finish(&f);
}

/* promise G8: the slow one crashes when its messages are gone, and is given again. */
static void test_the_slow_one_may_crash_afterwards(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 2, 4 * COUNT, 0);
    send(&f, f.pool->pid, probe_wait_and_fail, SLOW);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    send_shorts(&f, SHORT, COUNT);
    await_shorts(&f, SHORT, COUNT);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, SLOW, 2));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, COUNT);
    CU_ASSERT_EQUAL(ledger.dead, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, SHORT + i), 1);
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

/* promise G8: a worker that leaves while it is slow. */
static void test_a_worker_that_leaves_is_relieved(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 4 * COUNT, 0);
    hold_one(&f);
    send_shorts(&f, SHORT, COUNT);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 999 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    await_shorts(&f, SHORT, COUNT);
    finish(&f);
}

/* --- many ----------------------------------------------------------------------------------- */

/* Takes milliseconds for some messages, half of that in the runtime. */
static int sometimes_slow(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    uint64_t id = probe_order(message)->id;
    atomic_uint work = id % SLOW_SHARE == 0 ? 200000 : 0;

    (void)probe;
    while (work > 0)
        work--;
    for (uint32_t i = 0; i < (id % SLOW_SHARE == 0 ? 100000 : id % 3); i++)
        (void)weir_is_wanted(self, message);
    return WEIR_DONE;
}

static bool is_sent(void *context)
{
    struct fixture *f = context;

    while (f->sent < MANY) {
        weir_pid to = f->sent % 5 ? f->pool->pid : rig_worker(f->pool, (uint32_t)f->sent / 5 % 4);

        if (rig_send(&f->rig, to, (struct order){ .act = sometimes_slow, .id = f->sent + 1 }) != 0)
            return false;
        f->sent++;
    }
    return true;
}

/* promise G8: callbacks end while their messages are given. */
static void test_every_message_is_handled_once(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 4, 64, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_sent, &f));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t id = 1; id <= MANY; id += 7)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    CU_ASSERT_TRUE(rig_ledger(f.pool).moved > 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "idle workers take what waits behind a slow message",
          test_idle_workers_take_what_waits_behind_a_slow_message },
        { "workers that come take what waits behind a slow message",
          test_workers_that_come_take_what_waits_behind_a_slow_message },
        { "it goes on while others become slow", test_it_goes_on_while_others_become_slow },
        { "a callback that calls all the time", test_a_callback_that_calls_all_the_time },
        { "messages to the worker itself stay", test_messages_to_the_worker_itself_stay },
        { "messages with a key stay", test_messages_with_a_key_stay },
        { "the places are free, and the figures exact",
          test_the_places_are_free_and_the_figures_exact },
        { "the slow one may crash afterwards", test_the_slow_one_may_crash_afterwards },
        { "a worker that leaves is relieved", test_a_worker_that_leaves_is_relieved },
        { "every message is handled once", test_every_message_is_handled_once },
        CU_TEST_INFO_NULL,
    };

    return suite_run("relief", tests);
}
