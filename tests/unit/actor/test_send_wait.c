/* SPDX-License-Identifier: MIT */
/*
 * Goal: a thread outside the runtime that waits for room is released by a free place, by growth
 * alone, by the end of its target and by its time-out, and by nothing else; a wait that would never
 * end is refused.
 *
 * Method: workers at a gate with full mailboxes, and threads that are seen in the wait queue
 * before the release.
 */
#include "actor/send_wait.h"
#include "pool/settings.h"

#include <pthread.h>
#include <string.h>

#include "actor/find.h"
#include "actor/lifecycle.h"
#include "actor/room_queue.h"
#include "actor/spawn.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

struct fixture {
    struct rig rig;
    struct probe *probe;
};

static void begin(struct fixture *f, uint32_t threads)
{
    f->probe = probe_create();
    rig_init(&f->rig, threads, 0);
}

static void finish(struct fixture *f)
{
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static struct message *make_order(struct runtime *runtime, struct order order, uint64_t key)
{
    struct executor *executor = runtime_enter(runtime);
    struct message *message = message_create(&executor->cache, NULL, sizeof order);

    memcpy(message->public.data, &order, sizeof order);
    message->public.key = key;
    runtime_leave(executor);
    return message;
}

static void free_message(struct runtime *runtime, struct message *message)
{
    struct executor *executor = runtime_enter(runtime);

    message_destroy(&executor->cache, message);
    runtime_leave(executor);
}

/* --- a thread that waits -------------------------------------------------------------------- */

struct sender {
    struct rig *rig;
    weir_pid to;
    probe_act *act;
    uint64_t id;
    uint64_t key;
    pthread_t thread;
    int status;
};

static void *send_patiently(void *context)
{
    struct sender *sender = context;
    struct runtime *runtime = sender->rig->runtime;
    const struct order order = { .act = sender->act, .id = sender->id };
    struct message *message = make_order(runtime, order, sender->key);

    sender->status = send_wait(runtime, sender->to, message, wait_limit_ms());
    if (sender->status != 0)
        free_message(runtime, message);
    return NULL;
}

struct line {
    struct rig *rig;
    weir_pid to;
    uint32_t count;
};

static bool stand_in_line(void *context)
{
    struct line *line = context;
    struct executor *executor = runtime_enter(line->rig->runtime);
    struct wait_queue *queue = room_queue_of(actor_find(line->rig->runtime, line->to));
    uint32_t count = atomic_load(&queue->count);

    runtime_leave(executor);
    return count >= line->count;
}

/* Starts a sender; on return it is in line as number `count`. */
static void start(struct sender *sender, uint32_t count)
{
    struct line line = { sender->rig, sender->to, count };

    CU_ASSERT_EQUAL_FATAL(pthread_create(&sender->thread, NULL, send_patiently, sender), 0);
    CU_ASSERT_TRUE(rig_wait(sender->rig, stand_in_line, &line));
}

static int status_of(struct sender *sender)
{
    pthread_join(sender->thread, NULL);
    return sender->status;
}

/* A pool of one worker, held at the gate with a full mailbox of one. */
static struct pool *full_pool(struct fixture *f)
{
    struct pool *pool = rig_workers(&f->rig, f->probe, "pool", 1, 1);

    CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .act = probe_wait, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(pool, 0), (struct order){ .id = 2 }), 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, (struct order){ .id = 3 }), WEIR_EFULL);
    return pool;
}

/* --- what releases -------------------------------------------------------------------------- */

/* promise E5 */
static void test_freed_place_releases_the_waiting_sender(void)
{
    struct fixture f;
    struct pool *pool;
    struct sender sender;

    begin(&f, 2);
    pool = full_pool(&f);
    sender = (struct sender){ .rig = &f.rig, .to = pool->pid, .id = 77 };
    start(&sender, 1);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_EQUAL(status_of(&sender), 0);
    CU_ASSERT_FALSE(wait_queue_any(&pool->waiters));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* A waiter in line that counts its wake-ups. */
struct bystander {
    struct waiter waiter;
    _Atomic uint32_t wakes;
};

static void count_wake(struct waiter *waiter, struct executor *executor)
{
    (void)executor;
    atomic_fetch_add(&LIST_ENTRY(waiter, struct bystander, waiter)->wakes, 1);
}

/* promise O2: one place was freed, and the first in line has it. Its message stays in hand, so that
 * no other place becomes free. */
static void test_sender_that_uses_its_place_wakes_nobody(void)
{
    struct bystander next;
    struct sender sender;
    struct executor *executor;
    struct fixture f;
    struct pool *pool;

    begin(&f, 2);
    pool = full_pool(&f);
    sender = (struct sender){ .rig = &f.rig, .to = pool->pid, .act = probe_wait, .id = 77 };
    start(&sender, 1);
    atomic_init(&next.wakes, 0);
    waiter_init(&next.waiter, count_wake);
    executor = runtime_enter(f.rig.runtime);
    wait_queue_join(&pool->waiters, &next.waiter, 1, executor);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_EQUAL(status_of(&sender), 0);
    CU_ASSERT_EQUAL(atomic_load(&next.wakes), 0);
    wait_queue_leave(&next.waiter, executor);
    runtime_leave(executor);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* promise E5: semantics G2. No place becomes free: the only worker stays at the gate, and so does
 * the message to the worker itself behind it. */
static void test_growth_alone_releases_the_waiting_sender(void)
{
    struct fixture f;
    struct pool *pool;
    struct sender sender;

    begin(&f, 2);
    pool = full_pool(&f);
    sender = (struct sender){ .rig = &f.rig, .to = pool->pid, .id = 77 };
    start(&sender, 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, pool, 2, NULL), 0);
    CU_ASSERT_EQUAL(status_of(&sender), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, 2), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* promise E5 */
static void test_closing_answers_the_waiting_sender(void)
{
    struct fixture f;
    struct pool *pool;
    struct sender sender;

    begin(&f, 2);
    pool = full_pool(&f);
    sender = (struct sender){ .rig = &f.rig, .to = pool->pid, .id = 77 };
    start(&sender, 1);
    rig_close(&f.rig, pool);
    CU_ASSERT_EQUAL(status_of(&sender), WEIR_ECLOSED);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    CU_ASSERT_EQUAL(probe_times(f.probe, 77), 0);
    finish(&f);
}

/* promise E5: never early, and the message is the sender's still. */
static void test_timeout_leaves_the_message_to_the_sender(void)
{
    struct clock clock = clock_monotonic();
    struct fixture f;
    struct pool *pool;
    struct message *message;
    uint64_t before;

    begin(&f, 2);
    pool = full_pool(&f);
    message = make_order(f.rig.runtime, (struct order){ .id = 77 }, 0);
    CU_ASSERT_EQUAL(send_wait(f.rig.runtime, pool->pid, message, 0), WEIR_ETIMEOUT);
    before = clock_now_ns(&clock);
    CU_ASSERT_EQUAL(send_wait(f.rig.runtime, pool->pid, message, 20), WEIR_ETIMEOUT);
    CU_ASSERT_TRUE(clock_now_ns(&clock) - before >= 20000000u);
    CU_ASSERT_FALSE(wait_queue_any(&pool->waiters));
    gate_open(&f.probe->gate);
    CU_ASSERT_EQUAL(send_wait(f.rig.runtime, pool->pid, message, wait_limit_ms()), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    CU_ASSERT_EQUAL(probe_times(f.probe, 77), 1);
    message = make_order(f.rig.runtime, (struct order){ .id = 78 }, 0);
    CU_ASSERT_EQUAL(send_wait(f.rig.runtime, 12345, message, wait_limit_ms()), WEIR_EUNKNOWN);
    free_message(f.rig.runtime, message);
    finish(&f);
}

/* promise E5: one worker addressed by its own PID; the pool's line is not it. */
static void test_freed_place_of_one_worker_releases_who_waits_for_it(void)
{
    struct fixture f;
    struct pool *pool;
    struct sender sender;

    begin(&f, 2);
    pool = full_pool(&f);
    sender = (struct sender){ .rig = &f.rig, .to = rig_worker(pool, 0), .id = 77 };
    start(&sender, 1);
    CU_ASSERT_FALSE(wait_queue_any(&pool->waiters));
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_EQUAL(status_of(&sender), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 77, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* promise E5 */
static void test_worker_that_leaves_wakes_its_waiting_senders(void)
{
    struct fixture f;
    struct pool *pool;
    struct sender sender;

    begin(&f, 2);
    pool = full_pool(&f);
    sender = (struct sender){ .rig = &f.rig, .to = rig_worker(pool, 0), .id = 77 };
    start(&sender, 1);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(status_of(&sender), WEIR_ECLOSED);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

static int never_open(struct weir_self *self, struct probe *probe)
{
    (void)self;
    (void)probe;
    return WEIR_ENOMEM;
}

static bool is_waiting(void *context)
{
    return actor_state(context) == ACTOR_WAITING;
}

/* promise E5: it waits while the actor may still open, and no longer. */
static void test_actor_that_gives_up_opening_wakes_its_waiting_senders(void)
{
    struct actor_options options;
    struct executor *executor;
    struct actor *actor;
    struct sender sender;
    struct spec *spec;
    struct fixture f;

    begin(&f, 1);
    f.probe->opens = never_open;
    spec = rig_spec(f.probe);
    spec->restart.max = 1;
    spec->restart.then = WEIR_RESTART_STOP;
    spec->restart.within_ms = 2 * spec->restart.backoff_ms_max;
    options = (struct actor_options){ .dispatcher = f.rig.dispatcher, .spec = spec };
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(actor_spawn(f.rig.runtime, executor, &options, &actor), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_waiting, actor));
    sender = (struct sender){ .rig = &f.rig, .to = actor_pid(actor), .id = 77 };
    start(&sender, 1);
    rig_advance(&f.rig, spec->restart.backoff_ms_max);
    CU_ASSERT_EQUAL(status_of(&sender), WEIR_ECLOSED);
    spec_unref(spec);
    finish(&f);
}

/* --- by key --------------------------------------------------------------------------------- */

/* A key that a pool of two routes to its worker `index`. */
static uint64_t key_of(struct fixture *f, struct pool *pool, uint32_t index)
{
    struct ledger_reading reading;

    for (uint64_t key = 1;; key++) {
        struct actor *actor = actor_find(f->rig.runtime, rig_worker(pool, index));
        uint64_t before;

        ledger_read(&actor->ledger, &actor->mailbox, &reading);
        before = reading.accepted;
        CU_ASSERT_EQUAL(rig_send_key(&f->rig, pool->pid, key, (struct order){ .id = key }), 0);
        CU_ASSERT_TRUE(rig_drained(&f->rig, pool));
        ledger_read(&actor->ledger, &actor->mailbox, &reading);
        if (reading.accepted > before)
            return key;
    }
}

/* promises E5 and O2: the first in line waits for the other worker, and delays nobody. */
static void test_place_of_another_key_releases_the_one_behind(void)
{
    struct sender first;
    struct sender second;
    struct fixture f;
    struct pool *pool;
    uint64_t keys[2];

    begin(&f, 3);
    pool = rig_workers(&f.rig, f.probe, "pool", 2, 1);
    pool_set_route(pool, WEIR_ROUTE_HASH);
    for (uint32_t i = 0; i < 2; i++)
        keys[i] = key_of(&f, pool, i);
    for (uint32_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, pool->pid, keys[i],
                                     (struct order){ .act = probe_wait, .id = 100 }),
                        0);
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, i + 1));
        CU_ASSERT_EQUAL(rig_send_key(&f.rig, pool->pid, keys[i], (struct order){ .id = 101 }), 0);
    }
    first = (struct sender){ .rig = &f.rig, .to = pool->pid, .id = 201, .key = keys[1] };
    second = (struct sender){ .rig = &f.rig, .to = pool->pid, .id = 202, .key = keys[0] };
    start(&first, 1);
    start(&second, 2);
    gate_admit(&f.probe->gate, 1); /* worker 0: it came first */
    CU_ASSERT_EQUAL(status_of(&second), 0);
    CU_ASSERT_TRUE(wait_queue_any(&pool->waiters));
    gate_open(&f.probe->gate);
    CU_ASSERT_EQUAL(status_of(&first), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

/* --- where nobody may wait ------------------------------------------------------------------ */

static int wait_inside(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct rig *rig = probe->context;
    struct message *own = message_of(probe_message(self, (struct order){ .id = 5 }));

    (void)message;
    probe_note(probe, (uint64_t)-send_wait(rig->runtime, weir_pool(self), own, wait_limit_ms()));
    weir_message_free(self, &own->public);
    return WEIR_DONE;
}

/* promise E6 */
static void test_waiting_on_a_dispatcher_thread_is_refused(void)
{
    struct fixture f;
    struct pool *pool;

    begin(&f, 1);
    f.probe->context = &f.rig;
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, pool->pid, (struct order){ .act = wait_inside, .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, (uint64_t)-WEIR_EDEADLK, 1));
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

static void *stop(void *context)
{
    struct rig *rig = context;

    CU_ASSERT_EQUAL(runtime_stop(rig->runtime), 0);
    return NULL;
}

static bool is_being_joined(void *context)
{
    struct rig *rig = context;
    bool joining;

    lock_acquire(&rig->dispatcher->lock);
    joining = rig->dispatcher->executors[0]->joining;
    lock_release(&rig->dispatcher->lock);
    return joining;
}

static int wait_while_stopping(struct weir_self *self, struct probe *probe,
                               const struct weir_message *message)
{
    (void)gate_pass(&probe->gate);
    CU_ASSERT_TRUE(rig_wait(probe->context, is_being_joined, probe->context));
    return wait_inside(self, probe, message);
}

/* promise E6: also while another thread waits for the end of this one. */
static void test_waiting_on_a_thread_that_is_being_joined_is_refused(void)
{
    struct executor *executor;
    pthread_t stopper;
    struct fixture f;
    struct pool *pool;

    begin(&f, 1);
    f.probe->context = &f.rig;
    pool = rig_workers(&f.rig, f.probe, "pool", 1, 1);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, pool->pid, (struct order){ .act = wait_while_stopping, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_EQUAL_FATAL(pthread_create(&stopper, NULL, stop, &f.rig), 0);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, (uint64_t)-WEIR_EDEADLK, 1));
    pthread_join(stopper, NULL);
    executor = runtime_enter(f.rig.runtime);
    pool_destroy(pool, executor); /* it cannot end any more */
    runtime_leave(executor);
    finish(&f);
}

/* promise P10: the figures count the threads that wait, for the pool and for one worker. */
static void test_those_who_wait_are_counted(void)
{
    struct sender senders[2];
    struct fixture f;
    struct pool *pool;

    begin(&f, 2);
    pool = full_pool(&f);
    CU_ASSERT_EQUAL(rig_stats(pool).waiting, 0);
    senders[0] = (struct sender){ .rig = &f.rig, .to = pool->pid, .id = 77 };
    senders[1] = (struct sender){ .rig = &f.rig, .to = rig_worker(pool, 0), .id = 78 };
    for (uint32_t i = 0; i < 2; i++) {
        start(&senders[i], 1);
        CU_ASSERT_EQUAL(rig_stats(pool).waiting, i + 1);
    }
    gate_open(&f.probe->gate);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(status_of(&senders[i]), 0);
    CU_ASSERT_EQUAL(rig_stats(pool).waiting, 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, pool, NULL));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "freed place", test_freed_place_releases_the_waiting_sender },
        { "used place", test_sender_that_uses_its_place_wakes_nobody },
        { "growth", test_growth_alone_releases_the_waiting_sender },
        { "closing", test_closing_answers_the_waiting_sender },
        { "time-out", test_timeout_leaves_the_message_to_the_sender },
        { "one worker", test_freed_place_of_one_worker_releases_who_waits_for_it },
        { "worker leaves", test_worker_that_leaves_wakes_its_waiting_senders },
        { "gives up opening", test_actor_that_gives_up_opening_wakes_its_waiting_senders },
        { "another key", test_place_of_another_key_releases_the_one_behind },
        { "dispatcher thread", test_waiting_on_a_dispatcher_thread_is_refused },
        { "joined thread", test_waiting_on_a_thread_that_is_being_joined_is_refused },
        { "figure", test_those_who_wait_are_counted },
        CU_TEST_INFO_NULL,
    };

    return suite_run("send_wait", tests);
}
