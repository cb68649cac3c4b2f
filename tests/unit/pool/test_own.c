/* SPDX-License-Identifier: MIT */
/*
 * Goal: what a leased worker sends to itself is its own business and is handled during the lease:
 * by its calls, its timers, its threads and children. Events reach it after the return. What any
 * other actor sends to it is refused, also a message that was sent under another lease. A message
 * of the lease that it has stashed keeps it leased. Shows promises P32 and P34.
 *
 * Method: the leased worker of marks_world.h; a table of senders, and what becomes of the message.
 */
#include <sched.h>
#include <string.h>

#include "actor/children.h"
#include "face/leases.h"
#include "face/messages.h"
#include "unit/host/suite.h"
#include "unit/pool/marks_sender.h"

#define MARKER 11u

/* --- senders: acts of the leased worker ------------------------------------------------------- */

static struct weir_message *make(struct weir_self *self)
{
    return probe_message(self, (struct order){ .act = marks_victim, .id = VICTIM });
}

static int by_call(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_send(self, weir_pid_of(self), make(self)), 0);
    return WEIR_DONE;
}

static int by_chain(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_message *made = make(self);

    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_send_chain(self, weir_pid_of(self), &made, 1), 1);
    return WEIR_DONE;
}

static int by_request(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(
        weir_request(self, weir_pid_of(self), make(self), FOR_LONG_MS, NULL, NULL, NULL), 0);
    return WEIR_DONE;
}

static int by_timer(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    CU_ASSERT_EQUAL(weir_send_after(self, weir_pid_of(self), make(self), 0, NULL), 0);
    return WEIR_DONE;
}

static int by_forward(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct world *w = probe->context;

    if (atomic_load(&w->accepts))
        return marks_victim(self, probe, message);
    atomic_store(&w->accepts, true);
    CU_ASSERT_EQUAL(weir_forward(self, weir_pid_of(self), message), 0);
    return WEIR_DONE;
}

struct thread {
    struct weir_port *port;
    weir_pid to;
    struct weir_message *message;
};

static void *send_apart(void *context)
{
    const struct thread *thread = context;

    CU_ASSERT_EQUAL(weir_port_send(thread->port, thread->to, thread->message), 0);
    return NULL;
}

static void *ask_apart(void *context)
{
    const struct thread *thread = context;
    uint64_t reference;

    CU_ASSERT_EQUAL(
        weir_port_begin(thread->port, thread->to, thread->message, FOR_LONG_MS, &reference), 0);
    return NULL;
}

static void run(struct weir_self *self, weir_pid to, void *(*body)(void *context))
{
    struct thread thread = { weir_port(self), to, make(self) };
    pthread_t id;

    CU_ASSERT_EQUAL_FATAL(pthread_create(&id, NULL, body, &thread), 0);
    CU_ASSERT_EQUAL(pthread_join(id, NULL), 0);
    weir_port_unref(thread.port);
}

static int by_thread(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)probe;
    (void)message;
    run(self, weir_pid_of(self), send_apart);
    return WEIR_DONE;
}

static int by_request_of_thread(struct weir_self *self, struct probe *probe,
                                const struct weir_message *message)
{
    (void)probe;
    (void)message;
    run(self, weir_pid_of(self), ask_apart);
    return WEIR_DONE;
}

static int child_sends(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    (void)message;
    CU_ASSERT_EQUAL(weir_send(self, weir_parent(self), make(self)), 0);
    return WEIR_STOP;
}

static int child_thread_sends(struct weir_self *self, void *state,
                              const struct weir_message *message)
{
    (void)state;
    (void)message;
    run(self, weir_parent(self), send_apart);
    return WEIR_STOP;
}

/* The child has ended when this returns, before its message is handled. */
static void spawn(struct weir_self *self, int (*handle)(struct weir_self *self, void *state,
                                                        const struct weir_message *message))
{
    const struct weir_behaviour behaviour = { .name = "child", .handle = handle };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    weir_pid child;

    options.behaviour = &behaviour;
    CU_ASSERT_EQUAL_FATAL(weir_spawn(self, &options, &child), 0);
    CU_ASSERT_EQUAL(weir_send(self, child, weir_message_new(self, NULL, 0)), 0);
    while (children_are_alive(actor_of_self(self)))
        (void)sched_yield();
}

static int by_child(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    (void)message;
    spawn(self, child_sends);
    return WEIR_DONE;
}

static int by_thread_of_child(struct weir_self *self, struct probe *probe,
                              const struct weir_message *message)
{
    (void)probe;
    (void)message;
    spawn(self, child_thread_sends);
    return WEIR_DONE;
}

/* --- others ----------------------------------------------------------------------------------- */

static bool an_event_comes(struct world *w)
{
    CU_ASSERT_EQUAL(rig_send(&w->rig, w->feeder->pid, (struct order){ .act = marks_own_event }), 0);
    CU_ASSERT_TRUE(rig_drained(&w->rig, w->feeder));
    CU_ASSERT_TRUE(world_order(w, (struct order){ .act = marks_subscribe, .id = MARKER }));
    CU_ASSERT_TRUE(rig_noted(&w->rig, w->workers, MARKER, 1));
    CU_ASSERT_EQUAL(rig_send(&w->rig, w->feeder->pid, (struct order){ .act = marks_publish }), 0);
    return rig_noted(&w->rig, w->feeders, VICTIM, 1);
}

static bool another_sends(struct world *w)
{
    return rig_send(&w->rig, world_home(w), (struct order){ .act = marks_victim, .id = VICTIM }) ==
           0;
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct sender {
    const char *word;
    probe_act *act; /* of the worker; NULL: `send` */
    bool (*send)(struct world *w);
    const char *during; /* the lease, and after it */
    const char *after;
} senders[] = {
    { "its call", by_call, NULL, "own", "own" },
    { "its chain", by_chain, NULL, "own", "own" },
    { "its request", by_request, NULL, "own", "own" },
    { "its timer", by_timer, NULL, "own", "own" },
    { "its forward", by_forward, NULL, "own", "own" },
    { "its thread", by_thread, NULL, "own", "own" },
    { "a request of its thread", by_request_of_thread, NULL, "own", "own" },
    { "a child", by_child, NULL, "own", "own" },
    { "a thread of a child", by_thread_of_child, NULL, "own", "own" },
    { "an event", NULL, an_event_comes, "nobody", "own" },
    { "another sender", NULL, another_sends, "rejected", "rejected" },
};

/* The worker has looked at all that it got before. */
static void mark_time(struct world *w, uint64_t marker)
{
    CU_ASSERT_TRUE(world_order(w, (struct order){ .id = marker }));
    CU_ASSERT_TRUE(rig_noted(&w->rig, w->workers, marker, 1));
}

static void expect(struct world *w, const struct sender *sender, const char *expected)
{
    char got[96];

    world_tell(w, got, sizeof got);
    if (strcmp(got, expected) != 0)
        printf("\n    %s: expected \"%s\", got \"%s\"", sender->word, expected, got);
    CU_ASSERT_STRING_EQUAL(got, expected);
}

static void test_each_sender_to_a_leased_worker(void)
{
    for (size_t i = 0; i < sizeof senders / sizeof *senders; i++) {
        const struct setup setup = { .mark = LEASED };
        const struct sender *sender = &senders[i];
        struct world w;
        char got[96];

        world_begin(&w, &setup);
        atomic_store(&w.home, 0);
        if (sender->act)
            CU_ASSERT_TRUE(world_order(&w, (struct order){ .act = sender->act }))
        else
            CU_ASSERT_TRUE(sender->send(&w));
        if (sender->act == by_timer)
            CU_ASSERT_TRUE(world_handled(&w));
        mark_time(&w, MARKER + 1);
        mark_time(&w, MARKER + 2);
        expect(&w, sender, sender->during);
        world_return(&w);
        CU_ASSERT_TRUE(world_quiet(&w));
        expect(&w, sender, sender->after);
        world_end(&w, got, sizeof got);
    }
}

/* As many events wait as the mailbox takes; the others are dead, and their senders not refused. */
static void test_events_that_wait_are_bounded(void)
{
    const struct setup setup = { .mark = LEASED };
    struct world w;
    char got[96];

    world_begin(&w, &setup);
    atomic_store(&w.home, 0);
    CU_ASSERT_TRUE(an_event_comes(&w));
    for (uint32_t i = 0; i < 2 * LIMIT; i++) {
        CU_ASSERT_EQUAL(rig_send(&w.rig, w.feeder->pid, (struct order){ .act = marks_publish }), 0);
        CU_ASSERT_TRUE(rig_drained(&w.rig, w.feeder));
        mark_time(&w, 100 + i);
    }
    world_return(&w);
    CU_ASSERT_TRUE(world_quiet(&w));
    CU_ASSERT_EQUAL(atomic_load(&w.handled[0]), LIMIT);
    CU_ASSERT_EQUAL(rig_dead(w.pool, DEAD_REJECTED), LIMIT + 1);
    world_end(&w, got, sizeof got);
}

/* --- two leases ------------------------------------------------------------------------------- */

/* The argument is the worker of another pool. */
static int forward_there(struct weir_self *self, struct probe *probe,
                         const struct weir_message *message)
{
    struct world *w = probe->context;
    const struct order *order = probe_order(message);

    if (atomic_load(&w->accepts))
        return marks_victim(self, probe, message);
    atomic_store(&w->accepts, true);
    CU_ASSERT_EQUAL(weir_forward(self, (weir_pid)order->argument, message), 0);
    return WEIR_DONE;
}

static struct pool *make_other(struct world *w)
{
    struct pool_options options = {
        .path = "other",
        .size = 1,
        .settings = { .route = WEIR_ROUTE_PULL, .mailbox = LIMIT, .lease = { true, 0, LIMIT } }
    };
    struct pool *pool;

    options.spec = rig_spec(w->workers);
    pool = rig_pool(&w->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&w->rig, pool));
    return pool;
}

static bool is_rejected(void *context)
{
    return rig_dead(context, DEAD_REJECTED) == 1;
}

/* Both are the first lease of their pool. */
static void test_forward_reaches_no_lease_of_another_pool(void)
{
    const struct setup setup = { .mark = LEASED };
    struct world w;
    struct pool *other;
    struct weir_lease lease;
    char got[96];

    world_begin(&w, &setup);
    other = make_other(&w);
    CU_ASSERT_EQUAL(runtime_take_wait(w.rig.runtime, NULL, other->pid, FOR_LONG_MS, &lease), 0);
    CU_ASSERT_NOT_EQUAL(lease.token, w.lease.token);
    CU_ASSERT_TRUE(
        world_order(&w, (struct order){ .act = forward_there, .argument = rig_worker(other, 0) }));
    CU_ASSERT_TRUE(rig_wait(&w.rig, is_rejected, other));
    CU_ASSERT_EQUAL(atomic_load(&w.handled[0]), 0);
    CU_ASSERT_EQUAL(runtime_lease_return(w.rig.runtime, 0, &lease, WEIR_DONE), 0);
    world_end_with(&w, other, got, sizeof got);
}

/* --- the stash -------------------------------------------------------------------------------- */

static void tick(struct weir_self *self, void *state, void *context)
{
    (void)state;
    (void)context;
    (void)weir_unstash(self, UINT32_MAX);
}

static int stash_for_a_while(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    struct world *w = probe->context;

    if (atomic_load(&w->accepts))
        return marks_victim(self, probe, message);
    atomic_store(&w->accepts, true);
    CU_ASSERT_EQUAL(weir_after(self, DELAY_MS, tick, NULL, NULL), 0);
    CU_ASSERT_EQUAL(weir_stash(self, message), 0);
    return WEIR_DONE;
}

static bool has_returned(void *context)
{
    struct world *w = context;

    return atomic_load(&w->workers->returned) == 1;
}

static void test_stashed_message_of_the_lease_keeps_the_worker(void)
{
    const struct setup setup = { .mark = LEASED };
    struct world w;
    char got[96];

    world_begin(&w, &setup);
    atomic_store(&w.home, 0);
    CU_ASSERT_TRUE(world_order(&w, (struct order){ .act = stash_for_a_while }));
    mark_time(&w, MARKER);
    world_return(&w);
    /* Behind the signal of the return. */
    CU_ASSERT_EQUAL(rig_send_lane(&w.rig, world_home(&w), WEIR_HIGH, (struct order){ .id = 12 }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&w.rig, w.workers, 12, 1));
    CU_ASSERT_EQUAL(rig_send_lane(&w.rig, world_home(&w), WEIR_HIGH, (struct order){ .id = 13 }),
                    0);
    CU_ASSERT_TRUE(rig_noted(&w.rig, w.workers, 13, 1));
    CU_ASSERT_EQUAL(atomic_load(&w.workers->returned), 0);
    rig_advance(&w.rig, 2 * DELAY_MS);
    CU_ASSERT_TRUE(rig_wait(&w.rig, has_returned, &w));
    world_end(&w, got, sizeof got);
    CU_ASSERT_STRING_EQUAL(got, "own");
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "senders", test_each_sender_to_a_leased_worker },
        { "events", test_events_that_wait_are_bounded },
        { "two leases", test_forward_reaches_no_lease_of_another_pool },
        { "stash", test_stashed_message_of_the_lease_keeps_the_worker },
        CU_TEST_INFO_NULL,
    };

    return suite_run("own", tests);
}
