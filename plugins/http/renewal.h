/* SPDX-License-Identifier: MIT */
/*
 * renewal.h - the certificate of a server while it runs: read again, and its end announced.
 */
#ifndef RENEWAL_H
#define RENEWAL_H

#include "server.h"

/* Reads the certificate for the first time. 0, or WEIR_EINVALID with a reason. Without TLS: 0. */
int renewal_begin(struct weir_self *self, struct server *server);

/* Reads it again. The former one stays when the files are not a pair. */
void renewal_look(struct weir_self *self, struct server *server);

/* Warns when it has ended, or will soon. To be called each day. */
void renewal_warn(struct weir_self *self, const struct server *server);

#endif
