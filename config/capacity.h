/* SPDX-License-Identifier: MIT */
/*
 * config/capacity.h - the capacity of a mailbox as the language writes it: a number of messages, or
 * a word.
 *
 * Not synchronised; everything static is constant.
 */
#ifndef CONFIG_CAPACITY_H
#define CONFIG_CAPACITY_H

#include "base/report.h"
#include "config/tree.h"

#include <weir/option.h>

/* The words, ended by NULL. */
extern const char *const capacity_words[];

/* Fills the uint32_t of the row from a value, or from the row's default when `node` is NULL. 0
 * stands for `unlimited`. WEIR_EINVALID after a report at `path`. */
int capacity_fill(const struct weir_option *row, const struct config_node *node, const char *path,
                  struct report *report, void *out);

/* The word of a capacity; NULL when it is a number. Static. */
const char *capacity_word(uint32_t capacity);

#endif
