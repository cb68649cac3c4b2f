/* SPDX-License-Identifier: MIT */
/*
 * config/plan_steps.h - collects the steps of a plan: compares fields, and does not know their
 * meaning.
 *
 * Missing memory sets `failed`, which is checked once, at the end of the planning. So the functions
 * need no checks. Not synchronised.
 */
#ifndef CONFIG_PLAN_STEPS_H
#define CONFIG_PLAN_STEPS_H

#include "config/language.h"
#include "config/plan_layout.h"

/* A plan under way. */
struct planning {
    const struct settings *old_settings; /* NULL = nothing runs yet */
    const struct settings *new_settings;
    struct plan *plan;
    size_t capacity;
    struct text_store scratch;
    /* The last pair of values that were equal: copies of a template share theirs. */
    const void *equal_options[2];
    const void *equal_lists[2];
    bool failed; /* memory is out */
};

/* The subject of a step; the same for all steps of one pool or source. */
struct plan_subject {
    const char *path;
    uint32_t old_index;
    uint32_t new_index;
};

/* Adds a step. Copies the texts; old_text NULL = new, new_text NULL = removed. */
void plan_add(struct planning *planning, enum plan_kind kind, const struct plan_subject *subject,
              const char *field, const char *old_text, const char *new_text, bool live);

enum plan_part plan_part_of(enum plan_kind kind);

/* An array for the old index of each of `count` new parts. NULL: memory is out, `failed` is set. */
uint32_t *plan_matches(struct planning *planning, uint32_t count);

/* Adds a step when the texts differ. */
void plan_compare(struct planning *planning, enum plan_kind kind,
                  const struct plan_subject *subject, const char *field, const char *old_text,
                  const char *new_text, bool live);

/* A text that lives until the plan is made; never NULL. */
#define plan_text(planning, ...)                                                                   \
    plan_checked(planning, text_store_format(&(planning)->scratch, __VA_ARGS__))

/* The text of a target of a source or an output. */
const char *plan_target(struct planning *planning, const struct settings_pool *pool,
                        uint32_t when_full, const struct rate *rate);

/* Returns `text`; for NULL sets `failed` and returns "". */
const char *plan_checked(struct planning *planning, const char *text);

/* Two structs of one kind, compared row by row. */
struct plan_pair {
    const struct plan_subject *subject;
    const void *old_struct;
    const void *new_struct;
    enum plan_kind (*kind)(const char *field);
};

/* Compares every value and every section of the table that is of a scope; 0 = any. */
void plan_compare_rows(struct planning *planning, const struct plan_pair *pair,
                       const struct language_row *rows, uint32_t scope);

#endif
