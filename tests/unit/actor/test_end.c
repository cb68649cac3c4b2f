/* SPDX-License-Identifier: MIT */
/*
 * Goal: the end of an actor has its effects in order: waiting senders are released, watchers get
 * the notice that they asked for, closed actors get no notice, feeders go on.
 *
 * Method: actors end while others wait for them, open, or have only their outbox left.
 */
#include "actor/end.h"

#include "actor/place.h"
#include "actor/send.h"
#include "actor/source.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define EXIT_SEEN 900u   /* a note */
#define STATUS_SEEN 800u /* a note: STATUS_SEEN - status */

struct fixture {
    struct rig rig;
    struct probe *one;
    struct probe *other;
    struct pool *first;
    struct pool *second;
};

static void begin(struct fixture *f)
{
    f->one = probe_create();
    f->other = probe_create();
    rig_init(&f->rig, 3, 0); /* two may be blocked */
}

static void finish(struct fixture *f)
{
    if (f->first)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->first, NULL));
    if (f->second)
        CU_ASSERT_TRUE(rig_end(&f->rig, f->second, NULL));
    CU_ASSERT_EQUAL(atomic_load(&f->one->opened), atomic_load(&f->one->closed));
    rig_finish(&f->rig);
    probe_destroy(f->one);
    probe_destroy(f->other);
}

/* Has the one worker of a pool of the probe handle an order, and waits until it has. */
static void order(struct fixture *f, struct pool *pool, struct probe *probe, struct order order)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, pool->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, probe, order.id, 1));
    CU_ASSERT_TRUE(rig_drained(&f->rig, pool));
}

/* --- waiting for a pool --------------------------------------------------------------------- */

/* promises O2 and D4: the waiter is never run; a wake-up stays to be seen in its mailbox. */
static void test_waiter_lets_go_of_a_pool_that_has_ended(void)
{
    static struct actor waiter;
    struct executor *executor;
    struct outbox *outbox;
    struct place *place;
    struct fixture f;

    begin(&f);
    f.first = NULL;
    f.second = rig_workers(&f.rig, f.other, "second", 1, 1);
    executor = runtime_enter(f.rig.runtime);
    CU_ASSERT_EQUAL_FATAL(place_create("waiter", 0, &place), 0);
    place->actor = &waiter;
    waiter.executor = executor;
    waiter.pid = (weir_pid)1 << 32;
    mailbox_init(&waiter.mailbox, 1, 0);
    outbox = place_make_outbox(place);
    CU_ASSERT_PTR_NOT_NULL_FATAL(outbox);
    wait_queue_join(&f.second->waiters, &outbox->waiter, 1, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.second, NULL));
    f.second = NULL;
    CU_ASSERT_PTR_NULL(atomic_load(&outbox->waiter.waits_for));
    CU_ASSERT_EQUAL(atomic_load(&waiter.mailbox.signals), SIGNAL_ROOM);
    wait_queue_leave(&outbox->waiter, executor);
    place_destroy(place);
    finish(&f);
}

static int emit_three(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    (void)probe;
    (void)message;
    for (uint64_t id = 101; id <= 103; id++)
        CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = id })), 0);
    return WEIR_DONE;
}

static struct pool *feeder(struct fixture *f, struct spec *spec, weir_pid target)
{
    struct binding binding = { target, WEIR_FULL_WAIT };
    struct pool *pool = rig_pool(&f->rig, &(struct pool_options){ .path = "first",
                                                                  .spec = spec,
                                                                  .size = 1,
                                                                  .settings.mailbox = 8,
                                                                  .output_count = 1,
                                                                  .outputs = &binding });

    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static bool is_waited_for(void *context)
{
    return wait_queue_any(&((struct pool *)context)->waiters);
}

/* promise O1: held messages go to the output's present target. */
static void test_what_waits_for_a_pool_that_ends_follows_its_output(void)
{
    struct executor *executor;
    struct wiring *wiring;
    struct pool *third;
    struct fixture f;

    begin(&f);
    f.other->act = probe_wait;
    f.second = rig_workers(&f.rig, f.other, "second", 1, 1);
    f.first = feeder(&f, rig_spec(f.one), f.second->pid);
    third = rig_workers(&f.rig, f.one, "third", 1, 8);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.first->pid, (struct order){ .act = emit_three }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_waited_for, f.second));
    CU_ASSERT_TRUE(gate_await(&f.other->gate, 1));
    wiring = wiring_create(1);
    wiring->bindings[0] = (struct binding){ third->pid, WEIR_FULL_WAIT };
    executor = runtime_enter(f.rig.runtime);
    pool_set_wiring(f.first, wiring, executor);
    runtime_leave(executor);
    rig_close(&f.rig, f.second);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, 103, 1));
    gate_open(&f.other->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.second, NULL));
    f.second = third;
    CU_ASSERT_EQUAL(probe_times(f.other, 101), 1);
    CU_ASSERT_EQUAL(probe_times(f.other, 102) + probe_times(f.one, 102), 1);
    finish(&f);
}

/* --- linked --------------------------------------------------------------------------------- */

/* `context` is the actor to link to. */
static int trap_and_link(struct weir_self *self, struct probe *probe)
{
    CU_ASSERT_EQUAL(weir_trap_exits(self, true), 0);
    return weir_link(self, *(const weir_pid *)probe->context);
}

static int note_exit(struct weir_self *self, struct probe *probe,
                     const struct weir_message *message)
{
    (void)self;
    if (message->kind == WEIR_EXIT)
        probe_note(probe, EXIT_SEEN);
    return WEIR_DONE;
}

/* promise A4 */
static void test_exits_trapped_in_open_come_as_messages(void)
{
    struct fixture f;
    weir_pid linked;

    begin(&f);
    f.second = rig_workers(&f.rig, f.other, "second", 1, 8);
    linked = rig_worker(f.second, 0);
    f.one->opens = trap_and_link;
    f.one->context = &linked;
    f.one->tied = note_exit;
    f.first = rig_workers(&f.rig, f.one, "first", 1, 8);
    order(&f, f.second, f.other, (struct order){ .act = probe_fail, .id = 1 });
    order(&f, f.first, f.one, (struct order){ .id = 2 });
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, EXIT_SEEN, 1));
    CU_ASSERT_EQUAL(atomic_load(&f.one->opened), 1);
    CU_ASSERT_EQUAL(rig_stats(f.first).restarts, 0);
    finish(&f);
}

static int pass_exit_on(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    int status = weir_forward(self, *(const weir_pid *)probe->context, message);

    probe_note(probe, STATUS_SEEN + (uint64_t)-status);
    return WEIR_DONE;
}

/* promise A4: a notice of an end is for its receiver only. */
static void test_exit_cannot_be_forwarded(void)
{
    struct fixture f;
    weir_pid linked;

    begin(&f);
    f.second = rig_workers(&f.rig, f.other, "second", 1, 8);
    linked = rig_worker(f.second, 0);
    f.one->opens = trap_and_link;
    f.one->context = &linked;
    f.one->tied = pass_exit_on;
    f.first = rig_workers(&f.rig, f.one, "first", 1, 8);
    order(&f, f.second, f.other, (struct order){ .act = probe_fail, .id = 1 });
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.one, STATUS_SEEN + (uint64_t)-WEIR_EINVALID, 1));
    CU_ASSERT_EQUAL(rig_ledger(f.second).accepted, 1);
    finish(&f);
}

/* --- closed, with an outbox left ------------------------------------------------------------ */

struct script {
    _Atomic uint32_t closed;
    _Atomic uint32_t late; /* callbacks after `close` */
};

/* By way of the spec: there is no state any more if it is late. */
static struct script *script_of(struct weir_self *self)
{
    return (struct script *)(uintptr_t)actor_of_self(self)->spec->settings;
}

static int trap(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct script *script = script_of(self);

    (void)message;
    if (!state || atomic_load(&script->closed))
        atomic_fetch_add(&script->late, 1);
    return weir_trap_exits(self, true) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static void emit_in_close(struct weir_self *self, void *state, int reason)
{
    (void)state;
    (void)reason;
    for (uint64_t id = 101; id <= 104; id++)
        CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = id })), 0);
    atomic_fetch_add(&script_of(self)->closed, 1);
}

static int link_to(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    return weir_link(self, probe_order(message)->argument) == 0 ? WEIR_DONE : WEIR_FAIL;
}

static bool has_reopened(void *context)
{
    return atomic_load(&((struct probe *)context)->opened) == 2;
}

/* promises A2 and A4: `close` was the last callback; its messages are still emitted. */
static void test_exit_that_comes_after_close_reaches_nobody(void)
{
    const struct weir_behaviour behaviour = {
        .name = "closes", .state_size = 8, .handle = trap, .close = emit_in_close
    };
    struct script script = { 0 };
    struct pool *closing;
    struct fixture f;
    struct order tie = { .act = link_to, .id = 1 };

    begin(&f);
    f.other->act = probe_wait;
    f.second = rig_workers(&f.rig, f.other, "second", 1, 1);
    f.first = rig_workers(&f.rig, f.one, "linking", 1, 8);
    closing = feeder(&f, spec_create(&behaviour, &script), f.second->pid);
    tie.argument = rig_worker(closing, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, closing->pid, (struct order){ .id = 1 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, closing));
    rig_close(&f.rig, closing);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_waited_for, f.second));
    CU_ASSERT_EQUAL(atomic_load(&script.closed), 1);
    order(&f, f.first, f.one, tie);
    order(&f, f.first, f.one, (struct order){ .act = probe_fail, .id = 2 });
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_reopened, f.one)); /* the exit is in its mailbox */
    gate_open(&f.other->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, closing, NULL));
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.other, 104, 1));
    CU_ASSERT_EQUAL(atomic_load(&script.late), 0);
    CU_ASSERT_EQUAL(atomic_load(&script.closed), 1);
    finish(&f);
}

/* --- stopped, with a child and an outbox left ----------------------------------------------- */

/* The probe's `open` finds itself by its settings: those of a child hold its address. */
static int open_by_address(struct weir_self *self, const void *settings, void *state)
{
    struct probe *probe = *(struct probe *const *)settings;

    return probe->behaviour.open(self, probe, state);
}

/* Makes a child that stays in a callback until its gate opens. */
static int spawn_and_emit(struct weir_self *self, struct probe *probe,
                          const struct weir_message *message)
{
    struct probe *child = probe->context;
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct weir_behaviour behaviour = child->behaviour;
    weir_pid pid;

    behaviour.open = open_by_address;
    behaviour.settings_size = sizeof child;
    options.behaviour = &behaviour;
    options.settings = &child;
    CU_ASSERT_EQUAL_FATAL(weir_spawn(self, &options, &pid), 0);
    CU_ASSERT_EQUAL(weir_send(self, pid, probe_message(self, (struct order){ probe_wait, 1, 0 })),
                    0);
    return emit_three(self, probe, message);
}

static bool has_dropped(void *context)
{
    return rig_dead(context, DEAD_NO_TARGET) > 0;
}

/* promise A11: it waits for its child, and not for room behind its output. */
static void test_stopped_actor_with_a_child_does_not_wait_for_its_outbox(void)
{
    struct probe *child = probe_create();
    struct executor *executor;
    struct fixture f;

    begin(&f);
    f.one->context = child;
    f.other->act = probe_wait;
    f.second = rig_workers(&f.rig, f.other, "second", 1, 1);
    f.first = feeder(&f, rig_spec(f.one), f.second->pid);
    CU_ASSERT_EQUAL(
        rig_send(&f.rig, f.first->pid, (struct order){ .act = spawn_and_emit, .id = 1 }), 0);
    CU_ASSERT_TRUE(gate_await(&child->gate, 1));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_waited_for, f.second));
    executor = runtime_enter(f.rig.runtime);
    pool_stop_now(f.first, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_dropped, f.first));
    gate_open(&child->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.first, NULL)); /* the target is busy still */
    f.first = NULL;
    gate_open(&f.other->gate);
    finish(&f);
    probe_destroy(child);
}

/* --- settling in close ---------------------------------------------------------------------- */

struct keeper {
    const struct weir_message *kept;
};

static int keep_or_stop(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct keeper *keeper = state;

    (void)self;
    if (keeper->kept)
        return WEIR_STOP;
    keeper->kept = message;
    return WEIR_KEEP;
}

static void settle_in_close(struct weir_self *self, void *state, int reason)
{
    const struct keeper *keeper = state;

    (void)reason;
    if (keeper->kept)
        CU_ASSERT_EQUAL(weir_settle(self, keeper->kept, WEIR_DONE), WEIR_EINVALID);
}

/* Larger than the cached sizes: its memory goes back to the system when it is freed. */
static void send_great(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create(&executor->cache, NULL, 1u << 16);

    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    CU_ASSERT_EQUAL(send_message(f->rig.runtime, executor, pool->pid, WEIR_NORMAL, message), 0);
    runtime_leave(executor);
}

/* promises V1 and D4: kept messages are dead before `close`, and cannot be settled there. */
static void test_kept_message_cannot_be_settled_in_close(void)
{
    const struct weir_behaviour behaviour = { .name = "keeps",
                                              .state_size = sizeof(struct keeper),
                                              .in_hand = 2,
                                              .handle = keep_or_stop,
                                              .close = settle_in_close };
    struct ledger_reading ledger;
    struct fixture f;

    begin(&f);
    f.second = NULL;
    f.first = feeder(&f, spec_create(&behaviour, NULL), 0);
    send_great(&f, f.first);
    send_great(&f, f.first);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.first));
    CU_ASSERT_EQUAL(rig_dead(f.first, DEAD_KEPT), 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.first, &ledger));
    CU_ASSERT_EQUAL(ledger.done, 1);
    CU_ASSERT_EQUAL(ledger.dead, 1);
    f.first = NULL;
    finish(&f);
}

/* --- a source whose pool has ended ---------------------------------------------------------- */

#define TOTAL 20u

struct spring {
    struct weir_behaviour behaviour;
    struct source *source;
    uint32_t produced; /* its own */
};

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct spring *spring = (struct spring *)(uintptr_t)actor_of_self(self)->spec->settings;

    (void)state;
    for (uint32_t i = 0; i < credit && spring->produced < TOTAL; i++) {
        struct order next = { .id = spring->produced };

        if (weir_emit(self, 0, probe_message(self, next)) != 0)
            return -1;
        spring->produced++;
    }
    return spring->produced == TOTAL ? WEIR_END : WEIR_MORE;
}

static void begin_source(struct fixture *f, struct spring *spring, bool waits)
{
    struct source_options options = {
        .path = "spring", .dispatcher = f->rig.dispatcher, .output_count = 1, .waits_for_go = waits
    };
    struct executor *executor = runtime_enter(f->rig.runtime);

    *spring = (struct spring){ .behaviour = { .name = "spring", .produce = produce } };
    options.spec = spec_create(&spring->behaviour, spring);
    options.target = f->second->pid;
    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &spring->source), 0);
    runtime_leave(executor);
    spec_unref(options.spec);
}

static void go(struct fixture *f, struct spring *spring)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_go(spring->source, executor);
    runtime_leave(executor);
}

static bool has_ended(void *context)
{
    return atomic_load(&((struct spring *)context)->source->ended);
}

/* The source ends, with so many of its messages dead for want of a pool. */
static void end_source(struct fixture *f, struct spring *spring, uint64_t dead)
{
    uint64_t counts[DEAD_REASONS] = { 0 };
    struct executor *executor;

    CU_ASSERT_TRUE_FATAL(rig_wait(&f->rig, has_ended, spring));
    dead_letters_counts(&spring->source->dead, counts);
    CU_ASSERT_EQUAL(counts[DEAD_NO_TARGET], dead);
    CU_ASSERT_EQUAL(source_emitted(spring->source), TOTAL - dead);
    executor = runtime_enter(f->rig.runtime);
    source_destroy(spring->source, executor);
    runtime_leave(executor);
}

/* promises S2 and H2: a source of nowhere does not keep the host from its end. */
static void test_source_of_an_ended_pool_ends_with_dead_letters(void)
{
    struct spring spring;
    struct fixture f;

    begin(&f);
    f.first = NULL;
    f.second = rig_workers(&f.rig, f.other, "second", 1, 4);
    begin_source(&f, &spring, true);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.second, NULL));
    f.second = NULL;
    go(&f, &spring);
    end_source(&f, &spring, TOTAL);
    finish(&f);
}

/* promises S2 and H2 */
static void test_source_that_waits_for_a_pool_goes_on_when_that_closes(void)
{
    struct spring spring;
    struct fixture f;
    uint64_t handled;

    begin(&f);
    f.first = NULL;
    f.other->act = probe_wait;
    f.second = rig_workers(&f.rig, f.other, "second", 1, 4);
    begin_source(&f, &spring, false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_waited_for, f.second));
    CU_ASSERT_TRUE(gate_await(&f.other->gate, 1));
    rig_close(&f.rig, f.second);
    handled = rig_ledger(f.second).accepted;
    end_source(&f, &spring, TOTAL - handled);
    gate_open(&f.other->gate);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.second, NULL));
    CU_ASSERT_EQUAL(probe_count(f.other), handled);
    f.second = NULL;
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "waiter", test_waiter_lets_go_of_a_pool_that_has_ended },
        { "held", test_what_waits_for_a_pool_that_ends_follows_its_output },
        { "trapped in open", test_exits_trapped_in_open_come_as_messages },
        { "forwarded exit", test_exit_cannot_be_forwarded },
        { "exit after close", test_exit_that_comes_after_close_reaches_nobody },
        { "stopped with a child", test_stopped_actor_with_a_child_does_not_wait_for_its_outbox },
        { "settled in close", test_kept_message_cannot_be_settled_in_close },
        { "source of nowhere", test_source_of_an_ended_pool_ends_with_dead_letters },
        { "source that waits", test_source_that_waits_for_a_pool_goes_on_when_that_closes },
        CU_TEST_INFO_NULL,
    };

    return suite_run("end", tests);
}
