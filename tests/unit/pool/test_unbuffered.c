/* SPDX-License-Identifier: MIT */
/*
 * Goal: an unbuffered pool accepts a message only while a worker is idle and may take one more, by
 * every route; a message that waits for room is accepted when a worker becomes idle.
 *
 * Method: workers at a gate, so that the test knows which ones are idle; the tests wait until a
 * worker is idle by sending until one takes the message.
 */
#include "pool/settings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "actor/send_wait.h"
#include "actor/source.h"
#include "actor/wait_queue.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
};

static void begin(struct fixture *f, enum weir_route route, uint32_t size, uint32_t in_hand)
{
    struct pool_options options = { .settings.route = route,
                                    .size = size,
                                    .settings.mailbox = WEIR_UNBUFFERED };

    f->probe = probe_create();
    f->probe->behaviour.in_hand = in_hand;
    rig_init(&f->rig, size + 1, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f, uint64_t done)
{
    struct ledger_reading ledger;

    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, done);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.dead);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* One order that is sent until a worker takes it. */
struct offer {
    struct fixture *fixture;
    weir_pid to;
    uint64_t key;
    struct order order;
};

static bool is_taken(void *context)
{
    struct offer *offer = context;

    return rig_send_key(&offer->fixture->rig, offer->to, offer->key, offer->order) == 0;
}

/* Waits until a worker is idle, and gives it the order. */
static bool gets_in(struct fixture *f, uint64_t key, struct order order)
{
    struct offer offer = { f, f->pool->pid, key, order };

    return rig_wait(&f->rig, is_taken, &offer);
}

static int send(struct fixture *f, uint64_t key, uint64_t id)
{
    return rig_send_key(&f->rig, f->pool->pid, key, (struct order){ .id = id });
}

static void check_route(enum weir_route route)
{
    struct fixture f;

    begin(&f, route, 3, 1);
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_TRUE(gets_in(&f, 1, (struct order){ .act = probe_wait, .id = id }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    CU_ASSERT_EQUAL(send(&f, 1, 4), WEIR_EFULL);
    CU_ASSERT_EQUAL(rig_stats(f.pool).queued, 0);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gets_in(&f, 1, (struct order){ .act = probe_wait, .id = 5 }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 4));
    CU_ASSERT_EQUAL(send(&f, 1, 6), WEIR_EFULL);
    CU_ASSERT_EQUAL(probe_times(f.probe, 4) + probe_times(f.probe, 6), 0);
    gate_open(&f.probe->gate);
    finish(&f, 4);
}

/* promise P31 */
static void test_busy_workers_are_full_by_each_route(void)
{
    check_route(WEIR_ROUTE_ROUND_ROBIN);
    check_route(WEIR_ROUTE_LEAST_LOADED);
    check_route(WEIR_ROUTE_RANDOM);
    check_route(WEIR_ROUTE_PULL);
}

/* promise P31: under hash the owner decides. */
static void test_busy_owner_of_a_key_is_full_while_others_are_idle(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_HASH, 3, 1);
    CU_ASSERT_TRUE(gets_in(&f, 7, (struct order){ .act = probe_wait, .id = 1 }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(send(&f, 7, 2), WEIR_EFULL);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(gets_in(&f, 7, (struct order){ .id = 3 }));
    finish(&f, 2);
}

/* The messages that the worker has kept. */
static const struct weir_message *kept[2];
static uint32_t kept_count;
/* The timer that settles them runs. The probe notes a message before it handles it. */
static atomic_bool is_timer_started;

static void settle(struct weir_self *self, void *state, void *context)
{
    (void)state;
    (void)context;
    while (kept_count > 0)
        CU_ASSERT_EQUAL(weir_settle(self, kept[--kept_count], WEIR_DONE), 0);
}

/* Keeps it; the second one until a second has passed. */
static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    kept[kept_count++] = message;
    if (kept_count == 2) {
        CU_ASSERT_EQUAL(weir_after(self, 1000, settle, NULL, NULL), 0);
        atomic_store(&is_timer_started, true);
    }
    return WEIR_KEEP;
}

static bool are_both_kept(void *context)
{
    (void)context;
    return atomic_load(&is_timer_started);
}

/* promise P31 */
static void test_worker_takes_as_many_as_it_may_keep(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 2);
    for (uint64_t id = 1; id <= 2; id++)
        CU_ASSERT_TRUE(gets_in(&f, 1, (struct order){ .act = keep, .id = id }));
    CU_ASSERT_TRUE(rig_wait(&f.rig, are_both_kept, NULL));
    CU_ASSERT_EQUAL(send(&f, 1, 3), WEIR_EFULL);
    rig_advance(&f.rig, 1000);
    CU_ASSERT_TRUE(gets_in(&f, 1, (struct order){ .id = 4 }));
    finish(&f, 3);
}

/* Emits as many orders as `argument` says. */
static int emit(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const struct order *order = probe_order(message);

    (void)probe;
    for (uint64_t i = 0; i < order->argument; i++)
        CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = i + 1 })), 0);
    return WEIR_DONE;
}

/* promise P31: an output that waits gives an unbuffered pool one message after the other. */
static void check_output(enum weir_route route)
{
    struct fixture f;
    struct probe *probe = probe_create();
    struct binding binding;
    struct pool_options options = { .path = "from", .size = 1, .output_count = 1 };
    struct pool *from;

    begin(&f, route, 2, 1);
    binding = (struct binding){ f.pool->pid, WEIR_FULL_WAIT };
    options.outputs = &binding;
    options.spec = rig_spec(probe);
    from = rig_pool(&f.rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(from);
    CU_ASSERT_TRUE(rig_settled(&f.rig, from));
    CU_ASSERT_EQUAL(rig_send(&f.rig, from->pid, (struct order){ .act = emit, .argument = 200 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, from));
    CU_ASSERT_TRUE(rig_end(&f.rig, from, NULL));
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    for (uint64_t id = 1; id <= 200; id++)
        CU_ASSERT_EQUAL(probe_times(f.probe, id), 1);
    finish(&f, 200);
    probe_destroy(probe);
}

static void test_output_that_waits_feeds_idle_workers(void)
{
    check_output(WEIR_ROUTE_ROUND_ROBIN);
    check_output(WEIR_ROUTE_LEAST_LOADED);
    check_output(WEIR_ROUTE_PULL);
}

/* promise P31: each member takes its copy when it is idle. */
static void test_broadcast_gives_a_copy_to_each_idle_worker(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_BROADCAST, 2, 1);
    CU_ASSERT_TRUE(
        rig_wait(&f.rig, is_taken,
                 &(struct offer){ &f, rig_worker(f.pool, 0), 0, { .act = probe_wait, .id = 1 } }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .act = probe_wait, .id = 2 }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(send(&f, 0, 3), WEIR_EFULL);
    gate_open(&f.probe->gate);
    finish(&f, 2);
}

/* promise P31 */
static void test_failed_worker_takes_messages_again(void)
{
    struct fixture f;
    struct ledger_reading ledger;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 1);
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .act = probe_fail, .id = id }));
    CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .id = 4 }));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, &ledger));
    CU_ASSERT_EQUAL(ledger.accepted, 4);
    CU_ASSERT_EQUAL(ledger.dead, 3);
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

/* --- waiting senders, and feeders ----------------------------------------------------------------
 * */

static void *send_patiently(void *context)
{
    struct offer *offer = context;
    struct rig *rig = &offer->fixture->rig;
    struct executor *executor = runtime_enter(rig->runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof offer->order);

    memcpy(message->public.data, &offer->order, sizeof offer->order);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(send_wait(rig->runtime, offer->to, message, wait_limit_ms()), 0);
    return NULL;
}

static bool somebody_waits(void *context)
{
    return wait_queue_any(&((struct pool *)context)->waiters);
}

static void check_thread(enum weir_route route)
{
    struct fixture f;
    struct offer offer = { .fixture = &f, .order = { .id = 2 } };
    pthread_t thread;

    begin(&f, route, 1, 1);
    offer.to = f.pool->pid;
    CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .act = probe_wait, .id = 1 }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, send_patiently, &offer), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, somebody_waits, f.pool));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0);
    gate_open(&f.probe->gate);
    pthread_join(thread, NULL);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    finish(&f, 2);
}

/* promise P31: a thread outside that waits gets in when a worker is idle. */
static void test_thread_that_waits_gets_in_when_a_worker_is_idle(void)
{
    check_thread(WEIR_ROUTE_ROUND_ROBIN);
    check_thread(WEIR_ROUTE_PULL);
}

#define PRODUCED 100u

struct produced {
    uint32_t count;
    _Atomic bool exceeded; /* it was asked for more than there are workers */
};

/* Emits up to its credit, PRODUCED messages in all. */
static int produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct produced *produced = *(struct produced **)memory;

    if (credit > 2)
        atomic_store(&produced->exceeded, true);
    for (uint32_t i = 0; i < credit && produced->count < PRODUCED; i++)
        CU_ASSERT_EQUAL(
            weir_emit(self, 0, probe_message(self, (struct order){ .id = ++produced->count })), 0);
    return produced->count < PRODUCED ? WEIR_MORE : WEIR_END;
}

static int open_source(struct weir_self *self, const void *settings, void *memory)
{
    (void)self;
    *(const void **)memory = settings;
    return 0;
}

static const struct weir_behaviour source_behaviour = {
    .name = "source", .state_size = sizeof(void *), .open = open_source, .produce = produce
};

static bool has_ended(void *context)
{
    return source_has_ended(context);
}

static void check_source(enum weir_route route)
{
    struct fixture f;
    struct produced produced = { 0 };
    struct spec *spec = spec_create(&source_behaviour, &produced);
    struct source_options options = { .path = "source", .spec = spec, .output_count = 1 };
    struct executor *executor;
    struct source *source;

    begin(&f, route, 2, 1);
    options.dispatcher = f.rig.dispatcher;
    options.target = f.pool->pid;
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(source_create(f.rig.runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    spec_unref(spec);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, PRODUCED, 1));
    executor = runtime_enter(f.rig.runtime);
    source_close(source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, source));
    executor = runtime_enter(f.rig.runtime);
    source_destroy(source, executor);
    runtime_leave(executor);
    CU_ASSERT_FALSE(atomic_load(&produced.exceeded));
    finish(&f, PRODUCED);
}

/* promise P31: a source is asked for as many messages as there are idle workers. */
static void test_source_feeds_idle_workers(void)
{
    check_source(WEIR_ROUTE_ROUND_ROBIN);
    check_source(WEIR_ROUTE_LEAST_LOADED);
    check_source(WEIR_ROUTE_PULL);
}

/* --- nested, and directly --------------------------------------------------------------------- */

static struct pool *part_of(struct fixture *f, struct pool *parent, const char *path)
{
    struct spec *spec = rig_spec(f->probe);
    struct pool_options options = {
        .path = path, .parent = parent, .spec = spec, .size = 1, .settings.mailbox = WEIR_UNBUFFERED
    };
    struct pool *pool = rig_pool(&f->rig, &options);

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static void destroy(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_destroy(pool, executor);
    runtime_leave(executor);
}

/* promise P31: a pool of unbuffered pools is full while no worker below is idle. */
static void test_pool_of_unbuffered_pools_accepts_what_an_idle_worker_takes(void)
{
    struct fixture f = { .probe = probe_create() };
    struct pool *parts[2];

    rig_init(&f.rig, 3, 0);
    f.pool = rig_pool(&f.rig, &(struct pool_options){ .path = "both" });
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.pool);
    parts[0] = part_of(&f, f.pool, "both/one");
    parts[1] = part_of(&f, f.pool, "both/two");
    for (uint64_t id = 1; id <= 2; id++)
        CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .act = probe_wait, .id = id }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(send(&f, 0, 3), WEIR_EFULL);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .act = probe_wait, .id = 4 }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 3));
    CU_ASSERT_EQUAL(send(&f, 0, 5), WEIR_EFULL);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    CU_ASSERT_EQUAL(probe_count(f.probe), 3);
    for (int i = 0; i < 2; i++)
        destroy(&f, parts[i]);
    rig_finish(&f.rig);
    probe_destroy(f.probe);
}

/* promise P31: with `pull`, a worker that has a message of its own may be chosen for one of the
 * queue as well; both are handled, and no third one gets in. */
static void test_worker_of_a_queue_may_get_one_message_of_its_own(void)
{
    struct fixture f;
    struct offer own = { .fixture = &f, .order = { .act = probe_wait, .id = 1 } };
    int status;

    begin(&f, WEIR_ROUTE_PULL, 1, 1);
    own.to = rig_worker(f.pool, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_taken, &own));
    status = send(&f, 0, 2);
    CU_ASSERT_TRUE(status == 0 || status == WEIR_EFULL);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(send(&f, 0, 3), WEIR_EFULL);
    CU_ASSERT_FALSE(is_taken(&own));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    finish(&f, status == 0 ? 2 : 1);
}

static void set_limit(struct fixture *f, uint32_t limit)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    pool_set_limit(f->pool, limit, executor);
    runtime_leave(executor);
}

/* promise P31 */
static void test_pool_becomes_unbuffered_and_buffered_again(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 1);
    CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .act = probe_wait, .id = 1 }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL(send(&f, 0, 2), WEIR_EFULL);
    set_limit(&f, 2);
    CU_ASSERT_EQUAL(send(&f, 0, 3), 0);
    CU_ASSERT_EQUAL(send(&f, 0, 4), 0);
    CU_ASSERT_EQUAL(send(&f, 0, 5), WEIR_EFULL);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    set_limit(&f, WEIR_UNBUFFERED);
    CU_ASSERT_TRUE(gets_in(&f, 0, (struct order){ .act = probe_wait, .id = 6 }));
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_EQUAL(send(&f, 0, 7), WEIR_EFULL);
    gate_open(&f.probe->gate);
    finish(&f, 4);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "routes", test_busy_workers_are_full_by_each_route },
        { "hash", test_busy_owner_of_a_key_is_full_while_others_are_idle },
        { "in hand", test_worker_takes_as_many_as_it_may_keep },
        { "output", test_output_that_waits_feeds_idle_workers },
        { "broadcast", test_broadcast_gives_a_copy_to_each_idle_worker },
        { "failure", test_failed_worker_takes_messages_again },
        { "thread", test_thread_that_waits_gets_in_when_a_worker_is_idle },
        { "source", test_source_feeds_idle_workers },
        { "nested", test_pool_of_unbuffered_pools_accepts_what_an_idle_worker_takes },
        { "direct", test_worker_of_a_queue_may_get_one_message_of_its_own },
        { "change", test_pool_becomes_unbuffered_and_buffered_again },
        CU_TEST_INFO_NULL,
    };

    return suite_run("unbuffered", tests);
}
