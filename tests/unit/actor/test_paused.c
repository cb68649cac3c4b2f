/* SPDX-License-Identifier: MIT */
/*
 * Goal: a paused source finds every pool full: it is not asked to produce, what it emits waits,
 * what it sends, forwards, requests or takes is refused, also in its children; actors are no pools;
 * it goes on after the pause, ends with all that it and its children had emitted, and a source that
 * replaces it is paused, too.
 *
 * Method: a source with `handle` that emits, sends and requests with each message, and emits one
 * message in each `produce`. It waits for the next message then, so each message is one step. Other
 * steps take one way out each, in the source or in a child of it.
 */
#include "actor/children.h"
#include "actor/source.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define LIMIT 64u

struct script;

/* One way out: what the host answers. */
typedef int way_out(struct weir_self *self, struct script *script,
                    const struct weir_message *message);

/* The settings of the source. */
struct script {
    _Atomic uint32_t produced; /* calls of `produce` */
    _Atomic uint32_t handled;
    bool emits;  /* with the next message; then the source takes none until its outbox is empty */
    int emitted; /* statuses of the last message */
    int sent;
    int chained;
    int requested;
    int sent_to_worker;
    weir_pid pool;
    weir_pid leased; /* a pool that gives leases */
    weir_pid worker;
    way_out *way;    /* of the next message; NULL: all that `handle` tries */
    int answered;    /* of that way */
    weir_pid child;  /* handles as the source does */
    _Atomic int due; /* why a due message was refused; 1: it was not */
    _Atomic uint32_t settled;
};

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct pool *leased;
    struct weir_behaviour behaviour;
    struct script script;
    struct spec *spec;
    struct source *source;
    uint64_t accepted; /* messages that have reached the pool, but for one of each `produce` */
};

static int open_source(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct script **)state = (struct script *)(uintptr_t)settings;
    return 0;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct script *script = *(struct script **)state;

    CU_ASSERT_TRUE(credit > 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = 1 })), 0);
    atomic_fetch_add(&script->produced, 1);
    return WEIR_WAIT;
}

static int send_to(struct weir_self *self, weir_pid to)
{
    struct weir_message *message = probe_message(self, (struct order){ .id = 2 });
    int status = weir_send(self, to, message);

    if (status != 0)
        weir_message_free(self, message);
    return status;
}

static int chain_to(struct weir_self *self, weir_pid to)
{
    struct weir_message *message = probe_message(self, (struct order){ .id = 3 });
    int taken = weir_send_chain(self, to, &message, 1);

    if (taken != 1)
        weir_message_free(self, message);
    return taken;
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)state;
    (void)context;
    (void)reply;
}

static int request_from(struct weir_self *self, weir_pid to)
{
    struct weir_message *message = probe_message(self, (struct order){ .id = 4 });
    int status = weir_request(self, to, message, 3600000, answered, NULL, NULL);

    if (status != 0)
        weir_message_free(self, message);
    return status;
}

static int way_send(struct weir_self *self, struct script *script,
                    const struct weir_message *message)
{
    (void)message;
    return send_to(self, script->pool);
}

static int way_chain(struct weir_self *self, struct script *script,
                     const struct weir_message *message)
{
    int taken = chain_to(self, script->pool);

    (void)message;
    return taken > 0 ? 0 : taken;
}

static int way_forward(struct weir_self *self, struct script *script,
                       const struct weir_message *message)
{
    return weir_forward(self, script->pool, (struct weir_message *)(uintptr_t)message);
}

static int way_request(struct weir_self *self, struct script *script,
                       const struct weir_message *message)
{
    (void)message;
    return request_from(self, script->pool);
}

static int way_take(struct weir_self *self, struct script *script,
                    const struct weir_message *message)
{
    (void)message;
    return weir_take(self, script->leased, 3600000, answered, NULL, NULL);
}

/* The outcome is seen by `undelivered`, or by the pool. */
static int way_later(struct weir_self *self, struct script *script,
                     const struct weir_message *message)
{
    struct weir_message *later = probe_message(self, (struct order){ .id = 6 });

    (void)message;
    atomic_store(&script->due, 1);
    return weir_send_after(self, script->pool, later, 0, NULL);
}

static void undelivered(struct weir_self *self, void *state, const struct weir_undelivered *what)
{
    (void)self;
    atomic_store(&(*(struct script **)state)->due, what->status);
}

static int way_emit(struct weir_self *self, struct script *script,
                    const struct weir_message *message)
{
    struct weir_message *output = probe_message(self, (struct order){ .id = 7 });

    (void)script;
    (void)message;
    return weir_emit(self, 0, output);
}

/* Emits in the child, and sends it one more message, whose end the source awaits. */
static int way_await_child(struct weir_self *self, struct script *script,
                           const struct weir_message *message)
{
    struct weir_message *first = probe_message(self, (struct order){ .id = 8 });
    struct weir_message *second = probe_message(self, (struct order){ .id = 8 });

    (void)message;
    CU_ASSERT_EQUAL(weir_send(self, script->child, first), 0);
    CU_ASSERT_EQUAL(weir_set_origin(self, second, 1), 0);
    return weir_send(self, script->child, second);
}

static void settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    CU_ASSERT_EQUAL(outcome->result, WEIR_OUTCOME_DONE);
    atomic_fetch_add(&(*(struct script **)state)->settled, 1);
}

/* The settings of a child are a copy of the address. */
static int open_child(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct script **)state = *(struct script *const *)settings;
    return 0;
}

static int handle_in_child(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct script *script = *(struct script **)state;

    if (script->way == way_await_child)
        script->answered = way_emit(self, script, message);
    else
        script->answered = script->way(self, script, message);
    atomic_fetch_add(&script->handled, 1);
    return WEIR_DONE;
}

static void make_child(struct weir_self *self, struct script *script)
{
    static const struct weir_behaviour behaviour = { .name = "child",
                                                     .state_size = sizeof(void *),
                                                     .settings_size = sizeof(void *),
                                                     .open = open_child,
                                                     .handle = handle_in_child,
                                                     .undelivered = undelivered };
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;

    options.behaviour = &behaviour;
    options.settings = &script;
    options.limit = 8;
    CU_ASSERT_EQUAL_FATAL(weir_spawn(self, &options, &script->child), 0);
}

static int go_out(struct weir_self *self, struct script *script, const struct weir_message *message)
{
    script->answered = script->way(self, script, message);
    atomic_fetch_add(&script->handled, 1);
    return WEIR_DONE;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct script *script = *(struct script **)state;

    if (!script->child)
        make_child(self, script);
    if (script->way)
        return go_out(self, script, message);
    if (script->emits)
        script->emitted = weir_emit(self, 0, probe_message(self, (struct order){ .id = 5 }));
    script->sent = send_to(self, script->pool);
    script->chained = chain_to(self, script->pool);
    script->requested = request_from(self, script->pool);
    script->sent_to_worker = send_to(self, script->worker);
    atomic_fetch_add(&script->handled, 1);
    return WEIR_DONE;
}

static struct source *create(struct fixture *f, bool waits)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct source_options options = { .path = "source",
                                      .dispatcher = f->rig.dispatcher,
                                      .spec = f->spec,
                                      .target = f->pool->pid,
                                      .output_count = 1,
                                      .waits_for_go = waits };
    struct source *source = NULL;

    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &source), 0);
    runtime_leave(executor);
    return source;
}

static bool has_produced(void *context)
{
    return atomic_load(&((struct script *)context)->produced) > 0;
}

static void step(struct fixture *f);

static struct pool *make_leased(struct fixture *f)
{
    struct pool_options options = {
        .path = "leased",
        .size = 1,
        .settings = { .route = WEIR_ROUTE_PULL, .mailbox = 4, .lease = { true, 3600000, 4 } }
    };
    struct pool *pool;

    options.spec = rig_spec(f->probe);
    pool = rig_pool(&f->rig, &options);
    spec_unref(options.spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, pool));
    return pool;
}

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create() };
    rig_init(&f->rig, 2, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, LIMIT);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
    f->leased = make_leased(f);
    f->script.pool = f->pool->pid;
    f->script.leased = f->leased->pid;
    f->script.worker = rig_worker(f->pool, 0);
    f->behaviour = (struct weir_behaviour){ .name = "source",
                                            .state_size = sizeof(void *),
                                            .open = open_source,
                                            .produce = produce,
                                            .handle = handle,
                                            .settled = settled,
                                            .undelivered = undelivered };
    f->spec = spec_create(&f->behaviour, &f->script);
    f->source = create(f, false);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_produced, &f->script));
}

static void set_paused(struct fixture *f, bool paused)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_pause(f->source, paused, executor);
    runtime_leave(executor);
    CU_ASSERT_EQUAL(source_is_paused(f->source), paused);
}

static bool has_handled(void *context)
{
    return atomic_load(&((struct script *)context)->handled) > 0;
}

/* One message to the source, and its turn is over when another one has been handled, too. */
static void step(struct fixture *f)
{
    atomic_store(&f->script.handled, 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, source_pid(f->source), (struct order){ .id = 9 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_handled, &f->script));
}

static bool has_accepted(void *context)
{
    struct fixture *f = context;

    return rig_ledger(f->pool).done == f->accepted + atomic_load(&f->script.produced);
}

static bool has_ended(void *context)
{
    return source_has_ended(context);
}

static bool is_open(void *context)
{
    return source_opening(context) == 0;
}

static void finish(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct ledger_reading ledger;

    source_close(f->source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_ended, f->source));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->leased, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, f->accepted + atomic_load(&f->script.produced));
    executor = runtime_enter(f->rig.runtime);
    source_destroy(f->source, executor);
    runtime_leave(executor);
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Three steps: what the first one emits waits, and what the worker gets is sent to an actor. */
static void expect_nothing_of_a_paused_source(struct fixture *f)
{
    uint32_t produced = atomic_load(&f->script.produced);

    for (uint32_t i = 0; i < 3; i++) {
        f->script.emits = i == 2;
        f->script.emitted = 1;
        step(f);
        CU_ASSERT_EQUAL(f->script.emitted, i == 2 ? 0 : 1);
        CU_ASSERT_EQUAL(f->script.sent, WEIR_EFULL);
        CU_ASSERT_EQUAL(f->script.chained, WEIR_EFULL);
        CU_ASSERT_EQUAL(f->script.requested, WEIR_EFULL);
        CU_ASSERT_EQUAL(f->script.sent_to_worker, 0);
        f->accepted++;
        CU_ASSERT_TRUE(rig_wait(&f->rig, has_accepted, f));
    }
    CU_ASSERT_EQUAL(atomic_load(&f->script.produced), produced);
}

/* promise P45 */
static void test_paused_source_finds_every_pool_full(void)
{
    struct fixture f;
    uint32_t produced;

    begin(&f);
    set_paused(&f, true);
    expect_nothing_of_a_paused_source(&f);
    produced = atomic_load(&f.script.produced);
    f.accepted++; /* emitted meanwhile */
    atomic_store(&f.script.produced, 0);
    set_paused(&f, false);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_produced, &f.script)); /* it goes on by itself */
    atomic_fetch_add(&f.script.produced, produced);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_accepted, &f));
    step(&f);
    CU_ASSERT_EQUAL(f.script.sent, 0);
    CU_ASSERT_EQUAL(f.script.chained, 1);
    CU_ASSERT_EQUAL(f.script.requested, 0);
    f.accepted += 5;
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_accepted, &f));
    finish(&f);
}

/* promise P45 */
static void test_paused_source_ends_with_all_that_it_has_emitted(void)
{
    struct fixture f;

    begin(&f);
    set_paused(&f, true);
    expect_nothing_of_a_paused_source(&f);
    f.accepted++;
    finish(&f);
}

static void step_in_child(struct fixture *f)
{
    atomic_store(&f->script.handled, 0);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->script.child, (struct order){ .id = 9 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_handled, &f->script));
}

static bool is_refused(void *context)
{
    return atomic_load(&((struct script *)context)->due) == WEIR_EFULL;
}

/* promise P45: each way to a pool, in the source and in its child. */
static void test_every_way_out_is_held(void)
{
    static const struct {
        way_out *way;
        int paused; /* what it answers in a pause */
        bool reaches_pool;
    } ways[] = {
        { way_send, WEIR_EFULL, true },    { way_chain, WEIR_EFULL, true },
        { way_forward, WEIR_EFULL, true }, { way_request, WEIR_EFULL, true },
        { way_take, WEIR_EFULL, false },   { way_later, 0, true },
    };
    struct fixture f;

    begin(&f);
    step(&f); /* makes the child, and reaches the pool four times */
    f.accepted += 4;
    for (uint32_t i = 0; i < 2 * sizeof ways / sizeof *ways; i++) {
        void (*go)(struct fixture *) = i % 2 == 0 ? step : step_in_child;

        f.script.way = ways[i / 2].way;
        set_paused(&f, true);
        go(&f);
        CU_ASSERT_EQUAL(f.script.answered, ways[i / 2].paused);
        if (ways[i / 2].way == way_later)
            CU_ASSERT_TRUE(rig_wait(&f.rig, is_refused, &f.script));
        set_paused(&f, false);
        go(&f);
        CU_ASSERT_EQUAL(f.script.answered, 0);
        f.accepted += ways[i / 2].reaches_pool;
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_accepted, &f));
    }
    finish(&f);
}

static bool child_waits(void *context)
{
    struct script *script = context;

    return atomic_load(&script->handled) == 2;
}

/* promise P45: the child may not wait for the end of a pause that its source has not any more. */
static void test_paused_source_that_ends_lets_its_children_finish(void)
{
    struct fixture f;

    begin(&f);
    step(&f);
    f.accepted += 4;
    set_paused(&f, true);
    f.script.way = way_await_child;
    atomic_store(&f.script.handled, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, source_pid(f.source), (struct order){ .id = 9 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, child_waits, &f.script)); /* its outbox takes no second one */
    f.accepted += 2;
    finish(&f);
    CU_ASSERT_EQUAL(atomic_load(&f.script.settled), 1);
}

/* promise P45: a reload replaces it; with an exclusive behaviour it has ended before. */
static void test_source_that_replaces_a_paused_one_is_paused(bool is_exclusive)
{
    struct executor *executor;
    struct source *old;
    struct fixture f;

    begin(&f);
    set_paused(&f, true);
    old = f.source;
    f.source = create(&f, true);
    executor = runtime_enter(f.rig.runtime);
    if (is_exclusive) {
        source_close(old, executor);
        runtime_leave(executor);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, old));
        executor = runtime_enter(f.rig.runtime);
        source_inherit(f.source, old);
        source_go(f.source, executor);
    } else {
        source_succeed(old, f.source, executor);
        source_close(old, executor);
    }
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, old));
    CU_ASSERT_TRUE(source_is_paused(f.source));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_open, f.source));
    expect_nothing_of_a_paused_source(&f);
    set_paused(&f, false);
    f.accepted++;
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_accepted, &f));
    executor = runtime_enter(f.rig.runtime);
    source_destroy(old, executor);
    runtime_leave(executor);
    finish(&f);
}

static void test_successors_are_paused(void)
{
    test_source_that_replaces_a_paused_one_is_paused(false);
    test_source_that_replaces_a_paused_one_is_paused(true);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "full", test_paused_source_finds_every_pool_full },
        { "end", test_paused_source_ends_with_all_that_it_has_emitted },
        { "ways", test_every_way_out_is_held },
        { "children", test_paused_source_that_ends_lets_its_children_finish },
        { "successors", test_successors_are_paused },
        CU_TEST_INFO_NULL,
    };

    return suite_run("paused", tests);
}
