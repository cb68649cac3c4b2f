/* SPDX-License-Identifier: MIT */
/*
 * Goal: a full pool refuses at the cost of a check or two, for any number of workers and any depth;
 * and its full mark never outlives the fullness.
 *
 * Method: the work of refusals is counted by basic blocks (work.h); workers wait at a gate with
 * full mailboxes. Then senders run in parallel with workers that free places all the
 * time: a mark left at the end would refuse for ever.
 */
#include "actor/fullness.h"
#include "actor/send.h"
#include "pool/route_chain.h"
#include "pool/settings.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/work.h"

#define WORKERS 64u
#define REFUSALS 1000u
#define BLOCKS_MAX WORKERS /* of one refusal: a check of each worker takes more than one block */
#define ROUNDS 300u
#define SENDERS 3u
#define SENDS 400u
#define THREADS 3u
#define BYTES 64u
#define BATCH 16u /* places that a quick worker returns at once, at most */

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool; /* the one that is sent to */
    struct pool *children[4];
    uint32_t child_count;
    uint64_t sent;
    uint32_t handled;      /* since the count began */
    int status_in_handler; /* of a message that a handler sent to the pool */
};

static struct pool *make_pool(struct fixture *f, struct pool_options options)
{
    struct pool *pool;

    options.spec = options.size ? rig_spec(f->probe) : NULL;
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE_FATAL(rig_settled(&f->rig, pool));
    return pool;
}

static void begin_rig(struct fixture *f, uint32_t threads)
{
    *f = (struct fixture){ .probe = probe_create() };
    rig_init(&f->rig, threads, 0);
}

static void begin(struct fixture *f, enum weir_route route)
{
    begin_rig(f, 2);
    f->pool = make_pool(f, (struct pool_options){
                               .size = WORKERS, .settings.mailbox = 2, .settings.route = route });
}

/* Two levels of pools above four pools of workers; 16 in each: none of these alone is many. */
static void begin_nested(struct fixture *f)
{
    struct pool *middle;

    begin_rig(f, 2);
    f->pool = make_pool(f, (struct pool_options){ .path = "top" });
    middle = make_pool(f, (struct pool_options){ .path = "top/m", .parent = f->pool });
    for (uint32_t i = 0; i < 3; i++) {
        char path[] = "top/m/0";

        path[6] = (char)('0' + i);
        f->children[i] = make_pool(
            f, (struct pool_options){ .path = path,
                                      .parent = middle,
                                      .size = WORKERS / 4,
                                      .settings.mailbox = 2,
                                      .settings.route = i == 2 ? WEIR_ROUTE_PULL
                                                               : WEIR_ROUTE_LEAST_LOADED });
    }
    f->children[3] = middle;
    f->child_count = 4;
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;
    struct executor *executor;

    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->sent);
    executor = runtime_enter(f->rig.runtime);
    for (uint32_t i = 0; i < f->child_count; i++)
        pool_destroy(f->children[i], executor);
    runtime_leave(executor);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static int send_size(struct fixture *f, uint32_t size)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, size);
    int status = send_message(f->rig.runtime, executor, f->pool->pid, WEIR_NORMAL, message);

    if (status != 0)
        message_destroy(&executor->cache, message);
    f->sent += status == 0;
    runtime_leave(executor);
    return status;
}

static int send(struct fixture *f)
{
    return send_size(f, 1);
}

/* Two workers are in their handlers, the others wait for a thread: no worker takes another
 * message. */
static void fill(struct fixture *f)
{
    f->probe->act = probe_wait;
    for (uint32_t i = 0; i < 2; i++) {
        while (send(f) == 0)
            continue;
        CU_ASSERT_TRUE(gate_await(&f->probe->gate, 2));
    }
    CU_ASSERT_EQUAL(send(f), WEIR_EFULL);
}

static uint64_t work_of_refusals(struct fixture *f)
{
    uint64_t before = work_done();

    for (uint32_t i = 0; i < REFUSALS; i++)
        CU_ASSERT_EQUAL(send(f), WEIR_EFULL);
    return work_done() - before;
}

/* promise P15 */
static void test_refusals_do_not_look_at_everybody(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED,
                                              WEIR_ROUTE_RANDOM };

    for (size_t r = 0; r < sizeof routes / sizeof routes[0]; r++) {
        struct fixture f;

        begin(&f, routes[r]);
        fill(&f);
        CU_ASSERT_TRUE(work_of_refusals(&f) < REFUSALS * BLOCKS_MAX);
        finish(&f);
    }
}

/* promise P15 */
static void test_refusals_of_nested_pools_do_not_either(void)
{
    struct fixture f;

    begin_nested(&f);
    fill(&f);
    CU_ASSERT_TRUE(work_of_refusals(&f) < REFUSALS * BLOCKS_MAX);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(send(&f), 0);
    finish(&f);
}

static int send_two(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *chain[2];
    int taken;

    for (int i = 0; i < 2; i++)
        chain[i] = message_create(&executor->cache, NULL, 1);
    taken = route_chain(f->pool, executor, chain, 2);
    for (int i = taken > 0 ? taken : 0; i < 2; i++)
        message_destroy(&executor->cache, chain[i]);
    f->sent += taken > 0 ? (uint64_t)taken : 0;
    runtime_leave(executor);
    return taken;
}

/* promise P15: every kind of new room is seen at once. */
static void test_whatever_makes_room_is_seen_at_once(void)
{
    struct fixture f;
    struct executor *executor;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN);
    fill(&f);
    CU_ASSERT_EQUAL(send_two(&f), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, WORKERS + 1, NULL), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2)); /* both threads are in handlers */
    gate_admit(&f.probe->gate, 2);                 /* and let the new worker open */
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
    while (send(&f) == 0)
        continue;
    executor = runtime_enter(f.rig.runtime);
    pool_set_limit(f.pool, 3, executor);
    CU_ASSERT_EQUAL(send(&f), 0);
    while (send(&f) == 0)
        continue;
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    pool_pause(f.pool, true, executor);
    pool_pause(f.pool, false, executor);
    pool_set_limit(f.pool, 4, executor);
    CU_ASSERT_EQUAL(send_two(&f), 1);
    runtime_leave(executor);
    finish(&f);
}

/* promise P15: a worker that takes a message and may be slow has given back the place before. */
static void test_mark_ends_before_a_handler_that_may_take_long(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN);
    fill(&f);
    (void)work_of_refusals(&f);
    rig_advance(&f.rig, 1); /* the worker is not quick, and its turn is not too long */
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3)); /* it holds its next message */
    CU_ASSERT_EQUAL(send(&f), 0);
    CU_ASSERT_EQUAL(send(&f), WEIR_EFULL);
    finish(&f);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void step(struct fixture *f, uint32_t turns)
{
    (void)rig_step(&f->rig, never, NULL, turns);
}

/* No thread takes turns: only the steps do. */
static void begin_still(struct fixture *f, uint32_t mailbox)
{
    struct pool_options options = { .size = FULLNESS_FEW + 1, .settings.mailbox = mailbox };

    *f = (struct fixture){ .probe = probe_create() };
    rig_init_still(&f->rig, 1, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    step(f, 4 * WORKERS);
}

static void finish_still(struct fixture *f)
{
    step(f, 4 * WORKERS);
    rig_close(&f->rig, f->pool);
    step(f, 4 * WORKERS);
    finish(f);
}

static void fill_still(struct fixture *f)
{
    while (send(f) == 0)
        continue;
    (void)work_of_refusals(f); /* marked */
}

/* promise P15: a quick worker gives its places back at the end of its turn. */
static void test_mark_ends_with_the_turn_of_a_quick_worker(void)
{
    struct fixture f;

    begin_still(&f, 16);
    fill_still(&f);
    step(&f, 4 * WORKERS); /* each of them is known to be quick from now on */
    fill_still(&f);
    step(&f, 1);
    CU_ASSERT_EQUAL(send(&f), 0);
    finish_still(&f);
}

/* The first message after a whole batch sends one more, as in a handler that takes long. */
static int send_after_batch(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    struct fixture *f = probe->context;
    struct weir_message *more;

    (void)message;
    if (++f->handled != BATCH + 1)
        return WEIR_DONE;
    more = weir_message_new(self, NULL, 1);
    f->status_in_handler = weir_send(self, f->pool->pid, more);
    if (f->status_in_handler != 0)
        weir_message_free(self, more);
    f->sent += f->status_in_handler == 0;
    return WEIR_DONE;
}

/* promise P15: places that a quick worker has given back are seen although its turn lasts. */
static void test_mark_ends_with_a_batch_of_a_quick_worker(void)
{
    struct fixture f;

    begin_still(&f, 4 * BATCH);
    f.status_in_handler = WEIR_EFULL;
    fill_still(&f);
    step(&f, 4 * WORKERS);
    fill_still(&f);
    f.probe->context = &f;
    f.probe->act = send_after_batch;
    step(&f, 1);
    CU_ASSERT_TRUE(f.handled > BATCH);
    CU_ASSERT_EQUAL(f.status_in_handler, 0);
    finish_still(&f);
}

/* promise S11: a smaller message may find room, and one that is too large gets its own status. */
static void test_limit_of_bytes_is_looked_at_each_time(void)
{
    struct fixture f;

    begin_rig(&f, 2);
    f.pool = make_pool(&f,
                       (struct pool_options){ .size = WORKERS, .settings.mailbox_bytes = BYTES });
    f.probe->act = probe_wait;
    while (send_size(&f, BYTES - 1) == 0)
        continue;
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2)); /* neither thread takes another one */
    while (send_size(&f, BYTES - 1) == 0)
        continue;
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(send_size(&f, BYTES - 1), WEIR_EFULL);
    CU_ASSERT_EQUAL(send_size(&f, BYTES + 1), WEIR_EINVALID);
    CU_ASSERT_EQUAL(send(&f), 0);
    finish(&f);
}

/* --- beside others -------------------------------------------------------------------------- */

struct sender {
    struct fixture *f;
    struct pool *pool;
    uint64_t sent;
    uint64_t refused;
    pthread_t thread;
};

static void *send_many(void *argument)
{
    struct sender *sender = argument;

    for (uint32_t i = 0; i < SENDS; i++) {
        int status = rig_send(&sender->f->rig, sender->pool->pid, (struct order){ .id = 1 });

        sender->sent += status == 0;
        sender->refused += status == WEIR_EFULL;
    }
    return NULL;
}

static uint64_t send_at_once(struct fixture *f, struct pool *pool)
{
    struct sender senders[SENDERS];
    uint64_t refused = 0;

    for (uint32_t i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){ .f = f, .pool = pool };
        CU_ASSERT_EQUAL_FATAL(pthread_create(&senders[i].thread, NULL, send_many, &senders[i]), 0);
    }
    for (uint32_t i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
        f->sent += senders[i].sent;
        refused += senders[i].refused;
    }
    return refused;
}

static bool is_taken(void *context)
{
    return send(context) == 0;
}

static void fill_and_empty(struct fixture *f)
{
    uint64_t refused = 0;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        refused += send_at_once(f, f->pool);
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
        /* The last turn may not have ended yet. */
        CU_ASSERT_TRUE_FATAL(rig_wait(&f->rig, is_taken, f));
    }
    CU_ASSERT_TRUE(refused > 0);
}

/* promise P15 */
static void test_no_mark_is_left_when_all_is_handled(void)
{
    struct fixture f;

    begin_rig(&f, THREADS);
    f.pool = make_pool(&f, (struct pool_options){ .size = WORKERS, .settings.mailbox = 1 });
    fill_and_empty(&f);
    finish(&f);
}

/* promise P15 */
static void test_no_mark_is_left_in_nested_pools(void)
{
    struct fixture f;

    begin_nested(&f);
    fill_and_empty(&f);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "looks", test_refusals_do_not_look_at_everybody },
        { "nested", test_refusals_of_nested_pools_do_not_either },
        { "room", test_whatever_makes_room_is_seen_at_once },
        { "slow handler", test_mark_ends_before_a_handler_that_may_take_long },
        { "quick worker", test_mark_ends_with_the_turn_of_a_quick_worker },
        { "batch", test_mark_ends_with_a_batch_of_a_quick_worker },
        { "bytes", test_limit_of_bytes_is_looked_at_each_time },
        { "no mark left", test_no_mark_is_left_when_all_is_handled },
        { "no mark left below", test_no_mark_is_left_in_nested_pools },
        CU_TEST_INFO_NULL,
    };

    return suite_run("fullness", tests);
}
