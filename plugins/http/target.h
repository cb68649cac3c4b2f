/* SPDX-License-Identifier: MIT */
/*
 * target.h - the URL of a message, from a template.
 *
 * In the template `{}` is the text of the message as it is, `{payload}` the same with every byte
 * but letters, digits and -._~ written as %41, and `{key}` the key of the message in decimal.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when the template has `{}` or `{payload}`: the URL contains the message. */
bool target_takes_payload(const char *template);

/* Fills the template. Returns owned text; NULL: memory is out. Borrows all arguments. A NUL in the
 * payload becomes %00 also in place of `{}`. */
char *target_create(const char *template, const char *payload, size_t size, uint64_t key);

/* Why a template is none, as the end of a sentence about it; NULL: it is one. */
const char *target_check(const char *template);

/* Why a finished URL must not be asked for; NULL: it may. The payload must stay where the template
 * puts it: it is no host of its own, and no segment that a server takes for another place. */
const char *target_refuse(const char *template, const char *payload, size_t size, const char *url);

#endif
