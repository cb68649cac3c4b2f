/* SPDX-License-Identifier: MIT */
#include "config/plan_steps.h"

#include <stdlib.h>
#include <string.h>

#include "config/bound.h"
#include "config/capacity.h"
#include "config/rate_value.h"

#define FIELD_SIZE 256 /* such as `restart.backoff` */

/* --- steps ------------------------------------------------------------------------------------ */

static const char *keep(struct planning *planning, const char *text)
{
    const char *kept = text ? text_store_copy(&planning->plan->store, text) : NULL;

    planning->failed |= text && !kept;
    return kept;
}

struct kind_row {
    enum plan_part part;
    uint32_t effects;
};

static const struct kind_row kind_rows[] = {
#define PLAN_STEP_ROW(name, part, effects, word, how) { PLAN_PART_##part, effects },
    PLAN_STEP_LIST(PLAN_STEP_ROW)
#undef PLAN_STEP_ROW
};

enum plan_part plan_part_of(enum plan_kind kind)
{
    return kind_rows[kind].part;
}

static uint32_t effects_of(enum plan_kind kind, bool live)
{
    uint32_t effects = kind_rows[kind].effects;

    return !live && (effects & PLAN_RESPECS) ? effects | PLAN_REMAKES : effects;
}

static struct plan_step *new_step(struct planning *planning)
{
    struct plan *plan = planning->plan;

    if (plan->count == planning->capacity) {
        size_t capacity = planning->capacity ? planning->capacity * 2 : 16;
        struct plan_step *steps = realloc(plan->steps, capacity * sizeof *steps);

        if (!steps) {
            planning->failed = true;
            return NULL;
        }
        plan->steps = steps;
        planning->capacity = capacity;
    }
    return &plan->steps[plan->count++];
}

void plan_add(struct planning *planning, enum plan_kind kind, const struct plan_subject *subject,
              const char *field, const char *old_text, const char *new_text, bool live)
{
    struct plan_step *step = new_step(planning);

    if (!step)
        return;
    *step = (struct plan_step){
        .kind = kind,
        .path = keep(planning, subject->path),
        .field = keep(planning, field),
        .old_text = keep(planning, old_text),
        .new_text = keep(planning, new_text),
        .live = live,
        .effects = effects_of(kind, live),
        .old_index = subject->old_index,
        .new_index = subject->new_index,
    };
}

uint32_t *plan_matches(struct planning *planning, uint32_t count)
{
    uint32_t *old_of = text_store_take_array(&planning->plan->store, (size_t)count + 1,
                                             sizeof *old_of);

    planning->failed |= !old_of;
    return old_of;
}

const char *plan_checked(struct planning *planning, const char *text)
{
    planning->failed |= !text;
    return text ? text : "";
}

void plan_compare(struct planning *planning, enum plan_kind kind,
                  const struct plan_subject *subject, const char *field, const char *old_text,
                  const char *new_text, bool live)
{
    if (strcmp(old_text, new_text) != 0)
        plan_add(planning, kind, subject, field, old_text, new_text, live);
}

const char *plan_target(struct planning *planning, const struct settings_pool *pool,
                        uint32_t when_full, const struct rate *rate)
{
    const char *way = language_when_full_name(when_full);
    char text[RATE_TEXT_SIZE];

    if (rate->messages == 0)
        return plan_text(planning, "%s (%s)", pool->path, way);
    rate_value_format(rate, text, sizeof text);
    return plan_text(planning, "%s (%s, %s)", pool->path, way, text);
}

/* --- rows of the tables ----------------------------------------------------------------------- */

static const char *capacity_text(struct planning *planning, const struct language_row *row,
                                 const void *owner)
{
    uint32_t capacity;
    const char *word;

    memcpy(&capacity, (const char *)owner + row->option.offset, sizeof capacity);
    word = capacity_word(capacity);
    return word ? word : plan_text(planning, "%u", capacity);
}

static const char *bound_text(struct planning *planning, const struct language_row *row,
                              const void *owner)
{
    uint32_t bound;

    memcpy(&bound, (const char *)owner + row->option.offset, sizeof bound);
    return bound == WEIR_UNLIMITED ? BOUND_WORD : plan_text(planning, "%u", bound);
}

static const char *value_text(struct planning *planning, const struct language_row *row,
                              const void *owner)
{
    uint64_t range[2];
    char first[48];
    char last[48];

    if (row->option.kind == LANGUAGE_CAPACITY)
        return capacity_text(planning, row, owner);
    if (row->option.kind == LANGUAGE_BOUND)
        return bound_text(planning, row, owner);
    if (row->option.kind != LANGUAGE_RANGE)
        return plan_checked(planning, option_format(&row->option, owner, &planning->scratch));
    memcpy(range, (const char *)owner + row->option.offset, sizeof range);
    if (range[1] == 0)
        return "(none)";
    text_format_duration(range[0], first, sizeof first);
    text_format_duration(range[1], last, sizeof last);
    return plan_text(planning, "%s..%s", first, last);
}

static size_t size_of(uint32_t kind)
{
    switch (kind) {
    case WEIR_BOOL:
        return sizeof(bool);
    case WEIR_U32:
    case WEIR_ENUM:
    case LANGUAGE_CAPACITY:
    case LANGUAGE_BOUND:
        return sizeof(uint32_t);
    case WEIR_LIST:
    case WEIR_MAP:
    case WEIR_STRING:
        return 0;
    case LANGUAGE_RANGE:
        return 2 * sizeof(uint64_t);
    default:
        return sizeof(uint64_t);
    }
}

static bool are_equal(struct planning *planning, const struct weir_list *older,
                      const struct weir_list *newer)
{
    bool equal = older->count == newer->count;

    if (equal && planning->equal_lists[0] == older->items &&
        planning->equal_lists[1] == newer->items)
        return true;
    for (size_t i = 0; equal && i < older->count; i++)
        equal = strcmp(older->items[i], newer->items[i]) == 0;
    if (equal) {
        planning->equal_lists[0] = older->items;
        planning->equal_lists[1] = newer->items;
    }
    return equal;
}

/* True for most rows of most pools. Compares the values, so that equal ones need no texts. */
static bool is_same(struct planning *planning, const struct language_row *row,
                    const void *old_struct, const void *new_struct)
{
    const char *older = (const char *)old_struct + row->option.offset;
    const char *newer = (const char *)new_struct + row->option.offset;
    size_t size = size_of(row->option.kind);

    if (row->option.kind == WEIR_LIST)
        return are_equal(planning, (const void *)older, (const void *)newer);
    return size > 0 && memcmp(older, newer, size) == 0;
}

/* True for a row whose value lies in the settings as the row says. */
static bool has_value(const struct language_row *row)
{
    return language_is_value(row) || row->option.kind == LANGUAGE_RANGE ||
           row->option.kind == LANGUAGE_CAPACITY || row->option.kind == LANGUAGE_BOUND;
}

static void compare_row(struct planning *planning, const struct plan_pair *pair, const char *before,
                        const struct language_row *row, const void *old_struct,
                        const void *new_struct)
{
    char field[FIELD_SIZE];

    if (!has_value(row) || is_same(planning, row, old_struct, new_struct))
        return;
    (void)snprintf(field, sizeof field, "%s%s%s", before, before[0] ? "." : "", row->option.name);
    plan_compare(planning, pair->kind(field), pair->subject, field,
                 value_text(planning, row, old_struct), value_text(planning, row, new_struct),
                 strcmp(field, "control") != 0);
}

void plan_compare_rows(struct planning *planning, const struct plan_pair *pair,
                       const struct language_row *rows, uint32_t scope)
{
    for (const struct language_row *row = rows; row->option.name; row++) {
        const char *old_inner = (const char *)pair->old_struct + row->option.offset;
        const char *new_inner = (const char *)pair->new_struct + row->option.offset;

        if (!language_is_in(row, scope))
            continue;
        compare_row(planning, pair, "", row, pair->old_struct, pair->new_struct);
        for (const struct language_row *inner = row->rows;
             row->option.kind == LANGUAGE_SECTION && inner->option.name; inner++)
            compare_row(planning, pair, row->option.name, inner, old_inner, new_inner);
    }
}
