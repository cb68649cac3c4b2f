/* SPDX-License-Identifier: MIT */
/*
 * pages/waits.h - which workers wait at which output, and for what: the pool that slows another one
 * down.
 */
#ifndef HOST_PAGES_WAITS_H
#define HOST_PAGES_WAITS_H

#include <stdio.h>

#include "host/pages/overview_figures.h"

struct json;

/* Writes the outputs at which workers of the pool wait as an array into the open object. */
void waits_json(const struct overview_pool *pool, struct json *json);

/* Writes a line for each output at which workers of the pool wait. */
void waits_print(const struct overview_pool *pool, FILE *stream);

#endif
