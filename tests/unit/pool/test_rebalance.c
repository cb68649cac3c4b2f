/* SPDX-License-Identifier: MIT */
/*
 * Goal: growth shares the backlog: no message waits in the mailbox of an old worker while a new one
 * has nothing to do; the order stays, and messages to one worker stay with that worker.
 *
 * Method: one worker is held by a gate in its first message, with more behind it; then the pool
 * grows, and the gate lets that one message go. The others come to the gate one for each worker.
 */
#include <string.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define WORKERS 6u
#define BACKLOG 60u
#define MANY 80u    /* more than a worker compares itself with */
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

static void begin_with(struct fixture *f, uint32_t threads, enum weir_route route, uint32_t size,
                       uint64_t bytes)
{
    struct spec *spec;

    f->probe = probe_create();
    f->probe->act = note_worker;
    f->next = 1;
    rig_init(&f->rig, threads, 0);
    spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &(struct pool_options){ .path = "pool",
                                                        .spec = spec,
                                                        .size = size,
                                                        .settings.mailbox = 2 * BACKLOG,
                                                        .settings.mailbox_bytes = bytes,
                                                        .settings.route = route });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void begin_bounded(struct fixture *f, enum weir_route route, uint32_t size, uint64_t bytes)
{
    begin_with(f, WORKERS, route, size, bytes);
}

static void begin(struct fixture *f, enum weir_route route, uint32_t size)
{
    begin_bounded(f, route, size, 0);
}

static void send(struct fixture *f, weir_pid to)
{
    CU_ASSERT_EQUAL(rig_send_key(&f->rig, to, 1, (struct order){ .id = f->next++ }), 0);
}

/* One message in hand, and `count` behind it. */
static void hold(struct fixture *f, uint32_t count)
{
    send(f, f->pool->pid);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    for (uint32_t i = 0; i < count; i++)
        send(f, f->pool->pid);
}

static void grow(struct fixture *f, uint32_t size)
{
    CU_ASSERT_EQUAL(rig_resize(&f->rig, f->pool, size, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

/* How many messages a worker has begun. */
static uint32_t begun_by(struct fixture *f, uint32_t index)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < probe_count(f->probe); i++)
        count += probe_get(f->probe, i) / INDEX == index + 1;
    return count;
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    for (uint64_t id = 1; id < f->next; id++)
        CU_ASSERT_EQUAL(probe_times(f->probe, id), 1);
    CU_ASSERT_EQUAL(ledger.done, f->next - 1);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.moved);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* --- sharing -------------------------------------------------------------------------------- */

/* promise G7: sixty messages behind one worker, which becomes one of six. */
static void test_a_backlog_is_shared_with_workers_that_come(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1);
    hold(&f, BACKLOG);
    grow(&f, WORKERS);
    gate_admit(&f.probe->gate, 1);
    /* While the gate holds each of them, all six have one. */
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1 + WORKERS));
    CU_ASSERT_TRUE(rig_ledger(f.pool).moved >= BACKLOG - BACKLOG / WORKERS);
    for (uint32_t i = 1; i < WORKERS; i++)
        CU_ASSERT_EQUAL(begun_by(&f, i), 1);
    finish(&f);
}

/* promise G7: of more workers than are looked at, some are asked for each that comes alone. */
static void test_one_more_of_many_gets_its_share(void)
{
    struct fixture f;

    begin_with(&f, MANY + 1, WEIR_ROUTE_ROUND_ROBIN, MANY, 0);
    for (uint32_t i = 0; i < 4 * MANY; i++)
        send(&f, f.pool->pid);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, MANY));
    grow(&f, MANY + 1);
    gate_admit(&f.probe->gate, MANY / 2); /* more than those that were not asked */
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, MANY + MANY / 2 + 1));
    CU_ASSERT_EQUAL(begun_by(&f, MANY), 1);
    finish(&f);
}

/* promise G7: one that is not known to the pool by its address stays where it was sent. */
static void test_messages_to_a_worker_itself_stay_with_it(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1);
    hold(&f, 0);
    for (uint32_t i = 0; i < BACKLOG; i++)
        send(&f, rig_worker(f.pool, 0));
    grow(&f, WORKERS);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(begun_by(&f, 0), 1 + BACKLOG);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 0);
    for (uint32_t i = 1; i < probe_count(f.probe); i++) /* in order */
        CU_ASSERT_TRUE(probe_get(f.probe, i) % INDEX >= probe_get(f.probe, i - 1) % INDEX);
    finish(&f);
}

/* promise G7 */
static void test_what_has_a_key_stays_with_its_owner(void)
{
    struct fixture f;
    uint32_t most = 0;

    begin(&f, WEIR_ROUTE_HASH, 1);
    hold(&f, BACKLOG);
    grow(&f, WORKERS);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < WORKERS; i++)
        most = begun_by(&f, i) > most ? begun_by(&f, i) : most;
    CU_ASSERT_EQUAL(most, 1 + BACKLOG);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 0);
    finish(&f);
}

/* promise G7: a sender that waits for room in the old worker gets it by growth. */
static void test_room_in_the_old_worker_is_reported(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1);
    hold(&f, 2 * BACKLOG);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 999 }), WEIR_EFULL);
    grow(&f, 2);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    for (uint32_t i = 0; i < 2 * BACKLOG; i++) /* half of the room of both is free */
        send(&f, f.pool->pid);
    finish(&f);
}

static int wait_at_other_gate(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    (void)self;
    (void)message;
    return gate_pass(probe->context) ? WEIR_DONE : WEIR_REJECT;
}

/* promise G7: the old worker does not come back, so that its messages go in parts. */
static void test_a_new_worker_gets_its_share_in_order(void)
{
    struct gate other;
    struct fixture f;
    uint64_t last = 0;

    gate_init(&other);
    begin(&f, WEIR_ROUTE_LEAST_LOADED, 1);
    f.probe->context = &other;
    gate_open(&f.probe->gate);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.pool->pid, (struct order){ .act = wait_at_other_gate, .id = f.next++ }),
        0);
    CU_ASSERT_TRUE(gate_await(&other, 1));
    for (uint32_t i = 0; i < BACKLOG; i++)
        send(&f, f.pool->pid);
    grow(&f, 2);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2 * INDEX + BACKLOG + 1, 1));
    for (uint32_t i = 0; i < probe_count(f.probe); i++) {
        uint64_t note = probe_get(f.probe, i);

        if (note < INDEX)
            continue; /* the probe's own */
        CU_ASSERT_TRUE(note > 2 * INDEX && note > last);
        last = note;
    }
    gate_open(&other);
    finish(&f);
    gate_finish(&other);
}

/* Sends a worker a message of so many bytes. */
static void send_bytes(struct fixture *f, weir_pid to, size_t size)
{
    struct weir_message *message = runtime_message_new(f->rig.runtime, NULL, size);
    const struct order order = { .id = f->next++ };

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    if (!message) /* the analyser does not know CUnit */
        return;
    memset(message->data, 0, size);
    memcpy(message->data, &order, sizeof order);
    CU_ASSERT_EQUAL(runtime_send(f->rig.runtime, to, WEIR_NORMAL, message), 0);
}

/* promise G7: a worker that comes back and is full by its bytes takes nothing, and the order
 * stays. */
static void test_a_backlog_without_a_taker_keeps_its_order(void)
{
    enum { OTHERS = 2 }; /* messages to that worker */
    const uint64_t bytes = 2 * BACKLOG * sizeof(struct order);
    struct gate other;
    struct fixture f;
    uint64_t last = 0;

    gate_init(&other);
    begin_bounded(&f, WEIR_ROUTE_ROUND_ROBIN, 2, bytes);
    f.probe->context = &other;
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 1),
                             (struct order){ .act = wait_at_other_gate, .id = f.next++ }),
                    0);
    CU_ASSERT_TRUE(gate_await(&other, 1));
    send_bytes(&f, rig_worker(f.pool, 1), bytes);
    hold(&f, BACKLOG); /* in the worker that has room */
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2)); /* the old worker has tried to give */
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, 0);
    gate_admit(&f.probe->gate, BACKLOG);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, INDEX + OTHERS + BACKLOG + 1, 1));
    for (uint32_t i = 0; i < probe_count(f.probe); i++) {
        if (probe_get(f.probe, i) < INDEX)
            continue; /* the probe's own */
        CU_ASSERT_EQUAL(probe_get(f.probe, i), INDEX + OTHERS + ++last);
    }
    CU_ASSERT_EQUAL(last, BACKLOG + 1);
    gate_open(&other);
    finish(&f);
    gate_finish(&other);
}

/* --- workers that were not open --------------------------------------------------------------- */

/* promise G7: a worker that leaves, and is called back while it has a message in hand. */
static void test_a_recalled_worker_gets_its_share(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 2);
    send(&f, f.pool->pid);
    send(&f, f.pool->pid);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    for (uint32_t i = 0; i < BACKLOG; i++)
        send(&f, f.pool->pid);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    gate_admit(&f.probe->gate, 2);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4)); /* both have another one */
    CU_ASSERT_TRUE(rig_ledger(f.pool).moved >= BACKLOG / 2 - 1);
    finish(&f);
}

/* The workers other than the first open when the gate in the context admits them. */
static int open_at_gate(struct weir_self *self, struct probe *probe)
{
    if (weir_index(self) > 0)
        (void)gate_pass(probe->context);
    return 0;
}

/* promise G7: a worker that leaves before it is open, and is called back, asks when it opens. */
static void test_a_worker_recalled_before_it_opens_gets_its_share(void)
{
    struct gate opens;
    struct fixture f;

    gate_init(&opens);
    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1);
    f.probe->context = &opens;
    f.probe->opens = open_at_gate;
    hold(&f, BACKLOG + 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(gate_await(&opens, 1));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    gate_admit(&f.probe->gate, 1); /* it has nobody to share with yet */
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    gate_open(&opens);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4)); /* both have another one */
    CU_ASSERT_EQUAL(rig_ledger(f.pool).moved, BACKLOG / 2);
    finish(&f);
    gate_finish(&opens);
}

static int open_but_the_first(struct weir_self *self, struct probe *probe)
{
    return weir_index(self) == 0 && atomic_load((atomic_bool *)probe->context) ? WEIR_EUNKNOWN : 0;
}

static bool is_refused(void *context)
{
    struct fixture *f = context;

    return atomic_load(&f->probe->refused) > 0;
}

static bool has_drained(void *context)
{
    struct fixture *f = context;
    struct ledger_reading ledger = rig_ledger(f->pool);

    rig_advance(&f->rig, 100); /* the pause of the first worker ends some time */
    return ledger.queued + ledger.in_hand + ledger.held == 0;
}

/* promise G7: a worker that waits for its next open gives, too. */
static void test_a_worker_that_pauses_gives_its_share(void)
{
    atomic_bool is_down = false;
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1);
    f.probe->context = &is_down;
    f.probe->opens = open_but_the_first;
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .act = probe_wait_and_fail }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint32_t i = 0; i < BACKLOG; i++)
        send(&f, f.pool->pid);
    atomic_store(&is_down, true);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_refused, &f));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2)); /* the other worker has one */
    atomic_store(&is_down, false);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_drained, &f));
    CU_ASSERT_TRUE(rig_ledger(f.pool).moved >= BACKLOG / 2 - 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

static void settle(struct weir_self *self, void *state, void *context)
{
    (void)state;
    CU_ASSERT_EQUAL(weir_settle(self, context, WEIR_DONE), 0);
}

static int note_and_keep(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    probe_note(probe, INDEX * (weir_index(self) + 1) + probe_order(message)->id);
    CU_ASSERT_EQUAL(weir_after(self, 1, settle, (struct weir_message *)(uintptr_t)message, NULL),
                    0);
    return WEIR_KEEP;
}

static bool is_begun_by_all(void *context)
{
    struct fixture *f = context;
    const uint32_t size = (uint32_t)rig_stats(f->pool).live;

    for (uint32_t i = 0; i < size; i++)
        if (begun_by(f, i) == 0)
            return false;
    return true;
}

/* Settles the kept messages, again and again. */
static bool has_drained_in_time(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 1);
    return has_drained(context);
}

/* promise G7: two workers keep a message each, with three more behind it; two others come, one
 * after the other. */
static void test_a_worker_that_keeps_a_message_is_not_idle(void)
{
    const uint32_t messages = 8;
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 2);
    f.probe->act = note_and_keep;
    for (uint32_t i = 0; i < messages; i++)
        send(&f, f.pool->pid);
    for (uint32_t size = 2; size <= 4; size++) {
        grow(&f, size);
        CU_ASSERT_TRUE(rig_wait(&f.rig, is_begun_by_all, &f));
    }
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_drained_in_time, &f));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "a backlog is shared with workers that come",
          test_a_backlog_is_shared_with_workers_that_come },
        { "one more of many gets its share", test_one_more_of_many_gets_its_share },
        { "a new worker gets its share in order", test_a_new_worker_gets_its_share_in_order },
        { "messages to a worker itself stay with it",
          test_messages_to_a_worker_itself_stay_with_it },
        { "what has a key stays with its owner", test_what_has_a_key_stays_with_its_owner },
        { "senders get the room in the old worker", test_room_in_the_old_worker_is_reported },
        { "a backlog without a taker", test_a_backlog_without_a_taker_keeps_its_order },
        { "a recalled worker gets its share", test_a_recalled_worker_gets_its_share },
        { "a worker recalled before it opens gets its share",
          test_a_worker_recalled_before_it_opens_gets_its_share },
        { "a worker that keeps a message is not idle",
          test_a_worker_that_keeps_a_message_is_not_idle },
        { "a worker that pauses gives its share", test_a_worker_that_pauses_gives_its_share },
        CU_TEST_INFO_NULL,
    };

    return suite_run("rebalance", tests);
}
