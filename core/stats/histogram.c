/* SPDX-License-Identifier: MIT */
#include "stats/histogram.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

static const uint64_t bounds_ns[HISTOGRAM_BOUNDS] = {
    100 * US, 250 * US, 500 * US, 1 * MS, 2500 * US, 5 * MS, 10 * MS, 25 * MS, 50 * MS,
    100 * MS, 250 * MS, 500 * MS, 1 * S,  2500 * MS, 5 * S,  10 * S,  25 * S,  50 * S,
};

uint64_t histogram_bound_ns(uint32_t bucket)
{
    return bucket < HISTOGRAM_BOUNDS ? bounds_ns[bucket] : UINT64_MAX;
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
    uint32_t bucket = 0;

    while (bucket < HISTOGRAM_BOUNDS && ns > bounds_ns[bucket])
        bucket++;
    histogram->counts[bucket]++;
    histogram->sum_ns += ns;
    if (ns > histogram->max_ns)
        histogram->max_ns = ns;
}

void histogram_absorb(struct histogram *histogram, const struct histogram *gone)
{
    for (uint32_t bucket = 0; bucket <= HISTOGRAM_BOUNDS; bucket++)
        histogram->counts[bucket] += gone->counts[bucket];
    histogram->sum_ns += gone->sum_ns;
    if (gone->max_ns > histogram->max_ns)
        histogram->max_ns = gone->max_ns;
}

uint64_t histogram_count(const struct histogram *histogram)
{
    uint64_t count = 0;

    for (uint32_t bucket = 0; bucket <= HISTOGRAM_BOUNDS; bucket++)
        count += histogram->counts[bucket];
    return count;
}

uint64_t histogram_percentile_ns(const struct histogram *histogram, uint32_t percent)
{
    uint64_t count = histogram_count(histogram);
    uint64_t enough = count / 100 * percent + (count % 100 * percent + 99) / 100;
    uint64_t below = 0;
    uint32_t bucket = 0;

    for (; bucket < HISTOGRAM_BOUNDS; bucket++) {
        below += histogram->counts[bucket];
        if (below >= enough)
            break;
    }
    return histogram_bound_ns(bucket) < histogram->max_ns ? histogram_bound_ns(bucket)
                                                          : histogram->max_ns;
}
