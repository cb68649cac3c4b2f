/* SPDX-License-Identifier: MIT */
/*
 * Goal: with `route: broadcast` each member that has room gets a copy; a copy for a member without
 * room is refused and counted. test_copies.c tests copies at an output.
 *
 * Method: workers that note their number; one of them waits at a gate with a full mailbox, so that
 * only the others can get their copies; senders in parallel for many rounds.
 */
#include <string.h>

#include "actor/replay.h"
#include "actor/send.h"
#include "message/blob.h"
#include "pool/outlet.h"
#include "pool/route.h"
#include "pool/settings.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define WORKERS 4u
#define LIMIT 2u
#define NUMBER 100u  /* a note: NUMBER + the worker's index */
#define FILLER 9000u /* the id of messages that fill a mailbox */
#define ROUNDS 3000u /* of senders beside each other */
#define BYTES 64u

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

static int note_where(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)self;
    probe_note(probe, (uint64_t)(uintptr_t)message->data);
    return WEIR_DONE;
}

static struct pool *make_pool(struct fixture *f, struct pool_options options)
{
    struct pool *pool;

    options.spec = options.size ? rig_spec(f->probe) : NULL;
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static void begin_rig(struct fixture *f)
{
    f->probe = probe_create();
    f->probe->act = note_number;
    rig_init(&f->rig, WORKERS, 0);
}

static void begin(struct fixture *f, struct pool_options options)
{
    begin_rig(f);
    options.settings.route = WEIR_ROUTE_BROADCAST;
    f->pool = make_pool(f, options);
}

static struct ledger_reading finish(struct fixture *f)
{
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    return ledger;
}

static int send(struct fixture *f, probe_act *act, uint64_t id)
{
    return rig_send(&f->rig, f->pool->pid, (struct order){ .act = act, .id = id });
}

/* Holds the worker number `index` of a pool, and fills its mailbox. */
static void fill(struct fixture *f, struct pool *pool, uint32_t index, uint32_t limit)
{
    weir_pid worker = rig_worker(pool, index);

    CU_ASSERT_EQUAL(rig_send(&f->rig, worker, (struct order){ probe_wait, FILLER, 0 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    for (uint32_t i = 0; i < limit; i++)
        CU_ASSERT_EQUAL(rig_send(&f->rig, worker, (struct order){ .id = FILLER + 1 }), 0);
}

/* promise P14 */
static void test_every_worker_gets_it_once(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = 100 });
    for (uint64_t id = 1; id <= 50; id++)
        CU_ASSERT_EQUAL(send(&f, NULL, 1000 + id), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t id = 1; id <= 50; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, 1000 + id), WORKERS);
    for (uint32_t i = 0; i < WORKERS; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, NUMBER + i), 50);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).accepted, 50 * WORKERS);
    CU_ASSERT_EQUAL(finish(&f).done, 50 * WORKERS);
}

/* promise P14 */
static void test_full_member_is_counted_and_the_others_get_theirs(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = LIMIT });
    fill(&f, f.pool, WORKERS - 1, LIMIT);
    CU_ASSERT_EQUAL(route_room(f.pool), 0);
    for (uint32_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(send(&f, NULL, 1), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, (i + 1) * (WORKERS - 1)));
    }
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 3);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).accepted, LIMIT + 1 + 3 * (WORKERS - 1));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(route_room(f.pool), LIMIT);
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, WORKERS));
    (void)finish(&f);
}

/* promise P14 */
static void test_only_when_no_member_has_room_is_it_full(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 2, .settings.mailbox = LIMIT });
    for (uint32_t i = 0; i < 1 + LIMIT; i++) {
        CU_ASSERT_EQUAL(send(&f, probe_wait, 1), 0);
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    }
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(send(&f, NULL, 2), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 3); /* once for the message, not for each member */
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(finish(&f).done, 2 * (1 + LIMIT));
}

/* Sends a message that is not an order, and frees it when it is refused. */
static int send_kind(struct fixture *f, uint8_t kind, uint32_t flags, struct blob *blob,
                     uint32_t size)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = blob ? message_create_with_blob(&executor->cache, NULL, blob)
                                   : message_create(&executor->cache, NULL, size);
    int status;

    message->public.kind = kind;
    message->public.reserved |= flags;
    status = send_message(f->rig.runtime, executor, f->pool->pid, WEIR_NORMAL, message);
    if (status != 0) {
        message->public.reserved &= ~flags;
        message_destroy(&executor->cache, message);
    }
    runtime_leave(executor);
    return status;
}

/* promise P14 */
static void test_what_has_one_answer_is_invalid(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 2, .settings.mailbox = LIMIT });
    CU_ASSERT_EQUAL(send_kind(&f, WEIR_REQUEST, 0, NULL, 8), WEIR_EINVALID);
    CU_ASSERT_EQUAL(send_kind(&f, WEIR_MESSAGE, MESSAGE_ORIGIN, NULL, 8), WEIR_EINVALID);
    CU_ASSERT_EQUAL(send_kind(&f, WEIR_EVENT, 0, NULL, 8), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(finish(&f).done, 2);
}

/* promise P14 */
static void test_payload_is_shared_when_it_is_a_blob(void)
{
    struct blob *blob = blob_create(BYTES);
    struct fixture f;

    begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = LIMIT });
    f.probe->act = note_where;
    CU_ASSERT_EQUAL(send_kind(&f, WEIR_MESSAGE, 0, blob, 0), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, (uint64_t)(uintptr_t)blob->public.data), WORKERS);
    blob_unref(blob);
    CU_ASSERT_EQUAL(send(&f, note_where, 1), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), WORKERS);
    CU_ASSERT_EQUAL(finish(&f).done, 2 * WORKERS);
}

static int send_bytes(struct fixture *f, weir_pid to, uint32_t size)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, size);
    int status = send_message(f->rig.runtime, executor, to, WEIR_NORMAL, message);

    if (status != 0)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    return status;
}

/* promises P14 and S11 */
static void test_limit_of_bytes_is_that_of_each_member(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){
                  .size = 2, .settings.mailbox = 0, .settings.mailbox_bytes = 3 * BYTES });
    f.probe->act = probe_wait;
    CU_ASSERT_EQUAL(send_bytes(&f, f.pool->pid, BYTES), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(send_bytes(&f, rig_worker(f.pool, 1), 2 * BYTES), 0);
    CU_ASSERT_EQUAL(send_bytes(&f, f.pool->pid, 3 * BYTES + 1), WEIR_EINVALID);
    CU_ASSERT_EQUAL(send_bytes(&f, f.pool->pid, 2 * BYTES), 0); /* worker 0 alone */
    CU_ASSERT_EQUAL(rig_stats(f.pool).queued, 2);
    CU_ASSERT_EQUAL(send_bytes(&f, f.pool->pid, 2 * BYTES), WEIR_EFULL);
    CU_ASSERT_EQUAL(finish(&f).done, 4);
}

/* --- nested --------------------------------------------------------------------------------- */

static void begin_nested(struct fixture *f, enum weir_route top, enum weir_route a,
                         enum weir_route b, struct pool *children[2])
{
    begin_rig(f);
    f->pool = make_pool(f, (struct pool_options){ .path = "top", .settings.route = top });
    for (int i = 0; i < 2; i++)
        children[i] = make_pool(f, (struct pool_options){ .path = i ? "top/b" : "top/a",
                                                          .size = i ? 3 : 2,
                                                          .settings.mailbox = LIMIT,
                                                          .settings.route = i ? b : a,
                                                          .parent = f->pool });
}

static struct ledger_reading finish_nested(struct fixture *f, struct pool *children[2])
{
    struct executor *executor;
    struct ledger_reading ledger;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    executor = runtime_enter(f->rig.runtime);
    pool_destroy(children[0], executor);
    pool_destroy(children[1], executor);
    runtime_leave(executor);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    return ledger;
}

/* promise P14 */
static void test_nested_members_get_one_each_and_route_it_on(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED,
                                              WEIR_ROUTE_RANDOM, WEIR_ROUTE_HASH, WEIR_ROUTE_PULL };

    for (size_t r = 0; r < sizeof routes / sizeof routes[0]; r++) {
        struct pool *children[2];
        struct fixture f;

        begin_nested(&f, WEIR_ROUTE_BROADCAST, routes[r], routes[r], children);
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 7, (struct order){ .id = 1 }), 0);
        CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
        CU_ASSERT_EQUAL(probe_times(f.probe, 1), 2);
        CU_ASSERT_EQUAL(rig_ledger(children[0]).done, 1);
        CU_ASSERT_EQUAL(rig_ledger(children[1]).done, 1);
        CU_ASSERT_EQUAL(finish_nested(&f, children).accepted, 2);
    }
}

/* promise P14 */
static void test_broadcast_below_broadcast_reaches_all(void)
{
    struct pool *children[2];
    struct fixture f;

    begin_nested(&f, WEIR_ROUTE_BROADCAST, WEIR_ROUTE_BROADCAST, WEIR_ROUTE_BROADCAST, children);
    CU_ASSERT_EQUAL(send(&f, NULL, 1), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 5);
    pool_set_route(f.pool, WEIR_ROUTE_ROUND_ROBIN);
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 5); /* one in each of the two */
    (void)finish_nested(&f, children);
}

/* promise P14 */
static void test_full_queue_below_is_counted(void)
{
    struct pool *children[2];
    struct fixture f;

    begin_nested(&f, WEIR_ROUTE_BROADCAST, WEIR_ROUTE_BROADCAST, WEIR_ROUTE_PULL, children);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, children[1]->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    for (uint32_t i = 0; i < 3 * LIMIT; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, children[1]->pid, (struct order){ .id = 5 }), 0);
    CU_ASSERT_EQUAL(send(&f, NULL, 1), 0);
    CU_ASSERT_EQUAL(rig_ledger(children[0]).accepted, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, 1);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), 2);
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 3);
    (void)finish_nested(&f, children);
}

/* promise P14 */
static void test_member_that_closes_is_passed_over(void)
{
    struct pool *children[2];
    struct fixture f;

    begin_nested(&f, WEIR_ROUTE_BROADCAST, WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_BROADCAST, children);
    CU_ASSERT_EQUAL(rig_send(&f.rig, children[0]->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    rig_close(&f.rig, children[0]);
    CU_ASSERT_EQUAL(route_room(f.pool), LIMIT);
    CU_ASSERT_EQUAL(send(&f, NULL, 1), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, 3));
    (void)finish_nested(&f, children);
}

/* --- messages for one worker ---------------------------------------------------------------- */

/* promise P14: the siblings of one that leaves have had their own. */
static void test_reroute_hands_nothing_to_siblings(void)
{
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f, (struct pool_options){
                  .size = 2, .settings.mailbox = 8, .settings.remove.mode = WEIR_REMOVE_REROUTE });
    CU_ASSERT_EQUAL(send(&f, probe_wait, 1), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    for (uint64_t id = 2; id <= 5; id++)
        CU_ASSERT_EQUAL(send(&f, NULL, id), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t id = 2; id <= 5; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 2);
    ledger = finish(&f);
    CU_ASSERT_EQUAL(ledger.moved, 0);
    CU_ASSERT_EQUAL(ledger.done, 10);
}

static int reject_at_0(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    bool *accepts = probe->context;

    (void)message;
    return weir_index(self) == 0 && !*accepts ? WEIR_REJECT : WEIR_DONE;
}

/* promise P14: a replayed dead letter goes to the same worker. */
static void test_dead_letter_is_sent_again_to_its_worker_alone(void)
{
    struct replay_result result;
    struct executor *executor;
    bool accepts = false;
    struct fixture f;

    begin(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = LIMIT });
    f.probe->context = &accepts;
    CU_ASSERT_EQUAL(send(&f, reject_at_0, 1), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    accepts = true;
    executor = runtime_enter(f.rig.runtime);
    replay(f.rig.runtime, executor, &f.pool->dead, outlet_present(&f.pool->outlets), f.pool->pid,
           &result);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(result.replayed, 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 1), WORKERS + 1);
    CU_ASSERT_EQUAL(finish(&f).done, WORKERS);
}

/* --- beside others -------------------------------------------------------------------------- */

/* All but the first only when the test says so. */
static int open_first(struct weir_self *self, struct probe *probe)
{
    const _Atomic bool *may_open = probe->context;

    return weir_index(self) == 0 || atomic_load(may_open) ? 0 : WEIR_ENOMEM;
}

static bool all_have_tried(void *context)
{
    struct fixture *f = context;

    return rig_stats(f->pool).live == 1 && atomic_load(&f->probe->refused) >= WORKERS - 1;
}

/* Again and again: one that has failed to open may not have looked at the clock yet. */
static bool all_open_in_time(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 10000);
    return rig_stats(f->pool).live == WORKERS;
}

/* promise P14: a member that is to open yet has no room for now. */
static void test_member_that_is_not_open_yet_is_counted(void)
{
    struct pool_options options = { .size = WORKERS,
                                    .settings.mailbox = LIMIT,
                                    .settings.route = WEIR_ROUTE_BROADCAST };
    _Atomic bool may_open = false;
    struct fixture f;

    begin_rig(&f);
    f.probe->context = &may_open;
    f.probe->opens = open_first;
    options.spec = rig_spec(f.probe);
    f.pool = rig_pool(&f.rig, &options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.pool);
    CU_ASSERT_TRUE(rig_wait(&f.rig, all_have_tried, &f));
    CU_ASSERT_EQUAL(send(&f, NULL, 1), 0);
    CU_ASSERT_EQUAL(rig_ledger(f.pool).accepted, 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).refused, WORKERS - 1);
    atomic_store(&may_open, true);
    CU_ASSERT_TRUE(rig_wait(&f.rig, all_open_in_time, &f));
    CU_ASSERT_EQUAL(send(&f, NULL, 2), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, WORKERS));
    spec_unref(options.spec);
    (void)finish(&f);
}

struct hammer {
    struct fixture *f;
    weir_pid to;
    uint64_t sent;       /* accepted */
    uint64_t refused;    /* as FULL */
    uint64_t unexpected; /* anything else */
    pthread_t thread;
};

static void *hammer(void *argument)
{
    struct hammer *h = argument;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        int status = rig_send(&h->f->rig, h->to, (struct order){ .act = probe_done, .id = 3 });

        h->sent += status == 0;
        h->refused += status == WEIR_EFULL;
        h->unexpected += status != 0 && status != WEIR_EFULL;
    }
    return NULL;
}

/* promises P14, S1 and L1: each copy is accepted, or refused and counted, or its message is. */
static void test_copies_add_up_beside_everything_else(void)
{
    struct hammer hammers[4];
    struct ledger_reading ledger;
    uint64_t direct = 0, copies = 0, refusals = 0, refused;
    struct fixture f;

    begin(&f, (struct pool_options){ .size = 2, .settings.mailbox = LIMIT });
    for (uint32_t i = 0; i < 4; i++) {
        hammers[i] = (struct hammer){ .f = &f,
                                      .to = i < 2 ? f.pool->pid : rig_worker(f.pool, i - 2) };
        CU_ASSERT_EQUAL_FATAL(pthread_create(&hammers[i].thread, NULL, hammer, &hammers[i]), 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        pthread_join(hammers[i].thread, NULL);
        CU_ASSERT_EQUAL(hammers[i].unexpected, 0);
        direct += i < 2 ? 0 : hammers[i].sent;
        copies += i < 2 ? 2 * hammers[i].sent : 0;
        refusals += i < 2 ? hammers[i].refused : 0;
    }
    refused = rig_stats(f.pool).refused - refusals;
    ledger = finish(&f);
    CU_ASSERT_EQUAL(ledger.accepted, direct + copies - refused);
    CU_ASSERT_EQUAL(ledger.done, ledger.accepted);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "everybody", test_every_worker_gets_it_once },
        { "full member", test_full_member_is_counted_and_the_others_get_theirs },
        { "full", test_only_when_no_member_has_room_is_it_full },
        { "one answer", test_what_has_one_answer_is_invalid },
        { "blob", test_payload_is_shared_when_it_is_a_blob },
        { "bytes", test_limit_of_bytes_is_that_of_each_member },
        { "nested", test_nested_members_get_one_each_and_route_it_on },
        { "twice", test_broadcast_below_broadcast_reaches_all },
        { "full below", test_full_queue_below_is_counted },
        { "closing member", test_member_that_closes_is_passed_over },
        { "reroute", test_reroute_hands_nothing_to_siblings },
        { "dead letter", test_dead_letter_is_sent_again_to_its_worker_alone },
        { "not open", test_member_that_is_not_open_yet_is_counted },
        { "beside everything", test_copies_add_up_beside_everything_else },
        CU_TEST_INFO_NULL,
    };

    return suite_run("broadcast", tests);
}
