/* SPDX-License-Identifier: MIT */
/*
 * wire/http1_result.h - what a reader of HTTP/1.1 says, and how a refusal is answered.
 */
#ifndef WIRE_HTTP1_RESULT_H
#define WIRE_HTTP1_RESULT_H

/* name, status of the answer, words */
#define HTTP1_PROBLEMS(X)                                                                          \
    X(LINE, 400, "the request line is not valid")                                                  \
    X(METHOD, 501, "the method is not supported")                                                  \
    X(TARGET, 400, "the target of the request is not valid")                                       \
    X(TARGET_SIZE, 414, "the target of the request is too long")                                   \
    X(VERSION, 505, "the version is neither HTTP/1.1 nor HTTP/1.0")                                \
    X(LINE_END, 400, "a line does not end with CR LF")                                             \
    X(FIELD_NAME, 400, "the name of a header is not valid, or its line is folded")                 \
    X(FIELD_VALUE, 400, "the value of a header has bytes that are not allowed")                    \
    X(FIELD_COUNT, 431, "there are too many headers")                                              \
    X(HEAD_SIZE, 431, "the headers are too large")                                                 \
    X(HOST, 400, "Host is missing, repeated or not valid")                                         \
    X(LENGTH, 400, "Content-Length is repeated or not a number")                                   \
    X(LENGTH_SIZE, 413, "the body is too large")                                                   \
    X(FRAMING, 400, "Transfer-Encoding is not valid, or not alone")                                \
    X(CODING, 501, "the transfer coding is not supported")                                         \
    X(EXPECTATION, 417, "the expectation is not 100-continue")                                     \
    X(CHUNK, 400, "a chunk is not valid")                                                          \
    X(CHUNK_SIZE, 413, "a chunk is too large")                                                     \
    X(EXTENSIONS, 413, "the chunk extensions are too large")                                       \
    X(TRAILERS, 431, "the trailers are too large")

enum http1_result {
    HTTP1_MORE, /* more bytes are needed */
    HTTP1_DONE,
/* Others are refusals. */
#define HTTP1_RESULT(name, status, words) HTTP1_##name,
    HTTP1_PROBLEMS(HTTP1_RESULT)
#undef HTTP1_RESULT
};

/* The status that answers a refusal, and the reason in words (static). */
unsigned http1_status(enum http1_result result);
const char *http1_words(enum http1_result result);

#endif
