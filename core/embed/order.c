#include "embed/order.h"

#include <stdlib.h>

#define NS_PER_MS 1000000u

/* The end in progress. */
struct ending {
    struct weir_runtime *runtime;
    struct part **parts; /* in the order of their waves; those before `first` are closed */
    uint32_t *waves;     /* of each part */
    uint32_t first;
    uint32_t count;
    struct clock clock;
    uint64_t deadline_ns;
    bool in_time;
};

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
    log_event(runtime_log(ending->runtime->core), WEIR_LOG_ERROR, part_name(part),
              "did not end in time", weir_uint("queued", reading.queued),
              weir_uint("in_hand", reading.in_hand), weir_uint("held", reading.held),
              weir_str("effect", "left behind"));
}

/* True when a part cannot open, is paused or has no worker: a sender that waits for room there may
 * wait for ever. */
static bool admits_nothing(struct part *part)
{
    if (part_has_ended(part))
        return false;
    if (part->kind == PART_POOL)
        return pool_admits_nothing(part->pool);
    return part->kind == PART_SINGLE && single_opening(part->single) < 0;
}

/* Closes those parts: messages that wait for them become dead letters, `no_target`, and their
 * senders can end. */
static void close_what_admits_nothing(struct ending *ending)
{
    for (uint32_t i = ending->first; i < ending->count; i++) {
        struct part *part = ending->parts[i];

        if (!admits_nothing(part))
            continue;
        log_event(runtime_log(ending->runtime->core), WEIR_LOG_WARNING, part_name(part),
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

/* Closes all parts of the next wave together. */
static void close_wave(struct ending *ending)
{
    uint32_t end = ending->first;

    while (end < ending->count && ending->waves[end] == ending->waves[ending->first])
        part_close(ending->parts[end++]);
    for (; ending->first < end; ending->first++)
        wait_for_end(ending, ending->parts[ending->first]);
}

/* --- the order ------------------------------------------------------------------------------ */

static int find_waves(struct ending *ending)
{
    struct feeder *feeders = calloc((size_t)ending->count + 1, sizeof *feeders);
    struct executor *executor = feeders ? runtime_enter(ending->runtime->core) : NULL;
    int status = WEIR_ENOMEM;

    for (uint32_t i = 0; executor && i < ending->count; i++) {
        struct part *part = ending->parts[i];

        feeders[i] = (struct feeder){ part->pid, part->parent, part_dead_letters(part).wiring };
    }
    if (executor) {
        status = feeding_waves(feeders, ending->count, ending->waves);
        runtime_leave(executor);
    }
    free(feeders);
    /* Sources close before all others. */
    for (uint32_t i = 0; i < ending->count; i++)
        ending->waves[i] = ending->parts[i]->kind == PART_SOURCE ? 0 : ending->waves[i] + 1;
    return status;
}

/* A part of the list, and its wave. */
struct place_in_order {
    uint32_t wave;
    struct part *part;
};

static int compare(const void *one, const void *other)
{
    uint32_t a = ((const struct place_in_order *)one)->wave;
    uint32_t b = ((const struct place_in_order *)other)->wave;

    return a < b ? -1 : a > b;
}

static int sort(struct ending *ending)
{
    struct place_in_order *places = calloc((size_t)ending->count + 1, sizeof *places);

    if (!places)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < ending->count; i++)
        places[i] = (struct place_in_order){ ending->waves[i], ending->parts[i] };
    qsort(places, ending->count, sizeof *places, compare);
    for (uint32_t i = 0; i < ending->count; i++) {
        ending->waves[i] = places[i].wave;
        ending->parts[i] = places[i].part;
    }
    free(places);
    return 0;
}

int order_close_all(struct weir_runtime *runtime, uint64_t timeout_ms)
{
    struct ending ending = { .runtime = runtime, .clock = clock_monotonic(), .in_time = true };
    int status = WEIR_ENOMEM;

    ending.deadline_ns = clock_after_ms(&ending.clock, timeout_ms);
    ending.parts = part_list(runtime, &ending.count);
    ending.waves = calloc((size_t)ending.count + 1, sizeof *ending.waves);
    if (ending.parts && ending.waves)
        status = find_waves(&ending);
    if (status == 0)
        status = sort(&ending);
    while (status == 0 && ending.first < ending.count)
        close_wave(&ending);
    for (uint32_t i = 0; ending.parts && i < ending.count; i++)
        part_unref(ending.parts[i]);
    free(ending.parts);
    free(ending.waves);
    return status != 0 ? status : ending.in_time ? 0 : WEIR_ETIMEOUT;
}
