/* SPDX-License-Identifier: MIT */
/*
 * http_model.h - what http.server makes of the bytes of a connection, by the second reader.
 *
 * Life: model_read .. model_free.
 */
#ifndef TESTS_FUZZ_HTTP_MODEL_H
#define TESTS_FUZZ_HTTP_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#define MODEL_SIZE_MAX ((size_t)4096) /* of the bytes */
#define MODEL_REQUESTS_MAX 256u       /* the smallest request has more than 16 bytes */

/* The settings of the server. */
#define MODEL_HEAD_MAX 2048u
#define MODEL_BODY_MAX 64u
#define MODEL_HEALTH "/healthz"

struct model_request {
    unsigned status; /* the server answers by itself; 0: the request is for the pool */
    bool is_head;    /* its answer has no body */
    char *line;      /* owned; method and resource, as the message has them, with LF */
    char *rest;      /* owned; behind the line of the content type: the host, a blank line, body */
    size_t rest_size;
};

/* What is behind the last of the requests. */
enum model_end {
    MODEL_OPEN,    /* no whole request: perhaps an answer, which closes */
    MODEL_REFUSED, /* one answer, which closes */
    MODEL_CLOSED,  /* nothing */
};

struct model {
    struct model_request requests[MODEL_REQUESTS_MAX];
    size_t count;
    enum model_end end;
    bool refuses_head; /* what is refused is a HEAD request: its answer has no body */
};

void model_read(struct model *model, const char *bytes, size_t size);
void model_free(struct model *model);

/* Whether the pool gets this message for the request. */
bool model_is_message(const struct model_request *request, const char *message, size_t size);

#endif
