/* SPDX-License-Identifier: MIT */
/*
 * address.h - the address of a server: amqp://host:port/vhost.
 */
#ifndef ADDRESS_H
#define ADDRESS_H

#include <stdbool.h>

#define ADDRESS_MAX 512u

struct address {
    bool is_tls;
    int port;
    const char *host;  /* these point into `text` */
    const char *vhost; /* "/" when the address has none */
    char text[ADDRESS_MAX];
};

/* Reads an address. Returns NULL, or why it is none, without its text: it may have a password. */
const char *address_parse(const char *text, struct address *out);

#endif
