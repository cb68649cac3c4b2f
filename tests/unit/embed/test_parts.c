/* SPDX-License-Identifier: MIT */
/*
 * Goal: an embedding program makes, finds, changes, watches and ends pools, actors and sources by
 * their PIDs, and a wait for a change waits for that change.
 * Method: workers at a gate; opens that fail; figures compared with the handlers' counts.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define WORKERS_MAX 65536u /* of one pool */

/* promise E4 */
static void test_pool_does_what_its_options_say(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid found;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.workers = 2;
    options.limit = 3;
    options.workers_max = 4;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &found), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_runtime_lookup(hand.runtime, "pool", &found), 0);
    CU_ASSERT_EQUAL(found, pid);
    for (uint64_t id = 0; id < 2; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 2));
    for (uint64_t id = 0; id < 6; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).queued, 6);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).busy, 2);
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, pid, 5, NULL), WEIR_EINVALID);
    gate_open(&hand.gate);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 8);
}

static void test_wrong_options_are_refused_and_nothing_is_taken(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid = 7;

    hand_begin(&hand, 1);
    for (int wrong = 0; wrong < 10; wrong++) {
        const struct weir_binding binding = { .when_full = 99 };
        struct weir_behaviour idle = { .name = "idle" };
        int wanted = wrong == 6 || wrong == 7 ? WEIR_EUNKNOWN : WEIR_EINVALID;

        options = hand_pool_options(&hand, wrong == 0 ? NULL : "pool");
        options.size = wrong == 1 ? 8 : options.size;
        options.behaviour_size = wrong == 2 ? 8 : options.behaviour_size;
        options.route = wrong == 3 ? 99 : 0;
        options.remove = wrong == 4 ? 99 : 0;
        options.outputs = &binding;
        options.output_count = wrong == 5;
        options.dispatcher = wrong == 6 ? "nowhere" : NULL;
        options.parent = wrong == 7 ? 12345 : 0;
        options.behaviour = wrong == 8 ? &idle : &hand.behaviour;
        options.workers = wrong == 9 ? WORKERS_MAX + 1 : options.workers;
        CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), wanted);
    }
    CU_ASSERT_EQUAL(pid, 7);
    CU_ASSERT_EQUAL(atomic_load(&hand.released), 0);
    hand_finish(&hand);
}

/* A clamped resize would ask for memory for all of them. */
static void test_bounds_beyond_the_largest_pool_are_refused(void)
{
    struct weir_pool_options options;
    struct weir_resized resized;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.clamp = 1;
    options.workers_max = WORKERS_MAX + 1;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    options.workers_max = UINT32_MAX;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    options.workers_max = options.workers;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, pid, WORKERS_MAX, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, options.workers);
    hand_finish(&hand);
}

static void count_release(void *settings)
{
    struct hand *hand = settings;

    atomic_fetch_add(&hand->released, 1);
}

/* promise E4: the program may free its settings then. */
static void test_settings_are_given_back_once(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.workers = 3;
    options.release = count_release;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.released), 0);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.released), 1);
}

/* promise E4: a pool of pools has no use for them. */
static void test_settings_without_use_are_given_back_at_once(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "above");
    options.behaviour = NULL;
    options.workers = 0;
    options.release = count_release;
    options.manager_settings = &hand;
    options.manager_release = count_release;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.released), 2);
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EEXISTS);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.released), 2);
}

/* --- waiting forms -------------------------------------------------------------------------- */

/* promise E7 */
static void test_resize_that_waits_returns_when_it_is_so(void)
{
    struct weir_resized resized;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 1, 0);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(hand.runtime, pid, 5, wait_limit_ms(), &resized), 0);
    CU_ASSERT_EQUAL(resized.changed, 4);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).live, 5);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(hand.runtime, pid, 2, wait_limit_ms(), &resized), 0);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).live, 2);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).retiring, 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.closed), 3);
    CU_ASSERT_EQUAL(weir_runtime_remove_workers(hand.runtime, pid, 1, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, 1);
    CU_ASSERT_EQUAL(weir_runtime_remove_workers(hand.runtime, pid, 2, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(hand.runtime, 1, 2, 0, NULL), WEIR_EUNKNOWN);
    hand_finish(&hand);
}

/* promise E7: the worker that is to leave is held, so it cannot. */
static void test_waiting_for_a_change_ends_with_its_time_out(void)
{
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 1, 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(hand.runtime, pid, 0, 1, NULL), WEIR_ETIMEOUT);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).target, 0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, 1), WEIR_ETIMEOUT);
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, 1), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(hand_ledger(&hand, 0).done, 1);
    hand_finish(&hand);
}

struct sender {
    struct hand *hand;
    weir_pid pid;
    uint64_t accepted;
    pthread_t thread;
};

static void *send_until_closed(void *argument)
{
    struct sender *sender = argument;
    int status;

    do {
        status = hand_send(sender->hand, sender->pid, (struct hand_order){ .id = 1 });
        sender->accepted += status == 0;
    } while (status == 0 || status == WEIR_EFULL);
    return NULL;
}

/* promise E7: senders go on until they get the status of an ended target. */
static void test_nothing_runs_after_the_close_that_waits(void)
{
    struct sender senders[2];
    struct hand hand;
    weir_pid pid;
    uint32_t handled;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 4, 64);
    for (int i = 0; i < 2; i++) {
        senders[i] = (struct sender){ .hand = &hand, .pid = pid };
        CU_ASSERT_EQUAL_FATAL(
            pthread_create(&senders[i].thread, NULL, send_until_closed, &senders[i]), 0);
    }
    while (atomic_load(&hand.handled) < 1000)
        (void)sched_yield();
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, wait_limit_ms()), 0);
    handled = atomic_load(&hand.handled);
    for (int i = 0; i < 2; i++)
        pthread_join(senders[i].thread, NULL);
    CU_ASSERT_EQUAL(senders[0].accepted + senders[1].accepted, handled);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), handled);
}

/* promise E7 */
static void test_waiting_for_a_pool_that_cannot_open_says_why(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    hand.open_status = WEIR_ENOTALLOWED;
    options = hand_pool_options(&hand, "pool");
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, pid, wait_limit_ms()), WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(weir_runtime_resize_wait(hand.runtime, pid, 2, wait_limit_ms(), NULL),
                    WEIR_ENOTALLOWED);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).target, 2);
    hand_finish(&hand);
}

static int wait_for_oneself(struct weir_self *self, struct hand *hand,
                            const struct weir_message *message)
{
    struct weir_runtime *runtime = hand->runtime;
    weir_pid pool = weir_pool(self);
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_message *own = hand_message(hand, (struct hand_order){ .id = 1 });
    uint64_t reference;
    bool all;

    (void)message;
    all = weir_runtime_send_wait(runtime, pool, own, UINT64_MAX) == WEIR_EDEADLK &&
          weir_runtime_wait_open(runtime, pool, UINT64_MAX) == WEIR_EDEADLK &&
          weir_runtime_resize_wait(runtime, pool, 9, UINT64_MAX, NULL) == WEIR_EDEADLK &&
          weir_runtime_close_wait(runtime, pool, UINT64_MAX) == WEIR_EDEADLK &&
          weir_runtime_shutdown(runtime, UINT64_MAX) == WEIR_EDEADLK &&
          weir_runtime_request(runtime, pool, WEIR_NORMAL, own, UINT64_MAX, &reference) == 0 &&
          weir_runtime_await(runtime, reference, &answer) == WEIR_EDEADLK &&
          weir_runtime_cancel(runtime, reference) == 0;
    atomic_store(&hand->noted, all ? 1 : -1);
    return gate_pass(&hand->gate) ? WEIR_DONE : WEIR_REJECT;
}

/* promise E6 */
static void test_waiting_inside_a_callback_is_refused_and_changes_nothing(void)
{
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = wait_for_oneself }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), 1);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).target, 1);
    gate_open(&hand.gate);
    hand_finish(&hand);
}

static int wait_for_another(struct weir_self *self, struct hand *hand,
                            const struct weir_message *message)
{
    struct hand *other = (struct hand *)(uintptr_t)((const struct hand_order *)message->data)->id;
    weir_pid pid = 0;

    (void)self;
    (void)weir_runtime_lookup(other->runtime, "other", &pid);
    atomic_store(&hand->noted,
                 weir_runtime_send_wait(other->runtime, pid,
                                        hand_message(other, (struct hand_order){ .id = 42 }),
                                        wait_limit_ms()) == 0
                     ? 1
                     : -1);
    return WEIR_DONE;
}

/* promise E6: another runtime's thread is a thread like any other. */
static void test_waiting_for_another_runtime_in_a_callback_waits(void)
{
    struct hand other;
    struct hand hand;

    hand_begin(&hand, 1);
    hand_begin(&other, 1);
    (void)hand_pool(&other, "other", 1, 1);
    CU_ASSERT_EQUAL(hand_send(&hand, hand_pool(&hand, "pool", 1, 1),
                              (struct hand_order){ .act = wait_for_another,
                                                   .id = (uint64_t)(uintptr_t)&other }),
                    0);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), 1);
    hand_finish(&other);
    CU_ASSERT_EQUAL(atomic_load(&other.sum), 42);
}

/* --- actors and sources --------------------------------------------------------------------- */

static int produce_ten(struct weir_self *self, void *state, uint32_t credit)
{
    struct hand *hand = *(struct hand **)state;

    (void)credit;
    for (uint64_t id = 1; id <= 10; id++) {
        struct weir_message *message = weir_message_new(self, NULL, sizeof(struct hand_order));
        const struct hand_order order = { .act = hand_emit, .id = id };

        if (!message)
            return WEIR_ENOMEM;
        memcpy(message->data, &order, sizeof order);
        if (weir_emit(self, 0, message) != 0)
            return WEIR_ENOMEM;
    }
    return gate_pass(&hand->gate) ? WEIR_END : WEIR_ECANCELLED;
}

/* promises E3 and E4: source, then pool, then an actor with one place; all made from the end. */
static void test_source_pool_and_actor_make_a_chain(void)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;
    struct weir_pool_options pool_options;
    struct weir_behaviour source;
    struct weir_binding binding = { 0 };
    struct weir_ledger ledger;
    struct hand hand;
    weir_pid actor;
    weir_pid pid;

    hand_begin(&hand, 2);
    options.behaviour = &hand.behaviour;
    options.settings = &hand;
    options.limit = 1;
    options.name = "collector";
    CU_ASSERT_EQUAL(weir_runtime_add_actor(hand.runtime, &options, &actor), 0);
    CU_ASSERT_EQUAL(weir_runtime_add_actor(hand.runtime, &options, &pid), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand.runtime, actor, wait_limit_ms()), 0);
    pool_options = hand_pool_options(&hand, "pool");
    pool_options.workers = 3;
    binding.target = actor;
    pool_options.outputs = &binding;
    pool_options.output_count = 1;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &pool_options, &pid), 0);
    source = hand.behaviour;
    source.produce = produce_ten;
    options.behaviour = &source;
    options.name = "source";
    binding.target = pid;
    options.outputs = &binding;
    options.output_count = 1;
    gate_open(&hand.gate);
    CU_ASSERT_EQUAL(weir_runtime_add_actor(hand.runtime, &options, &pid), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 20);
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 110);
    ledger = hand_ledger(&hand, actor);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.done, 10);
    hand_finish(&hand);
}

/* promise E4: an actor is no place of a pool. */
static void test_actor_that_fails_ends(void)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;
    struct weir_ledger ledger;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    options.behaviour = &hand.behaviour;
    options.settings = &hand;
    CU_ASSERT_EQUAL(weir_runtime_add_actor(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(
        weir_runtime_send_wait(hand.runtime, pid,
                               hand_message(&hand, (struct hand_order){ .act = hand_fail }),
                               wait_limit_ms()),
        0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, wait_limit_ms()), 0);
    ledger = hand_ledger(&hand, 0);
    CU_ASSERT_TRUE(hand_ledger_is_settled(&ledger));
    CU_ASSERT_EQUAL(ledger.dead, 1);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), WEIR_ETERMINATED);
    hand_finish(&hand);
}

/* promise E4: it may also open between the refusal and the reading of the reason. */
static void test_actor_that_has_just_begun_is_waited_for(void)
{
    struct weir_actor_options options = WEIR_ACTOR_OPTIONS;
    struct hand hand;

    hand_begin(&hand, 1);
    options.behaviour = &hand.behaviour;
    options.settings = &hand;
    for (uint64_t i = 0; i < 500; i++) {
        struct weir_message *message = hand_message(&hand, (struct hand_order){ .id = i });
        weir_pid pid;
        int status;

        CU_ASSERT_EQUAL(weir_runtime_add_actor(hand.runtime, &options, &pid), 0);
        status = weir_runtime_send_wait(hand.runtime, pid, message, wait_limit_ms());
        CU_ASSERT_EQUAL(status, 0);
        if (status != 0)
            weir_runtime_message_free(hand.runtime, message);
        CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, wait_limit_ms()), 0);
    }
    hand_finish(&hand);
}

/* --- scaling -------------------------------------------------------------------------------- */

static struct weir_pool_options elastic(struct hand *hand)
{
    struct weir_pool_options options = hand_pool_options(hand, "pool");

    options.workers = 0;
    options.workers_max = 2;
    options.scale = WEIR_SCALE_ON_DEMAND;
    options.scale_idle_ms = 1;
    return options;
}

/* promise G3: of a program, too; promise G6: the first resize ends it, and a call resumes it;
 * promise G4: a worker without work leaves. */
static void test_a_pool_of_a_program_scales_itself(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    options = elastic(&hand);
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_resize(hand.runtime, pid, 0, NULL), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(weir_runtime_scale_auto(hand.runtime, pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_send_wait(hand.runtime, pid,
                                           hand_message(&hand, (struct hand_order){ .id = 1 }),
                                           wait_limit_ms()),
                    0);
    CU_ASSERT_EQUAL(weir_runtime_wait_idle(hand.runtime, pid, wait_limit_ms()), 0);
    while (hand_stats(&hand, pid).target > 0)
        (void)sched_yield();
    CU_ASSERT_EQUAL(atomic_load(&hand.handled), 1);
    CU_ASSERT_EQUAL(weir_runtime_scale_auto(hand.runtime, 1), WEIR_EUNKNOWN);
    hand_finish(&hand);
}

static void test_a_law_that_has_no_meaning_is_refused(void)
{
    struct weir_pool_options options, plain;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    options = elastic(&hand);
    options.workers_max = 0;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    options = elastic(&hand);
    options.scale = 3;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    options = elastic(&hand);
    options.route = WEIR_ROUTE_BROADCAST;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    options = elastic(&hand);
    options.scale_idle_ms = UINT64_MAX;
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    plain = hand_pool_options(&hand, "plain");
    CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &plain, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_scale_auto(hand.runtime, pid), WEIR_EINVALID);
    hand_finish(&hand);
}

/* promise O9: a rate of a program's own; binding the output again keeps it. */
static void test_rate_of_an_output_is_set_kept_and_taken_away(void)
{
    const struct weir_rate slow = { .messages = 1, .burst = 2, .per_ms = 86400000 };
    const struct weir_rate too_slow = { .messages = 1, .per_ms = 86400001 };
    const struct weir_rate too_fast = { .messages = 1000001 };
    const struct weir_rate none = { 0 };
    struct weir_binding binding = { 0 };
    struct hand hand;
    weir_pid first;

    hand_begin(&hand, 2);
    binding.target = hand_pool(&hand, "last", 1, 0);
    first = hand_pool(&hand, "first", 2, 0);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 0, &slow), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_bind(hand.runtime, first, &binding, 1), 0);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 1, &slow), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 0, &too_slow), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 0, &too_fast), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, 0, 0, &slow), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 0, &slow), 0);
    for (uint64_t id = 1; id <= 5; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, first, (struct hand_order){ .act = hand_emit, .id = id }),
                        0);
    /* One worker may have used both tokens; then the other one alone waits. */
    while (hand_stats(&hand, first).throttled == 0 ||
           hand_ledger(&hand, binding.target).accepted < 2)
        sched_yield();
    CU_ASSERT_EQUAL(weir_runtime_bind(hand.runtime, first, &binding, 1), 0);
    CU_ASSERT_EQUAL(hand_ledger(&hand, binding.target).accepted, 2);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 0, &none), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(hand_ledger(&hand, binding.target).done, 5);
    hand_finish(&hand);
}

/* promise O9: a shutdown past its time closes the target of what waits for tokens. */
static void test_shutdown_past_its_time_leaves_what_waits_for_tokens(void)
{
    const struct weir_rate slow = { .messages = 1, .burst = 2, .per_ms = 86400000 };
    const struct weir_rate none = { 0 };
    struct weir_binding binding = { 0 };
    struct weir_pool_stats stats;
    struct hand hand;
    weir_pid first;

    hand_begin(&hand, 2);
    binding.target = hand_pool(&hand, "last", 1, 0);
    first = hand_pool(&hand, "first", 2, 0);
    CU_ASSERT_EQUAL(weir_runtime_bind(hand.runtime, first, &binding, 1), 0);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 0, &slow), 0);
    for (uint64_t id = 1; id <= 5; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, first, (struct hand_order){ .act = hand_emit, .id = id }),
                        0);
    while (hand_stats(&hand, first).throttled == 0)
        sched_yield();
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, 1), WEIR_ETIMEOUT);
    CU_ASSERT_TRUE(hand_ledger(&hand, binding.target).accepted <= 2);
    CU_ASSERT_EQUAL(weir_runtime_set_rate(hand.runtime, first, 0, &none), 0);
    CU_ASSERT_EQUAL(weir_runtime_shutdown(hand.runtime, wait_limit_ms()), 0);
    stats = hand_stats(&hand, first);
    CU_ASSERT_EQUAL(stats.done, 5);
    CU_ASSERT_EQUAL(stats.dead_by[WEIR_DEAD_NO_TARGET] + hand_ledger(&hand, binding.target).done,
                    5);
    hand_finish(&hand);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "options", test_pool_does_what_its_options_say },
        { "wrong options", test_wrong_options_are_refused_and_nothing_is_taken },
        { "settings", test_settings_are_given_back_once },
        { "no use", test_settings_without_use_are_given_back_at_once },
        { "bounds", test_bounds_beyond_the_largest_pool_are_refused },
        { "resize", test_resize_that_waits_returns_when_it_is_so },
        { "time-out", test_waiting_for_a_change_ends_with_its_time_out },
        { "after the close", test_nothing_runs_after_the_close_that_waits },
        { "cannot open", test_waiting_for_a_pool_that_cannot_open_says_why },
        { "in a callback", test_waiting_inside_a_callback_is_refused_and_changes_nothing },
        { "another runtime", test_waiting_for_another_runtime_in_a_callback_waits },
        { "chain", test_source_pool_and_actor_make_a_chain },
        { "just begun", test_actor_that_has_just_begun_is_waited_for },
        { "actor fails", test_actor_that_fails_ends },
        { "scales itself", test_a_pool_of_a_program_scales_itself },
        { "no meaning", test_a_law_that_has_no_meaning_is_refused },
        { "rate", test_rate_of_an_output_is_set_kept_and_taken_away },
        { "shutdown and rate", test_shutdown_past_its_time_leaves_what_waits_for_tokens },
        CU_TEST_INFO_NULL,
    };

    return suite_run("parts", tests);
}
