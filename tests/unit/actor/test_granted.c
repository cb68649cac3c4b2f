/* SPDX-License-Identifier: MIT */
/*
 * Goal: a source that found a place by itself passes on one that is granted to it later: the sender
 * behind it does not wait beside that place.
 *
 * Method: a pool of one worker with a mailbox of one, whose worker waits in each message. Before
 * and behind the source stand waiters of the test. The first one is granted the place that is
 * freed, and does not come. The source is woken, takes that place, and is granted another one
 * inside `produce`.
 */
#include "actor/source.h"
#include "actor/wait_queue.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct bystander {
    struct waiter waiter; /* first */
    _Atomic bool woken;
};

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct weir_behaviour behaviour;
    struct spec *spec;
    struct source *source;
    struct bystander first, last;
};

static void wake(struct waiter *waiter, struct executor *executor)
{
    (void)executor;
    atomic_store(&((struct bystander *)(void *)waiter)->woken, true);
}

static int open_source(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct fixture **)state = (struct fixture *)(uintptr_t)settings;
    return 0;
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct fixture *f = *(struct fixture **)state;

    CU_ASSERT_TRUE(credit > 0);
    CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = 3 })), 0);
    wait_queue_wake(&f->pool->waiters, 1, actor_of_self(self)->executor);
    return WEIR_END;
}

/* It only wakes the source. */
static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_DONE;
}

static void join(struct fixture *f, struct bystander *bystander)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    waiter_init(&bystander->waiter, wake);
    wait_queue_join(&f->pool->waiters, &bystander->waiter, 1, executor);
    runtime_leave(executor);
}

static void leave(struct fixture *f, struct bystander *bystander)
{
    struct executor *executor = runtime_enter(f->rig.runtime);

    wait_queue_leave(&bystander->waiter, executor);
    runtime_leave(executor);
}

static bool has_two_waiters(void *context)
{
    return wait_queue_wanted(&((struct fixture *)context)->pool->waiters) == 2;
}

static bool is_woken(void *context)
{
    return atomic_load(&((struct bystander *)context)->woken);
}

static bool has_ended(void *context)
{
    return source_has_ended(context);
}

static void make_source(struct fixture *f)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct source_options options = {
        .path = "source", .dispatcher = f->rig.dispatcher, .target = f->pool->pid, .output_count = 1
    };

    f->behaviour = (struct weir_behaviour){ .name = "source",
                                            .state_size = sizeof(void *),
                                            .open = open_source,
                                            .produce = produce,
                                            .handle = handle };
    f->spec = spec_create(&f->behaviour, f);
    options.spec = f->spec;
    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &f->source), 0);
    runtime_leave(executor);
}

/* The worker has a message in hand and one in its mailbox; the source stands between two others. */
static void begin(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create() };
    f->probe->behaviour.flags |= WEIR_BLOCKING; /* it gives a place back before it handles */
    rig_init(&f->rig, 2, 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = probe_wait, .id = 1 }),
                    0);
    CU_ASSERT_TRUE(gate_await(&f->probe->gate, 1));
    CU_ASSERT_EQUAL(rig_send(&f->rig, f->pool->pid, (struct order){ .act = probe_wait, .id = 2 }),
                    0);
    join(f, &f->first);
    make_source(f);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_two_waiters, f));
    join(f, &f->last);
}

static void finish(struct fixture *f)
{
    struct executor *executor;

    leave(f, &f->first);
    leave(f, &f->last);
    gate_open(&f->probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f->rig, has_ended, f->source));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    executor = runtime_enter(f->rig.runtime);
    source_destroy(f->source, executor);
    runtime_leave(executor);
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise O2 */
static void test_place_that_is_granted_after_the_attempt_is_passed_on(void)
{
    struct fixture f;

    begin(&f);
    gate_admit(&f.probe->gate, 1);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 2));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_woken, &f.first));
    CU_ASSERT_FALSE(is_woken(&f.last));
    CU_ASSERT_EQUAL(rig_send(&f.rig, source_pid(f.source), (struct order){ .id = 4 }), 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, f.source)); /* it has left the line */
    CU_ASSERT_TRUE(is_woken(&f.last));
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "passed on", test_place_that_is_granted_after_the_attempt_is_passed_on },
        CU_TEST_INFO_NULL,
    };

    return suite_run("granted", tests);
}
