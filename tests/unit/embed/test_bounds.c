/* SPDX-License-Identifier: MIT */
/*
 * Goal: an embedding program has the same limits for a runtime and its pools as the host - memory,
 * bytes in mailboxes, restarts, dead letters - and the same operations while they run - pause,
 * members, dead letters, figures, descriptors.
 *
 * Method: workers that wait, fail, reject and make messages; figures and dead letters are compared
 * with the messages sent. The poller is the test's own.
 */
#include <string.h>

#include "unit/embed/hand.h"
#include "unit/host/suite.h"

#define CAP (64u << 10)

static weir_pid add(struct hand *hand, const struct weir_pool_options *options)
{
    weir_pid pid = 0;

    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand->runtime, options, &pid), 0);
    CU_ASSERT_EQUAL(weir_runtime_wait_open(hand->runtime, pid, wait_limit_ms()), 0);
    return pid;
}

/* Waits until everything that was accepted before, by a pool with one worker that is free, has
 * ended. */
static bool settled(struct hand *hand, weir_pid pid)
{
    struct weir_answer answer = WEIR_ANSWER;
    int status = WEIR_EFULL;

    while (status == WEIR_EFULL) {
        struct weir_message *last = hand_message(hand, (struct hand_order){ .act = hand_reply });

        status = weir_runtime_ask(hand->runtime, pid, last, wait_limit_ms(), &answer);
    }
    weir_runtime_message_free(hand->runtime, answer.message);
    return status == 0;
}

/* --- bytes ---------------------------------------------------------------------------------- */

static int make_too_much(struct weir_self *self, struct hand *hand,
                         const struct weir_message *message)
{
    struct weir_blob *blob = weir_blob_new(self, CAP + 1);
    struct weir_message *large = weir_message_new(self, NULL, CAP + 1);

    (void)message;
    atomic_fetch_add(&hand->sum, (blob ? 1 : 10) + (large ? 1 : 10));
    return WEIR_DONE;
}

/* promise E4 */
static void test_memory_is_capped_and_shown(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_runtime_figures figures = WEIR_RUNTIME_FIGURES;
    struct hand hand;
    weir_pid pid;

    options.memory = CAP;
    hand_begin_with(&hand, &options, 2);
    pid = hand_pool(&hand, "pool", 1, 8);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = make_too_much }), 0);
    CU_ASSERT_TRUE(settled(&hand, pid));
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 20); /* neither was made */
    weir_runtime_figures(hand.runtime, &figures);
    CU_ASSERT_EQUAL(figures.memory_limit, CAP);
    CU_ASSERT_EQUAL(figures.memory_refused, 2);
    CU_ASSERT_EQUAL(figures.escalated, 0);
    CU_ASSERT_EQUAL(figures.late_replies, 0);
    hand_finish(&hand);
}

/* promise E4 */
static void test_bytes_in_a_mailbox_are_bounded(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.mailbox_bytes = 2 * sizeof(struct hand_order);
    pid = add(&hand, &options);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), WEIR_EFULL);
    gate_open(&hand.gate);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 2);
}

/* --- pools ---------------------------------------------------------------------------------- */

/* promise E4: one queue for both workers, and no place beyond workers x limit. */
static void test_pool_routes_by_pull(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.workers = 2;
    options.limit = 2;
    options.route = WEIR_ROUTE_PULL;
    pid = add(&hand, &options);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    /* No message waits for the worker at the gate, since the other one takes it. */
    for (uint64_t id = 0; id < 20; id++)
        CU_ASSERT_EQUAL(weir_runtime_send_wait(hand.runtime, pid,
                                               hand_message(&hand, (struct hand_order){ .id = 1 }),
                                               wait_limit_ms()),
                        0);
    CU_ASSERT_TRUE(settled(&hand, pid));
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 20);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_wait }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 2));
    for (uint64_t id = 0; id < 4; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), WEIR_EFULL);
    gate_open(&hand.gate);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 24);
}

/* promise E4: each worker gets it, or none does. */
static void test_pool_routes_by_broadcast(void)
{
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.workers = 3;
    options.limit = 1;
    options.route = WEIR_ROUTE_BROADCAST;
    pid = add(&hand, &options);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 7 }), 0);
    CU_ASSERT_EQUAL(weir_runtime_close_wait(hand.runtime, pid, wait_limit_ms()), 0);
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 21);
    hand_finish(&hand);
}

/* promise E4 */
static void test_paused_pool_refuses_until_it_is_resumed(void)
{
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 2, 4);
    CU_ASSERT_EQUAL(weir_runtime_pause(hand.runtime, pid), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), WEIR_EFULL);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).paused, 1);
    CU_ASSERT_EQUAL(weir_runtime_resume(hand.runtime, pid), 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .id = 1 }), 0);
    CU_ASSERT_EQUAL(weir_runtime_pause(hand.runtime, 12345), WEIR_EUNKNOWN);
    hand_finish(&hand);
}

static void test_members_are_listed(void)
{
    struct weir_member members[2];
    uint32_t count = 0;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 3, 4);
    CU_ASSERT_EQUAL(weir_runtime_members(hand.runtime, pid, NULL, 0, &count), 0);
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_EQUAL(weir_runtime_members(hand.runtime, pid, members, 2, &count), 0);
    CU_ASSERT_EQUAL(count, 3);
    CU_ASSERT_EQUAL(members[0].size, sizeof members[0]);
    CU_ASSERT_NOT_EQUAL(members[0].pid, members[1].pid);
    CU_ASSERT_EQUAL(hand_send(&hand, members[1].pid, (struct hand_order){ .id = 9 }), 0);
    CU_ASSERT_EQUAL(weir_runtime_members(hand.runtime, 12345, NULL, 0, &count), WEIR_EUNKNOWN);
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 9);
}

/* promise E4: one failure is replaced, the second one is one too many. */
static void test_restarts_are_bounded_and_escalate(void)
{
    struct weir_runtime_figures figures = WEIR_RUNTIME_FIGURES;
    struct weir_pool_options options;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.restart_max = 1;
    options.restart_within_ms = 1000000;
    options.restart_then = WEIR_RESTART_ESCALATE;
    pid = add(&hand, &options);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_fail }), 0);
    CU_ASSERT_TRUE(settled(&hand, pid));
    weir_runtime_figures(hand.runtime, &figures);
    CU_ASSERT_EQUAL(figures.escalated, 0);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_fail }), 0);
    while (!figures.escalated) {
        (void)weir_runtime_wait_open(hand.runtime, pid, 1); /* never again */
        weir_runtime_figures(hand.runtime, &figures);
    }
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).stopped, 1);
    CU_ASSERT_EQUAL(figures.escalated, 1);
    hand_finish(&hand);
}

/* promise E4: the default, as in a file: members that escalate escalate to the top. */
static void test_pool_of_pools_escalates_by_itself(void)
{
    struct weir_runtime_figures figures = WEIR_RUNTIME_FIGURES;
    struct weir_pool_options options = WEIR_POOL_OPTIONS;
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 2);
    options.path = "top";
    options.restart_max = 1;
    options.restart_within_ms = 1000000;
    CU_ASSERT_EQUAL_FATAL(weir_runtime_add_pool(hand.runtime, &options, &pid), 0);
    options = hand_pool_options(&hand, "top/member");
    options.parent = pid;
    options.restart_max = 1;
    options.restart_within_ms = 1000000;
    options.restart_then = WEIR_RESTART_ESCALATE;
    pid = add(&hand, &options);
    while (!figures.escalated) { /* two for each time that it is opened by the one above */
        (void)hand_send(&hand, pid, (struct hand_order){ .act = hand_fail });
        (void)weir_runtime_wait_open(hand.runtime, pid, 1);
        weir_runtime_figures(hand.runtime, &figures);
    }
    CU_ASSERT_EQUAL(figures.escalated, 1);
    hand_finish(&hand);
}

static int count_in_manager(struct weir_self *self, struct hand *hand,
                            const struct weir_message *message)
{
    (void)message;
    CU_ASSERT_NOT_EQUAL(weir_pool(self), 0);
    atomic_store(&hand->noted, 77);
    return hand_reply(self, hand, message);
}

static void count_release(void *settings)
{
    struct hand *hand = settings;

    atomic_fetch_add(&hand->released, 1);
}

/* promise E4: urgent messages reach the program's own manager; its settings are released. */
static void test_pool_has_the_manager_of_the_program(void)
{
    struct weir_answer answer = WEIR_ANSWER;
    struct weir_pool_options options;
    struct hand hand;
    uint64_t reference;
    weir_pid pid;

    hand_begin(&hand, 2);
    options = hand_pool_options(&hand, "pool");
    options.manager = &hand.behaviour;
    options.manager_settings = &hand;
    options.manager_release = count_release;
    pid = add(&hand, &options);
    CU_ASSERT_EQUAL(
        weir_runtime_request(hand.runtime, pid, WEIR_URGENT,
                             hand_message(&hand, (struct hand_order){ .act = count_in_manager }),
                             wait_limit_ms(), &reference),
        0);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, reference, &answer), 0);
    weir_runtime_message_free(hand.runtime, answer.message);
    CU_ASSERT_EQUAL(hand_ledger(&hand, pid).accepted, 0); /* no worker saw it */
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&hand.released), 1);
}

static void test_wrong_bounds_are_refused(void)
{
    struct weir_runtime_options runtime_options = WEIR_RUNTIME_OPTIONS;
    const struct weir_poller poller = { .size = sizeof poller };
    struct weir_behaviour idle = { .name = "idle" };
    struct weir_runtime *runtime;
    struct hand hand;
    weir_pid pid;

    runtime_options.poller = &poller; /* without functions */
    CU_ASSERT_EQUAL(weir_runtime_create(&runtime_options, &runtime), WEIR_EINVALID);
    hand_begin(&hand, 1);
    for (int wrong = 0; wrong < 5; wrong++) {
        struct weir_pool_options options = hand_pool_options(&hand, "pool");

        options.route = wrong == 0 ? WEIR_ROUTE_PULL : 0;
        options.behaviour = wrong == 0 ? NULL : options.behaviour;
        options.restart_then = wrong == 1 ? 9 : 0;
        options.restart_backoff_ms_min = wrong == 2 ? 60000 : 0; /* above the usual largest */
        options.restart_within_ms = wrong == 3 ? UINT64_MAX : 0;
        options.manager = wrong == 4 ? &idle : NULL;
        CU_ASSERT_EQUAL(weir_runtime_add_pool(hand.runtime, &options, &pid), WEIR_EINVALID);
    }
    hand_finish(&hand);
}

/* --- dead letters --------------------------------------------------------------------------- */

/* promise E4 */
static void test_dead_letters_are_read_and_sent_again(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_replayed replayed = WEIR_REPLAYED;
    struct weir_dead_letter letters[4];
    uint32_t count = 0;
    struct hand hand;
    weir_pid pid;

    options.dead_letters = 2;
    hand_begin_with(&hand, &options, 2);
    pid = hand_pool(&hand, "pool", 1, 8);
    for (uint64_t id = 1; id <= 3; id++)
        CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = hand_reject, .id = id }),
                        0);
    CU_ASSERT_TRUE(settled(&hand, pid));
    CU_ASSERT_EQUAL(weir_runtime_dead_letters(hand.runtime, pid, letters, 4, &count), 0);
    CU_ASSERT_EQUAL_FATAL(count, 2); /* the oldest made room */
    CU_ASSERT_EQUAL(letters[0].number, 2);
    CU_ASSERT_STRING_EQUAL(letters[1].reason, "rejected");
    CU_ASSERT_STRING_EQUAL(letters[1].detail, "no such thing");
    CU_ASSERT_EQUAL(letters[1].payload_size, sizeof(struct hand_order));
    CU_ASSERT_EQUAL(letters[1].head_size, sizeof(struct hand_order));
    CU_ASSERT_EQUAL(letters[1].whole, 1);
    CU_ASSERT_EQUAL(weir_runtime_dead_letters(hand.runtime, pid, NULL, 0, &count), 0);
    CU_ASSERT_EQUAL(count, 2);
    CU_ASSERT_EQUAL(weir_runtime_replay(hand.runtime, pid, &replayed), 0);
    CU_ASSERT_EQUAL(replayed.replayed, 2);
    CU_ASSERT_EQUAL(replayed.left, 0);
    CU_ASSERT_TRUE(settled(&hand, pid));
    CU_ASSERT_EQUAL(atomic_load(&hand.sum), 1 + 2 + 3 + 2 + 3);
    CU_ASSERT_EQUAL(weir_runtime_replay(hand.runtime, 12345, NULL), WEIR_EUNKNOWN);
    CU_ASSERT_EQUAL(weir_runtime_dead_letters(hand.runtime, 12345, NULL, 0, &count), WEIR_EUNKNOWN);
    hand_finish(&hand);
}

/* --- what came too late --------------------------------------------------------------------- */

static int wait_and_reply(struct weir_self *self, struct hand *hand,
                          const struct weir_message *message)
{
    (void)gate_pass(&hand->gate);
    return hand_reply(self, hand, message);
}

static void test_late_replies_are_shown(void)
{
    struct weir_runtime_figures figures = WEIR_RUNTIME_FIGURES;
    struct weir_message *message;
    struct hand hand;
    uint64_t reference;
    weir_pid pid;

    hand_begin(&hand, 2);
    pid = hand_pool(&hand, "pool", 1, 8);
    message = hand_message(&hand, (struct hand_order){ .act = wait_and_reply });
    CU_ASSERT_EQUAL(
        weir_runtime_request(hand.runtime, pid, WEIR_NORMAL, message, UINT64_MAX, &reference), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(weir_runtime_cancel(hand.runtime, reference), WEIR_ERUNNING);
    gate_open(&hand.gate);
    CU_ASSERT_TRUE(settled(&hand, pid));
    weir_runtime_figures(hand.runtime, &figures);
    CU_ASSERT_EQUAL(figures.late_replies, 1);
    hand_finish(&hand);
}

/* --- descriptors ---------------------------------------------------------------------------- */

struct waiting {
    _Atomic uint64_t token;
    _Atomic int descriptor;
    _Atomic int ended;
};

static int begin_wait(void *context, int descriptor, uint32_t events, uint64_t token)
{
    struct waiting *waiting = context;

    CU_ASSERT_EQUAL(events, WEIR_READABLE);
    atomic_store(&waiting->descriptor, descriptor);
    atomic_store(&waiting->token, token);
    return 0;
}

static void end_wait(void *context, int descriptor, uint64_t token)
{
    struct waiting *waiting = context;

    CU_ASSERT_EQUAL(descriptor, atomic_load(&waiting->descriptor));
    CU_ASSERT_EQUAL(token, atomic_load(&waiting->token));
    atomic_fetch_add(&waiting->ended, 1);
}

static void on_ready(struct weir_self *self, void *state, void *context, int descriptor,
                     int readiness)
{
    struct hand *hand = context;

    (void)self;
    (void)state;
    atomic_store(&hand->noted, 100 * descriptor + readiness);
    (void)gate_pass(&hand->gate);
}

static int watch(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    (void)message;
    atomic_store(&hand->noted, weir_watch(self, 42, WEIR_READABLE, on_ready, hand, NULL));
    return hand_wait(self, hand, message);
}

/* promise A16 */
static void test_poller_of_the_program_notifies_the_watching_actor(void)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct waiting waiting = { .token = 0 };
    const struct weir_poller poller = {
        .size = sizeof poller, .context = &waiting, .begin = begin_wait, .end = end_wait
    };
    struct hand hand;
    weir_pid pid;

    options.poller = &poller;
    hand_begin_with(&hand, &options, 2);
    gate_open(&hand.gate);
    pid = hand_pool(&hand, "pool", 1, 8);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = watch }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), 0);
    CU_ASSERT_EQUAL(weir_runtime_ready(hand.runtime, atomic_load(&waiting.token), WEIR_READABLE),
                    0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 2));
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), 4200 + WEIR_READABLE);
    CU_ASSERT_EQUAL(weir_runtime_ready(hand.runtime, atomic_load(&waiting.token), WEIR_READABLE),
                    0); /* no longer */
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = watch }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 3));
    hand_finish(&hand);
    CU_ASSERT_EQUAL(atomic_load(&waiting.ended), 1);
}

/* promise A16 */
static void test_without_a_poller_descriptors_cannot_be_watched(void)
{
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    gate_open(&hand.gate);
    pid = hand_pool(&hand, "pool", 1, 8);
    CU_ASSERT_EQUAL(hand_send(&hand, pid, (struct hand_order){ .act = watch }), 0);
    CU_ASSERT_TRUE(gate_await(&hand.gate, 1));
    CU_ASSERT_EQUAL(atomic_load(&hand.noted), WEIR_EUNSUPPORTED);
    hand_finish(&hand);
}

/* --- structs whose size was not set ---------------------------------------------------------- */

/* promise E8: the answer stays, for the call that can take it. */
static void test_answer_whose_size_is_not_set_is_invalid(void)
{
    struct weir_answer unset = { 0 };
    struct weir_answer answer = WEIR_ANSWER;
    struct hand hand;
    uint64_t reference;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_request(hand.runtime, pid, WEIR_NORMAL,
                                         hand_message(&hand, (struct hand_order){ hand_reply, 5 }),
                                         wait_limit_ms(), &reference),
                    0);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, reference, &unset), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_await(hand.runtime, reference, &answer), 0);
    CU_ASSERT_PTR_NOT_NULL(answer.message);
    weir_runtime_message_free(hand.runtime, answer.message);
    CU_ASSERT_EQUAL(weir_runtime_ask(hand.runtime, pid,
                                     hand_message(&hand, (struct hand_order){ hand_reply, 5 }),
                                     wait_limit_ms(), &unset),
                    WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_inspect(hand.runtime, pid, NULL, wait_limit_ms(), &unset),
                    WEIR_EINVALID);
    hand_finish(&hand);
}

static void test_figures_whose_size_is_not_set_are_invalid(void)
{
    struct weir_runtime_figures figures = { 0 };
    struct weir_replayed replayed = { 0 };
    struct weir_pool_stats stats = { 0 };
    struct weir_ledger ledger = { 0 };
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 1, 4);
    CU_ASSERT_EQUAL(weir_runtime_figures(hand.runtime, &figures), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_replay(hand.runtime, pid, &replayed), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_replay(hand.runtime, pid, NULL), 0);
    CU_ASSERT_EQUAL(weir_runtime_pool_stats(hand.runtime, pid, &stats), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_ledger(hand.runtime, pid, &ledger), WEIR_EINVALID);
    CU_ASSERT_EQUAL(weir_runtime_ledger(hand.runtime, 0, &ledger), WEIR_EINVALID);
    hand_finish(&hand);
}

/* A number that is negative removes nothing. */
static void test_adding_a_negative_number_is_invalid(void)
{
    struct hand hand;
    weir_pid pid;

    hand_begin(&hand, 1);
    pid = hand_pool(&hand, "pool", 2, 4);
    CU_ASSERT_EQUAL(weir_runtime_add_workers(hand.runtime, pid, -1, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).target, 2);
    CU_ASSERT_EQUAL(weir_runtime_remove_workers(hand.runtime, pid, 1, NULL), 0);
    CU_ASSERT_EQUAL(hand_stats(&hand, pid).target, 1);
    hand_finish(&hand);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "memory", test_memory_is_capped_and_shown },
        { "mailbox bytes", test_bytes_in_a_mailbox_are_bounded },
        { "pull", test_pool_routes_by_pull },
        { "broadcast", test_pool_routes_by_broadcast },
        { "pause", test_paused_pool_refuses_until_it_is_resumed },
        { "members", test_members_are_listed },
        { "restarts", test_restarts_are_bounded_and_escalate },
        { "a pool of pools", test_pool_of_pools_escalates_by_itself },
        { "manager", test_pool_has_the_manager_of_the_program },
        { "wrong", test_wrong_bounds_are_refused },
        { "dead letters", test_dead_letters_are_read_and_sent_again },
        { "late", test_late_replies_are_shown },
        { "poller", test_poller_of_the_program_notifies_the_watching_actor },
        { "no poller", test_without_a_poller_descriptors_cannot_be_watched },
        { "answer unset", test_answer_whose_size_is_not_set_is_invalid },
        { "figures unset", test_figures_whose_size_is_not_set_are_invalid },
        { "add negative", test_adding_a_negative_number_is_invalid },
        CU_TEST_INFO_NULL,
    };

    return suite_run("bounds", tests);
}
