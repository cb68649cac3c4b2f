/* SPDX-License-Identifier: MIT */
#include "host/pages/draining_pages.h"

#include <inttypes.h>

/* Calls `visit` for each part that has not ended. */
static void each_locked(const struct assembly *assembly,
                        void (*visit)(void *context, struct part_ref part), void *context)
{
    for (uint32_t i = 0; i < assembly->gone_source_count; i++) {
        struct part_ref part = { .kind = PART_SOURCE, .source = assembly->gone_sources[i] };

        if (!part_ref_has_ended(part))
            visit(context, part);
    }
    for (uint32_t i = 0; i < assembly->gone_count; i++) {
        struct part_ref part = { .kind = PART_POOL, .pool = assembly->gone[i] };

        if (!part_ref_has_ended(part))
            visit(context, part);
    }
}

static const char *kind_of(struct part_ref part)
{
    return part.kind == PART_SOURCE ? "source" : "pool";
}

static void print(void *context, struct part_ref part)
{
    struct ledger_reading reading = { 0 };

    part_ref_ledger(part, &reading);
    fprintf(context,
            "draining: %s %s, which is removed: %" PRIu64 " queued, %" PRIu64 " in hand, %" PRIu64
            " held\n",
            kind_of(part), part_ref_name(part), reading.queued, reading.in_hand, reading.held);
}

void draining_pages_print_locked(const struct assembly *assembly, FILE *stream)
{
    each_locked(assembly, print, stream);
}

static void write(void *context, struct part_ref part)
{
    struct ledger_reading reading = { 0 };
    struct json *json = context;

    part_ref_ledger(part, &reading);
    json_begin_object(json, NULL);
    json_text(json, "kind", kind_of(part));
    json_text(json, "path", part_ref_name(part));
    json_unsigned(json, "queued", reading.queued);
    json_unsigned(json, "in_hand", reading.in_hand);
    json_unsigned(json, "held", reading.held);
    json_end(json);
}

void draining_pages_write_locked(const struct assembly *assembly, struct json *json)
{
    json_begin_array(json, "draining");
    each_locked(assembly, write, json);
    json_end(json);
}
