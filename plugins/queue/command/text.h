/* SPDX-License-Identifier: MIT */
/*
 * text.h - values of a piece as text for people and as JSON.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stdint.h>
#include <stdio.h>

#define TEXT_TIME_SIZE 40u

/* Milliseconds since 1970 as UTC, such as 2026-11-24T06:40:00.123Z. */
void text_time(int64_t ms, char out[TEXT_TIME_SIZE]);
/* Text of others: what would control a terminal is escaped. NULL is printed as `-`. */
void text_print(FILE *out, const char *text);
/* As text_print, for `size` bytes, with line ends as they are. */
void text_print_lines(FILE *out, const char *bytes, size_t size);
/* As a string of JSON; bytes that are no UTF-8 are replaced. */
void text_json_string(FILE *out, const char *value);
/* `, "name": value`: a member that is not the first one. NULL = null. */
void text_json(FILE *out, const char *name, const char *value);
void text_json_number(FILE *out, const char *name, int64_t value);
/* "payload" as text when it is UTF-8, else "payload_base64". */
void text_json_payload(FILE *out, const char *bytes, size_t size);

#endif
