/* SPDX-License-Identifier: MIT */
/*
 * client.h - the state of a worker http.client, and its options.
 */
#ifndef CLIENT_H
#define CLIENT_H

#include "engine.h"
#include "statuses.h"

#define CLIENT_OUTPUT 0u
#define CLIENT_PARALLEL_MAX 1000

/* In the order of the choices of the options. */
enum client_body { CLIENT_BODY_AUTO, CLIENT_BODY_PAYLOAD, CLIENT_BODY_NONE };
enum client_pass { CLIENT_PASS_BODY, CLIENT_PASS_RESPONSE };

struct client_settings {
    const char *url, *method, *socket;
    uint32_t body; /* enum client_body */
    struct weir_map headers, secret_headers;
    uint32_t pass;                          /* enum client_pass */
    uint64_t timeout, connect_timeout;      /* milliseconds */
    uint64_t response_max;                  /* bytes */
    uint32_t redirects, parallel, per_host; /* counts; per_host 0 = no limit */
    bool verify;
    const char *ca, *proxy, *user_agent;
    struct weir_list done, retry;
    uint64_t backoff, backoff_max, retry_after_max; /* milliseconds */
};

struct client_figures {
    uint64_t done, retried, rejected;
    uint64_t bytes;      /* of bodies */
    uint64_t classes[6]; /* answers by the first digit of their status; 0 = no answer */
};

struct client {
    struct engine engine; /* the first: see engine.h */
    const struct client_settings *settings;
    const struct weir_tag *line, *body_tag, *response_tag;
    struct statuses done, retry;
    struct curl_slist *headers; /* owned */
    bool has_body;              /* the payload is sent as the body of the request */
    struct fetch *first;        /* all that have not been settled */
    uint32_t fetch_count;
    uint32_t share; /* fetches beside the first one that descriptors were granted for */
    CURL **late;    /* owned: transfers that wait for the end of their look-up, see lookups.h */
    uint32_t late_count;
    uint64_t lookup_ms; /* not after the first time-out of a look-up; see fetch.h */
    uint64_t look;      /* timer; 0 = none */
    uint64_t noise;     /* state of a generator, for the delays of retries */
    struct client_figures figures;
};

extern const struct weir_behaviour http_client;

#endif
