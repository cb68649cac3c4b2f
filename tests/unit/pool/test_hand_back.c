/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker that leaves begins nothing that another member may get: with `drain` only what
 * finds no room, with `reroute` nothing at all; what belongs to the worker stays with it.
 *
 * Method: all workers wait at a gate inside a message, with more behind it; then the pool shrinks,
 * and the test lets the messages go on one by one. A note says which worker began which message.
 */
#include "actor/find.h"
#include "pool/settings.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 2u
#define INDEX 1000u /* a note: INDEX * (index + 1) + id */
#define OWN 500u    /* ids from here on were sent to a worker itself */
#define TIMEOUT_MS 100000u
#define RETRY_MS 50u
#define KEYS 64u

static const enum weir_remove modes[] = { WEIR_REMOVE_DRAIN, WEIR_REMOVE_REROUTE };

#define MODES (sizeof modes / sizeof modes[0])

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint32_t size;
    uint64_t next;
};

static int note_worker(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    probe_note(probe, INDEX * (weir_index(self) + 1) + probe_order(message)->id);
    return probe_wait(self, probe, message);
}

/* Every worker is inside a message. */
static void begin(struct fixture *f, enum weir_remove mode, uint32_t size, uint32_t limit)
{
    struct spec *spec;

    *f = (struct fixture){ .size = size, .probe = probe_create() };
    f->probe->act = note_worker;
    rig_init(&f->rig, size, 0);
    spec = rig_spec(f->probe);
    spec->restart = (struct restart){ .max = 0, /* each failure is followed by a pause */
                                      .within_ms = 1,
                                      .backoff_ms_min = 2 * RETRY_MS,
                                      .backoff_ms_max = 2 * RETRY_MS };
    f->pool = rig_pool(&f->rig, &(struct pool_options){ .spec = spec,
                                                        .size = size,
                                                        .settings.mailbox = limit,
                                                        .settings.remove.mode = mode,
                                                        .settings.remove.timeout_ms = TIMEOUT_MS });
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    for (uint32_t i = 0; i < size; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = f->next++ }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, size));
}

static void send(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .id = f->next++ }), 0);
}

static void resize(struct fixture *f, uint32_t target)
{
    CU_ASSERT_EQUAL(rig_resize(&f->rig, f->pool, target, NULL), 0);
}

/* Ends the pool: each accepted message was begun once, or is among the dead. */
static void finish(struct fixture *f, uint64_t dead)
{
    struct ledger_reading ledger;
    uint64_t begun = 0;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    for (uint64_t id = 0; id < f->next; id++) {
        CU_ASSERT_TRUE(probe_times(f->probe, id) <= 1);
        begun += probe_times(f->probe, id);
    }
    CU_ASSERT_EQUAL(begun + dead, f->next);
    CU_ASSERT_EQUAL(ledger.dead, dead);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* How many messages, of the first `size` and later, the workers from `first` on have begun. */
static uint32_t begun_by(struct fixture *f, uint32_t first)
{
    uint32_t begun = 0;

    for (uint32_t worker = first; worker < f->size; worker++)
        for (uint64_t id = 0; id < f->next; id++)
            begun += probe_times(f->probe, INDEX * (worker + 1) + id);
    return begun;
}

/* promise P6: with drain it goes on with what finds no room, and passes it on when there is. */
static void test_with_drain_what_finds_no_room_is_finished(void)
{
    struct fixture f;

    begin(&f, WEIR_REMOVE_DRAIN, 2, LIMIT);
    send(&f, 2 * LIMIT);
    resize(&f, 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 1);
    gate_admit(&f.probe->gate, 2); /* each has two behind it; the other has room for one then */
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    finish(&f, 0);
}

static bool has_settled(void *context)
{
    struct fixture *f = context;
    struct weir_pool_stats stats = rig_stats(f->pool);

    rig_advance(&f->rig, 1); /* a worker without room for its messages tries again */
    return stats.retiring == 0;
}

static int note_alone(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    probe_note(probe, INDEX * (weir_index(self) + 1) + probe_order(message)->id);
    return WEIR_DONE;
}

/* promise P44: it begins nothing, waits for room, and handles its own messages of any lane while
 * the others have none. */
static void test_with_reroute_what_finds_no_room_waits(void)
{
    const struct order own = { .act = note_alone, .id = OWN };
    const struct order urgent = { .act = note_alone, .id = OWN + 1 };
    struct fixture f;
    weir_pid second;

    begin(&f, WEIR_REMOVE_REROUTE, 2, LIMIT + 2);
    second = rig_worker(f.pool, 1);
    send(&f, 2 * (LIMIT + 1)); /* the first worker will have room for one */
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), (struct order){ .id = OWN }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, second, own), 0);
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, second, WEIR_URGENT, urgent), 0);
    resize(&f, 1);
    gate_admit(&f.probe->gate, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2 * INDEX + OWN, 1));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2 * INDEX + OWN + 1, 1));
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 1); /* with messages that wait for room */
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_settled, &f));
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(begun_by(&f, 1), 1);
    finish(&f, 0);
}

/* promise P6: a message that was sent to the worker itself is its own; those of the pool behind it
 * go at once. */
static void test_messages_to_the_worker_itself_stay(void)
{
    for (size_t i = 0; i < MODES; i++) {
        struct fixture f;
        weir_pid second;

        begin(&f, modes[i], 2, 8);
        second = rig_worker(f.pool, 1);
        for (uint64_t j = 0; j < 3; j++) {
            CU_ASSERT_EQUAL(rig_send(&f.rig, second, (struct order){ .id = OWN + j }), 0);
            send(&f, 2);
        }
        resize(&f, 1);
        gate_admit(&f.probe->gate, 2);
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
        CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 3);
        CU_ASSERT_EQUAL(probe_times(f.probe, 2 * INDEX + OWN), 1); /* and waits at the gate */
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
        CU_ASSERT_EQUAL(begun_by(&f, 1), 1);
        for (uint64_t j = 0; j < 3; j++)
            CU_ASSERT_EQUAL(probe_times(f.probe, 2 * INDEX + OWN + j), 1);
        finish(&f, 0);
    }
}

static int retry_once(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    if (message->attempt > 1)
        return note_alone(self, probe, message);
    weir_retry_after(self, RETRY_MS);
    return WEIR_RETRY;
}

static bool is_retrying(void *context)
{
    return rig_stats(((struct fixture *)context)->pool).retrying == 1;
}

/* promise P41: so does one that waits for its retry. */
static void test_retries_of_messages_to_the_worker_itself_stay(void)
{
    const struct order order = { .act = retry_once, .id = OWN };

    for (size_t i = 0; i < MODES; i++) {
        struct fixture f;

        begin(&f, modes[i], 2, 8);
        CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 1), order), 0);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_wait(&f.rig, is_retrying, &f));
        resize(&f, 1);
        rig_advance(&f.rig, RETRY_MS);
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
        CU_ASSERT_EQUAL(probe_times(f.probe, 2 * INDEX + OWN), 1);
        finish(&f, 0);
    }
}

/* By whichever worker. */
static bool is_retried(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 1);
    return probe_times(f->probe, INDEX + OWN) + probe_times(f->probe, 2 * INDEX + OWN) > 0;
}

/* promise P41: also while the worker, which has failed, waits in back-off. */
static void test_retries_of_messages_to_the_worker_itself_stay_in_back_off(void)
{
    const struct order order = { .act = retry_once, .id = OWN };
    const struct order fail = { .act = probe_fail, .id = OWN + 1 };
    struct fixture f;

    begin(&f, WEIR_REMOVE_DRAIN, 2, 8);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 1), order), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_retrying, &f));
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 1), fail), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, OWN + 1, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_retried, &f));
    CU_ASSERT_EQUAL(probe_times(f.probe, INDEX + OWN), 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, 2 * INDEX + OWN), 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

/* promise P6: messages with a key stay, so that those of one key keep their order. */
static void test_messages_with_a_key_stay(void)
{
    for (size_t i = 0; i < MODES; i++) {
        struct fixture f;
        uint32_t own = 0;

        begin(&f, modes[i], 2, 2 * KEYS);
        pool_set_route(f.pool, WEIR_ROUTE_HASH);
        for (uint64_t key = 1; key <= KEYS; key++) /* 0 is none */
            CU_ASSERT_EQUAL(
                rig_send_key(&f.rig, f.pool->pid, key, (struct order){ .id = f.next++ }), 0);
        own = mailbox_waiting(&actor_find(f.rig.runtime, rig_worker(f.pool, 1))->mailbox);
        CU_ASSERT_TRUE(own > 0);
        resize(&f, 1);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
        CU_ASSERT_EQUAL(begun_by(&f, 1), own + 1);
        CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 0);
        finish(&f, 0);
    }
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "drain, no room", test_with_drain_what_finds_no_room_is_finished },
        { "reroute, no room", test_with_reroute_what_finds_no_room_waits },
        { "sent to itself", test_messages_to_the_worker_itself_stay },
        { "its retries", test_retries_of_messages_to_the_worker_itself_stay },
        { "its retries in back-off",
          test_retries_of_messages_to_the_worker_itself_stay_in_back_off },
        { "with a key", test_messages_with_a_key_stay },
        CU_TEST_INFO_NULL,
    };

    return suite_run("hand_back", tests);
}
