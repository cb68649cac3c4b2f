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

#endif
