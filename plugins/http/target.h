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

#define TARGET_SIZE_MAX ((size_t)64 * 1024) /* bytes of a finished URL */

/* True when the template has `{}` or `{payload}`: the URL contains the message. */
bool target_takes_payload(const char *template);

/* Fills the template. Returns owned text, a URL that may be asked for. NULL: `*out_refusal` says
 * why not, or is NULL, when memory is out. Borrows all arguments. A NUL in the payload becomes %00
 * also in place of `{}`. The payload must stay where the template puts it: it is no host of its
 * own, and no segment that a server takes for another place. */
char *target_create(const char *template, const char *payload, size_t size, uint64_t key,
                    const char **out_refusal);

/* Why a template is none, as the end of a sentence about it; NULL: it is one. */
const char *target_check(const char *template);

/* Why a finished URL must not be asked for, wherever it is from; NULL: it may. */
const char *target_refuse(const char *url);

#endif
