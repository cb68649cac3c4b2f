/* SPDX-License-Identifier: MIT */
/*
 * tls.h - TLS of a server, by OpenSSL: the certificate, and one session for each connection.
 */
#ifndef TLS_H
#define TLS_H

#include <openssl/types.h>
#include <sys/types.h>

#include "server.h"

/* Why the files are no certificate and its key. */
struct tls_reason {
    char text[512];
};

/* Reads the certificate and the key, regular files without a pass phrase: TLS 1.2 at least. Returns
 * owned; NULL: the reason is set. */
SSL_CTX *tls_create(const struct server_settings *settings, struct tls_reason *reason);
/* True when both have one certificate. */
bool tls_is_same(const SSL_CTX *context, const SSL_CTX *other);
/* Until the certificate is valid; below 0: since then. */
int64_t tls_seconds_until_valid(const SSL_CTX *context);
/* Until the first certificate of the chain ends; below 0: since then. */
int64_t tls_seconds_left(SSL_CTX *context);
/* The sessions stay. NULL is legal. */
void tls_destroy(SSL_CTX *context);

/* A session over a socket, which stays the caller's. Returns owned; NULL: memory is out. */
SSL *tls_begin(SSL_CTX *context, int descriptor);
/* Tells the client that no more comes, and frees the session. NULL is legal. */
void tls_end(SSL *session);

/* As recv and send. -1 with EAGAIN: nothing now; `*out_wants_write` is set when the session must
 * write first. */
ssize_t tls_read(SSL *session, void *bytes, size_t size, bool *out_wants_write);
ssize_t tls_write(SSL *session, const void *bytes, size_t size);

#endif
