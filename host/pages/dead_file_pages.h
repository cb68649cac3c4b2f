/* SPDX-License-Identifier: MIT */
/*
 * pages/dead_file_pages.h - the file of dead letters in the status page and in the metrics.
 */
#ifndef HOST_PAGES_DEAD_FILE_PAGES_H
#define HOST_PAGES_DEAD_FILE_PAGES_H

#include "config/json.h"
#include "host/pages/overview_figures.h"

/* Nothing when the host has no such file. */
void dead_file_pages_json(const struct overview *overview, struct json *json);
void dead_file_pages_print(const struct overview *overview, FILE *stream);
void dead_file_pages_metrics(const struct overview *overview, FILE *stream);

#endif
