/*
 * Goal: a pool that is out of memory says so and is what it was before, whichever allocation
 * failed; later it grows. Elsewhere a growth that fails midway leaves some workers behind, and says
 * that there are none.
 *
 * Method: functions stand in for those of the C library (--wrap); the nth allocation of this thread
 * fails, for n = 1 and so on until none has to.
 */
#include <stdlib.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define SIZE 3u
#define MORE 5u
#define ALLOCATIONS_MAX 1000u

/* How many allocations of this thread are left before one fails; 0: none fails. */
static _Thread_local uint32_t left;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool fails(void)
{
    return left > 0 && --left == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

static int add(struct rig *rig, struct pool *pool, uint32_t nth, struct weir_resized *out)
{
    struct executor *executor = runtime_enter(rig->runtime);
    int status;

    left = nth;
    status = pool_add(pool, executor, MORE, out);
    left = 0;
    runtime_leave(executor);
    return status;
}

/* promise P7 */
static void test_growth_that_fails_midway_changes_nothing(void)
{
    struct weir_resized resized = { 0 };
    struct probe *probe = probe_create();
    struct pool *pool;
    struct rig rig;
    uint32_t nth = 1;

    rig_init(&rig, 2, 0);
    pool = rig_workers(&rig, probe, "pool", SIZE, 4);
    while (nth < ALLOCATIONS_MAX && add(&rig, pool, nth, &resized) != 0) {
        struct weir_pool_stats stats = rig_stats(pool);

        CU_ASSERT_EQUAL(stats.target, SIZE);
        CU_ASSERT_EQUAL(stats.live, SIZE);
        CU_ASSERT_EQUAL(stats.starting + stats.retiring, 0);
        CU_ASSERT_EQUAL(stats.epoch, 0);
        CU_ASSERT_EQUAL(resized.changed, 0);
        nth++;
    }
    CU_ASSERT_TRUE(nth > MORE && nth < ALLOCATIONS_MAX); /* each worker takes at least one */
    CU_ASSERT_EQUAL(resized.changed, MORE);
    CU_ASSERT_EQUAL(resized.size, SIZE + MORE);
    CU_ASSERT_TRUE(rig_settled(&rig, pool));
    CU_ASSERT_EQUAL(atomic_load(&probe->opened), SIZE + MORE);
    for (uint64_t id = 1; id <= SIZE + MORE; id++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .id = id }), 0);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    CU_ASSERT_EQUAL(atomic_load(&probe->closed), SIZE + MORE);
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "midway", test_growth_that_fails_midway_changes_nothing },
        CU_TEST_INFO_NULL,
    };

    return suite_run("shortage", tests);
}
