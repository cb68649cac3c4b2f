/* SPDX-License-Identifier: MIT */
/*
 * config/bound.h - a bound as the language writes it: a number, or `unlimited`.
 *
 * Not synchronised; everything static is constant.
 */
#ifndef CONFIG_BOUND_H
#define CONFIG_BOUND_H

#include "base/report.h"
#include "config/tree.h"

#include <weir/option.h>

#define BOUND_WORD "unlimited" /* UINT32_MAX */

/* The words, ended by NULL. */
extern const char *const bound_words[];

/* Fills the uint32_t of the row from a value, or from the row's default when `node` is NULL.
 * WEIR_EINVALID after a report at `path`. */
int bound_fill(const struct weir_option *row, const struct config_node *node, const char *path,
               struct report *report, void *out);

#endif
