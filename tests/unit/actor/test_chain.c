/* SPDX-License-Identifier: MIT */
/*
 * Goal: as much of a chain as there is room for is taken from its front in one step; no message of
 * another sender comes between; a pool gives it to one worker.
 *
 * Method: chains to a worker that waits at a gate, whose notes are read afterwards; two senders at
 * the same time.
 */
#include "actor/send.h"
#include "pool/settings.h"

#include <pthread.h>
#include <string.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LENGTH 8u
#define CHAINS 500u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, uint32_t size, uint32_t limit)
{
    f->probe = probe_create();
    rig_init(&f->rig, 3, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", size, limit);
}

static void hold(struct fixture *f, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(
            rig_send(&f->rig, f->pool->pid, (struct order){ .act = probe_wait, .id = 9000 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, count));
}

static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Sends LENGTH orders numbered from `id` on with these keys; frees those that were not taken, which
 * must be unchanged. Returns the result of send_chain. */
static int send_keyed(struct rig *rig, weir_pid to, uint64_t id, uint64_t key)
{
    struct executor *executor = runtime_enter(rig->runtime);
    struct message *messages[LENGTH];
    int taken;

    for (uint32_t i = 0; i < LENGTH; i++) {
        const struct order order = { .id = id + i };

        messages[i] = message_create(&executor->cache, NULL, sizeof order);
        memcpy(messages[i]->public.data, &order, sizeof order);
        messages[i]->public.key = key;
    }
    taken = send_chain(rig->runtime, executor, to, messages, LENGTH);
    for (uint32_t i = taken > 0 ? (uint32_t)taken : 0; i < LENGTH; i++) {
        CU_ASSERT_EQUAL(probe_order(&messages[i]->public)->id, id + i);
        message_destroy(&executor->cache, messages[i]);
    }
    runtime_leave(executor);
    return taken;
}

/* promise S9 */
static void test_chain_is_taken_from_the_front_as_far_as_there_is_room(void)
{
    struct fixture f;

    begin(&f, 1, LENGTH + 3);
    hold(&f, 1);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 100, 0), (int)LENGTH);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 200, 0), 3);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 300, 0), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 1);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).queued, LENGTH + 3);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < LENGTH; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, 1 + i), 100 + i);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, 1 + LENGTH + i), 200 + i);
    finish(&f, LENGTH + 4);
}

/* promise S9 */
static void test_chain_to_a_pool_goes_to_one_worker_with_room(void)
{
    struct fixture f;

    begin(&f, 2, LENGTH);
    hold(&f, 2);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 100, 0), (int)LENGTH);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 200, 0), (int)LENGTH);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 300, 0), WEIR_EFULL);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, rig_worker(f.pool, 0), 300, 0), WEIR_EFULL);
    finish(&f, 2 * LENGTH + 2);
}

/* Messages of a key go to its owner, so a chain must not bypass the route. */
static void test_chain_to_a_pool_by_hash_is_routed_one_by_one(void)
{
    struct fixture f;

    begin(&f, 2, LENGTH + 4);
    pool_set_route(f.pool, WEIR_ROUTE_HASH);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 100, 0), WEIR_EINVALID);
    gate_open(&f.probe->gate);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 100, 5), (int)LENGTH);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint32_t i = 0; i < LENGTH; i++)
        CU_ASSERT_EQUAL(probe_get(f.probe, i), 100 + i);
    finish(&f, LENGTH);
}

static void test_chain_to_nobody_is_refused_and_an_empty_one_taken(void)
{
    struct fixture f;
    struct executor *executor;
    weir_pid worker;
    int status;

    begin(&f, 1, LENGTH);
    worker = rig_worker(f.pool, 0);
    CU_ASSERT_EQUAL(send_keyed(&f.rig, 0, 100, 0), WEIR_EUNKNOWN);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL(send_chain(f.rig.runtime, executor, worker, NULL, 0), 0);
    runtime_leave(executor);
    rig_close(&f.rig, f.pool);
    /* It closes, or has ended already. */
    status = send_keyed(&f.rig, f.pool->pid, 100, 0);
    CU_ASSERT_TRUE(status == WEIR_ECLOSED || status == WEIR_ETERMINATED);
    finish(&f, 0);
}

static void send_too_large(uint32_t size)
{
    struct pool_options options = { .path = "pool", .size = size, .settings.mailbox_bytes = 1 };
    struct fixture f = { .probe = probe_create() };

    rig_init(&f.rig, 3, 0);
    options.spec = rig_spec(f.probe);
    f.pool = rig_pool(&f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(send_keyed(&f.rig, f.pool->pid, 100, 0), WEIR_EINVALID);
    finish(&f, 0);
}

/* promise S11: as for a single message. */
static void test_chain_whose_first_is_too_large_for_all_is_invalid(void)
{
    send_too_large(1);
    send_too_large(3);
}

struct sender {
    struct fixture *fixture;
    pthread_t thread;
    uint64_t base;
};

static void *send_many(void *context)
{
    struct sender *sender = context;
    weir_pid worker = rig_worker(sender->fixture->pool, 0);

    for (uint32_t i = 0; i < CHAINS; i++)
        CU_ASSERT_EQUAL(
            send_keyed(&sender->fixture->rig, worker, sender->base + (uint64_t)i * LENGTH, 0),
            (int)LENGTH);
    return NULL;
}

/* promises S9 and S3 */
static void test_chains_of_two_senders_are_not_mixed(void)
{
    struct fixture f;
    struct sender senders[2];
    uint32_t torn = 0;

    begin(&f, 1, 0);
    for (uint32_t i = 0; i < 2; i++) {
        senders[i] = (struct sender){ .fixture = &f, .base = 1000000 * ((uint64_t)i + 1) };
        pthread_create(&senders[i].thread, NULL, send_many, &senders[i]);
    }
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(senders[i].thread, NULL);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_count(f.probe), 2 * CHAINS * LENGTH);
    for (uint32_t i = 0; i < 2 * CHAINS * LENGTH; i++)
        torn += i % LENGTH && probe_get(f.probe, i) != probe_get(f.probe, i - 1) + 1;
    CU_ASSERT_EQUAL(torn, 0);
    finish(&f, (uint64_t)2 * CHAINS * LENGTH);
}

static int send_three(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct weir_message *messages[3];
    const weir_pid to = probe_order(message)->argument;
    int taken;

    for (uint32_t i = 0; i < 3; i++)
        messages[i] = probe_message(self, (struct order){ .id = 10 + i });
    taken = weir_send_chain(self, to, messages, 3);
    probe_note(probe, 500 + (uint64_t)taken);
    for (int i = taken; i < 3; i++)
        weir_message_free(self, messages[i]);
    return WEIR_DONE;
}

static void test_behaviour_sends_a_chain_through_its_host(void)
{
    struct fixture f;
    struct pool *sending;

    begin(&f, 1, 2);
    hold(&f, 1);
    sending = rig_workers(&f.rig, f.probe, "sending", 1, 2);
    CU_ASSERT_EQUAL(rig_send(&f.rig, sending->pid,
                             (struct order){ .act = send_three, .argument = f.pool->pid }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 502, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, sending, NULL));
    finish(&f, 3);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "room", test_chain_is_taken_from_the_front_as_far_as_there_is_room },
        { "pool", test_chain_to_a_pool_goes_to_one_worker_with_room },
        { "hash", test_chain_to_a_pool_by_hash_is_routed_one_by_one },
        { "nobody", test_chain_to_nobody_is_refused_and_an_empty_one_taken },
        { "too large", test_chain_whose_first_is_too_large_for_all_is_invalid },
        { "two senders", test_chains_of_two_senders_are_not_mixed },
        { "host", test_behaviour_sends_a_chain_through_its_host },
        CU_TEST_INFO_NULL,
    };

    return suite_run("chain", tests);
}
