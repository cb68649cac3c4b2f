/* SPDX-License-Identifier: MIT */
/*
 * statuses.h - which ends of a fetch mean that its message is done, and which that it is tried
 * again.
 *
 * An end is a status such as `404`, a class such as `5xx`, `timeout`, or `error`: no whole answer
 * came. Every other end rejects the message.
 */
#ifndef STATUSES_H
#define STATUSES_H

#include <stdbool.h>

#include <weir/option.h>

#define STATUS_MAX 600u

/* A set of ends. */
struct statuses {
    bool codes[STATUS_MAX];
    bool has_error;
    bool has_timeout;
};

/* Reads the words of an option. Returns NULL, or the word that is no end. Borrows. */
const char *statuses_read(struct statuses *statuses, const struct weir_list *words);

/* True for a status of the set. `code` may be any number. */
bool statuses_have(const struct statuses *statuses, long code);

/* True when both sets have one end. */
bool statuses_meet(const struct statuses *statuses, const struct statuses *other);

#endif
