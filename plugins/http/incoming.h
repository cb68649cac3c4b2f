/* SPDX-License-Identifier: MIT */
/*
 * incoming.h - what a server sends, as libcurl gives it: the headers line by line, and the body.
 *
 * The headers of the last answer are kept without those of one connection. Interim answers and
 * trailers are read and left out. Headers that RFC 9112 calls invalid end the transfer.
 */
#ifndef INCOMING_H
#define INCOMING_H

#include "fetch.h"

/* For CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION; `context` is the fetch. */
size_t incoming_body(char *data, size_t one, size_t size, void *context);
size_t incoming_header(char *data, size_t one, size_t size, void *context);

#endif
