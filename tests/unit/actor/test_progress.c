/* SPDX-License-Identifier: MIT */
/*
 * Goal: the progress of a pool, and the number of its emitted messages, is the sum over its workers
 * and their children, at any depth, including those that have ended.
 *
 * Method: a worker whose children, and theirs, report units and emit; the sums are read while they
 * live, when they have ended, and when the worker has ended with them.
 */
#include "actor/children.h"
#include "actor/find.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

struct fixture {
    struct rig rig;
    struct probe *probe; /* of the worker and of all below it */
    struct pool *pool;
    struct probe *sink_probe;
    struct pool *sink;
    _Atomic weir_pid child; /* that was made last */
};

static void begin(struct fixture *f)
{
    struct binding binding = { .when_full = WEIR_FULL_REJECT };
    struct spec *spec;

    *f = (struct fixture){ .probe = probe_create(), .sink_probe = probe_create() };
    f->probe->context = f;
    rig_init(&f->rig, 2, 0);
    f->sink = rig_workers(&f->rig, f->sink_probe, "sink", 1, 0);
    binding.target = f->sink->pid;
    spec = rig_spec(f->probe);
    f->pool = rig_pool(&f->rig, &(struct pool_options){ .spec = spec,
                                                        .size = 1,
                                                        .settings.mailbox = 8,
                                                        .output_count = 1,
                                                        .outputs = &binding });
    spec_unref(spec);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_TRUE(rig_end(&f->rig, f->sink, NULL));
    rig_finish(&f->rig);
    probe_destroy(f->probe);
    probe_destroy(f->sink_probe);
}

static int open_by_address(struct weir_self *self, const void *settings, void *state)
{
    struct probe *probe = *(struct probe *const *)settings;

    return probe->behaviour.open(self, probe, state);
}

/* Makes a child; its PID is left in the fixture. */
static int spawn(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    struct weir_behaviour behaviour = probe->behaviour;
    struct fixture *f = probe->context;
    weir_pid pid = 0;

    (void)message;
    behaviour.open = open_by_address;
    behaviour.settings_size = sizeof probe;
    options.behaviour = &behaviour;
    options.settings = &probe;
    options.limit = 8;
    CU_ASSERT_EQUAL(weir_spawn(self, &options, &pid), 0);
    atomic_store(&f->child, pid);
    return WEIR_DONE;
}

/* Reports `argument` lines of 100, and emits as many messages. */
static int work(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    uint64_t count = probe_order(message)->argument;

    (void)probe;
    weir_progress(self, "lines", count, 100);
    for (uint64_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(weir_emit(self, 0, probe_message(self, (struct order){ .id = 1 })), 0);
    return WEIR_DONE;
}

static int stop_child(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct fixture *f = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_stop(self, atomic_load(&f->child)), 0);
    return WEIR_DONE;
}

static void order(struct fixture *f, weir_pid to, uint64_t id, probe_act *act, uint64_t argument)
{
    CU_ASSERT_EQUAL(
        rig_send(&f->rig, to, (struct order){ .act = act, .id = id, .argument = argument }), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, id, 1));
    CU_ASSERT_TRUE(rig_drained(&f->rig, f->pool));
}

static void expect(struct fixture *f, uint64_t done, uint64_t total)
{
    struct pool_progress units[PLACE_UNITS];

    CU_ASSERT_EQUAL_FATAL(pool_progress(f->pool, units, PLACE_UNITS), 1);
    CU_ASSERT_STRING_EQUAL(units[0].unit, "lines");
    CU_ASSERT_EQUAL(units[0].done, done);
    CU_ASSERT_EQUAL(units[0].total, total);
    CU_ASSERT_EQUAL(pool_emitted(f->pool), done);
}

static bool has_no_children(void *context)
{
    struct fixture *f = context;
    struct actor *actor = actor_find(f->rig.runtime, rig_worker(f->pool, 0));

    return !children_are_alive(actor);
}

/* promise P17 */
static void test_children_report_and_emit_for_their_pool(void)
{
    struct fixture f;
    weir_pid child;

    begin(&f);
    order(&f, f.pool->pid, 11, work, 1);
    expect(&f, 1, 100);
    order(&f, f.pool->pid, 12, spawn, 0);
    child = atomic_load(&f.child);
    order(&f, child, 13, work, 10);
    expect(&f, 11, 200);
    order(&f, child, 14, spawn, 0);
    order(&f, atomic_load(&f.child), 15, work, 50);
    expect(&f, 61, 300);
    finish(&f);
}

/* promise P17 */
static void test_children_that_have_ended_still_count(void)
{
    struct fixture f;

    begin(&f);
    for (uint64_t round = 0; round < 3; round++) {
        order(&f, f.pool->pid, 20 + round, spawn, 0);
        order(&f, atomic_load(&f.child), 30 + round, work, 5);
        order(&f, f.pool->pid, 40 + round, stop_child, 0);
        CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_children, &f));
        expect(&f, 5 * (round + 1), 100 * (round + 1));
    }
    order(&f, f.pool->pid, 50, spawn, 0);
    order(&f, atomic_load(&f.child), 51, work, 7);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    expect(&f, 22, 400); /* the worker has gone, and all of its own with it */
    finish(&f);
}

static int crash(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_FAIL;
}

/* promise P17 */
static void test_worker_that_is_opened_again_goes_on_counting(void)
{
    struct fixture f;

    begin(&f);
    order(&f, f.pool->pid, 60, work, 5);
    order(&f, f.pool->pid, 61, crash, 0);
    order(&f, f.pool->pid, 62, work, 7);
    expect(&f, 12, 105);
    finish(&f);
}

static int measure(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    weir_progress(self, "waiting", probe_order(message)->argument, WEIR_GAUGE);
    return WEIR_DONE;
}

static bool has_gauge(struct fixture *f, uint64_t value)
{
    struct pool_progress units[PLACE_UNITS];

    return pool_progress(f->pool, units, PLACE_UNITS) == 1 && units[0].done == value &&
           units[0].total == WEIR_GAUGE;
}

/* The present value of the living: it falls, and that of a former incarnation or an ended actor is
 * not added. */
static void test_gauge_is_of_the_living(void)
{
    struct fixture f;

    begin(&f);
    order(&f, f.pool->pid, 70, measure, 9);
    order(&f, f.pool->pid, 71, measure, 4);
    CU_ASSERT_TRUE(has_gauge(&f, 4));
    order(&f, f.pool->pid, 72, crash, 0);
    order(&f, f.pool->pid, 73, measure, 3);
    CU_ASSERT_TRUE(has_gauge(&f, 3));
    order(&f, f.pool->pid, 74, spawn, 0);
    order(&f, atomic_load(&f.child), 75, measure, 2);
    CU_ASSERT_TRUE(has_gauge(&f, 5));
    order(&f, f.pool->pid, 76, stop_child, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_children, &f));
    CU_ASSERT_TRUE(has_gauge(&f, 3));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(has_gauge(&f, 0));
    finish(&f);
}

static const char *const servers[] = { "", "a:1", "b:2" };

static int name_server(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    (void)probe;
    weir_progress_text(self, "server", servers[probe_order(message)->argument]);
    return WEIR_DONE;
}

/* `text` NULL: there is no unit. */
static bool has_text(struct fixture *f, const char *text)
{
    struct pool_progress units[PLACE_UNITS];
    uint32_t count = pool_progress(f->pool, units, PLACE_UNITS);

    if (!text)
        return count == 0;
    return count == 1 && units[0].total == WEIR_GAUGE && units[0].text &&
           strcmp(units[0].text, text) == 0;
}

static void test_text_is_that_of_the_living_or_several(void)
{
    struct fixture f;

    begin(&f);
    order(&f, f.pool->pid, 80, name_server, 0);
    CU_ASSERT_TRUE(has_text(&f, NULL));
    order(&f, f.pool->pid, 81, name_server, 1);
    CU_ASSERT_TRUE(has_text(&f, "a:1"));
    order(&f, f.pool->pid, 82, spawn, 0);
    order(&f, atomic_load(&f.child), 83, name_server, 1);
    CU_ASSERT_TRUE(has_text(&f, "a:1"));
    order(&f, atomic_load(&f.child), 84, name_server, 2);
    CU_ASSERT_TRUE(has_text(&f, "several"));
    order(&f, f.pool->pid, 85, name_server, 2);
    CU_ASSERT_TRUE(has_text(&f, "b:2"));
    order(&f, f.pool->pid, 86, name_server, 1);
    order(&f, f.pool->pid, 87, stop_child, 0);
    CU_ASSERT_TRUE(rig_wait(&f.rig, has_no_children, &f));
    CU_ASSERT_TRUE(has_text(&f, "a:1"));
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_TRUE(has_text(&f, NULL));
    finish(&f);
}

/* One more than fit. The names are long enough for two digits. */
static int report_many(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    char unit[] = "unit 00";

    (void)probe;
    (void)message;
    for (int i = 0; i < 17; i++) {
        unit[5] = (char)('0' + i / 10);
        unit[6] = (char)('0' + i % 10);
        weir_progress(self, unit, (uint64_t)i, 0);
    }
    return WEIR_DONE;
}

static void test_sixteen_units_are_shown(void)
{
    struct pool_progress units[PLACE_UNITS + 1];
    struct fixture f;

    begin(&f);
    order(&f, f.pool->pid, 90, report_many, 0);
    CU_ASSERT_EQUAL(pool_progress(f.pool, units, PLACE_UNITS + 1), 16);
    CU_ASSERT_STRING_EQUAL(units[15].unit, "unit 15");
    CU_ASSERT_EQUAL(units[15].done, 15);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "children", test_children_report_and_emit_for_their_pool },
        { "ended", test_children_that_have_ended_still_count },
        { "again", test_worker_that_is_opened_again_goes_on_counting },
        { "gauge", test_gauge_is_of_the_living },
        { "text", test_text_is_that_of_the_living_or_several },
        { "sixteen units", test_sixteen_units_are_shown },
        CU_TEST_INFO_NULL,
    };

    return suite_run("progress", tests);
}
