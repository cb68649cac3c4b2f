/* SPDX-License-Identifier: MIT */
/*
 * redirect.h - where an answer sends its request, and what goes along (RFC 9110 15.4).
 *
 * 303 becomes GET without a body, but HEAD stays; 301 and 302 do so for POST, as all clients do.
 * Everything else repeats the method with its body. Another server (scheme, host or port) gets no
 * request with credentials, and of the headers only those of the content and `Accept`.
 */
#ifndef REDIRECT_H
#define REDIRECT_H

#include "fetch.h"

/* The transfer has an answer. True: the fetch has its next request, and is to be started again.
 * False: CURLE_OK, this is the last answer; or an error, of which `cause` may say more. */
bool redirect_take(struct fetch *fetch, CURLcode *out_code);

#endif
