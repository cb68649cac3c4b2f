/*
 * fetch.h - one message, its transfer and the answer.
 *
 * fetch_create .. fetch_destroy. The transfer reads the payload of the message, so the message is
 * kept until the fetch is destroyed.
 */
#ifndef FETCH_H
#define FETCH_H

#include "client.h"

#define FETCH_HEAD_MAX ((size_t)64 * 1024) /* bytes of the headers of an answer */

/* Bytes that grow up to a limit. */
struct fetch_bytes {
    char *data; /* owned */
    size_t size, room;
};

struct fetch {
    struct fetch *previous, *next;
    struct client *client;
    const struct weir_message *message; /* kept */
    CURL *easy;                         /* owned */
    char *url;                          /* owned */
    struct fetch_bytes head;            /* lines `name: value` of the last answer */
    struct fetch_bytes body;
    const char *cause; /* why this side ended the transfer; NULL = it did not */
    char refusal[160]; /* a cause with addresses */
    bool has_no_memory;
    int shortage;    /* an errno: the host lacked a descriptor or the like; 0 = it did not */
    bool is_sending; /* the answer waits for room in the output */
};

/* Makes the transfer of a message and enters it in the list of the client. NULL: memory is out. */
struct fetch *fetch_create(struct client *client, const struct weir_message *message);
/* The transfer is out of the engine. */
void fetch_destroy(struct fetch *fetch);

#endif
