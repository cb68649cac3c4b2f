/* SPDX-License-Identifier: MIT */
/*
 * Goal: no actor waits for ever: not for an actor that keeps its thread or takes long turns, and
 * not beside actors that never rest. A refused sender yields. Messages of a sender arrive at a
 * receiver in order, on any threads and with any number of yields.
 *
 * Method: a thousand light workers with a message each. A hog that gave them their work from its
 * own thread waits inside its handler; on one thread, a pair that exchanges a message for ever and
 * one that always has a message for itself. A sender that tries again at once, on the thread of the
 * full receiver. A hog that moves the clock, before a waiting actor. Then numbered messages of
 * several senders, until threads have stolen from each other.
 */
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIGHT 1000u
#define SENDERS 3u
#define RECEIVERS 4u
#define BURST 250u
#define ROUNDS_MAX 10000u /* the first or second has steals; without stealing it comes to an end */

static bool all_light_are_done(void *context)
{
    return rig_ledger(context).done == LIGHT;
}

/* --- behind a hog ---------------------------------------------------------------------------- */

static int scatter_and_hold(struct weir_self *self, struct probe *probe,
                            const struct weir_message *message)
{
    for (uint32_t i = 0; i < LIGHT; i++) {
        struct weir_message *out = probe_message(self, (struct order){ .act = probe_done });

        if (weir_send(self, probe_order(message)->argument, out) != 0)
            return WEIR_FAIL;
    }
    return gate_pass(&probe->gate) ? WEIR_DONE : WEIR_FAIL;
}

/* promise D6: all of them were put into the queues of the thread that is held now. */
static void test_light_actors_run_while_a_hog_holds_their_thread(void)
{
    struct probe *probe = probe_create();
    struct ledger_reading ledger;
    struct pool *light, *hog;
    struct rig rig;
    struct order order = { .act = scatter_and_hold };

    rig_init(&rig, 2, 0);
    light = rig_workers(&rig, probe, "light", LIGHT, 1);
    hog = rig_workers(&rig, probe, "hog", 1, 1);
    order.argument = light->pid;
    CU_ASSERT_EQUAL(rig_send(&rig, hog->pid, order), 0);
    CU_ASSERT_TRUE(rig_wait(&rig, all_light_are_done, light));
    CU_ASSERT_EQUAL(rig_ledger(hog).in_hand, 1);
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_end(&rig, hog, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 1);
    CU_ASSERT_TRUE(rig_end(&rig, light, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

/* --- beside actors without end --------------------------------------------------------------- */

struct endless {
    _Atomic bool stop;
    _Atomic uint64_t turns;
    weir_pid other[3]; /* the receiver of number i */
};

/* Sends its message to the next one, for ever. */
static int pass_on(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct endless *endless = probe->context;
    uint64_t number = probe_order(message)->argument;
    struct order order = { .act = pass_on, .argument = number == 2 ? 2 : 1 - number };

    struct weir_message *out;

    atomic_fetch_add(&endless->turns, 1);
    if (atomic_load(&endless->stop))
        return WEIR_DONE;
    out = probe_message(self, order);
    if (weir_send(self, endless->other[number], out) != 0)
        weir_message_free(self, out); /* the end came in between */
    return WEIR_DONE;
}

/* promise D6: on one thread; the light ones are sent to from outside, into the global queue. */
static void test_light_actors_run_beside_ones_that_never_end(void)
{
    struct probe *light_probe = probe_create(), *probe = probe_create();
    struct endless endless = { 0 };
    struct pool *light, *busy[3];
    struct rig rig;

    probe->context = &endless;
    light_probe->act = probe_done;
    rig_init(&rig, 1, 4);
    light = rig_workers(&rig, light_probe, "light", LIGHT, 1);
    for (uint32_t i = 0; i < 3; i++)
        busy[i] = rig_workers(&rig, probe, i == 0 ? "ping" : i == 1 ? "pong" : "self", 1, 0);
    endless.other[0] = rig_worker(busy[1], 0);
    endless.other[1] = rig_worker(busy[0], 0);
    endless.other[2] = rig_worker(busy[2], 0);
    for (uint32_t i = 0; i < 3; i += 2)
        CU_ASSERT_EQUAL(
            rig_send(&rig, busy[i]->pid, (struct order){ .act = pass_on, .argument = i }), 0);
    for (uint32_t i = 0; i < LIGHT; i++)
        CU_ASSERT_EQUAL(rig_send(&rig, light->pid, (struct order){ .id = i }), 0);
    CU_ASSERT_TRUE(rig_wait(&rig, all_light_are_done, light));
    CU_ASSERT_TRUE(atomic_load(&endless.turns) > 0);
    atomic_store(&endless.stop, true);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_TRUE(rig_end(&rig, busy[i], NULL));
    CU_ASSERT_TRUE(rig_end(&rig, light, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
    probe_destroy(light_probe);
}

/* --- before a full one ------------------------------------------------------------------------ */

#define WANTED 50u
#define TRIES 1000u /* a turn's, if nothing else ends it */

struct pushing {
    weir_pid self;
    weir_pid full;
    _Atomic uint64_t taken;
    _Atomic uint64_t refused;
};

/* Sends to a worker with one place until it has had enough, and tries again at once. */
static int push(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct pushing *pushing = probe->context;
    struct weir_message *out = probe_message(self, (struct order){ .act = probe_done });

    (void)message;
    if (weir_send(self, pushing->full, out) == 0) {
        atomic_fetch_add(&pushing->taken, 1);
    } else {
        weir_message_free(self, out);
        atomic_fetch_add(&pushing->refused, 1);
    }
    if (atomic_load(&pushing->taken) < WANTED)
        (void)weir_send(self, pushing->self, probe_message(self, (struct order){ .act = push }));
    return WEIR_DONE;
}

static bool is_pushed(void *context)
{
    struct pushing *pushing = context;

    return atomic_load(&pushing->taken) == WANTED;
}

/* promise D7: one thread, and a budget for a thousand tries; the one place is free again as soon as
 * the other had a turn. */
static void test_refused_sender_lets_the_full_one_run(void)
{
    struct probe *probe = probe_create();
    struct pushing pushing = { 0 };
    struct pool *sender, *receiver;
    struct rig rig;

    probe->context = &pushing;
    rig_init(&rig, 1, TRIES);
    sender = rig_workers(&rig, probe, "sender", 1, 0);
    receiver = rig_workers(&rig, probe, "receiver", 1, 1);
    pushing.self = rig_worker(sender, 0);
    pushing.full = receiver->pid;
    CU_ASSERT_EQUAL(rig_send(&rig, sender->pid, (struct order){ .act = push }), 0);
    CU_ASSERT_TRUE(rig_wait(&rig, is_pushed, &pushing));
    CU_ASSERT_TRUE(atomic_load(&pushing.refused) <= WANTED);
    CU_ASSERT_TRUE(rig_end(&rig, sender, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, receiver, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

/* --- order ----------------------------------------------------------------------------------- */

#define MESSAGE_NS 50000u /* so that a few that wait are worth a theft */

struct ordered {
    _Atomic uint64_t *now_ns; /* the rig's: moves with each message */
    weir_pid receivers[RECEIVERS];
    uint64_t sent[SENDERS];            /* by its sender */
    uint64_t next[RECEIVERS][SENDERS]; /* by its receiver: the number that comes next */
    _Atomic uint64_t received;
    _Atomic uint64_t out_of_order;
};

static int receive(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct ordered *ordered = probe->context;
    const struct order *order = probe_order(message);
    uint64_t *next = &ordered->next[weir_index(self)][order->argument];

    if (order->id != *next)
        atomic_fetch_add(&ordered->out_of_order, 1);
    *next = order->id + 1;
    atomic_fetch_add(ordered->now_ns, MESSAGE_NS);
    atomic_fetch_add(&ordered->received, 1);
    return WEIR_DONE;
}

/* The same numbers to each receiver. */
static int send_burst(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct ordered *ordered = probe->context;
    uint64_t sender = probe_order(message)->argument;

    for (uint32_t i = 0; i < BURST; i++, ordered->sent[sender]++)
        for (uint32_t to = 0; to < RECEIVERS; to++) {
            struct order order = { receive, ordered->sent[sender], sender };

            if (weir_send(self, ordered->receivers[to], probe_message(self, order)) != 0)
                return WEIR_FAIL;
        }
    return WEIR_DONE;
}

struct round {
    struct ordered *ordered;
    uint64_t wanted;
};

static bool is_received(void *context)
{
    struct round *round = context;

    return atomic_load(&round->ordered->received) == round->wanted;
}

/* promise S3 */
static void test_order_of_sending_is_kept_over_steals_and_yields(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct ordered ordered = { .now_ns = &rig.now_ns };
    struct round round = { &ordered, 0 };
    struct pool *senders, *receivers;
    uint32_t rounds = ROUNDS_MAX;

    probe->context = &ordered;
    rig_init(&rig, 4, 2);
    senders = rig_workers(&rig, probe, "senders", SENDERS, 0);
    receivers = rig_workers(&rig, probe, "receivers", RECEIVERS, 0);
    for (uint32_t i = 0; i < RECEIVERS; i++)
        ordered.receivers[i] = rig_worker(receivers, i);
    do {
        for (uint64_t i = 0; i < SENDERS; i++)
            CU_ASSERT_EQUAL(rig_send(&rig, rig_worker(senders, (uint32_t)i),
                                     (struct order){ .act = send_burst, .argument = i }),
                            0);
        round.wanted += (uint64_t)SENDERS * RECEIVERS * BURST;
        CU_ASSERT_TRUE_FATAL(rig_wait(&rig, is_received, &round));
    } while (dispatcher_steals(rig.dispatcher) == 0 && --rounds > 0);
    CU_ASSERT_TRUE(rounds > 0);
    CU_ASSERT_EQUAL(atomic_load(&ordered.out_of_order), 0);
    CU_ASSERT_TRUE(rig_end(&rig, senders, NULL));
    CU_ASSERT_TRUE(rig_end(&rig, receivers, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

/* --- past a millisecond ---------------------------------------------------------------------- */

#define BACKLOG 24u /* more than the readings of the clock in a turn, less than its budget */
#define OTHER 1u    /* the note of the actor that waits for the hog; the hog's own are 0 */

struct scene {
    struct rig rig;
    struct probe *probe;
    struct pool *from, *hog, *other;
    probe_act *act; /* of the hog, with each message */
};

/* Ten milliseconds go by. */
static int take_long(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct scene *scene = probe->context;

    (void)self;
    (void)message;
    atomic_fetch_add(&scene->rig.now_ns, 10000000);
    return WEIR_DONE;
}

/* As take_long; the handler itself reads the clock at its end. */
static int take_long_and_read_the_clock(struct weir_self *self, struct probe *probe,
                                        const struct weir_message *message)
{
    int verdict = take_long(self, probe, message);

    (void)weir_now_ms(self);
    return verdict;
}

/* The hog was woken last, and runs first. */
static int wake_both(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    const struct scene *scene = probe->context;
    struct order other = { .act = probe_done, .id = OTHER };
    struct order order = { .act = scene->act };

    (void)message;
    CU_ASSERT_EQUAL(weir_send(self, scene->other->pid, probe_message(self, other)), 0);
    for (uint32_t i = 0; i < BACKLOG; i++)
        CU_ASSERT_EQUAL(weir_send(self, scene->hog->pid, probe_message(self, order)), 0);
    return WEIR_DONE;
}

/* How many messages the hog handles before the other one runs. */
static uint32_t handled_before_other(struct scene *scene, probe_act *act)
{
    uint32_t begin = probe_count(scene->probe) + 1; /* after the note of the order */
    uint32_t handled = 0;

    scene->act = act;
    CU_ASSERT_EQUAL(rig_send(&scene->rig, scene->from->pid, (struct order){ .act = wake_both }), 0);
    CU_ASSERT_TRUE(rig_drained(&scene->rig, scene->from));
    CU_ASSERT_TRUE(rig_drained(&scene->rig, scene->other));
    CU_ASSERT_TRUE(rig_drained(&scene->rig, scene->hog));
    while (handled < BACKLOG && probe_get(scene->probe, begin + handled) != OTHER)
        handled++;
    return handled;
}

/* Fewer when the machine is busy: the timekeeper then finds a turn long by itself. */
static void expect_at_most_two(struct scene *scene, probe_act *act)
{
    CU_ASSERT_TRUE(handled_before_other(scene, act) <= 2);
}

/* A hog of one kind: in its first turn, after quick messages, and from then on. */
static void expect_short_turns(probe_act *act)
{
    struct scene scene = { .probe = probe_create() };

    scene.probe->context = &scene;
    rig_init(&scene.rig, 1, 32);
    scene.from = rig_workers(&scene.rig, scene.probe, "from", 1, 4);
    scene.hog = rig_workers(&scene.rig, scene.probe, "hog", 1, 64);
    scene.other = rig_workers(&scene.rig, scene.probe, "other", 1, 4);
    expect_at_most_two(&scene, act);
    CU_ASSERT_EQUAL(handled_before_other(&scene, probe_done), BACKLOG);
    CU_ASSERT_TRUE(handled_before_other(&scene, act) <= 16);
    expect_at_most_two(&scene, act);
    CU_ASSERT_TRUE(rig_end(&scene.rig, scene.from, NULL));
    CU_ASSERT_TRUE(rig_end(&scene.rig, scene.hog, NULL));
    CU_ASSERT_TRUE(rig_end(&scene.rig, scene.other, NULL));
    rig_finish(&scene.rig);
    probe_destroy(scene.probe);
}

/* promise D13 */
static void test_turn_past_a_millisecond_lets_others_run(void)
{
    expect_short_turns(take_long);
}

/* promise D13: a handler that reads the clock hides nothing of the time before it. */
static void test_slow_handler_that_reads_the_clock_lets_others_run(void)
{
    expect_short_turns(take_long_and_read_the_clock);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "reads the clock", test_slow_handler_that_reads_the_clock_lets_others_run },
        { "past a millisecond", test_turn_past_a_millisecond_lets_others_run },
        { "hog", test_light_actors_run_while_a_hog_holds_their_thread },
        { "endless", test_light_actors_run_beside_ones_that_never_end },
        { "refused", test_refused_sender_lets_the_full_one_run },
        { "order", test_order_of_sending_is_kept_over_steals_and_yields },
        CU_TEST_INFO_NULL,
    };

    return suite_run("fairness", tests);
}
