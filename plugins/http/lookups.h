/* SPDX-License-Identifier: MIT */
/*
 * lookups.h - bounds the look-ups of names that a worker has running.
 *
 * libcurl looks a name up in a thread of its own, which nobody can stop. At a time-out libcurl
 * would leave that thread behind, and nobody would know how many there are. So a transfer whose
 * look-up reaches its time-out stays in the engine, without its fetch, until the look-up has
 * ended. It is late then, and makes no connection. While `parallel` are late no other look-up
 * begins, so a worker has fewer than twice `parallel` of these threads.
 *
 * lookups_open .. lookups_close, in `open` and `close` of the worker.
 */
#ifndef LOOKUPS_H
#define LOOKUPS_H

#include "fetch.h"

int lookups_open(struct client *client);
/* Waits for none; the threads that run end by themselves. */
void lookups_close(struct weir_self *self, struct client *client);

/* For CURLOPT_RESOLVER_START_FUNCTION and CURLOPT_OPENSOCKETFUNCTION: a look-up begins, and has
 * ended. `context` is the fetch. */
int lookups_begin(void *resolver, void *reserved, void *context);
curl_socket_t lookups_end(void *context, curlsocktype purpose, struct curl_sockaddr *address);

/* An engine_before: ends fetches whose look-up reaches its time-out. */
void lookups_expire(struct weir_self *self, void *memory);
/* Takes the transfer away from a fetch that ends, out of the engine unless its look-up runs. */
void lookups_give_up(struct weir_self *self, struct fetch *fetch);
/* The look-up of a late transfer, which is out of the engine, has ended. */
void lookups_forget(struct client *client, CURL *easy);

#endif
