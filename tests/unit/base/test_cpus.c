/* SPDX-License-Identifier: MIT */
/*
 * Goal:   the CPUs of the process's mask count, and the quota of every ancestor, under cgroup v2,
 *         v1 and both at once.
 * Method: small trees of files in a fresh directory, given as the root of all paths; a mask of one.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CUnit/Basic.h>

#include "base/cpus.h"

#define PATH_SIZE 512

static char root[64];

static void write_file(const char *path, const char *text)
{
    char full[PATH_SIZE];
    FILE *file;

    (void)snprintf(full, sizeof full, "%s%s", root, path);
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
    fclose(file);
}

static void begin(void)
{
    (void)snprintf(root, sizeof root, "/tmp/cpus.XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
}

static void end(void)
{
    char command[128];

    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    CU_ASSERT_EQUAL(system(command), 0);
}

static const char v2_mount[] = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";

static void test_no_cgroup_files_means_no_quota(void)
{
    begin();
    CU_ASSERT_EQUAL(cpus_quota(root), CPUS_NO_QUOTA);
    CU_ASSERT_EQUAL(cpus_effective(root), cpus_allowed());
    end();
}

static void test_v2_tightest_ancestor_counts(void)
{
    begin();
    write_file("/proc/self/cgroup", "0::/a/b\n");
    write_file("/proc/self/mountinfo", v2_mount);
    write_file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    write_file("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    CU_ASSERT_DOUBLE_EQUAL(cpus_quota(root), 0.5, 1e-9);
    CU_ASSERT_EQUAL(cpus_effective(root), 1);
    end();
}

static void test_v2_mount_point_itself_counts(void)
{
    begin();
    write_file("/proc/self/cgroup", "0::/\n");
    write_file("/proc/self/mountinfo", v2_mount);
    write_file("/sys/fs/cgroup/cpu.max", "150000\n");
    CU_ASSERT_DOUBLE_EQUAL(cpus_quota(root), 1.5, 1e-9);
    end();
}

static void test_v2_mount_root_is_stripped_and_unescaped(void)
{
    begin();
    write_file("/proc/self/cgroup", "0::/box/inner\n");
    write_file("/proc/self/mountinfo", "30 1 0:26 /box /sys/fs/c\\040g rw - cgroup2 cgroup2 rw\n");
    write_file("/sys/fs/c g/inner/cpu.max", "250000 100000\n");
    CU_ASSERT_DOUBLE_EQUAL(cpus_quota(root), 2.5, 1e-9);
    end();
}

static void test_hybrid_v1_cpu_controller_wins(void)
{
    begin();
    write_file("/proc/self/cgroup", "3:cpuset:/\n1:cpu,cpuacct:/svc\n0::/other\n");
    write_file("/proc/self/mountinfo",
               "28 1 0:24 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
               "29 1 0:25 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
               "31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
    write_file("/sys/fs/cgroup/unified/other/cpu.max", "10000 100000\n");
    write_file("/sys/fs/cgroup/cpu/svc/cpu.cfs_quota_us", "300000\n");
    write_file("/sys/fs/cgroup/cpu/svc/cpu.cfs_period_us", "100000\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    CU_ASSERT_DOUBLE_EQUAL(cpus_quota(root), 3.0, 1e-9);
    end();
}

static void test_nonsense_means_no_quota(void)
{
    begin();
    write_file("/proc/self/cgroup", "0::/a\n");
    write_file("/proc/self/mountinfo", v2_mount);
    write_file("/sys/fs/cgroup/a/cpu.max", "100000 0\n");
    write_file("/sys/fs/cgroup/cpu.max", "many\n");
    CU_ASSERT_EQUAL(cpus_quota(root), CPUS_NO_QUOTA);
    end();
}

/* promise D10: fewer from the moment on that the mask has fewer, and back. */
static void test_mask_of_the_process_is_followed(void)
{
    cpu_set_t all, one;
    uint32_t allowed = cpus_allowed();

    begin();
    CU_ASSERT_EQUAL_FATAL(sched_getaffinity(getpid(), sizeof all, &all), 0);
    CU_ASSERT_EQUAL(allowed, (uint32_t)CPU_COUNT(&all));
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    CU_ASSERT_EQUAL_FATAL(sched_setaffinity(getpid(), sizeof one, &one), 0);
    CU_ASSERT_EQUAL(cpus_effective(root), 1);
    CU_ASSERT_EQUAL_FATAL(sched_setaffinity(getpid(), sizeof all, &all), 0);
    CU_ASSERT_EQUAL(cpus_effective(root), allowed);
    end();
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "without cgroup files there is no quota", test_no_cgroup_files_means_no_quota },
        { "the mask of the process is followed", test_mask_of_the_process_is_followed },
        { "v2: the tightest ancestor counts", test_v2_tightest_ancestor_counts },
        { "v2: the mount point itself counts", test_v2_mount_point_itself_counts },
        { "v2: the mount's root is stripped", test_v2_mount_root_is_stripped_and_unescaped },
        { "hybrid: v1 with the cpu controller wins", test_hybrid_v1_cpu_controller_wins },
        { "nonsense means no quota", test_nonsense_means_no_quota },
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = { { .pName = "cpus", .pTests = tests }, CU_SUITE_INFO_NULL };
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
        return 1;
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
