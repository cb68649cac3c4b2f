/* SPDX-License-Identifier: MIT */
#include "pool/scale_law.h"

static uint32_t at_least_one(uint32_t number)
{
    return number > 0 ? number : 1;
}

/* Open workers that take a message next. */
static uint64_t takers_of(const struct scale_figures *figures)
{
    return (uint64_t)figures->idle + figures->ready;
}

uint64_t scale_open_limit_ns(const struct scale_law *law)
{
    uint64_t waits_ns = law->wait_ns < law->open_ns / SCALE_OPENING_WAITS_MAX
                            ? law->wait_ns * SCALE_OPENING_WAITS_MAX
                            : law->open_ns;
    uint64_t limit_ns = waits_ns > SCALE_OPEN_NS_MIN ? waits_ns : SCALE_OPEN_NS_MIN;

    return limit_ns < law->open_ns ? limit_ns : law->open_ns;
}

/* Workers that are not open, and count as capacity. */
static uint32_t expected(const struct scale_figures *figures)
{
    return figures->is_up ? figures->opening : figures->pending;
}

/* No worker is open, and none has begun to open lately. */
static bool is_overdue(const struct scale_figures *figures)
{
    return !figures->is_up && figures->pending > 0 && figures->fresh == 0;
}

/* On demand: the waiting messages for which no open or opening worker is left. */
static uint64_t demand(const struct scale_figures *figures)
{
    uint64_t takers = takers_of(figures);
    uint64_t capacity = takers + expected(figures);

    if (figures->waiting > capacity)
        return figures->waiting - capacity;
    return figures->waiting > takers && is_overdue(figures);
}

static bool has_waited(const struct scale_law *law, const struct scale_figures *figures)
{
    return figures->waiting > 0 && figures->oldest_ns >= law->wait_ns && figures->idle == 0 &&
           figures->grown_ns >= law->wait_ns;
}

/* Half of the open workers, less the workers that are opening. */
static uint64_t step(const struct scale_figures *figures)
{
    uint32_t wanted = at_least_one((figures->busy + figures->ready) / 2); /* none is idle */
    uint32_t opening = expected(figures);

    return wanted > opening ? wanted - opening : is_overdue(figures);
}

/* As many workers as it lacks, regardless of the maximum. */
static uint64_t growth(const struct scale_law *law, const struct scale_figures *figures)
{
    if (law->wait_ns == 0)
        return demand(figures);
    if (figures->target == 0)
        return figures->waiting > 0;
    return has_waited(law, figures) ? step(figures) : 0;
}

static bool may_shrink(const struct scale_law *law, const struct scale_figures *figures)
{
    return figures->target > law->min && figures->unused_ns > 0 &&
           figures->unused_ns >= law->idle_ns && figures->grown_ns >= law->idle_ns &&
           figures->shrunk_ns >= law->idle_ns / SCALE_SHARE &&
           (figures->waiting == 0 || figures->waiting < takers_of(figures));
}

static struct scale_verdict grow(const struct scale_law *law, const struct scale_figures *figures,
                                 uint64_t by)
{
    uint32_t room = law->max - figures->target;
    enum scale_cause cause = law->wait_ns == 0 || figures->target == 0 ? SCALE_DEMAND
                                                                       : SCALE_WAITED;

    if (room == 0)
        return (struct scale_verdict){ figures->target, SCALE_FULL };
    return (struct scale_verdict){ figures->target + (by < room ? (uint32_t)by : room), cause };
}

struct scale_verdict scale_decide(const struct scale_law *law, const struct scale_figures *figures)
{
    uint64_t by;

    if (figures->target < law->min)
        return (struct scale_verdict){ law->min, SCALE_BOUNDS };
    if (figures->target > law->max)
        return (struct scale_verdict){ law->max, SCALE_BOUNDS };
    by = growth(law, figures);
    if (by > 0)
        return grow(law, figures, by);
    if (may_shrink(law, figures))
        return (struct scale_verdict){ figures->target - 1, SCALE_UNUSED };
    return (struct scale_verdict){ figures->target, SCALE_STAYS };
}

const char *scale_cause_text(enum scale_cause cause)
{
    static const char *const texts[] = {
        [SCALE_STAYS] = "it stays as it is",
        [SCALE_BOUNDS] = "it was outside its bounds",
        [SCALE_WAITED] = "messages have waited for too long",
        [SCALE_DEMAND] = "a message found no idle worker",
        [SCALE_UNUSED] = "a worker is unused",
        [SCALE_FULL] = "messages wait, and it has its maximum",
    };

    return texts[cause];
}
