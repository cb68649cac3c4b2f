/* SPDX-License-Identifier: MIT */
/*
 * Goal: a source takes messages while it produces, also while it keeps a message. When it is to
 * end, it settles its kept messages in `leave`, and then ends. A reply to its own request wakes the
 * source.
 *
 * Method: a source that keeps each message until `leave`, feeding a pool of one worker; another one
 * sends requests to that pool.
 */
#include "actor/source.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define IN_HAND 2u
#define REQUESTS 3u

/* Settings and state of the source, which is the only one. */
struct script {
    const struct weir_message *kept[IN_HAND];
    _Atomic uint32_t kept_count;
    _Atomic uint32_t produced; /* messages, with or without one that it keeps */
    _Atomic uint32_t left;     /* calls of `leave` that settled something */
    bool is_asking;            /* it sends requests first, and produces when it has all replies */
    uint32_t asked, answered;
};

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct weir_behaviour behaviour;
    struct script script;
    struct spec *spec;
    struct source *source;
};

static int open_source(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct script **)state = (struct script *)(uintptr_t)settings;
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct script *script = *(struct script **)state;
    uint32_t count = atomic_load(&script->kept_count);

    (void)self;
    CU_ASSERT_FATAL(count < IN_HAND);
    script->kept[count] = message;
    atomic_store(&script->kept_count, count + 1);
    return WEIR_KEEP;
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    (void)self;
    (void)context;
    CU_ASSERT_EQUAL(reply->status, 0);
    (*(struct script **)state)->answered++;
}

static void ask(struct weir_self *self, struct script *script)
{
    weir_pid pool;

    CU_ASSERT_EQUAL(weir_target(self, 0, &pool), 0);
    for (; script->asked < REQUESTS; script->asked++)
        CU_ASSERT_EQUAL(weir_request(self, pool,
                                     probe_message(self, (struct order){ .act = probe_reply }),
                                     60000, answered, NULL, NULL),
                        0);
}

/* One message after each that comes in. */
static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct script *script = *(struct script **)state;

    (void)credit;
    if (script->is_asking && script->answered < REQUESTS) {
        ask(self, script);
        return WEIR_WAIT;
    }
    if (weir_emit(self, 0, probe_message(self, (struct order){ .act = probe_done })) != 0)
        return -1;
    atomic_fetch_add(&script->produced, 1);
    return WEIR_WAIT;
}

static int leave(struct weir_self *self, void *state)
{
    struct script *script = *(struct script **)state;
    uint32_t count = atomic_exchange(&script->kept_count, 0);

    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(weir_settle(self, script->kept[i], WEIR_REJECT), 0);
    atomic_fetch_add(&script->left, count > 0);
    return WEIR_END;
}

static bool has_produced(void *context)
{
    return atomic_load(&((struct script *)context)->produced) > 0;
}

static bool is_open(void *context)
{
    return source_opening(context) == 0;
}

/* The pool has `size` workers: 1, or 0 for a pool that never has room. */
static void begin_with(struct fixture *f, uint32_t size, struct script script)
{
    struct source_options options = { .path = "source", .output_count = 1 };
    struct executor *executor;

    *f = (struct fixture){ .probe = probe_create(), .script = script };
    rig_init(&f->rig, 2, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", size, 4);
    f->behaviour = (struct weir_behaviour){ .name = "source",
                                            .state_size = sizeof(void *),
                                            .in_hand = IN_HAND,
                                            .open = open_source,
                                            .handle = handle,
                                            .produce = produce,
                                            .leave = leave };
    f->spec = spec_create(&f->behaviour, &f->script);
    options.dispatcher = f->rig.dispatcher;
    options.spec = f->spec;
    options.target = f->pool->pid;
    executor = runtime_enter(f->rig.runtime);
    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &f->source), 0);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f->rig, is_open, f->source));
    CU_ASSERT_TRUE(size == 0 || rig_wait(&f->rig, has_produced, &f->script));
}

static void begin(struct fixture *f, uint32_t size)
{
    begin_with(f, size, (struct script){ .is_asking = false });
}

static bool has_ended(void *context)
{
    return source_has_ended(context);
}

static void finish(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    source_destroy(f->source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

static bool has_produced_twice(void *context)
{
    return atomic_load(&((struct script *)context)->produced) == 2;
}

/* A message wakes the source, and one that it keeps below its `in_hand` does not stop it. */
static void test_source_produces_while_it_keeps_a_message(void)
{
    struct fixture f;
    struct executor *executor;

    begin(&f, 1);
    CU_ASSERT_EQUAL(rig_send(&f.rig, source_pid(f.source), (struct order){ 0 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_produced_twice, &f.script));
    executor = runtime_enter(f.rig.runtime);
    source_close(f.source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    finish(&f);
}

/* The fixture waits until it has produced: nothing but the replies can wake it. */
static void test_replies_wake_the_source(void)
{
    struct fixture f;
    struct executor *executor;

    begin_with(&f, 1, (struct script){ .is_asking = true });
    CU_ASSERT_EQUAL(atomic_load(&f.script.produced), 1);
    executor = runtime_enter(f.rig.runtime);
    source_close(f.source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    finish(&f);
}

static bool keeps_one(void *context)
{
    return atomic_load(&((struct script *)context)->kept_count) == 1;
}

/* A producer that waits for room is not blocked. */
static void test_source_without_room_takes_messages(void)
{
    struct fixture f;
    struct executor *executor;

    begin(&f, 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, source_pid(f.source), (struct order){ 0 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, keeps_one, &f.script));
    CU_ASSERT_EQUAL(atomic_load(&f.script.produced), 0);
    executor = runtime_enter(f.rig.runtime);
    source_close(f.source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    finish(&f);
}

/* promise O10 */
static void test_source_that_ends_settles_what_it_keeps(void)
{
    struct ledger_reading ledger;
    struct fixture f;
    struct executor *executor;

    begin(&f, 1);
    /* With so many it takes no more and produces nothing: one message waits. */
    for (uint32_t i = 0; i < IN_HAND + 1; i++)
        CU_ASSERT_EQUAL(rig_send(&f.rig, source_pid(f.source), (struct order){ .id = i }), 0);
    executor = runtime_enter(f.rig.runtime);
    source_close(f.source, executor);
    runtime_leave(executor);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source));
    CU_ASSERT_EQUAL(atomic_load(&f.script.left), 2);
    source_ledger(f.source, &ledger);
    CU_ASSERT_EQUAL(ledger.accepted, IN_HAND + 1);
    CU_ASSERT_EQUAL(ledger.dead, IN_HAND + 1);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "produces", test_source_produces_while_it_keeps_a_message },
        { "replies", test_replies_wake_the_source },
        { "without room", test_source_without_room_takes_messages },
        { "ends", test_source_that_ends_settles_what_it_keeps },
        CU_TEST_INFO_NULL,
    };

    return suite_run("source_requests", tests);
}
