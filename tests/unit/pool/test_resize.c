/* SPDX-License-Identifier: MIT */
/*
 * Goal: a resize is visible before it returns, refuses a number out of bounds, changes nothing when
 * nothing changes, and can be made from anywhere, also from inside a worker.
 *
 * Method: one resize after the other with the figures read in between; then several threads.
 */
#include <stdio.h>
#include <string.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define RESIZERS 16
#define RESIZES 1000u

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct spec *spec;
    struct pool *pool;
};

static void begin(struct fixture *f, const struct pool_options *options)
{
    struct pool_options filled = *options;

    f->probe = probe_create();
    rig_init(&f->rig, 2, 0);
    f->spec = rig_spec(f->probe);
    filled.spec = f->spec;
    f->pool = rig_pool(&f->rig, &filled);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->pool);
    CU_ASSERT_TRUE(rig_settled(&f->rig, f->pool));
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&f->probe->opened), atomic_load(&f->probe->closed));
    spec_unref(f->spec);
    rig_finish(&f->rig);
    probe_destroy(f->probe);
}

/* promise P6 */
static void test_growing_is_visible_before_it_returns(void)
{
    struct weir_resized resized;
    struct fixture f;

    begin(&f, &(struct pool_options){ .size = 1, .settings.mailbox = 4 });
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 3, &resized), 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 3);
    CU_ASSERT_EQUAL(resized.changed, 2);
    CU_ASSERT_EQUAL(resized.size, 3);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 3);
    for (uint32_t i = 0; i < 3; i++)
        CU_ASSERT_NOT_EQUAL(rig_worker(f.pool, i), 0);
    finish(&f);
}

/* promise P6 */
static void test_same_size_changes_nothing(void)
{
    struct weir_resized resized;
    struct fixture f;
    uint64_t epoch;

    begin(&f, &(struct pool_options){ .size = 2, .settings.mailbox = 4 });
    epoch = rig_stats(f.pool).epoch;
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, &resized), 0);
    CU_ASSERT_EQUAL(resized.changed, 0);
    CU_ASSERT_EQUAL(resized.epoch, epoch);
    CU_ASSERT_EQUAL(atomic_load(&f.probe->opened), 2);
    finish(&f);
}

/* promise P6 */
static void test_size_zero_refuses_and_works_again_after(void)
{
    struct fixture f;

    begin(&f, &(struct pool_options){ .size = 2, .settings.mailbox = 4 });
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), 0);
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 1 }), WEIR_EFULL);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(atomic_load(&f.probe->closed), 2);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 1, NULL), 0);
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_NOT_EQUAL(rig_worker(f.pool, 0), 0); /* the lowest free number */
    CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, (struct order){ .id = 2 }), 0);
    CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 2, 1));
    finish(&f);
}

static int add(struct fixture *f, int32_t count)
{
    struct executor *executor = runtime_enter(f->rig.runtime);
    int status = pool_add(f->pool, executor, count, NULL);

    runtime_leave(executor);
    return status;
}

/* promise P6 */
static void test_size_out_of_bounds_is_refused_and_changes_nothing(void)
{
    struct fixture f;
    uint64_t epoch;

    begin(&f,
          &(struct pool_options){
              .size = 2, .settings.mailbox = 4, .settings.size_min = 1, .settings.size_max = 3 });
    epoch = rig_stats(f.pool).epoch;
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 4, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, POOL_SIZE_MAX + 1, NULL), WEIR_EINVALID);
    CU_ASSERT_EQUAL(add(&f, 2), WEIR_EINVALID);
    CU_ASSERT_EQUAL(add(&f, -2), WEIR_EINVALID);
    CU_ASSERT_EQUAL(add(&f, INT32_MIN), WEIR_EINVALID);
    CU_ASSERT_EQUAL(add(&f, INT32_MAX), WEIR_EINVALID);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 2);
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, epoch);
    CU_ASSERT_EQUAL(add(&f, 1), 0);
    CU_ASSERT_EQUAL(add(&f, -2), 0);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 1);
    finish(&f);
}

/* promise P6 */
static void test_pool_that_clamps_goes_as_far_as_it_may(void)
{
    static const struct {
        int32_t by;
        uint32_t changed;
        uint32_t size;
    } steps[] = { { 5, 1, 3 }, { 1, 0, 3 },         { -2, 2, 1 },       { -1, 0, 1 },
                  { 2, 2, 3 }, { INT32_MIN, 2, 1 }, { INT32_MAX, 2, 3 } };
    struct weir_resized resized;
    struct executor *executor;
    struct fixture f;

    begin(&f, &(struct pool_options){ .size = 2,
                                      .settings.mailbox = 4,
                                      .settings.size_min = 1,
                                      .settings.size_max = 3,
                                      .settings.clamp = true });
    executor = runtime_enter(f.rig.runtime);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        CU_ASSERT_EQUAL(pool_add(f.pool, executor, steps[i].by, &resized), 0);
        CU_ASSERT_EQUAL(resized.changed, steps[i].changed);
        CU_ASSERT_EQUAL(resized.size, steps[i].size);
    }
    runtime_leave(executor);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 0, &resized), 0);
    CU_ASSERT_EQUAL(resized.size, 1);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, 1);
    finish(&f);
}

static void test_resize_of_a_closed_or_nesting_pool_is_refused(void)
{
    struct fixture f;
    struct pool *nesting;

    begin(&f, &(struct pool_options){ .size = 1, .settings.mailbox = 4 });
    nesting = rig_pool(&f.rig, &(struct pool_options){ .path = "nesting" });
    CU_ASSERT_EQUAL(rig_resize(&f.rig, nesting, 2, NULL), WEIR_EINVALID);
    CU_ASSERT_TRUE(rig_end(&f.rig, nesting, NULL));
    rig_close(&f.rig, f.pool);
    CU_ASSERT_EQUAL(rig_resize(&f.rig, f.pool, 2, NULL), WEIR_ECLOSED);
    CU_ASSERT_EQUAL(add(&f, 1), WEIR_ECLOSED);
    finish(&f);
}

static int resize_own_pool(struct weir_self *self, struct probe *probe,
                           const struct weir_message *message)
{
    struct weir_resized resized = { 0 };
    uint32_t target = (uint32_t)probe_order(message)->argument;

    CU_ASSERT_EQUAL(weir_pool_resize(self, weir_pool(self), target, &resized), 0);
    CU_ASSERT_EQUAL(weir_pool_size(self), target);
    probe_note(probe, 100 + resized.size);
    return WEIR_DONE;
}

/* promises P6 and P7: never a deadlock, also when it removes itself. */
static void test_worker_resizes_its_own_pool_from_inside(void)
{
    static const uint64_t targets[] = { 5, 1, 2, 0 };
    struct fixture f;

    begin(&f, &(struct pool_options){ .size = 1, .settings.mailbox = 4 });
    for (size_t i = 0; i < 4; i++) {
        struct order order = { .act = resize_own_pool, .id = i, .argument = targets[i] };

        CU_ASSERT_EQUAL(rig_send(&f.rig, f.pool->pid, order), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 100 + targets[i], 1));
        CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    }
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, 0);
    finish(&f);
}

/* The pool's last log line. */
struct logged {
    pthread_mutex_t lock;
    char by[32];    /* lock */
    uint64_t size;  /* lock */
    uint64_t epoch; /* lock */
    uint32_t count; /* lock */
};

static void keep_line(void *context, const struct log_line *line)
{
    struct logged *logged = context;

    if (strcmp(line->event, "resized") != 0)
        return;
    CU_ASSERT_STRING_EQUAL(line->component, "pool");
    pthread_mutex_lock(&logged->lock);
    for (const struct weir_field *field = line->fields; field->key; field++) {
        if (strcmp(field->key, "by") == 0)
            (void)snprintf(logged->by, sizeof logged->by, "%s", field->value.string);
        if (strcmp(field->key, "size") == 0)
            logged->size = field->value.natural;
        if (strcmp(field->key, "epoch") == 0)
            logged->epoch = field->value.natural;
    }
    logged->count++;
    pthread_mutex_unlock(&logged->lock);
}

/* promise P7: a request for the present size is no change. */
static void test_log_names_the_requester_of_a_resize(void)
{
    struct logged logged = { .lock = PTHREAD_MUTEX_INITIALIZER };
    static const uint64_t targets[] = { 3, 3, 1 };
    struct weir_pool_stats stats;
    struct fixture f;

    begin(&f, &(struct pool_options){ .size = 1, .settings.mailbox = 4 });
    f.rig.runtime->options.log = (struct log_sink){ .write = keep_line, .context = &logged };
    for (size_t i = 0; i < 3; i++) {
        struct order order = { .act = resize_own_pool, .argument = targets[i] };
        uint32_t before = probe_times(f.probe, 100 + targets[i]);

        CU_ASSERT_EQUAL(rig_send(&f.rig, rig_worker(f.pool, 0), order), 0);
        CU_ASSERT_TRUE(rig_noted(&f.rig, f.probe, 100 + targets[i], before + 1));
        stats = rig_stats(f.pool);
        pthread_mutex_lock(&logged.lock);
        CU_ASSERT_STRING_EQUAL(logged.by, "pool#0");
        CU_ASSERT_EQUAL(logged.size, targets[i]);
        CU_ASSERT_EQUAL(logged.epoch, stats.epoch);
        pthread_mutex_unlock(&logged.lock);
    }
    CU_ASSERT_EQUAL(logged.count, 2);
    finish(&f);
}

struct resizer {
    struct fixture *f;
    uint32_t seed;
    uint64_t greatest; /* the largest epoch that it got */
    uint32_t size;     /* with that epoch */
    pthread_t thread;
};

static void *resize_often(void *argument)
{
    struct resizer *resizer = argument;

    for (uint32_t i = 0; i < RESIZES; i++) {
        struct weir_resized resized;
        uint32_t target = (resizer->seed * 7919u + i * 104729u) % 6u;

        if (rig_resize(&resizer->f->rig, resizer->f->pool, target, &resized) != 0)
            continue;
        resizer->greatest = resized.epoch;
        resizer->size = resized.size;
    }
    return NULL;
}

/* promise P6: the last one by epoch decides. */
static void test_resizes_from_many_threads_end_at_the_greatest_epoch(void)
{
    struct resizer resizers[RESIZERS];
    struct fixture f;
    uint64_t greatest = 0;
    uint32_t size = 0;

    begin(&f, &(struct pool_options){ .size = 1, .settings.mailbox = 4 });
    for (uint32_t i = 0; i < RESIZERS; i++) {
        resizers[i] = (struct resizer){ .f = &f, .seed = i };
        CU_ASSERT_EQUAL(pthread_create(&resizers[i].thread, NULL, resize_often, &resizers[i]), 0);
    }
    for (uint32_t i = 0; i < RESIZERS; i++) {
        pthread_join(resizers[i].thread, NULL);
        if (resizers[i].greatest > greatest) {
            greatest = resizers[i].greatest;
            size = resizers[i].size;
        }
    }
    CU_ASSERT_TRUE(rig_settled(&f.rig, f.pool));
    CU_ASSERT_EQUAL(rig_stats(f.pool).epoch, greatest);
    CU_ASSERT_EQUAL(rig_stats(f.pool).target, size);
    CU_ASSERT_EQUAL(rig_stats(f.pool).live, size);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "grow", test_growing_is_visible_before_it_returns },
        { "same size", test_same_size_changes_nothing },
        { "zero", test_size_zero_refuses_and_works_again_after },
        { "bounds", test_size_out_of_bounds_is_refused_and_changes_nothing },
        { "clamp", test_pool_that_clamps_goes_as_far_as_it_may },
        { "closed", test_resize_of_a_closed_or_nesting_pool_is_refused },
        { "inside", test_worker_resizes_its_own_pool_from_inside },
        { "log", test_log_names_the_requester_of_a_resize },
        { "many threads", test_resizes_from_many_threads_end_at_the_greatest_epoch },
        CU_TEST_INFO_NULL,
    };

    return suite_run("resize", tests);
}
