/* SPDX-License-Identifier: MIT */
#include "actor/progress.h"

#include <string.h>

#include <weir/plugin.h>

#define SEVERAL "several" /* actors report different texts */

static void add_text(struct pool_progress *unit, const char *text)
{
    if (!unit->text)
        unit->text = text;
    else if (text && strcmp(unit->text, text) != 0)
        unit->text = SEVERAL;
}

/* A unit past the last entry is left out. */
static void add_unit(struct progress_sum *sum, const struct pool_progress *one)
{
    for (uint32_t i = 0; one->unit && i < PLACE_UNITS; i++) {
        struct pool_progress *unit = &sum->units[i];

        if (unit->unit && strcmp(unit->unit, one->unit) != 0)
            continue;
        unit->unit = one->unit;
        unit->done += one->done;
        add_text(unit, one->text);
        unit->total = one->total == WEIR_GAUGE ? WEIR_GAUGE : unit->total + one->total;
        return;
    }
}

void progress_go_on(struct place *place)
{
    struct progress *all = place_progress(place);

    for (uint32_t i = 0; all && i < PLACE_UNITS; i++)
        /* Relaxed: the owner itself wrote it. */
        all[i].before = atomic_load_explicit(&all[i].done, memory_order_relaxed);
}

/* The figures of a former incarnation, or of an ended actor, that still count. A gauge does not. */
static struct pool_progress without_gauge(const struct pool_progress *one)
{
    struct pool_progress left = *one;

    if (left.total == WEIR_GAUGE)
        left.done = 0;
    if (left.text)
        left.unit = NULL;
    return left;
}

void progress_add(struct progress_sum *sum, const struct progress_sum *other)
{
    for (uint32_t i = 0; i < PLACE_UNITS; i++) {
        struct pool_progress one = without_gauge(&other->units[i]);

        add_unit(sum, &one);
    }
    sum->emitted += other->emitted;
    sum->unbound += other->unbound;
    sum->throttled += other->throttled;
}

void progress_add_place(struct progress_sum *sum, struct place *place)
{
    struct progress *all = place_progress(place);

    for (uint32_t i = 0; all && i < PLACE_UNITS; i++) {
        const struct pool_progress one = {
            /* Acquire pairs with the release in host_progress: the unit's text. */
            .unit = atomic_load_explicit(&all[i].unit, memory_order_acquire),
            /* Relaxed: figures for people. */
            .done = atomic_load_explicit(&all[i].done, memory_order_relaxed),
            .total = atomic_load_explicit(&all[i].total, memory_order_relaxed),
            /* Acquire pairs with the release in host_progress_text: its bytes. */
            .text = atomic_load_explicit(&all[i].text, memory_order_acquire),
        };

        add_unit(sum, &one);
    }
    sum->emitted += atomic_load_explicit(&place->emitted, memory_order_relaxed);
    sum->unbound += atomic_load_explicit(&place->unbound, memory_order_relaxed);
    sum->throttled += place_throttled(place);
}

uint32_t progress_list(const struct progress_sum *sum, struct pool_progress *out, uint32_t max)
{
    uint32_t count = 0;

    while (count < max && count < PLACE_UNITS && sum->units[count].unit) {
        out[count] = sum->units[count];
        count++;
    }
    return count;
}
