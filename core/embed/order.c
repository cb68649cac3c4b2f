#include "embed/order.h"

#include <stdlib.h>
#include <string.h>

#include "pool/figures.h"

#define NS_PER_MS 1000000u

/* The end in progress. A part that has ended, or was left behind, is taken out of `parts`. */
struct ending {
    struct weir_runtime *runtime;
    struct part **parts;
    bool *feeds; /* count x count: [from * count + to], through any number of others */
    uint32_t count;
    struct clock clock;
    uint64_t deadline_ns;
    bool in_time;
};

/* --- who feeds whom ------------------------------------------------------------------------- */

static bool is_below(const struct ending *ending, const struct part *part, weir_pid pid)
{
    while (part && part->pid != pid) {
        const struct part *parent = NULL;

        for (uint32_t i = 0; i < ending->count && part->parent; i++)
            if (ending->parts[i]->pid == part->parent)
                parent = ending->parts[i];
        part = parent;
    }
    return part != NULL;
}

static bool leads_to(const struct ending *ending, const struct wiring *wiring,
                     const struct part *to)
{
    for (uint32_t i = 0; wiring && i < wiring->count; i++)
        if (wiring->bindings[i].target && is_below(ending, to, wiring->bindings[i].target))
            return true;
    return false;
}

/* Directly: by an output, or as a pool that is nested in the other. In a read section. */
static void find_feeders(struct ending *ending)
{
    uint32_t count = ending->count;

    for (uint32_t from = 0; from < count; from++) {
        struct part *part = ending->parts[from];
        const struct wiring *wiring = wiring_get(part_wiring(part));

        for (uint32_t to = 0; to < count; to++)
            ending->feeds[from * count + to] = leads_to(ending, wiring, ending->parts[to]) ||
                                               part->parent == ending->parts[to]->pid;
    }
}

/* Warshall: and through others. */
static void follow_feeders(struct ending *ending)
{
    uint32_t count = ending->count;

    for (uint32_t by = 0; by < count; by++)
        for (uint32_t from = 0; from < count; from++)
            for (uint32_t to = 0; ending->feeds[from * count + by] && to < count; to++)
                ending->feeds[from * count + to] |= ending->feeds[by * count + to];
}

/* Nobody feeds it but those that it feeds itself. */
static bool is_next(const struct ending *ending, uint32_t index)
{
    for (uint32_t i = 0; i < ending->count; i++)
        if (ending->feeds[i * ending->count + index] && !ending->feeds[index * ending->count + i])
            return false;
    return true;
}

/* --- closing -------------------------------------------------------------------------------- */

static uint64_t time_left_ms(const struct ending *ending)
{
    uint64_t now = clock_now_ns(&ending->clock);

    return now < ending->deadline_ns ? (ending->deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
}

static bool has_ended(void *context)
{
    return part_has_ended(context);
}

static void name_left_behind(struct ending *ending, struct part *part)
{
    struct ledger_reading reading = { 0 };

    part_ledger(part, &reading);
    log_event(&ending->runtime->core->options.log, WEIR_LOG_ERROR, part_name(part),
              "did not end in time", weir_uint("queued", reading.queued),
              weir_uint("in_hand", reading.in_hand), weir_uint("held", reading.held),
              weir_str("effect", "left behind"));
}

static bool pool_admits_nothing(struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    struct pool_opening opening = { 0 };

    pool_stats(pool, &stats);
    pool_opening(pool, &opening);
    return atomic_load_explicit(&pool->paused, memory_order_acquire) ||
           (stats.live == 0 && (opening.failed || stats.starting == stats.stopped));
}

/* It cannot open, is paused or has no worker: what waits for room there waits for ever. */
static bool admits_nothing(struct part *part)
{
    if (part_has_ended(part))
        return false;
    if (part->kind == PART_POOL)
        return pool_admits_nothing(part->pool);
    return part->kind == PART_SINGLE && single_opening(part->single) < 0;
}

/* What waits for them is dead `no_target` then, and those who have it can end. */
static void close_what_admits_nothing(struct ending *ending)
{
    for (uint32_t i = 0; i < ending->count; i++) {
        struct part *part = ending->parts[i];

        if (!admits_nothing(part))
            continue;
        log_event(&ending->runtime->core->options.log, WEIR_LOG_WARNING, part_name(part),
                  "closed before what feeds it",
                  weir_str("reason", "it has let nothing in for as long as it is waited for"),
                  weir_str("effect", "what waits for it is dead, no_target"));
        part_close(part);
    }
}

static void wait_for_end(struct ending *ending, struct part *part)
{
    uint64_t left_ms;

    while ((left_ms = time_left_ms(ending)) > ending->runtime->no_room_ms) {
        if (runtime_wait(ending->runtime->core, has_ended, part, ending->runtime->no_room_ms))
            return;
        close_what_admits_nothing(ending);
    }
    if (runtime_wait(ending->runtime->core, has_ended, part, left_ms))
        return;
    name_left_behind(ending, part);
    ending->in_time = false;
}

/* Closes those that `wanted` says, together; they are done with then. */
static void close_wanted(struct ending *ending, const bool *wanted)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < ending->count; i++)
        if (wanted[i])
            part_close(ending->parts[i]);
    for (uint32_t i = 0; i < ending->count; i++) {
        if (!wanted[i]) {
            ending->parts[kept++] = ending->parts[i];
            continue;
        }
        wait_for_end(ending, ending->parts[i]);
        part_unref(ending->parts[i]);
    }
    ending->count = kept;
}

static void close_sources(struct ending *ending, bool *wanted)
{
    for (uint32_t i = 0; i < ending->count; i++)
        wanted[i] = ending->parts[i]->kind == PART_SOURCE;
    close_wanted(ending, wanted);
}

static int close_next(struct ending *ending, bool *wanted)
{
    struct executor *executor = runtime_enter(ending->runtime->core);

    if (!executor)
        return WEIR_ENOMEM;
    find_feeders(ending);
    runtime_leave(executor);
    follow_feeders(ending);
    for (uint32_t i = 0; i < ending->count; i++)
        wanted[i] = is_next(ending, i);
    close_wanted(ending, wanted);
    return 0;
}

int order_close_all(struct weir_runtime *runtime, uint64_t timeout_ms)
{
    struct ending ending = { .runtime = runtime, .clock = clock_monotonic(), .in_time = true };
    int status = WEIR_ENOMEM;
    bool *wanted;

    ending.deadline_ns = clock_after_ms(&ending.clock, timeout_ms);
    ending.parts = part_list(runtime, &ending.count);
    wanted = calloc((size_t)ending.count + 1, sizeof *wanted);
    ending.feeds = calloc((size_t)ending.count * ending.count + 1, sizeof *ending.feeds);
    if (ending.parts && wanted && ending.feeds) {
        close_sources(&ending, wanted);
        status = 0;
    }
    while (status == 0 && ending.count > 0)
        status = close_next(&ending, wanted);
    for (uint32_t i = 0; ending.parts && i < ending.count; i++)
        part_unref(ending.parts[i]);
    free(ending.parts);
    free(ending.feeds);
    free(wanted);
    return status != 0 ? status : ending.in_time ? 0 : WEIR_ETIMEOUT;
}
