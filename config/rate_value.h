/* SPDX-License-Identifier: MIT */
/*
 * config/rate_value.h - the value of `rate`: a text such as `100/s`, or a map of keys.
 */
#ifndef CONFIG_RATE_VALUE_H
#define CONFIG_RATE_VALUE_H

#include <stddef.h>

#include "base/rate.h"
#include "base/report.h"
#include "config/tree.h"

#define RATE_TEXT_SIZE 64 /* of rate_value_format */

/* Reads a value that is no map. WEIR_EINVALID after a report. */
int rate_value_read(const struct config_node *node, const char *path, struct report *report,
                    struct rate *out);

/* Gives a rate that was read its usual burst, if it has none. */
void rate_value_complete(struct rate *rate);

/* Writes `100/s`, or `100/s, burst 20` for another burst than the usual one. */
void rate_value_format(const struct rate *rate, char *text, size_t size);

#endif
