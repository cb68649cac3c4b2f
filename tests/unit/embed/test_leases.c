/* SPDX-License-Identifier: MIT */
/*
 * Goal: threads of a program take a worker, use it alone and return it, also a worker of any pool
 * of a group; a lease that comes too late is returned; no worker is ever used by two, also while
 * the pool changes its size.
 *
 * Method: each worker has the id of its user: the first message after `taken` sets it, all others
 * must have the same one, and `returned` clears it.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"
#include "unit/support/gate.h"

#define THREADS 6u
#define ROUNDS 150u
#define USES 3u
#define RESIZES 100u
#define WORKERS 4u
#define MANY 200u

struct fixture {
    struct hand hand;
    weir_pid pool;
    struct gate gate;
    _Atomic uint32_t mixed; /* messages of another user than the lease's first */
    _Atomic uint32_t used;
    _Atomic uint32_t taken;
    _Atomic uint32_t refused; /* calls that failed in another way than they may */
};

struct worker {
    struct fixture *f;
    uint64_t user; /* 0 = none */
};

struct order {
    uint64_t user;
    uint32_t waits; /* at the gate */
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct worker *worker = state;

    (void)self;
    worker->f = (struct fixture *)(uintptr_t)settings;
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct order *order = message->data;
    struct worker *worker = state;

    (void)self;
    if (worker->user == 0)
        worker->user = order->user;
    if (worker->user != order->user)
        atomic_fetch_add(&worker->f->mixed, 1);
    atomic_fetch_add(&worker->f->used, 1);
    return !order->waits || gate_pass(&worker->f->gate) ? WEIR_DONE : WEIR_FAIL;
}

static int taken(struct weir_self *self, void *state)
{
    struct worker *worker = state;

    (void)self;
    atomic_fetch_add(&worker->f->taken, 1);
    return worker->user == 0 ? 0 : WEIR_FAIL;
}

static int returned(struct weir_self *self, void *state)
{
    struct worker *worker = state;

    (void)self;
    worker->user = 0;
    return 0;
}

static const struct weir_behaviour behaviour = {
    .name = "connection",
    .state_size = sizeof(struct worker),
    .open = open_worker,
    .handle = handle,
    .taken = taken,
    .returned = returned,
};

static void begin(struct fixture *f, uint32_t workers, uint32_t queue)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    memset(f, 0, sizeof *f);
    hand_begin(&f->hand, 2);
    gate_init(&f->gate);
    options.path = "connections";
    options.behaviour = &behaviour;
    options.settings = f;
    options.workers = workers;
    options.lease = 1;
    options.lease_queue = queue;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f->hand.runtime, &options, &f->pool), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, f->pool, wait_limit_ms()), 0);
}

static void finish(struct fixture *f)
{
    struct weir_ledger ledger;

    CU_ASSERT_EQUAL(weir_runtime_close_wait(f->hand.runtime, f->pool, wait_limit_ms()), 0);
    ledger = hand_ledger(&f->hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(atomic_load(&f->mixed), 0);
    CU_ASSERT_EQUAL(atomic_load(&f->refused), 0);
    hand_finish(&f->hand);
    gate_finish(&f->gate);
}

static int take(struct fixture *f, struct weir_lease *lease)
{
    return weir_runtime_take(f->hand.runtime, f->pool, wait_limit_ms(), lease);
}

static int give_back(struct fixture *f, const struct weir_lease *lease)
{
    return weir_runtime_return(f->hand.runtime, lease, WEIR_DONE);
}

static struct weir_message *make(struct fixture *f, uint64_t user, uint32_t waits)
{
    const struct order order = { user, waits };
    struct weir_message *message = weir_runtime_message_new(f->hand.runtime, NULL, sizeof order);

    memcpy(message->data, &order, sizeof order);
    return message;
}

static int ask(struct fixture *f, const struct weir_lease *lease, uint64_t user)
{
    struct weir_answer answer = WEIR_ANSWER;

    return weir_runtime_lease_ask(f->hand.runtime, lease, make(f, user, 0), wait_limit_ms(),
                                  &answer);
}

static void test_thread_uses_a_worker_alone(void)
{
    struct weir_lease lease, other;
    struct fixture f;

    begin(&f, 1, 1);
    CU_ASSERT_EQUAL(take(&f, &lease), 0);
    CU_ASSERT_EQUAL(lease.pool, f.pool);
    CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, f.pool, 1, &other), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(ask(&f, &lease, 1), WEIR_ENOREPLY); /* handled */
    CU_ASSERT_EQUAL(weir_runtime_lease_send(f.hand.runtime, &lease, make(&f, 1, 0)), 0);
    CU_ASSERT_EQUAL(weir_runtime_lease_renew(f.hand.runtime, &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_return(f.hand.runtime, &lease, WEIR_KEEP), WEIR_EINVALID);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    CU_ASSERT_EQUAL(give_back(&f, &lease), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_runtime_lease_renew(f.hand.runtime, &lease), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(ask(&f, &lease, 1), WEIR_ENOTALLOWED);
    finish(&f);
}

static void test_take_that_is_given_up_holds_no_worker(void)
{
    struct weir_lease lease;
    struct fixture f;
    uint64_t reference;

    begin(&f, 1, 1);
    CU_ASSERT_EQUAL(weir_runtime_take_request(f.hand.runtime, f.pool, wait_limit_ms(), &reference),
                    0);
    while (!atomic_load(&f.taken)) /* the lease is on its way, or there */
        (void)sched_yield();
    CU_ASSERT_EQUAL(weir_runtime_cancel(f.hand.runtime, reference), 0);
    CU_ASSERT_EQUAL(take(&f, &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, f.pool, 1, &lease), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    CU_ASSERT_EQUAL(take(&f, &lease), 0); /* the taker that gave up is not served */
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    finish(&f);
}

static void test_lease_comes_with_the_answer_of_a_request(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_lease lease;
    struct fixture f;
    uint64_t reference;

    begin(&f, 1, 1);
    CU_ASSERT_EQUAL(weir_runtime_take_request(f.hand.runtime, f.pool, wait_limit_ms(), &reference),
                    0);
    CU_ASSERT_EQUAL_FATAL(weir_runtime_await(f.hand.runtime, reference, &answer), 0);
    lease = *weir_answer_lease(&answer);
    weir_runtime_message_free(f.hand.runtime, answer.message);
    CU_ASSERT_EQUAL(ask(&f, &lease, 1), WEIR_ENOREPLY);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    finish(&f);
}

/* --- who has room ----------------------------------------------------------------------------- */

/* promise P33: right after a return the next take succeeds when nobody waits. */
static void test_take_after_a_return_has_room_without_a_queue(void)
{
    struct weir_lease lease;
    struct fixture f;

    begin(&f, 1, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        CU_ASSERT_EQUAL(
            weir_runtime_take(f.hand.runtime, f.pool, i % 2 ? 0 : wait_limit_ms(), &lease), 0);
        CU_ASSERT_EQUAL(weir_runtime_return(f.hand.runtime, &lease, WEIR_DONE), 0);
    }
    /* A worker that is opened again after a failure starts for the next taker. */
    CU_ASSERT_EQUAL(take(&f, &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_return(f.hand.runtime, &lease, WEIR_FAIL), 0);
    CU_ASSERT_EQUAL(take(&f, &lease), 0);
    CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, f.pool, wait_limit_ms(), &lease), WEIR_EFULL);
    CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
    finish(&f);
}

/* promise P33: the time-out 0 tries once, with any queue. */
static void test_take_with_time_out_0_tries_once(void)
{
    struct weir_lease leases[WORKERS], other;
    struct fixture f;

    begin(&f, WORKERS, 50);
    for (uint32_t round = 0; round < MANY; round++) {
        /* At first the workers that have just opened come to the queue. */
        for (uint32_t i = 0; i < WORKERS; i++)
            CU_ASSERT_EQUAL(
                weir_runtime_take(f.hand.runtime, f.pool, round ? 0 : wait_limit_ms(), &leases[i]),
                0);
        CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, f.pool, 0, &other), WEIR_EFULL);
        for (uint32_t i = 0; i < WORKERS; i++)
            CU_ASSERT_EQUAL(give_back(&f, &leases[i]), 0);
    }
    CU_ASSERT_EQUAL(hand_stats(&f.hand, f.pool).refused, MANY);
    finish(&f);
}

static int add_growing(struct fixture *f, weir_pid parent, const char *path, weir_pid *out_pool)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    options.path = path;
    options.parent = parent;
    options.behaviour = &behaviour;
    options.settings = f;
    options.workers = 0;
    options.workers_max = 1;
    options.scale = WEIR_SCALE_ON_DEMAND;
    options.lease = 1;
    options.lease_queue = 0;
    return weir_runtime_add_pool(f->hand.runtime, &options, out_pool);
}

/* promise P33: a take waits for the worker that starts for it, without a queue. */
static void test_take_waits_for_the_worker_that_starts_for_it(void)
{
    struct weir_lease first, second, third;
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    weir_pid single, members[2];
    struct fixture f;

    begin(&f, 1, 0);
    CU_ASSERT_EQUAL_FATAL(add_growing(&f, 0, "single", &single), 0);
    CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, single, wait_limit_ms(), &first), 0);
    CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, single, wait_limit_ms(), &second),
                    WEIR_EFULL);
    options.path = "grown";
    options.workers = 0;
    options.route = WEIR_ROUTE_LEAST_LOADED;
    options.lease = 1;
    options.lease_queue = 0;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f.hand.runtime, &options, &f.pool), 0);
    CU_ASSERT_EQUAL_FATAL(add_growing(&f, f.pool, "grown/a", &members[0]), 0);
    CU_ASSERT_EQUAL_FATAL(add_growing(&f, f.pool, "grown/b", &members[1]), 0);
    CU_ASSERT_EQUAL(take(&f, &second), 0);
    CU_ASSERT_EQUAL(take(&f, &third), 0);
    CU_ASSERT_NOT_EQUAL(second.pool, third.pool);
    CU_ASSERT_EQUAL(weir_runtime_return(f.hand.runtime, &third, WEIR_DONE), 0);
    CU_ASSERT_EQUAL(take(&f, &third), 0); /* of a group, too */
    CU_ASSERT_EQUAL(weir_runtime_return(f.hand.runtime, &third, WEIR_DONE), 0);
    CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, f.pool, 0, &third), 0);
    CU_ASSERT_EQUAL(give_back(&f, &first), 0);
    CU_ASSERT_EQUAL(give_back(&f, &second), 0);
    CU_ASSERT_EQUAL(give_back(&f, &third), 0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(f.hand.runtime, single, wait_limit_ms()), 0);
    finish(&f);
}

static void test_queue_has_room_for_fifty_by_default(void)
{
    const struct weir_pool_options options = WEIR_POOL_OPTIONS;

    CU_ASSERT_EQUAL(options.lease_queue, 50);
}

/* --- groups ----------------------------------------------------------------------------------- */

static int add_to(struct fixture *f, weir_pid group, const char *path, uint32_t lease,
                  weir_pid *out_pool)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    options.path = path;
    options.parent = group;
    options.behaviour = &behaviour;
    options.settings = f;
    options.lease = lease;
    options.lease_queue = 1; /* an open worker may not wait for takers yet */
    options.lease_timeout_ms = wait_limit_ms() * 2;
    return weir_runtime_add_pool(f->hand.runtime, &options, out_pool);
}

static int add_group(struct fixture *f, weir_pid parent, uint32_t route, uint64_t timeout_ms)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    options.path = "group";
    options.parent = parent;
    options.workers = 0;
    options.route = route;
    options.lease = 1;
    options.lease_queue = 1;
    options.lease_timeout_ms = timeout_ms;
    return weir_runtime_add_pool(f->hand.runtime, &options, &f->pool);
}

static void begin_group(struct fixture *f, uint64_t timeout_ms)
{
    memset(f, 0, sizeof *f);
    hand_begin(&f->hand, 2);
    gate_init(&f->gate);
    CU_ASSERT_EQUAL_FATAL(add_group(f, 0, WEIR_ROUTE_LEAST_LOADED, timeout_ms), 0);
}

static void open_members(struct fixture *f, weir_pid members[2])
{
    CU_ASSERT_EQUAL_FATAL(add_to(f, f->pool, "group/a", 0, &members[0]), 0);
    CU_ASSERT_EQUAL_FATAL(add_to(f, f->pool, "group/b", 1, &members[1]), 0);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(weir_runtime_wait_open(f->hand.runtime, members[i], wait_limit_ms()), 0);
}

static void test_taker_of_a_group_gets_a_worker_of_any_pool(void)
{
    struct weir_lease first, second, third;
    weir_pid members[2];
    struct fixture f;

    begin_group(&f, WEIR_FOR_EVER);
    open_members(&f, members);
    CU_ASSERT_EQUAL(take(&f, &first), 0);
    CU_ASSERT_EQUAL(take(&f, &second), 0);
    CU_ASSERT_NOT_EQUAL(first.pool, second.pool);
    CU_ASSERT_TRUE(first.pool == members[0] || first.pool == members[1]);
    CU_ASSERT_TRUE(second.pool == members[0] || second.pool == members[1]);
    CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, f.pool, 1, &third), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(ask(&f, &first, 1), WEIR_ENOREPLY);
    CU_ASSERT_EQUAL(ask(&f, &second, 2), WEIR_ENOREPLY);
    CU_ASSERT_EQUAL(give_back(&f, &second), 0);
    CU_ASSERT_EQUAL(take(&f, &third), 0);
    CU_ASSERT_EQUAL(third.pool, second.pool);
    CU_ASSERT_EQUAL(give_back(&f, &third), 0);
    CU_ASSERT_EQUAL(give_back(&f, &first), 0);
    finish(&f);
}

static void test_round_of_a_group_takes_each_pool_in_turn(void)
{
    uint32_t counts[2] = { 0, 0 };
    struct weir_answer answer;
    struct weir_lease lease;
    weir_pid members[2];
    uint64_t reference;
    struct fixture f;

    memset(&f, 0, sizeof f);
    hand_begin(&f.hand, 2);
    gate_init(&f.gate);
    CU_ASSERT_EQUAL_FATAL(add_group(&f, 0, WEIR_ROUTE_ROUND_ROBIN, WEIR_FOR_EVER), 0);
    open_members(&f, members);
    for (uint32_t i = 0; i < 10; i++) {
        CU_ASSERT_EQUAL_FATAL(
            weir_runtime_take_request(f.hand.runtime, f.pool, wait_limit_ms(), &reference), 0);
        answer = (struct weir_answer)WEIR_ANSWER;
        CU_ASSERT_EQUAL_FATAL(weir_runtime_await(f.hand.runtime, reference, &answer), 0);
        lease = *weir_answer_lease(&answer);
        weir_runtime_message_free(f.hand.runtime, answer.message);
        counts[lease.pool == members[1]]++;
        CU_ASSERT_EQUAL(give_back(&f, &lease), 0);
        CU_ASSERT_EQUAL(weir_runtime_wait_idle(f.hand.runtime, f.pool, wait_limit_ms()), 0);
    }
    CU_ASSERT_EQUAL(counts[0], counts[1]);
    finish(&f);
}

/* The one that has no `lease` of its own. */
static void test_member_of_a_group_has_the_time_out_of_the_group(void)
{
    struct weir_lease leases[2];
    weir_pid members[2];
    struct fixture f;

    begin_group(&f, 1);
    open_members(&f, members);
    for (uint32_t i = 0; i < 2; i++)
        CU_ASSERT_EQUAL(weir_runtime_take(f.hand.runtime, members[i], wait_limit_ms(), &leases[i]),
                        0);
    while (ask(&f, &leases[0], 1) == WEIR_ENOREPLY) /* until it is revoked */
        ;
    CU_ASSERT_EQUAL(give_back(&f, &leases[0]), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(give_back(&f, &leases[1]), 0);
    finish(&f);
}

static void test_group_has_pools_of_workers_that_give_leases(void)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct fixture f;
    weir_pid pool;

    begin_group(&f, WEIR_FOR_EVER);
    CU_ASSERT_EQUAL(add_group(&f, f.pool, WEIR_ROUTE_LEAST_LOADED, 0), WEIR_EINVALID);
    CU_ASSERT_EQUAL(add_group(&f, 0, WEIR_ROUTE_PULL, 0), WEIR_EINVALID);
    CU_ASSERT_EQUAL(add_group(&f, 0, WEIR_ROUTE_HASH, 0), WEIR_EINVALID);
    CU_ASSERT_EQUAL(add_group(&f, 0, WEIR_ROUTE_BROADCAST, 0), WEIR_EINVALID);
    options.path = "group/pools";
    options.parent = f.pool;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(f.hand.runtime, &options, &pool), WEIR_EINVALID);
    options.behaviour = &behaviour;
    options.settings = &f;
    options.route = WEIR_ROUTE_RANDOM;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(f.hand.runtime, &options, &pool), WEIR_EINVALID);
    finish(&f);
}

static int do_not_open(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    weir_reason(self, "no route");
    return WEIR_EINVALID;
}

/* promise P33: a taker whose time is over learns why no worker opens, also of a group. */
static void test_time_out_names_the_reason_of_the_open_that_failed(void)
{
    struct weir_behaviour broken = behaviour;
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct weir_answer answer = WEIR_ANSWER;
    struct fixture f;
    uint64_t reference;
    weir_pid member;

    begin_group(&f, WEIR_FOR_EVER);
    broken.open = do_not_open;
    options.path = "group/a";
    options.parent = f.pool;
    options.behaviour = &broken;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(f.hand.runtime, &options, &member), 0);
    for (uint32_t i = 0; i < 2; i++) {
        weir_pid asked = i == 0 ? member : f.pool;

        do { /* until an open has failed */
            CU_ASSERT_EQUAL(weir_runtime_take_request(f.hand.runtime, asked, 1, &reference), 0);
            CU_ASSERT_EQUAL(weir_runtime_await(f.hand.runtime, reference, &answer), WEIR_ETIMEOUT);
        } while (answer.detail[0] == '\0');
        CU_ASSERT_STRING_EQUAL(answer.detail, "worker group/a#0 does not open: no route");
    }
    finish(&f);
}

/* --- the storm -------------------------------------------------------------------------------- */

struct user {
    struct fixture *f;
    pthread_t thread;
    uint64_t id;
};

static void *run_user(void *argument)
{
    struct user *user = argument;
    struct fixture *f = user->f;

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct weir_lease lease;

        if (take(f, &lease) != 0) {
            atomic_fetch_add(&f->refused, 1);
            continue;
        }
        for (uint32_t use = 0; use < USES; use++)
            if (ask(f, &lease, user->id) != WEIR_ENOREPLY)
                atomic_fetch_add(&f->refused, 1);
        if (weir_runtime_return(f->hand.runtime, &lease, i % 8 ? WEIR_DONE : WEIR_FAIL) != 0)
            atomic_fetch_add(&f->refused, 1);
    }
    return NULL;
}

static void test_no_worker_is_used_by_two_while_the_pool_changes(void)
{
    struct user users[THREADS];
    struct fixture f;

    begin(&f, 2, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        users[i] = (struct user){ .f = &f, .id = i + 1 };
        CU_ASSERT_EQUAL_FATAL(pthread_create(&users[i].thread, NULL, run_user, &users[i]), 0);
    }
    for (uint32_t i = 0; i < RESIZES; i++)
        CU_ASSERT_EQUAL(weir_runtime_resize(f.hand.runtime, f.pool, 1 + i % 4, NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        CU_ASSERT_EQUAL(pthread_join(users[i].thread, NULL), 0);
    CU_ASSERT_EQUAL(atomic_load(&f.used), THREADS * ROUNDS * USES);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "alone", test_thread_uses_a_worker_alone },
        { "given up", test_take_that_is_given_up_holds_no_worker },
        { "request", test_lease_comes_with_the_answer_of_a_request },
        { "after a return", test_take_after_a_return_has_room_without_a_queue },
        { "tries", test_take_with_time_out_0_tries_once },
        { "starts", test_take_waits_for_the_worker_that_starts_for_it },
        { "default", test_queue_has_room_for_fifty_by_default },
        { "group", test_taker_of_a_group_gets_a_worker_of_any_pool },
        { "time-out of a group", test_member_of_a_group_has_the_time_out_of_the_group },
        { "round of a group", test_round_of_a_group_takes_each_pool_in_turn },
        { "pools of a group", test_group_has_pools_of_workers_that_give_leases },
        { "reason", test_time_out_names_the_reason_of_the_open_that_failed },
        { "storm", test_no_worker_is_used_by_two_while_the_pool_changes },
        CU_TEST_INFO_NULL,
    };

    return suite_run("leases", tests);
}
