/*
 * Goal: a sender during a resize or a close is answered as if one had come after the other: a
 * removed worker gets no more messages, a key goes to its present owner, and no message is admitted
 * after the pool has answered that it is closed.
 *
 * Method: replacements of core's functions (--wrap) call the test between a sender's look at the
 * members and its look at the worker, and between two steps of closing.
 */
#include "actor/deliver.h"
#include "actor/send.h"
#include "pool/pulling.h"
#include "pool/route.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t sent;
    int told;  /* to a sender while the pool closes */
    int later; /* to a sender that had begun before */
};

/* The next event, once, before the look at a worker, or before the queue is closed. */
static void (*meanwhile)(struct fixture *f);
static struct fixture *watched;

static void let_happen(void)
{
    void (*now)(struct fixture * f) = meanwhile;

    meanwhile = NULL;
    if (now)
        now(watched);
}

int __real_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                   struct message *message);
int __wrap_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                   struct message *message);
void __real_pulling_close_locked(struct pool *pool);
void __wrap_pulling_close_locked(struct pool *pool);

int __wrap_deliver(struct actor *actor, uint32_t serial, struct executor *executor,
                   struct message *message)
{
    let_happen();
    return __real_deliver(actor, serial, executor, message);
}

void __wrap_pulling_close_locked(struct pool *pool)
{
    let_happen();
    __real_pulling_close_locked(pool);
}

static void begin(struct fixture *f, struct pool_options options)
{
    *f = (struct fixture){ .probe = probe_create() };
    watched = f;
    rig_init(&f->rig, 3, 0);
    options.spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE_FATAL(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    struct ledger_reading ledger;

    CU_ASSERT_PTR_NULL(meanwhile);
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->sent);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static void send_to(struct fixture *f, weir_pid to, uint64_t key, probe_act *act)
{
    CU_ASSERT_EQUAL(rig_send_key(&f->rig, to, key, (struct order){ .act = act }), 0);
    f->sent++;
}

/* The one worker left is the first. */
static void shrink(struct fixture *f)
{
    struct weir_resized resized;

    CU_ASSERT_EQUAL(rig_resize(&f->rig, f->pool, 1, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, 1);
}

/* --- removed --------------------------------------------------------------------------------- */

static void start_with_the_second(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    for (uint32_t i = 0; i < EXECUTOR_ROUNDS; i++)
        executor->rounds[i] = 1;
    runtime_leave(executor);
}

/* promises P6 and P7: it has not had a turn since, and cannot know it. */
static void test_a_removed_worker_gets_nothing_more(void)
{
    struct fixture f;
    struct actor *second;

    begin(&f, (struct pool_options){ .size = 2, .settings.mailbox = 4 });
    second = actor_find(f.rig.runtime, rig_worker(f.pool, 1));
    for (uint32_t i = 0; i < 2; i++)
        send_to(&f, rig_worker(f.pool, i), 0, probe_wait);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    start_with_the_second(&f);
    meanwhile = shrink;
    send_to(&f, f.pool->pid, 0, probe_done);
    CU_ASSERT_EQUAL(mailbox_waiting(&second->mailbox), 0);
    CU_ASSERT_EQUAL(mailbox_waiting(&actor_find(f.rig.runtime, rig_worker(f.pool, 0))->mailbox), 1);
    finish(&f);
}

static uint64_t key_of_the_second(struct pool *pool)
{
    const struct members *members = atomic_load(&pool->members);
    uint64_t key = 1;

    while (members->members[route_owner(pool, members, key)].index != 1)
        key++;
    return key;
}

/* promises P7 and P3: its owner of before had room, and its owner of now has. */
static void test_a_key_whose_owner_leaves_finds_the_next(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){
                  .size = 2, .settings.mailbox = 4, .settings.route = WEIR_ROUTE_HASH });
    meanwhile = shrink;
    send_to(&f, f.pool->pid, key_of_the_second(f.pool), probe_done);
    finish(&f);
}

/* --- closed ---------------------------------------------------------------------------------- */

static int push(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof(struct order));
    int status;

    *(struct order *)message->public.data = (struct order){ .act = probe_done };
    status = pulling_push(f->pool, executor, message);
    if (status != 0)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    f->sent += status == 0;
    return status;
}

/* A sender; and one that has looked at the pool before, and now comes to the queue. */
static void send_two(struct fixture *f)
{
    f->told = rig_send(&f->rig, f->pool->pid, (struct order){ .act = probe_done });
    f->sent += f->told == 0;
    f->later = push(f);
}

/* promises P8 and P12 */
static void test_nobody_is_let_in_after_somebody_was_told_closed(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){
                  .size = 1, .settings.mailbox = 4, .settings.route = WEIR_ROUTE_PULL });
    meanwhile = send_two;
    rig_close(&f.rig, f.pool);
    CU_ASSERT_FALSE(f.told == WEIR_ECLOSED && f.later == 0);
    CU_ASSERT_EQUAL(push(&f), WEIR_ECLOSED);
    finish(&f);
}

static void close_pool(struct fixture *f)
{
    rig_close(&f->rig, f->pool);
}

/* promise Z4: its only worker has closed with it, and was never full. By key, since a round-robin
 * sender looks twice. */
static void test_a_pool_that_closes_meanwhile_is_not_full(void)
{
    struct fixture f;

    begin(&f, (struct pool_options){
                  .size = 1, .settings.mailbox = 4, .settings.route = WEIR_ROUTE_HASH });
    meanwhile = close_pool;
    CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 1, (struct order){ .act = probe_done }),
                    WEIR_ECLOSED);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "removed", test_a_removed_worker_gets_nothing_more },
        { "owner", test_a_key_whose_owner_leaves_finds_the_next },
        { "closed", test_nobody_is_let_in_after_somebody_was_told_closed },
        { "not full", test_a_pool_that_closes_meanwhile_is_not_full },
        CU_TEST_INFO_NULL,
    };

    return suite_run("meanwhile", tests);
}
