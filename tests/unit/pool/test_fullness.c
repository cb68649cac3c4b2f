/*
 * Goal: a full pool refuses at the cost of a look or two, however many workers it has, at any
 * depth; and never while one of them has room.
 *
 * Method: looks at mailboxes are counted as they are made, by functions that stand in for those of
 * the core (--wrap); workers held at a gate with full mailboxes. Then one sender beside workers
 * that free places all the time, who knows from their notes when there must be room.
 */
#include "actor/send.h"
#include "message/announcing.h"
#include "pool/route_chain.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define WORKERS 64u
#define REFUSALS 1000u
#define ROUNDS 20000u
#define THREADS 4u
#define BYTES 64u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool; /* the one that is sent to */
    struct pool *children[4];
    uint32_t child_count;
    uint64_t sent;
};

/* How often somebody has looked at a mailbox. */
static _Atomic uint64_t looks;

int __real_send_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message);
bool __real_announcing_is_full(struct mailbox *mailbox);
int __real_mailbox_look(struct mailbox *mailbox, uint32_t serial, uint64_t size,
                        uint64_t *out_taken);
int __wrap_mailbox_look(struct mailbox *mailbox, uint32_t serial, uint64_t size,
                        uint64_t *out_taken);
int __real_mailbox_hold(struct mailbox *mailbox, uint32_t serial, uint64_t size);
int __wrap_mailbox_hold(struct mailbox *mailbox, uint32_t serial, uint64_t size);
int __wrap_send_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message);
bool __wrap_announcing_is_full(struct mailbox *mailbox);

int __wrap_send_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message)
{
    atomic_fetch_add(&looks, 1);
    return __real_send_deliver(actor, serial, executor, message);
}

bool __wrap_announcing_is_full(struct mailbox *mailbox)
{
    atomic_fetch_add(&looks, 1);
    return __real_announcing_is_full(mailbox);
}

int __wrap_mailbox_look(struct mailbox *mailbox, uint32_t serial, uint64_t size,
                        uint64_t *out_taken)
{
    atomic_fetch_add(&looks, 1);
    return __real_mailbox_look(mailbox, serial, size, out_taken);
}

int __wrap_mailbox_hold(struct mailbox *mailbox, uint32_t serial, uint64_t size)
{
    atomic_fetch_add(&looks, 1);
    return __real_mailbox_hold(mailbox, serial, size);
}

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

static void begin(struct fixture *f, enum pool_route route)
{
    begin_rig(f, 2);
    f->pool = make_pool(f, (struct pool_options){
                               .size = WORKERS, .limit = 2, .bytes_limit = BYTES, .route = route });
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
                                      .limit = 2,
                                      .route = i == 2 ? ROUTE_PULL : ROUTE_LEAST_LOADED });
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

/* Two workers are in their handlers, the others wait for a thread: nobody takes anything more. */
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

static uint64_t looks_of_refusals(struct fixture *f)
{
    uint64_t before = atomic_load(&looks);

    for (uint32_t i = 0; i < REFUSALS; i++)
        CU_ASSERT_EQUAL(send(f), WEIR_EFULL);
    return atomic_load(&looks) - before;
}

static bool all_announce(void *context)
{
    struct pool *pool = context;
    bool all = true;

    pthread_mutex_lock(&pool->lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        all &= atomic_load(&LIST_ENTRY(node, struct place, link)->actor->mailbox.announces);
    for (uint32_t i = 0; i < pool->child_count && all; i++)
        all = atomic_load(&pool->children[i]->route) == ROUTE_PULL ||
              all_announce(pool->children[i]);
    pthread_mutex_unlock(&pool->lock);
    return all;
}

/* Each worker has had a turn since there are many: it announces from then on. */
static void attend(struct fixture *f)
{
    uint32_t rounds = 0;

    f->probe->act = NULL;
    while (!all_announce(f->pool) && rounds++ < 100) {
        for (uint32_t i = 0; i < WORKERS; i++)
            CU_ASSERT_EQUAL(send(f), 0);
        CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
    }
    CU_ASSERT_TRUE(all_announce(f->pool));
}

/* promise P15 */
static void test_refusals_do_not_look_at_everybody(void)
{
    static const enum pool_route routes[] = { ROUTE_ROUND_ROBIN, ROUTE_LEAST_LOADED, ROUTE_RANDOM };

    for (size_t r = 0; r < sizeof routes / sizeof routes[0]; r++) {
        struct fixture f;

        begin(&f, routes[r]);
        attend(&f);
        fill(&f);
        /* Two looks at each by the first, one look at the word by the others. */
        CU_ASSERT_TRUE(looks_of_refusals(&f) <= 2 * WORKERS);
        finish(&f);
    }
}

/* promise P15 */
static void test_refusals_of_nested_pools_do_not_either(void)
{
    struct fixture f;

    begin_nested(&f);
    attend(&f);
    fill(&f);
    CU_ASSERT_TRUE(looks_of_refusals(&f) <= 2 * WORKERS);
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

/* promise P15: what makes room is seen at once, whatever it is. */
static void test_whatever_makes_room_is_seen_at_once(void)
{
    struct fixture f;
    struct executor *executor;

    begin(&f, ROUTE_ROUND_ROBIN);
    attend(&f);
    fill(&f);
    CU_ASSERT_EQUAL(send_two(&f), WEIR_EFULL);
    CU_ASSERT_EQUAL(send_size(&f, BYTES + 1), WEIR_EINVALID); /* never, whoever is full */
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

static int note_begun(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)self;
    (void)message;
    atomic_fetch_add((_Atomic uint64_t *)probe->context, 1);
    return WEIR_DONE;
}

/*
 * promises P15 and S5: one sender, who knows how many of its messages have been begun: unless as
 * many wait as there are places, one was free all the time, and to be refused would be a lie.
 */
static void test_nobody_is_refused_while_there_is_room(void)
{
    _Atomic uint64_t begun = 0;
    uint64_t refused = 0;
    uint64_t lies = 0;
    struct fixture f;

    begin_rig(&f, THREADS);
    f.pool = make_pool(&f, (struct pool_options){ .size = WORKERS, .limit = 1 });
    f.probe->context = &begun;
    f.probe->act = note_begun;
    while (f.sent < ROUNDS && lies == 0) {
        uint64_t before = atomic_load(&begun);

        if (send(&f) == 0)
            continue;
        refused++;
        lies += f.sent - before < WORKERS;
    }
    CU_ASSERT_EQUAL(lies, 0);
    (void)printf("refused %llu ", (unsigned long long)refused);
    finish(&f);
}

/* Two broadcasts wait at each worker, none of which has a thread. */
static void fill_broadcast(struct fixture *f)
{
    while (send(f) == 0)
        continue;
    CU_ASSERT_EQUAL(rig_stats(f->pool).queued, 2 * WORKERS);
}

/* promises P15 and P14: who refused last is looked at first; when it has room, all are asked. */
static void test_a_broadcast_that_one_refuses_asks_nobody_else(void)
{
    struct fixture f;
    struct pool *aside;

    begin_rig(&f, 1);
    f.pool = make_pool(
        &f, (struct pool_options){ .size = WORKERS, .limit = 2, .route = ROUTE_BROADCAST });
    aside = rig_workers(&f.rig, f.probe, "aside", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, aside->pid, (struct order){ .act = probe_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    fill_broadcast(&f);
    CU_ASSERT_EQUAL(looks_of_refusals(&f), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_EQUAL(send(&f), 0);
    f.sent *= WORKERS;
    CU_ASSERT_TRUE(rig_end(&f.rig, aside, NULL));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "broadcast", test_a_broadcast_that_one_refuses_asks_nobody_else },
        { "looks", test_refusals_do_not_look_at_everybody },
        { "nested", test_refusals_of_nested_pools_do_not_either },
        { "room", test_whatever_makes_room_is_seen_at_once },
        { "no lie", test_nobody_is_refused_while_there_is_room },
        CU_TEST_INFO_NULL,
    };

    return suite_run("fullness", tests);
}
