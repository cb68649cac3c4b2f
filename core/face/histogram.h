/* SPDX-License-Identifier: MIT */
/*
 * face/histogram.h - durations in buckets, for pages and metrics: see stats/histogram.h.
 *
 * A part of weir_core.h, through which the host and libweir include it. Plain data.
 */
#ifndef FACE_HISTOGRAM_H
#define FACE_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BOUNDS 18 /* 100 us to 50 s */

struct histogram {
    uint64_t counts[HISTOGRAM_BOUNDS + 1]; /* by bucket; the last one has no bound */
    uint64_t sum_ns;
    uint64_t max_ns;
};

/* The greatest duration of a bucket, in nanoseconds; UINT64_MAX: the last one. */
uint64_t histogram_bound_ns(uint32_t bucket);

/* The number of durations. */
uint64_t histogram_count(const struct histogram *histogram);

/*
 * A duration in nanoseconds that at least `percent` of 100 durations do not exceed: the bound of
 * their bucket, or the longest duration if that is shorter. 0 when there are none.
 */
uint64_t histogram_percentile_ns(const struct histogram *histogram, uint32_t percent);

#endif
