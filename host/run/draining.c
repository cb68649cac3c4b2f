/* SPDX-License-Identifier: MIT */
#include "host/run/draining.h"

/* What struct closing notes for this module in `mark`. */
#define EXCLUSIVE 1u

static void add(struct assembly *assembly, const struct closing *closing)
{
    assembly->drains[assembly->drain_count++] = *closing;
}

void draining_await_formers(struct assembly *assembly)
{
    struct clock clock = clock_monotonic();
    uint64_t due_ns = clock_after_ms(&clock, closing_formers_timeout_ms(assembly));

    if (due_ns > assembly->formers_due_ns)
        assembly->formers_due_ns = due_ns;
}

void draining_add_pool(struct assembly *assembly, struct pool *pool, bool exclusive)
{
    const struct closing closing = { .part = { .kind = PART_POOL, .pool = pool },
                                     .is_removed = true,
                                     .mark = exclusive ? EXCLUSIVE : 0,
                                     .timeout_ms = closing_timeout_ms(pool) };

    add(assembly, &closing);
}

void draining_add_source(struct assembly *assembly, struct source *source, bool exclusive)
{
    struct clock clock = clock_monotonic();
    const struct closing closing = { .part = { .kind = PART_SOURCE, .source = source },
                                     .phase = CLOSING_CLOSES,
                                     .mark = exclusive ? EXCLUSIVE : 0,
                                     .timeout_ms = CLOSING_TIMEOUT_MS,
                                     .deadline_ns = clock_after_ms(&clock, CLOSING_TIMEOUT_MS) };

    lock_acquire(&assembly->lock);
    assembly->gone_sources[assembly->gone_source_count++] = source;
    lock_release(&assembly->lock);
    add(assembly, &closing);
}

/* Late ones stay among the gone. */
static void drop_late(struct assembly *assembly)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < assembly->drain_count; i++)
        if (assembly->drains[i].phase != CLOSING_LATE)
            assembly->drains[kept++] = assembly->drains[i];
    assembly->drain_count = kept;
}

static bool formers_hold(const struct assembly *assembly)
{
    struct clock clock = clock_monotonic();

    return clock_now_ns(&clock) < assembly->formers_due_ns && !closing_formers_are_over(assembly);
}

uint32_t draining_go_on(struct assembly *assembly)
{
    uint32_t before = assembly->drain_count;

    if (before == 0)
        return 0;
    closing_collect_gone(assembly);
    if (assembly->drain_count > 0 && !formers_hold(assembly))
        (void)closing_step(assembly->runtime, assembly->drains, assembly->drain_count);
    drop_late(assembly);
    return assembly->drain_count;
}

bool draining_is_full(const struct assembly *assembly)
{
    return assembly->gone_count + assembly->gone_source_count >= DRAINING_MAX;
}

/* --- exclusive behaviours ------------------------------------------------------------------- */

static bool is_exclusive_over(void *context)
{
    struct assembly *assembly = context;

    (void)draining_go_on(assembly);
    for (uint32_t i = 0; i < assembly->drain_count; i++)
        if (assembly->drains[i].mark & EXCLUSIVE)
            return atomic_load_explicit(&assembly->stopping, memory_order_acquire);
    return true;
}

int draining_await_exclusive(struct assembly *assembly, uint64_t timeout_ms)
{
    return runtime_wait(assembly->runtime, is_exclusive_over, assembly, timeout_ms) ? 0
                                                                                    : WEIR_ETIMEOUT;
}
