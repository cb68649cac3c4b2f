/*
 * tls.h - the files of a certificate.
 */
#ifndef TLS_H
#define TLS_H

#include "server.h"

struct tls {
    char *certificate, *key; /* owned; PEM texts */
};

/* Reads both files. False: one cannot be read; the reason is set, and `out` is empty. */
bool tls_read(struct weir_self *self, const struct server_settings *settings, struct tls *out);

/* Overwrites and frees the texts. */
void tls_clear(struct tls *tls);

#endif
