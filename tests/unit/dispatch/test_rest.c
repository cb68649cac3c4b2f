/* SPDX-License-Identifier: MIT */
/*
 * Goal: threads that have nothing to do sleep until there is work: no thread wakes from time to
 * time.
 *
 * Method: the kernel counts how often each thread has gone to sleep. Actors that were opened and
 * have handled something are left alone until a whole interval has passed in which no thread did;
 * a timekeeper that goes on looking leaves none.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "unit/host/suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

#define INTERVAL_MS 200
#define THREADS 3
#define WORKERS 8

static uint64_t sleeps_of(const char *task)
{
    unsigned long long sleeps = 0;
    char path[64], line[128];
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/status", task);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "voluntary_ctxt_switches: %llu", &sleeps) == 1)
            break;
    if (file)
        fclose(file);
    return sleeps;
}

/* True for a thread of the dispatcher, and the timekeeper, by its name; a sanitizer has threads of
 * its own. */
static bool is_of(const struct dispatcher *dispatcher, const char *task)
{
    size_t length = strlen(dispatcher->name);
    char path[64], name[32] = "";
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", task);
    file = fopen(path, "re");
    if (file && !fgets(name, sizeof name, file))
        name[0] = '\0';
    if (file)
        fclose(file);
    return strcmp(name, "timekeeper\n") == 0 ||
           (strncmp(name, dispatcher->name, length) == 0 && name[length] == '-');
}

static uint64_t sleeps_of_all(const struct dispatcher *dispatcher, uint32_t *out_threads)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    uint64_t sleeps = 0;

    *out_threads = 0;
    while (folder && (entry = readdir(folder))) {
        if (!is_of(dispatcher, entry->d_name))
            continue;
        sleeps += sleeps_of(entry->d_name);
        ++*out_threads;
    }
    if (folder)
        closedir(folder);
    return sleeps;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

/* Waits for an interval in which no thread fell asleep again. */
static bool comes_to_rest(struct rig *rig, uint32_t *out_threads)
{
    uint64_t before = sleeps_of_all(rig->dispatcher, out_threads);

    for (uint32_t waited = 0; waited < wait_limit_ms(); waited += INTERVAL_MS) {
        uint64_t now;

        (void)runtime_wait(rig->runtime, never, NULL, INTERVAL_MS);
        now = sleeps_of_all(rig->dispatcher, out_threads);
        if (now == before)
            return true;
        before = now;
    }
    return false;
}

static bool all_are_done(void *context)
{
    return rig_ledger(context).done == WORKERS;
}

/* promise D9 */
static void test_threads_without_work_do_not_wake(void)
{
    struct probe *probe = probe_create();
    struct rig rig;
    struct pool *pool;
    uint32_t threads;

    rig_init(&rig, THREADS, 0);
    pool = rig_workers(&rig, probe, "idle", WORKERS, 1);
    for (uint32_t i = 0; i < WORKERS; i++)
        CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = probe_done }), 0);
    CU_ASSERT_TRUE(rig_wait(&rig, all_are_done, pool));
    CU_ASSERT_TRUE(comes_to_rest(&rig, &threads));
    CU_ASSERT_EQUAL(threads, THREADS + 1);
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

/* --- a notice when a thread wakes ------------------------------------------------------------ */

static void count_stir(void *context)
{
    atomic_fetch_add((_Atomic uint32_t *)context, 1);
}

static bool all_sleep(void *context)
{
    return runtime_rest(context);
}

static bool has_stirred(void *context)
{
    return atomic_load((_Atomic uint32_t *)context) > 0;
}

/* promise D12 */
static void test_first_thread_that_wakes_notifies_once(void)
{
    struct probe *probe = probe_create();
    _Atomic uint32_t stirred = 0;
    struct rig rig;
    struct pool *pool;
    bool notified = true;

    rig_init(&rig, THREADS, 0);
    rig.dispatcher->options.stir = count_stir;
    rig.dispatcher->options.stir_context = &stirred;
    pool = rig_workers(&rig, probe, "idle", WORKERS, 1);
    for (uint32_t round = 1; round <= 3 && notified; round++) {
        CU_ASSERT_TRUE(rig_wait(&rig, all_sleep, rig.runtime));
        atomic_store(&stirred, 0);
        /* Requested again: a thread that woke before the request has not reported. */
        CU_ASSERT_TRUE(rig_wait(&rig, all_sleep, rig.runtime));
        for (uint32_t i = 0; i < WORKERS; i++)
            CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = probe_done }), 0);
        notified = rig_wait(&rig, has_stirred, &stirred);
        CU_ASSERT_TRUE(notified);
        CU_ASSERT_TRUE(rig_drained(&rig, pool));
        CU_ASSERT_EQUAL(rig_ledger(pool).done, round * WORKERS);
        CU_ASSERT_EQUAL(stirred, 1);
    }
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

/* promise D12 */
static void test_thread_in_a_turn_is_no_rest(void)
{
    struct probe *probe = probe_create();
    _Atomic uint32_t stirred = 0;
    struct rig rig;
    struct pool *pool;

    rig_init(&rig, THREADS, 0);
    rig.dispatcher->options.stir = count_stir;
    rig.dispatcher->options.stir_context = &stirred;
    pool = rig_workers(&rig, probe, "idle", 1, 1);
    CU_ASSERT_EQUAL(rig_send(&rig, pool->pid, (struct order){ .act = probe_wait, .id = 7 }), 0);
    CU_ASSERT_TRUE(rig_noted(&rig, probe, 7, 1));
    CU_ASSERT_FALSE(runtime_rest(rig.runtime));
    gate_open(&probe->gate);
    CU_ASSERT_TRUE(rig_wait(&rig, all_sleep, rig.runtime));
    CU_ASSERT_TRUE(rig_end(&rig, pool, NULL));
    rig_finish(&rig);
    probe_destroy(probe);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "rest", test_threads_without_work_do_not_wake },
        { "first to wake", test_first_thread_that_wakes_notifies_once },
        { "in a turn", test_thread_in_a_turn_is_no_rest },
        CU_TEST_INFO_NULL,
    };

    return suite_run("rest", tests);
}
