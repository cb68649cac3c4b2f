/* SPDX-License-Identifier: MIT */
/*
 * pages/metric_lines.h - lines of the page of metrics, in the text format of Prometheus.
 */
#ifndef HOST_PAGES_METRIC_LINES_H
#define HOST_PAGES_METRIC_LINES_H

#include <stdint.h>
#include <stdio.h>

/* Writes the head of a metric. */
void metric_lines_begin(FILE *stream, const char *name, const char *type, const char *help);

/* Writes a label's value, without its quotes. */
void metric_lines_put_value(FILE *stream, const char *text);

/* Writes one sample; `second_value` NULL: it has one label. */
void metric_lines_write(FILE *stream, const char *name, const char *label, const char *value,
                        const char *second, const char *second_value, uint64_t number);

#endif
