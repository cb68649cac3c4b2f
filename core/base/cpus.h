/* SPDX-License-Identifier: MIT */
/*
 * base/cpus.h - the number of CPUs that this process may use.
 *
 * It is the smaller of the affinity mask and the tightest CPU quota of its control group and all
 * groups above it: cgroup v2 (`cpu.max`), v1 (`cpu.cfs_quota_us`), and hosts that mix them.
 */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <stdint.h>

#define CPUS_NO_QUOTA 0.0

/*
 * The tightest quota, in CPUs (1.5 = one and a half); CPUS_NO_QUOTA when there is none, or it
 * cannot be read. `root` is put before every path: "" except in tests.
 */
double cpus_quota(const char *root);

/* CPUs in the affinity mask of the process, that is of its first thread, at least 1. */
uint32_t cpus_allowed(void);

/* min(allowed, quota rounded up), at least 1. */
uint32_t cpus_within(uint32_t allowed, const char *root);

/* The same for the CPUs that are allowed now. */
uint32_t cpus_effective(const char *root);

/* The number of threads of `threads: auto` for so many CPUs: at least 2, at most 1024. */
uint32_t cpus_threads(uint32_t cpus);

#endif
