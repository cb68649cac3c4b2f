/* SPDX-License-Identifier: MIT */
/*
 * config/plan.h - the steps from one configuration to another.
 *
 * It compares two settings, never two texts: comments, formatting and order are no change. A plan
 * is built before anything happens; the printed tasks are the tasks that are carried out.
 *
 * Life: plan_create .. plan_destroy. It borrows both settings until then. Not synchronised.
 */
#ifndef CONFIG_PLAN_H
#define CONFIG_PLAN_H

#include "config/plan_layout.h"

/* `old_settings` NULL: every part is new. WEIR_ENOMEM. Returns owned. */
int plan_create(const struct settings *old_settings, const struct settings *new_settings,
                struct plan **out_plan);
/* NULL is allowed. */
void plan_destroy(struct plan *plan);

/* Static; "?" for an unknown kind. */
const char *plan_kind_name(enum plan_kind kind);

/* Takes the steps from number `*cursor` on that are about one part. False: no step is left. */
bool plan_next_task(const struct plan *plan, size_t *cursor, struct plan_task *out);

/* The effects of all steps about one kind of part. */
uint32_t plan_effects(const struct plan *plan, enum plan_part part);

/*
 * Prints a diff, one line for each step: `~ pools.verify.size: 2 -> 8`, `+`, `-`; `nothing to do`
 * without steps. `colour` adds escape sequences.
 */
void plan_print(const struct plan *plan, FILE *stream, bool colour);

#endif
