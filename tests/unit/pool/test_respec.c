/* SPDX-License-Identifier: MIT */
/*
 * Goal: workers keep their incarnation when only live settings change; the settings of `open` stay
 * readable until `close`, or until `reconfigure` gives others.
 *
 * Method: settings that note when they were released; workers that read theirs in each callback.
 */
#include "pool/change.h"

#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct record {
    _Atomic uint32_t gone; /* looks at settings that were let go */
    _Atomic uint32_t opened;
    _Atomic uint32_t closed;
    _Atomic uint32_t reconfigured;
};

struct settings {
    struct probe *notes; /* of the number of the settings, with each message */
    struct record *record;
    uint64_t number;
    _Atomic bool released;
};

struct worker {
    const struct settings *settings;
};

struct fixture {
    struct rig rig;
    struct probe *notes;
    struct record record;
    struct weir_behaviour behaviour;
    struct settings old;
    struct settings next;
    struct pool *pool;
};

static void look(const struct settings *settings)
{
    if (atomic_load(&settings->released))
        atomic_fetch_add(&settings->record->gone, 1);
}

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct worker *worker = state;

    (void)self;
    worker->settings = settings;
    look(worker->settings);
    atomic_fetch_add(&worker->settings->record->opened, 1);
    return 0;
}

/* Orders with an id are failures. */
static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct worker *worker = state;

    (void)self;
    look(worker->settings);
    probe_note(worker->settings->notes, worker->settings->number);
    return probe_order(message)->id ? WEIR_FAIL : WEIR_DONE;
}

static void reconfigure(struct weir_self *self, void *state, const void *settings)
{
    struct worker *worker = state;

    (void)self;
    look(worker->settings);
    worker->settings = settings;
    look(worker->settings);
    atomic_fetch_add(&worker->settings->record->reconfigured, 1);
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    const struct worker *worker = state;

    (void)self;
    (void)reason;
    look(worker->settings);
    atomic_fetch_add(&worker->settings->record->closed, 1);
}

static void release(void *owner)
{
    atomic_store(&((struct settings *)owner)->released, true);
}

static struct spec *spec_of(struct fixture *f, struct settings *settings, uint64_t number)
{
    struct spec *spec = spec_create(&f->behaviour, settings);

    CU_ASSERT_PTR_NOT_NULL_FATAL(spec);
    *settings = (struct settings){ .notes = f->notes, .record = &f->record, .number = number };
    spec->release = release;
    spec->owner = settings;
    return spec;
}

/* Two workers with settings number 1. */
static void begin(struct fixture *f, bool reconfigures)
{
    struct spec *spec;

    f->notes = probe_create();
    f->record = (struct record){ 0 };
    f->behaviour = (struct weir_behaviour){ .name = "respec",
                                            .state_size = sizeof(struct worker),
                                            .open = open_worker,
                                            .handle = handle,
                                            .reconfigure = reconfigures ? reconfigure : NULL,
                                            .close = close_worker };
    rig_init(&f->rig, 2, 0);
    spec = spec_of(f, &f->old, 1);
    f->pool = rig_pool(&f->rig,
                       &(struct pool_options){ .spec = spec, .size = 2, .settings.mailbox = 8 });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

/* Settings number 2 from now on. */
static void change_live(struct fixture *f)
{
    struct pool_change_options options = {
        .spec = spec_of(f, &f->next, 2), .live = true, .size = 2, .settings.mailbox = 8
    };
    struct executor *executor = runtime_enter(f->rig.runtime);
    struct pool_change *change;

    CU_ASSERT_EQUAL_FATAL(pool_change_prepare(f->pool, executor, &options, &change), 0);
    pool_change_commit(change, executor);
    runtime_leave(executor);
    spec_unref(options.spec);
}

/* Lets a worker handle an order, and do the act of the order before it. */
static void order(struct fixture *f, uint32_t index, uint64_t id)
{
    CU_ASSERT_EQUAL(rig_send(&f->rig, rig_worker(f->pool, index), (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&f->record.gone), 0);
    CU_ASSERT_EQUAL(atomic_load(&f->record.opened), atomic_load(&f->record.closed));
    rig_finish(&f->rig);
    CU_ASSERT_TRUE(atomic_load(&f->old.released));
    CU_ASSERT_TRUE(atomic_load(&f->next.released));
    probe_destroy(f->notes);
}

/* promises A2 and D4 */
static void test_settings_of_open_stay_readable_without_reconfigure(void)
{
    static struct fixture f;

    begin(&f, false);
    change_live(&f);
    order(&f, 0, 0);
    order(&f, 1, 0);
    CU_ASSERT_EQUAL(atomic_load(&f.record.opened), 2);
    CU_ASSERT_EQUAL(probe_times(f.notes, 1), 2);
    CU_ASSERT_FALSE(atomic_load(&f.old.released));
    finish(&f);
}

/* promises P4 and D4: the next life of each is opened with the new ones, the last lets go. */
static void test_settings_are_let_go_with_the_last_life_that_was_opened_with_them(void)
{
    static struct fixture f;

    begin(&f, false);
    change_live(&f);
    order(&f, 0, 1);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    order(&f, 0, 0);
    CU_ASSERT_EQUAL(probe_times(f.notes, 2), 1);
    CU_ASSERT_FALSE(atomic_load(&f.old.released));
    order(&f, 1, 1);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    order(&f, 1, 0);
    CU_ASSERT_EQUAL(probe_times(f.notes, 2), 2);
    CU_ASSERT_TRUE(atomic_load(&f.old.released));
    finish(&f);
}

/* promise R3 */
static void test_reconfigure_brings_the_new_settings_to_the_same_lives(void)
{
    static struct fixture f;

    begin(&f, true);
    order(&f, 0, 0);
    change_live(&f);
    order(&f, 0, 0);
    order(&f, 1, 0);
    CU_ASSERT_EQUAL(probe_times(f.notes, 1), 1);
    CU_ASSERT_EQUAL(probe_times(f.notes, 2), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.record.reconfigured), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.record.opened), 2);
    CU_ASSERT_EQUAL(atomic_load(&f.record.closed), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "without reconfigure", test_settings_of_open_stay_readable_without_reconfigure },
        { "let go", test_settings_are_let_go_with_the_last_life_that_was_opened_with_them },
        { "reconfigure", test_reconfigure_brings_the_new_settings_to_the_same_lives },
        CU_TEST_INFO_NULL,
    };

    return suite_run("respec", tests);
}
