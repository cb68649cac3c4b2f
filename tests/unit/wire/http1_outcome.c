/* SPDX-License-Identifier: MIT */
#include "unit/wire/http1_outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/http1_body.h"
#include "wire/http1_head.h"

/* A copy of exactly this size. */
static char *copy_of(const char *bytes, size_t size)
{
    char *copy = malloc(size ? size : 1);

    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    return copy;
}

static size_t next_cut(struct http1_cuts cuts, size_t at, size_t size)
{
    do
        at++;
    while (at < size && !cuts.is_cut(cuts.context, at));
    return at < size ? at : size;
}

/* Reads the head; returns the bytes that have come. */
static size_t read_head(struct http1_head *head, const char *request, size_t size,
                        struct http1_cuts cuts)
{
    size_t come = 0;

    while (head->reading.result == HTTP1_MORE && come < size) {
        char *copy;

        come = next_cut(cuts, come, size);
        copy = copy_of(request, come);
        (void)http1_head_read(head, copy, come);
        free(copy);
    }
    return come;
}

/* Reads the body from `*at` on, where `come` bytes have come. */
static void read_body(struct http1_body *body, const char *request, size_t size, size_t come,
                      struct http1_cuts cuts, size_t *at, FILE *out)
{
    while (body->result == HTTP1_MORE) {
        struct http1_piece piece;
        char *copy = copy_of(request + *at, come - *at);

        (void)http1_body_read(body, copy, come - *at, &piece);
        (void)fwrite(piece.data ? piece.data : "", 1, piece.size, out);
        free(copy);
        *at += piece.used;
        if (body->result == HTTP1_MORE && *at == come) {
            if (come == size)
                return;
            come = next_cut(cuts, come, size);
        }
    }
}

static void write_span(FILE *out, const char *text, struct http1_span span)
{
    (void)fwrite(text + span.at, 1, span.size, out);
}

static void write_head(FILE *out, const struct http1_head *head, const char *request)
{
    write_span(out, request, head->method);
    (void)fputs(head->is_asterisk ? " *" : " ", out);
    if (!head->is_asterisk && (head->resource.size == 0 || request[head->resource.at] != '/'))
        (void)fputc('/', out);
    write_span(out, request, head->resource);
    (void)fputs(" @", out);
    write_span(out, request, head->host);
}

/* The outcome of a head that is done. */
static enum http1_result write_request(FILE *out, const struct http1_head *head,
                                       const char *request, size_t size, size_t come,
                                       struct http1_cuts cuts)
{
    size_t at = head->size, text_size = 0;
    struct http1_body body;
    char *text = NULL;
    FILE *stream = open_memstream(&text, &text_size);

    if (!stream)
        abort();
    http1_body_init(&body, head);
    read_body(&body, request, size, come, cuts, &at, stream);
    (void)fclose(stream);
    if (body.result == HTTP1_DONE) {
        write_head(out, head, request);
        if (text_size > 0) {
            (void)fputs(" =", out);
            (void)fwrite(text, 1, text_size, out);
        }
        (void)fputs(head->expects_continue ? " continue" : "", out);
        (void)fputs(head->keeps ? "" : " close", out);
        if (at < size)
            (void)fprintf(out, " +%zu", size - at);
    }
    free(text);
    return body.result;
}

char *http1_outcome(const char *request, size_t size, uint32_t target_max, uint32_t head_max,
                    struct http1_cuts cuts)
{
    struct http1_head head;
    enum http1_result result;
    char *text = NULL;
    size_t text_size = 0, come;
    FILE *out = open_memstream(&text, &text_size);

    if (!out)
        abort();
    http1_request_init(&head, target_max, head_max);
    come = read_head(&head, request, size, cuts);
    result = head.reading.result;
    if (result == HTTP1_DONE)
        result = write_request(out, &head, request, size, come, cuts);
    if (result == HTTP1_MORE)
        (void)fputs("more", out);
    else if (result != HTTP1_DONE)
        (void)fprintf(out, "%u", http1_status(result));
    (void)fclose(out);
    return text;
}
