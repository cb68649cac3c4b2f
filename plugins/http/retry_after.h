/* SPDX-License-Identifier: MIT */
/*
 * retry_after.h - how long a server wants its clients to stay away (RFC 9110 10.2.3).
 */
#ifndef RETRY_AFTER_H
#define RETRY_AFTER_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* A longer number of seconds is this one, as in RFC 9111 1.2.2. */
#define RETRY_AFTER_MAX ((uint64_t)1 << 31)

/* The longest Retry-After, in seconds, of `size` bytes of lines `name: value` with the name in
 * lower case; 0: there is none, or it is no number and no date, or the date is not after `now`. */
uint64_t retry_after_read(const char *lines, size_t size, time_t now);

#endif
