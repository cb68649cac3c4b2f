/* SPDX-License-Identifier: MIT */
/*
 * config/json.h - writes JSON to a stream, member by member, with commas, brackets and indentation.
 *
 * A member of an object has a key; an element of an array has NULL there. Every begin needs its
 * end. Nesting beyond 64 levels, and an end without a begin, are bugs and assert. Borrows the
 * stream and all texts; the owner of the stream checks it for errors. Not synchronised.
 */
#ifndef CONFIG_JSON_H
#define CONFIG_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
    FILE *stream;
    uint32_t depth;
    uint64_t arrays; /* bit n: the level n is an array */
    uint64_t filled; /* bit n: the level n has a member */
};

void json_init(struct json *json, FILE *stream);
/* Ends the text with a line end. Every object and array has ended. */
void json_finish(struct json *json);

void json_begin_object(struct json *json, const char *key);
void json_begin_array(struct json *json, const char *key);
void json_end(struct json *json);

void json_text(struct json *json, const char *key, const char *text);
void json_bool(struct json *json, const char *key, bool value);
void json_unsigned(struct json *json, const char *key, uint64_t value);
/* Writes a number from its digits. */
void json_number(struct json *json, const char *key, const char *digits);

#endif
