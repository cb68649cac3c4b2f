/* SPDX-License-Identifier: MIT */
/*
 * json_text.h - texts of JSON (RFC 8259).
 */
#ifndef JSON_TEXT_H
#define JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True for UTF-8, which a text of JSON can hold as it is. */
bool json_text_is_utf8(const void *bytes, size_t size);

/* Bytes of this UTF-8 as a text of JSON, without the quotation marks. */
size_t json_text_size(const char *text, size_t size);
/* Writes them. Borrows. */
void json_text_write(char *to, const char *text, size_t size);

/*
 * Reads the text whose first quotation mark is before *at; *at moves behind the last one. The
 * decoded characters overwrite the text in place. False: it is no text, and its bytes are lost.
 */
bool json_text_read(char **at, const char *end, char **out_text, size_t *out_size);

#endif
