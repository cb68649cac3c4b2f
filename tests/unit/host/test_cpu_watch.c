/* SPDX-License-Identifier: MIT */
/*
 * Goal: `threads: auto` follows the CPUs that the process may use while it runs: the quota of every
 * group above it, under cgroup v2, v1 and both; an unchanged number has no effect, and a dispatcher
 * with a fixed number keeps it.
 *
 * Method: a runtime with two dispatchers, a tree of files that is changed while it runs, and beats
 * given by the test.
 */
#include "host/run/cpu_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cpus.h"
#include "host/apply/dispatcher_change.h"
#include "unit/host/suite.h"
#include "unit/support/rig.h"

#define ALLOWED 16u /* CPUs of the machine that is pretended */
#define PATH_SIZE 512

struct fixture {
    struct rig rig;
    struct settings settings;
    struct settings_dispatcher dispatchers[2];
    struct shared_settings shared;
    struct assembly assembly;
    struct dispatcher *fixed;
    struct cpu_watch watch;
    uint64_t now_ms;
    uint32_t reads;
    uint32_t changes; /* reported by the watch */
    uint32_t follows; /* dispatchers that were resized */
    char root[64];
};

static void put(const struct fixture *f, const char *path, const char *text)
{
    char full[PATH_SIZE];
    FILE *file;

    (void)snprintf(full, sizeof full, "%s%s", f->root, path);
    for (char *p = full + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        (void)mkdir(full, 0700);
        *p = '/';
    }
    file = fopen(full, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    (void)fputs(text, file);
    (void)fclose(file);
}

static uint32_t read_cpus(void *context)
{
    struct fixture *f = context;

    f->reads++;
    return cpus_within(ALLOWED, f->root);
}

static void on_change(void *context)
{
    struct fixture *f = context;

    f->changes++;
    f->follows += dispatcher_change_follow(&f->assembly, cpus_within(ALLOWED, f->root));
}

static void begin(struct fixture *f, const char *group, const char *mounts)
{
    *f = (struct fixture){ .now_ms = 1, .shared = { .settings = &f->settings } };
    (void)snprintf(f->root, sizeof f->root, "/tmp/cpu_watch.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->root));
    put(f, "/proc/self/cgroup", group);
    put(f, "/proc/self/mountinfo", mounts);
    f->dispatchers[0] = (struct settings_dispatcher){ .name = "default",
                                                      .threads = ALLOWED,
                                                      .threads_auto = true };
    f->dispatchers[1] = (struct settings_dispatcher){ .name = "fixed", .threads = 5 };
    f->settings.dispatchers = f->dispatchers;
    f->settings.dispatcher_count = 2;
    rig_init(&f->rig, ALLOWED, 0);
    CU_ASSERT_EQUAL(runtime_add_dispatcher(f->rig.runtime, "fixed", 5, NULL, &f->fixed), 0);
    assembly_init(&f->assembly, f->rig.runtime);
    f->assembly.shared = &f->shared;
    f->watch = (struct cpu_watch){
        .read = read_cpus, .on_change = on_change, .context = f, .seen = ALLOWED
    };
}

static void finish(struct fixture *f)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -rf '%s'", f->root);
    CU_ASSERT_EQUAL(system(command), 0);
    lock_finish(&f->assembly.lock);
    rig_finish(&f->rig);
}

static void beat(struct fixture *f, uint64_t later_ms)
{
    f->now_ms += later_ms;
    cpu_watch_tick(&f->watch, f->now_ms);
}

static uint32_t threads(struct fixture *f)
{
    return atomic_load(&f->rig.dispatcher->thread_count);
}

static const char v2_group[] = "0::/outer/inner\n";
static const char v2_mount[] = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
static const char v1_group[] = "4:cpu,cpuacct:/outer/inner\n";
static const char v1_mount[] = "31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
static const char hybrid_group[] = "4:cpu,cpuacct:/outer/inner\n0::/elsewhere\n";
static const char hybrid_mount[] =
    "30 1 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw\n"
    "31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";

/* promise D10 */
static void test_quota_of_any_ancestor_is_followed(void)
{
    struct fixture f;

    begin(&f, v2_group, v2_mount);
    beat(&f, 1);
    CU_ASSERT_EQUAL(f.changes, 0);
    put(&f, "/sys/fs/cgroup/outer/inner/cpu.max", "600000 100000\n");
    beat(&f, CPU_WATCH_MS);
    CU_ASSERT_EQUAL(threads(&f), 6);
    CU_ASSERT_EQUAL(f.dispatchers[0].threads, 6); /* the next plan compares with it */
    put(&f, "/sys/fs/cgroup/outer/cpu.max", "250000 100000\n");
    beat(&f, CPU_WATCH_MS);
    CU_ASSERT_EQUAL(threads(&f), 3);
    put(&f, "/sys/fs/cgroup/outer/cpu.max", "50000 100000\n");
    beat(&f, CPU_WATCH_MS);
    CU_ASSERT_EQUAL(threads(&f), 2); /* at least: one may be held up */
    put(&f, "/sys/fs/cgroup/outer/cpu.max", "max 100000\n");
    put(&f, "/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
    beat(&f, CPU_WATCH_MS);
    CU_ASSERT_EQUAL(threads(&f), ALLOWED);
    CU_ASSERT_EQUAL(atomic_load(&f.fixed->thread_count), 5);
    CU_ASSERT_EQUAL(f.follows, 4);
    finish(&f);
}

/* promise D10 */
static void test_quota_of_cgroup_v1_is_followed_also_beside_v2(void)
{
    const char *const layouts[][2] = { { v1_group, v1_mount }, { hybrid_group, hybrid_mount } };

    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        struct fixture f;

        begin(&f, layouts[i][0], layouts[i][1]);
        put(&f, "/sys/fs/cgroup/cpu/outer/cpu.cfs_period_us", "100000\n");
        put(&f, "/sys/fs/cgroup/cpu/outer/cpu.cfs_quota_us", "-1\n");
        beat(&f, 1);
        CU_ASSERT_EQUAL(f.changes, 0);
        put(&f, "/sys/fs/cgroup/cpu/outer/cpu.cfs_quota_us", "400000\n");
        beat(&f, CPU_WATCH_MS);
        CU_ASSERT_EQUAL(threads(&f), 4);
        finish(&f);
    }
}

/* promise D10: no action, not even a check, before its time; no action without a change. */
static void test_nothing_is_done_while_nothing_changes(void)
{
    struct fixture f;

    begin(&f, v2_group, v2_mount);
    put(&f, "/sys/fs/cgroup/outer/cpu.max", "400000 100000\n");
    beat(&f, 1);
    CU_ASSERT_EQUAL(f.follows, 1);
    put(&f, "/sys/fs/cgroup/outer/cpu.max", "800000 100000\n");
    for (uint32_t i = 0; i < 9; i++)
        beat(&f, CPU_WATCH_MS / 10);
    CU_ASSERT_EQUAL(f.reads, 1);
    CU_ASSERT_EQUAL(threads(&f), 4);
    put(&f, "/sys/fs/cgroup/outer/cpu.max", "390000 100000\n"); /* rounds up to as many */
    for (uint32_t i = 0; i < 9; i++)
        beat(&f, CPU_WATCH_MS);
    CU_ASSERT_EQUAL(f.reads, 10);
    CU_ASSERT_EQUAL(f.changes, 1);
    /* A second call, as after a reload that has adapted already, changes nothing. */
    CU_ASSERT_EQUAL(dispatcher_change_follow(&f.assembly, 4), 0);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "v2", test_quota_of_any_ancestor_is_followed },
        { "v1", test_quota_of_cgroup_v1_is_followed_also_beside_v2 },
        { "unchanged", test_nothing_is_done_while_nothing_changes },
        CU_TEST_INFO_NULL,
    };

    return suite_run("effective CPUs", tests);
}
