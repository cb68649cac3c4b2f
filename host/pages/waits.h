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

/* Writes a line about the messages that wait for a retry, with the reason of the last one. They are
 * not in the mailboxes. */
void waits_print_retries(const struct overview_pool *pool, FILE *stream);

/* Writes a line for each output at which workers of the pool wait. */
void waits_print(const struct overview_pool *pool, FILE *stream);

#endif
