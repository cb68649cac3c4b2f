/* SPDX-License-Identifier: MIT */
/*
 * Goal: a source stops before the cap on memory, leaves room for the workers, and goes on when
 * there is room again; no message is lost. A worker without memory gets a status.
 *
 * Method: a source of large messages feeds a worker at a gate whose mailbox has no limit; the test
 * moves the clock.
 */
#include "actor/send.h"
#include "actor/source.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define CAP (1u << 20)
#define SIZE 8000u /* of a message; a block of a little more */
#define TOTAL 1000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct pool *pool;
    struct source *source;
    _Atomic uint64_t emitted;
    _Atomic uint64_t refused;
    _Atomic bool none; /* true when a worker's request for too much memory failed */
    uint64_t turns;    /* of all threads, at the last check */
};

static int open_source(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    *(struct fixture **)state = (struct fixture *)(uintptr_t)settings;
    return 0;
}

/* One message for each call, so that the source is checked before each. */
static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    struct fixture *f = *(struct fixture **)state;
    struct weir_message *message;

    (void)credit;
    if (atomic_load(&f->emitted) == TOTAL)
        return WEIR_END;
    message = weir_message_new(self, weir_tag(self, "large/1"), SIZE);
    if (!message) {
        atomic_fetch_add(&f->refused, 1);
        return WEIR_MORE;
    }
    *(struct order *)message->data = (struct order){ .id = atomic_load(&f->emitted) };
    if (weir_emit(self, 0, message) != 0)
        return -1;
    atomic_fetch_add(&f->emitted, 1);
    return WEIR_MORE;
}

static const struct weir_behaviour producer = {
    .name = "producer", .state_size = sizeof(void *), .open = open_source, .produce = produce
};

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create() };
    rig_init(&f->rig, 2, 1);
    memory_init(f->rig.runtime->memory, CAP);
    f->probe->act = probe_wait;
    f->probe->context = f;
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 0);
}

static void start_source(struct fixture *f)
{
    struct source_options options = { .path = "source",
                                      .dispatcher = f->rig.dispatcher,
                                      .spec = spec_create(&producer, f),
                                      .target = f->pool->pid,
                                      .output_count = 1 };
    struct executor *executor = runtime_enter(f->rig.runtime);

    CU_ASSERT_EQUAL_FATAL(source_create(f->rig.runtime, executor, &options, &f->source), 0);
    runtime_leave(executor);
    spec_unref(options.spec);
}

static void finish(struct fixture *f)
{
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* Moves the clock: memory that a sleeping thread returns may be enough for one more. */
static bool is_scarce(void *context)
{
    rig_advance(&((struct fixture *)context)->rig, 10);
    return memory_is_scarce(((struct fixture *)context)->rig.runtime->memory);
}

static uint64_t turns_of(struct dispatcher *dispatcher)
{
    uint64_t turns = 0;

    for (uint32_t i = 0, count = dispatcher_slot_count(dispatcher); i < count; i++)
        turns += atomic_load(&dispatcher_executor(dispatcher, i)->turns);
    return turns;
}

/* Moves the clock until the source has had a turn, while the worker waits in its own. */
static bool has_looked(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 10);
    return turns_of(f->rig.dispatcher) > f->turns;
}

/* Moves the clock: the source looks at intervals. */
static bool has_ended(void *context)
{
    struct fixture *f = context;

    rig_advance(&f->rig, 10);
    return atomic_load(&f->source->ended);
}

/* promise S10 */
static void test_source_waits_for_memory_and_goes_on(void)
{
    struct ledger_reading ledger;
    struct executor *executor;
    struct fixture f;
    uint64_t emitted;

    begin(&f);
    start_source(&f);
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_scarce, &f));
    for (uint32_t i = 0; i < 20; i++) { /* however often it looks */
        f.turns = turns_of(f.rig.dispatcher);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_looked, &f));
        (void)rig_send(&f.rig, f.pool->pid, (struct order){ .id = TOTAL });
    }
    emitted = atomic_load(&f.emitted);
    CU_ASSERT_TRUE(emitted * SIZE < CAP);
    CU_ASSERT_EQUAL(atomic_load(&f.refused), 0);
    CU_ASSERT_TRUE(emitted < TOTAL);

    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_ended, &f));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, &ledger));
    CU_ASSERT_EQUAL(ledger.done, TOTAL + 20);
    CU_ASSERT_EQUAL(atomic_load(&f.refused), 0);
    for (uint64_t i = 0; i < TOTAL; i++)
        CU_ASSERT_EQUAL(probe_times(f.probe, i), 1);
    executor = runtime_enter(f.rig.runtime);
    source_destroy(f.source, executor);
    runtime_leave(executor);
    finish(&f);
}

static int asks_for_too_much(struct weir_self *self, struct probe *probe,
                             const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    atomic_store(&f->none, weir_message_new(self, NULL, CAP + 1) == NULL &&
                               !weir_message_fits(self, CAP + 1) &&
                               !weir_message_fits(self, SIZE_MAX) && weir_message_fits(self, SIZE));
    return WEIR_DONE;
}

static void test_worker_that_asks_for_too_much_gets_none(void)
{
    struct fixture f;

    begin(&f);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ asks_for_too_much, 1, 0 }), 0);
    CU_ASSERT_TRUE(rig_drained(&f.rig, f.pool));
    CU_ASSERT_TRUE(atomic_load(&f.none));
    CU_ASSERT_EQUAL(atomic_load(&f.rig.runtime->memory->refused), 1);
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    finish(&f);
}

#define MANY 8u
#define LARGE (CAP / MANY + 1) /* all copies of one are more than the cap */

static int send_large(struct fixture *f, struct pool *pool)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct message *message = message_create_counted(&executor->cache, NULL, LARGE);
    int status = WEIR_ENOMEM;

    if (message) {
        *(struct order *)message->public.data = (struct order){ .id = 1 };
        status = send_message(f->rig.runtime, executor, pool->pid, WEIR_NORMAL, message);
    }
    runtime_leave(executor);
    return status;
}

static bool is_all_back(void *context)
{
    rig_advance(&((struct fixture *)context)->rig, 10);
    return atomic_load(&((struct fixture *)context)->rig.runtime->memory->taken) == 0;
}

/* promise S10: they count, and are not refused, since no event would wake a waiter. */
static void test_copies_for_many_count_and_may_pass_the_cap(void)
{
    struct fixture f;
    struct pool *all;
    struct spec *spec;

    begin(&f);
    spec = rig_spec(f.probe);
    all = rig_pool(&f.rig, &(struct pool_options){ .path = "all",
                                                   .spec = spec,
                                                   .size = MANY,
                                                   .settings.mailbox = 1,
                                                   .settings.route = WEIR_ROUTE_BROADCAST });
    CU_ASSERT_TRUE(rig_settled(&f.rig, all));
    CU_ASSERT_EQUAL(send_large(&f, all), 0);
    CU_ASSERT_TRUE(gate_await(&f.probe->gate, 1));
    CU_ASSERT_TRUE(atomic_load(&f.rig.runtime->memory->taken) >= MANY * LARGE);
    CU_ASSERT_EQUAL(send_large(&f, f.pool), WEIR_ENOMEM);
    gate_open(&f.probe->gate);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 1, MANY));
    CU_ASSERT_TRUE(rig_wait(&f.rig, is_all_back, &f));
    CU_ASSERT_EQUAL(send_large(&f, f.pool), 0);
    CU_ASSERT_TRUE(rig_end(&f.rig, all, NULL));
    CU_ASSERT_TRUE(rig_end(&f.rig, f.pool, NULL));
    spec_unref(spec);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "source", test_source_waits_for_memory_and_goes_on },
        { "worker", test_worker_that_asks_for_too_much_gets_none },
        { "copies", test_copies_for_many_count_and_may_pass_the_cap },
        CU_TEST_INFO_NULL,
    };

    return suite_run("memory", tests);
}
