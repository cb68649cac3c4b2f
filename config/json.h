/*
 * config/json.h - writes JSON to a stream, member by member, with its commas, ends and indents.
 *
 * A member of an object has a key; an element of an array has NULL there. What begins must be
 * ended; nesting beyond 64 levels, and ending what was not begun, are bugs and assert. Borrows the
 * stream and all texts; whether the stream took everything is for its owner to ask. Not
 * synchronised.
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
/* Ends the text with a line end. Everything must have been ended. */
void json_finish(struct json *json);

void json_begin_object(struct json *json, const char *key);
void json_begin_array(struct json *json, const char *key);
void json_end(struct json *json);

void json_text(struct json *json, const char *key, const char *text);
void json_bool(struct json *json, const char *key, bool value);
void json_unsigned(struct json *json, const char *key, uint64_t value);
/* A number that is written out already. */
void json_number(struct json *json, const char *key, const char *digits);

#endif
