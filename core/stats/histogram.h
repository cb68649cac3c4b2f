/* SPDX-License-Identifier: MIT */
/*
 * stats/histogram.h - counts durations in buckets of fixed bounds.
 *
 * The bounds are as monitoring systems use them for seconds: 1, 2.5 and 5 of each power of ten,
 * from 100 microseconds to 50 seconds. A duration belongs to the first bucket whose bound it does
 * not exceed; the last bucket has no bound. Not synchronised: the caller has a lock. Zeros are an
 * empty histogram.
 */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include "face/histogram.h"

/* Adds one duration. */
void histogram_add(struct histogram *histogram, uint64_t ns);

/* Adds all durations of another histogram. */
void histogram_absorb(struct histogram *histogram, const struct histogram *gone);

#endif
