/* SPDX-License-Identifier: MIT */
/*
 * Goal: a worker whose thread does not come back from `handle` is left behind. What it has in hand
 * is dead `stuck`, once, and its requester and origin hear of it; a new worker with its number
 * handles the messages that wait, in order; its late calls have no effect; its late return frees
 * all.
 *
 * Method: a gate holds the callback while the worker is left behind, and opens at the end. The
 * ledger accounts for each message.
 */
#include <string.h>

#include "face/turns.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SLOW 1u
#define LATE 2u
#define SHORT 100u
#define ANSWER 1000u /* a note: ANSWER + the negative status of a request */
#define LATE_NOTE 2000u
#define SETTLED 3000u
#define INDEX 10000u /* a note: INDEX * (index + 1) + id */
#define COUNT 12u
#define THREADS 4u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    uint64_t sent;
};

static int note_worker(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    probe_note(probe, INDEX * (weir_index(self) + 1) + probe_order(message)->id);
    return WEIR_DONE;
}

static void begin_with(struct fixture *f, const struct pool_options *options, uint32_t budget)
{
    struct pool_options all = *options;

    f->probe->act = note_worker;
    rig_init(&f->rig, THREADS, budget);
    all.spec = rig_spec(f->probe);
    all.spec->redeliver_max = 1;
    all.spec->retry.max = 5;
    all.spec->in_hand_max = 4;
    all.path = "pool";
    f->pool = rig_pool(&f->rig, &all);
    spec_unref(all.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void begin(struct fixture *f, enum weir_route route, uint32_t size, uint32_t flags)
{
    *f = (struct fixture){ .probe = probe_create() };
    f->probe->behaviour.flags |= flags;
    begin_with(f,
               &(struct pool_options){
                   .size = size, .settings.mailbox = 4 * COUNT, .settings.route = route },
               0);
}

static void send(struct fixture *f, weir_pid to, probe_act *act, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send_key(&f->rig, to, 7, (struct order){ .act = act, .id = id }), 0);
    f->sent++;
}

static void hold(struct fixture *f, uint32_t index, probe_act *act, uint64_t id, uint32_t arrived)
{
    send(f, rig_worker(f->pool, index), act, id);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, arrived));
}

static int leave_behind(struct fixture *f, uint32_t index, const char **out_why)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct turn_at at;
    int status = pool_find_turn(f->pool, index, 0, &at)
                     ? pool_leave_behind(f->pool, index, &at, executor, out_why)
                     : WEIR_EUNKNOWN;

    runtime_leave(executor);
    return status;
}

static bool are_all_open(void *context)
{
    struct weir_pool_stats stats = rig_stats(context);

    return stats.live == stats.target;
}

/* The successor is open afterwards: until then its pool has no room in it. */
static void leave(struct fixture *f, uint32_t index)
{
    const char *why = "";

    CU_ASSERT_EQUAL(leave_behind(f, index, &why), 0);
    CU_ASSERT_STRING_EQUAL(why, "");
    CU_ASSERT_TRUE(rig_wait(&f->rig, are_all_open, f->pool));
}

static void finish(struct fixture *f, uint64_t stuck)
{
    struct ledger_reading ledger;

    CU_ASSERT_EQUAL(rig_dead(f->pool, DEAD_STUCK), stuck);
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.dead, stuck);
    CU_ASSERT_EQUAL(ledger.done, f->sent - stuck);
    CU_ASSERT_EQUAL(ledger.accepted, ledger.done + ledger.moved + ledger.dead);
    CU_ASSERT_EQUAL(f->probe->opened, f->probe->closed);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Worker `index` has begun all, in this order, and no other worker has. */
static void expect_in_order(struct fixture *f, uint32_t index, uint64_t from, uint32_t count)
{
    uint64_t next = from;

    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, INDEX * (index + 1) + from + i, 1));
    for (uint32_t i = 0; i < probe_count(f->probe); i++)
        if (probe_get(f->probe, i) == INDEX * (index + 1) + next)
            next++;
    CU_ASSERT_EQUAL(next, from + count);
}

/* --- the place ------------------------------------------------------------------------------- */

/* promise C24: in each route, by a behaviour that may block, too. */
static void test_what_waits_is_handled_by_a_new_worker(void)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_HASH,
                                              WEIR_ROUTE_PULL };
    static const uint32_t flags[] = { 0, WEIR_BLOCKING };

    for (uint32_t i = 0; i < 3 * 2; i++) {
        struct fixture f;
        weir_pid old;

        begin(&f, routes[i % 3], 1, flags[i / 3]);
        old = rig_worker(f.pool, 0);
        hold(&f, 0, probe_wait, SLOW, 1);
        for (uint32_t n = 0; n < COUNT; n++)
            send(&f, n % 2 ? f.pool->pid : old, NULL, SHORT + n);
        leave(&f, 0);
        CU_ASSERT_NOT_EQUAL(rig_worker(f.pool, 0), old);
        for (uint32_t n = COUNT; n < 2 * COUNT; n++)
            send(&f, f.pool->pid, NULL, SHORT + n);
        if (routes[i % 3] != WEIR_ROUTE_PULL) /* its queue is not the worker's */
            expect_in_order(&f, 0, SHORT, 2 * COUNT);
        for (uint32_t n = 0; n < 2 * COUNT; n++)
            CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, INDEX + SHORT + n, 1));
        CU_ASSERT_EQUAL(rig_send(&f.rig, old, (struct order){ .id = 7 }), WEIR_ECLOSED);
        CU_ASSERT_EQUAL(probe_times(f.probe, SLOW), 1);
        finish(&f, 1);
    }
}

/* promise C24 */
static void test_keys_stay_with_the_place(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_HASH, 3, 0);
    for (uint32_t i = 0; i <= COUNT; i++) {
        struct order order = { .act = i ? NULL : probe_wait, .id = i ? SHORT + i - 1 : SLOW };

        CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 7, order), 0);
        f.sent++;
    }
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    for (uint32_t index = 0; index < 3; index++) {
        const char *why;

        if (leave_behind(&f, index, &why) != 0)
            continue;
        CU_ASSERT_TRUE(rig_wait(&f.rig, are_all_open, f.pool));
        for (uint32_t i = COUNT; i < 2 * COUNT; i++)
            CU_ASSERT_EQUAL(rig_send_key(&f.rig, f.pool->pid, 7, (struct order){ .id = SHORT + i }),
                            0);
        f.sent += COUNT;
        expect_in_order(&f, index, SHORT, 2 * COUNT);
    }
    finish(&f, 1);
}

static bool are_done(void *context)
{
    struct fixture *f = context;

    return rig_ledger(f->pool).done == COUNT;
}

/* promise C24: the first is still stuck, and the pool is resized meanwhile. */
static void test_again_while_the_first_is_stuck(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 2, 0);
    for (uint32_t i = 0; i < 2; i++) {
        hold(&f, 1, probe_wait, SLOW, i + 1);
        leave(&f, 1);
    }
    CU_ASSERT_EQUAL(rig_stats(f.pool).retiring, 2);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 3, NULL), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, are_all_open, f.pool));
    for (uint32_t i = 0; i < COUNT; i++)
        send(&f, f.pool->pid, NULL, SHORT + i);
    CU_ASSERT_TRUE(rig_wait(&f.rig, are_done, &f));
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 3);
    finish(&f, 2);
}

static bool has_one_retiring(void *context)
{
    return rig_stats(context).retiring == 1;
}

/* promise C24: the pool ends when the callback has returned. */
static void test_the_pool_closes_meanwhile(void)
{
    struct fixture f;
    const char *why = "";

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 0);
    hold(&f, 0, probe_wait, SLOW, 1);
    leave(&f, 0);
    hold(&f, 0, probe_wait, SLOW, 2);
    rig_close(&f.rig, f.pool);
    CU_ASSERT_EQUAL(leave_behind(&f, 0, &why), WEIR_EUNKNOWN);
    gate_admit(&f.probe->gate, 1); /* the first that came */
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_one_retiring, f.pool));
    CU_ASSERT_FALSE(pool_has_ended(f.pool));
    CU_ASSERT_EQUAL(f.probe->last_reason, WEIR_END_KILL);
    finish(&f, 1);
}

/* --- what it holds --------------------------------------------------------------------------- */

static int keep(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)message;
    probe_note(probe, LATE_NOTE);
    return WEIR_KEEP;
}

static int stash_it(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    if (weir_index(self) == 0 && probe_times(probe, SHORT) == 1)
        CU_ASSERT_EQUAL(weir_stash(self, message), 0);
    return note_worker(self, probe, message);
}

static int retry_later(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    if (message->attempt > 1)
        return note_worker(self, probe, message);
    weir_retry_after(self, 3600000);
    return WEIR_RETRY;
}

/* promise C24: kept messages are dead as well; stashed ones and retries are handled. */
static void test_all_that_it_holds(void)
{
    struct fixture f;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 0);
    send(&f, f.pool->pid, stash_it, SHORT);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, INDEX + SHORT, 1));
    send(&f, f.pool->pid, retry_later, SHORT + 1);
    send(&f, f.pool->pid, keep, SLOW);
    hold(&f, 0, probe_wait, SLOW, 1);
    leave(&f, 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, INDEX + SHORT, 2));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, INDEX + SHORT + 1, 1));
    finish(&f, 2);
}

/* --- late calls ------------------------------------------------------------------------------ */

static int call_late(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    struct weir_message *made = probe_message(self, (struct order){ .id = LATE });
    weir_pid pid = 0;
    uint64_t number = 0;

    (void)gate_pass(&probe->gate);
    CU_ASSERT_EQUAL(weir_send(self, weir_pid_of(self), made), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_emit(self, 0, made), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_send_chain(self, weir_pid_of(self), &made, 1), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_reply(self, message, made), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_request(self, weir_pid_of(self), made, 1000, NULL, NULL, NULL),
                    WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_send_after(self, weir_pid_of(self), made, 0, NULL), WEIR_ETERMINATED);
    weir_message_free(self, made);
    CU_ASSERT_EQUAL(weir_forward(self, weir_pid_of(self), message), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_settle(self, message, WEIR_DONE), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_stash(self, message), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_put_back(self, message), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_name(self, "late"), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_lookup(self, "pool", &pid), WEIR_ETERMINATED);
    CU_ASSERT_EQUAL(weir_monitor(self, weir_pid_of(self), &number), WEIR_ETERMINATED);
    CU_ASSERT_PTR_NULL(weir_port(self));
    probe_note(probe, LATE_NOTE);
    return WEIR_RETRY;
}

static void close_late(struct weir_self *self, struct probe *probe)
{
    weir_pid pid = 0;

    if (probe_times(probe, LATE_NOTE) == 1 && probe_times(probe, LATE_NOTE + 1) == 0)
        CU_ASSERT_EQUAL(weir_lookup(self, "pool", &pid), WEIR_ETERMINATED);
    probe_note(probe, LATE_NOTE + 1);
}

/* promise C24: neither a call nor the verdict has an effect. */
static void test_late_calls_have_no_effect(void)
{
    static const uint32_t flags[] = { 0, WEIR_BLOCKING };

    for (uint32_t i = 0; i < 2; i++) {
        struct fixture f;

        begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, flags[i]);
        f.probe->closes = close_late;
        hold(&f, 0, call_late, SLOW, 1);
        leave(&f, 0);
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, LATE_NOTE + 1, 1));
        CU_ASSERT_EQUAL(probe_times(f.probe, LATE), 0);
        CU_ASSERT_EQUAL(probe_times(f.probe, SLOW), 1);
        finish(&f, 1);
    }
}

/* --- who hears of it ------------------------------------------------------------------------- */

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    probe_note(context, ANSWER + (uint64_t)-reply->status);
}

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct probe *probe = *(struct probe **)state;

    (void)self;
    if (outcome->result == WEIR_OUTCOME_DEAD && strcmp(outcome->reason, "stuck") == 0)
        probe_note(probe, SETTLED + outcome->token);
}

static int ask(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    weir_pid to = probe_order(message)->argument;
    struct weir_message *made = probe_message(self,
                                              (struct order){ .act = probe_wait, .id = SLOW });

    CU_ASSERT_EQUAL(weir_request(self, to, made, 3600000, answered, probe, NULL), 0);
    return WEIR_DONE;
}

static int track(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    weir_pid to = probe_order(message)->argument;
    struct weir_message *made = probe_message(self,
                                              (struct order){ .act = probe_wait, .id = SLOW });

    (void)probe;
    CU_ASSERT_EQUAL(weir_set_origin(self, made, 5), 0);
    CU_ASSERT_EQUAL(weir_send(self, to, made), 0);
    return WEIR_DONE;
}

/* promise C24: once, although the callback returns at last. */
static void test_requester_and_origin_hear_of_it(void)
{
    static probe_act *const acts[] = { ask, track };
    static const uint64_t notes[] = { ANSWER + (uint64_t)-WEIR_ECRASHED, SETTLED + 5 };

    for (uint32_t i = 0; i < 2; i++) {
        struct fixture f = { .probe = probe_create() };

        f.probe->behaviour.settled = settled;
        begin_with(&f, &(struct pool_options){ .size = 2, .settings.mailbox = COUNT }, 0);
        CU_ASSERT_EQUAL(
            rig_send(&f.rig, rig_worker(f.pool, 1),
                     (struct order){ .act = acts[i], .argument = rig_worker(f.pool, 0) }),
            0);
        f.sent += 2;
        CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
        leave(&f, 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, notes[i], 1));
        gate_open(&f.probe->gate);
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
        CU_ASSERT_EQUAL(probe_times(f.probe, notes[i]), 1);
        finish(&f, 1);
    }
}

/* --- late messages to it --------------------------------------------------------------------- */

static int ask_urgently(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    weir_pid to = probe_order(message)->argument;
    struct weir_message *made = probe_message(self, (struct order){ .id = LATE });

    CU_ASSERT_EQUAL(weir_request_lane(self, to, WEIR_URGENT, made, 3600000, answered, probe, NULL),
                    0);
    probe_note(probe, LATE_NOTE);
    return WEIR_DONE;
}

/* promise C24: a message to the old PID has no receiver. In the normal lane it is refused at once,
 * in the others when the callback has returned. */
static void test_late_messages_to_the_old_pid_have_no_receiver(void)
{
    struct fixture f;
    weir_pid old;

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 2, 0);
    old = rig_worker(f.pool, 0);
    hold(&f, 0, probe_wait, SLOW, 1);
    leave(&f, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, old, (struct order){ .id = LATE }), WEIR_ECLOSED);
    for (uint32_t lane = WEIR_HIGH; lane <= WEIR_URGENT; lane++)
        CU_ASSERT_EQUAL(rig_send_lane(&f.rig, old, lane, (struct order){ .id = LATE }), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 1),
                             (struct order){ .act = ask_urgently, .argument = old }),
                    0);
    f.sent++;
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, LATE_NOTE, 1));
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, ANSWER + (uint64_t)-WEIR_ETERMINATED, 1));
    CU_ASSERT_EQUAL(rig_send_lane(&f.rig, old, WEIR_URGENT, (struct order){ .id = LATE }),
                    WEIR_ETERMINATED);
    for (uint32_t index = 0; index < 2; index++)
        CU_ASSERT_EQUAL(probe_times(f.probe, INDEX * (index + 1) + LATE), 0);
    finish(&f, 1);
}

/* --- refusals -------------------------------------------------------------------------------- */

static int handle_nothing(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static const struct weir_behaviour child = { .name = "child", .handle = handle_nothing };

static int spawn_and_wait(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    weir_pid pid;

    options.behaviour = &child;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &pid), 0);
    return probe_wait(self, probe, message);
}

static void expect_children_refused(void)
{
    struct fixture f;
    const char *why = "";

    begin(&f, WEIR_ROUTE_ROUND_ROBIN, 1, 0);
    CU_ASSERT_EQUAL(leave_behind(&f, 0, &why), WEIR_EUNKNOWN); /* it is in no callback */
    hold(&f, 0, spawn_and_wait, SLOW, 1);
    CU_ASSERT_EQUAL(leave_behind(&f, 0, &why), WEIR_ENOTALLOWED);
    CU_ASSERT_STRING_EQUAL(why, "it has spawned actors that are alive");
    finish(&f, 0);
}

/* Its holder talks with this worker and no other. */
static void expect_leases_refused(void)
{
    struct fixture f = { .probe = probe_create() };
    const char *why = "";

    begin_with(
        &f,
        &(struct pool_options){ .size = 1,
                                .settings = { .mailbox = COUNT,
                                              .route = WEIR_ROUTE_PULL,
                                              .lease = { .on = true, .timeout_ms = 1000 } } },
        0);
    hold(&f, 0, probe_wait, SLOW, 1);
    CU_ASSERT_EQUAL(leave_behind(&f, 0, &why), WEIR_ENOTALLOWED);
    CU_ASSERT_STRING_EQUAL(why, "its pool has leases");
    finish(&f, 0);
}

static struct gate *flush_gate;

static int wait_in_flush(struct weir_self *self, void *state)
{
    (void)self;
    (void)state;
    (void)gate_pass(flush_gate);
    return WEIR_DONE;
}

/* What `flush` writes may be written already. */
static void expect_flush_refused(void)
{
    struct fixture f = { .probe = probe_create() };
    const char *why = "";

    f.probe->behaviour.flush = wait_in_flush;
    flush_gate = &f.probe->gate;
    begin_with(&f, &(struct pool_options){ .size = 1, .settings.mailbox = COUNT }, 0);
    hold(&f, 0, keep, SLOW, 1);
    CU_ASSERT_EQUAL(leave_behind(&f, 0, &why), WEIR_ENOTALLOWED);
    CU_ASSERT_STRING_EQUAL(why, "only a thread in `handle` is left behind");
    finish(&f, 0);
}

/* promise C24: what cannot be done is refused with the reason, and nothing has happened. */
static void test_it_is_refused(void)
{
    struct fixture f = { .probe = probe_create() };
    const char *why = "";

    begin_with(&f, &(struct pool_options){ .size = THREADS, .settings.mailbox = COUNT }, 1);
    for (uint32_t i = 0; i < THREADS; i++)
        hold(&f, i, probe_wait, SLOW, i + 1);
    CU_ASSERT_EQUAL(leave_behind(&f, 0, &why), WEIR_ENOTALLOWED);
    CU_ASSERT_STRING_EQUAL(
        why, "its dispatcher has no thread left, and with a budget of 1 no spare one stands in");
    finish(&f, 0);
    expect_children_refused();
    expect_flush_refused();
    expect_leases_refused();
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "what waits is handled by a new worker", test_what_waits_is_handled_by_a_new_worker },
        { "keys stay with the place", test_keys_stay_with_the_place },
        { "again while the first is stuck", test_again_while_the_first_is_stuck },
        { "the pool closes meanwhile", test_the_pool_closes_meanwhile },
        { "all that it holds", test_all_that_it_holds },
        { "late calls have no effect", test_late_calls_have_no_effect },
        { "requester and origin hear of it", test_requester_and_origin_hear_of_it },
        { "late messages", test_late_messages_to_the_old_pid_have_no_receiver },
        { "it is refused", test_it_is_refused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("left_behind", tests);
}
