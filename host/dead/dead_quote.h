/* SPDX-License-Identifier: MIT */
/*
 * dead/dead_quote.h - payloads in the file of dead letters, without the word that begins a record.
 *
 * In a payload `let`, any number of `>` and `ter ` get one more `>`, so that `letter ` is in the
 * file only where a record begins. All other bytes stay as they are.
 */
#ifndef HOST_DEAD_DEAD_QUOTE_H
#define HOST_DEAD_DEAD_QUOTE_H

#include <stddef.h>

#define DEAD_RECORD_WORD "letter "

/* The size of these bytes when they are quoted. */
size_t dead_quoted_size(const char *bytes, size_t size);
/* Writes them quoted to `out`, which has room for dead_quoted_size. */
void dead_quote(char *out, const char *bytes, size_t size);
/* Undoes it in place. Returns the new size. */
size_t dead_unquote(char *bytes, size_t size);

#endif
