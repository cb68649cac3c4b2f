/* SPDX-License-Identifier: MIT */
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

/* How far the answer of the present request is. */
enum fetch_phase {
    FETCH_STATUS = 0,  /* the next line begins an answer, which may be an interim one */
    FETCH_HEAD = 1,    /* the headers are being received */
    FETCH_BODY = 2,    /* header lines that follow are trailers */
    FETCH_LEAVING = 3, /* the transfer is over; the answer waits for room in the output */
};

/* Why this side ended the transfer. */
enum fetch_fault {
    FETCH_FAULTLESS = 0, /* it did not */
    FETCH_REFUSED = 1,   /* `cause`; another attempt would end in the same way */
    FETCH_FAILED = 2,    /* `cause`; there is no whole answer */
    FETCH_CROWDED = 3,   /* `cause`; it stands for connect_timeout, and is not tried again before */
    FETCH_SHORT = 4,     /* the host lacked a descriptor or memory: `shortage` */
};

struct fetch {
    struct fetch *previous, *next;
    struct client *client;
    const struct weir_message *message; /* kept */
    CURL *easy;                         /* owned */
    char *url;                          /* owned; of the first request */
    char *next_url;                     /* owned, of libcurl; after a redirect, otherwise NULL */
    struct curl_slist *headers;         /* owned; after a redirect */
    const char *method;                 /* of the present request, as the next two */
    bool has_body;
    bool is_elsewhere;  /* at another server than that of `url` */
    uint32_t redirects; /* that were followed */
    uint32_t sent;      /* how often libcurl began to send the present request */
    bool has_acted;     /* a request was sent that counts each time */
    uint64_t end_ms;    /* when `timeout` is over; of CLOCK_MONOTONIC, as the next one */
    uint64_t lookup_ms; /* when the look-up that runs reaches a time-out; 0 = none runs */
    size_t came;        /* bytes of headers of the present request's answers */
    enum fetch_phase phase;
    struct fetch_bytes head; /* lines `name: value` of the last answer; as they came, while
                              * FETCH_HEAD */
    struct fetch_bytes body;
    enum fetch_fault fault;
    const char *cause; /* of a fault, for people */
    int shortage;      /* an errno */
};

/* Milliseconds of CLOCK_MONOTONIC, as libcurl measures its time-outs. */
uint64_t fetch_now_ms(void);

/* Note why the caller ends the transfer. The last fault counts. `error`: an errno. */
void fetch_refuse(struct fetch *fetch, const char *cause);
void fetch_fail(struct fetch *fetch, enum fetch_fault fault, const char *cause);
void fetch_lack(struct fetch *fetch, int error);

/* Makes the transfer of a message and enters it in the list of the client. Takes `url` of malloc.
 * CURLE_OUT_OF_MEMORY, or an error that another try would have, too: there is no fetch. */
CURLcode fetch_create(struct client *client, const struct weir_message *message, char *url,
                      struct fetch **out_fetch);
/* Sets the transfer, which is out of the engine, for the next request. */
CURLcode fetch_repeat(struct fetch *fetch);
/* The transfer is out of the engine. */
void fetch_destroy(struct fetch *fetch);

#endif
