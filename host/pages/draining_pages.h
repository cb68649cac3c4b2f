/* SPDX-License-Identifier: MIT */
/*
 * pages/draining_pages.h - the removed pools and sources that have not ended, for the status.
 */
#ifndef HOST_PAGES_DRAINING_PAGES_H
#define HOST_PAGES_DRAINING_PAGES_H

#include <stdio.h>

#include "config/json.h"
#include "host/run/assembly.h"

/* A line for each; nothing when there are none. assembly->lock is held. */
void draining_pages_print_locked(const struct assembly *assembly, FILE *stream);

/* The array `draining`. assembly->lock is held. */
void draining_pages_write_locked(const struct assembly *assembly, struct json *json);

#endif
