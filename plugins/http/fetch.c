/* SPDX-License-Identifier: MIT */
#include "fetch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../files/files.h"
#include "incoming.h"
#include "lookups.h"

/* A kept connection that was idle for longer is not used for a request that must not be sent twice:
 * most servers close theirs after two seconds or more, and may do it just now. */
#define IDLE_SECONDS_MAX 1L

/* --- faults ----------------------------------------------------------------------------------- */

void fetch_fail(struct fetch *fetch, enum fetch_fault fault, const char *cause)
{
    fetch->fault = fault;
    fetch->cause = cause;
}

void fetch_refuse(struct fetch *fetch, const char *cause)
{
    fetch_fail(fetch, FETCH_REFUSED, cause);
}

void fetch_lack(struct fetch *fetch, int error)
{
    fetch->fault = FETCH_SHORT;
    fetch->cause = NULL;
    fetch->shortage = error;
}

/* --- the transfer ----------------------------------------------------------------------------- */

uint64_t fetch_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static bool is_method(const struct fetch *fetch, const char *name)
{
    return strcmp(fetch->method, name) == 0;
}

/* RFC 9110 9.2.2: what may reach the server twice and does what it does once. */
static bool is_idempotent(const struct fetch *fetch)
{
    static const char *const names[] = { "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_method(fetch, names[i]))
            return true;
    return false;
}

/* curl_prereq_callback, before a request is sent. libcurl sends a request again when the server
 * closes a connection that was used before, without an answer; it cannot know whether the server
 * has acted. Then `retry` decides, and counts. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type of the callback */
static int before_request(void *context, char *address, char *own_address, int port, int own_port)
{
    struct fetch *fetch = context;

    (void)address;
    (void)own_address;
    (void)port;
    (void)own_port;
    fetch->has_acted |= !is_idempotent(fetch);
    fetch->phase = FETCH_STATUS;
    if (++fetch->sent == 1 || is_idempotent(fetch))
        return CURL_PREREQFUNC_OK;
    fetch_fail(fetch, FETCH_FAILED, "the server closed a kept connection without an answer");
    return CURL_PREREQFUNC_ABORT;
}

static void set_body(const struct fetch *fetch)
{
    size_t size = 0;
    const char *payload = "";

    if (fetch->has_body)
        payload = files_text(fetch->message, fetch->client->line, &size);
    (void)curl_easy_setopt(fetch->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    (void)curl_easy_setopt(fetch->easy, CURLOPT_POSTFIELDS, size > 0 ? payload : "");
}

/* RFC 9110 8.6: a request of these methods says that its body is empty. */
static bool says_length(const struct fetch *fetch)
{
    return fetch->has_body || is_method(fetch, "POST") || is_method(fetch, "PUT") ||
           is_method(fetch, "PATCH");
}

static CURLcode set_method(const struct fetch *fetch)
{
    CURL *easy = fetch->easy;
    bool is_usual = is_method(fetch, "POST") || (is_method(fetch, "GET") && !fetch->has_body);

    (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    if (says_length(fetch))
        set_body(fetch);
    if (!is_idempotent(fetch))
        (void)curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_SECONDS_MAX);
    if (is_method(fetch, "HEAD"))
        return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, is_usual ? NULL : fetch->method);
}

static CURLcode set_limits(CURL *easy, const struct client_settings *settings)
{
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)settings->connect_timeout);
    /* libcurl looks names up in threads. Without this it joins them at the end, and getaddrinfo has
     * no time-out that we could set. */
    (void)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* those of a proxy */
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, settings->verify ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, settings->verify ? 2L : 0L);
    return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
}

/* libcurl copies them. */
static CURLcode set_texts(CURL *easy, const struct client_settings *settings)
{
    /* NULL: libcurl reads http_proxy and the like. "": no proxy. */
    const char *proxy = settings->proxy ? settings->proxy : "";
    const struct {
        CURLoption option;
        const char *text;
    } texts[] = {
        { CURLOPT_USERAGENT, settings->user_agent },
        { CURLOPT_CAINFO, settings->ca },
        { CURLOPT_UNIX_SOCKET_PATH, settings->socket },
        { CURLOPT_PROXY, strcmp(proxy, "environment") == 0 ? NULL : proxy },
    };
    CURLcode code = CURLE_OK;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0] && code == CURLE_OK; i++)
        if (texts[i].text)
            code = curl_easy_setopt(easy, texts[i].option, texts[i].text);
    return code;
}

static void set_calls(struct fetch *fetch)
{
    CURL *easy = fetch->easy;

    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, incoming_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, incoming_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    (void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, lookups_begin);
    (void)curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, lookups_end);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
}

/* What differs between the requests of a fetch. */
static CURLcode set_request(struct fetch *fetch)
{
    const struct client *client = fetch->client;
    struct curl_slist *headers = fetch->next_url ? fetch->headers : client->headers;
    uint64_t now = fetch_now_ms();
    CURLcode code = set_method(fetch);

    if (code != CURLE_OK)
        return code;
    if (now >= fetch->end_ms)
        return CURLE_OPERATION_TIMEDOUT;
    (void)curl_easy_setopt(fetch->easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(fetch->easy, CURLOPT_TIMEOUT_MS, (long)(fetch->end_ms - now));
    return curl_easy_setopt(fetch->easy, CURLOPT_URL,
                            fetch->next_url ? fetch->next_url : fetch->url);
}

static CURLcode make(struct fetch *fetch)
{
    const struct client *client = fetch->client;
    CURLcode code;

    fetch->easy = curl_easy_init();
    if (!fetch->easy)
        return CURLE_OUT_OF_MEMORY;
    fetch->method = client->settings->method;
    fetch->has_body = client->has_body;
    fetch->end_ms = fetch_now_ms() + client->settings->timeout;
    set_calls(fetch);
    code = set_limits(fetch->easy, client->settings);
    if (code == CURLE_OK)
        code = set_texts(fetch->easy, client->settings);
    return code == CURLE_OK ? set_request(fetch) : code;
}

CURLcode fetch_repeat(struct fetch *fetch)
{
    fetch->phase = FETCH_STATUS;
    fetch->sent = 0;
    fetch->fault = FETCH_FAULTLESS;
    fetch->came = fetch->head.size = fetch->body.size = 0;
    return set_request(fetch);
}

/* --- life ------------------------------------------------------------------------------------- */

static void enter(struct client *client, struct fetch *fetch)
{
    fetch->next = client->first;
    if (client->first)
        client->first->previous = fetch;
    client->first = fetch;
    client->fetch_count++;
}

static void leave(struct client *client, const struct fetch *fetch)
{
    if (fetch->previous)
        fetch->previous->next = fetch->next;
    else
        client->first = fetch->next;
    if (fetch->next)
        fetch->next->previous = fetch->previous;
    client->fetch_count--;
}

CURLcode fetch_create(struct client *client, const struct weir_message *message, char *url,
                      struct fetch **out_fetch)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);
    CURLcode code;

    if (!fetch) {
        free(url);
        return CURLE_OUT_OF_MEMORY;
    }
    fetch->client = client;
    fetch->message = message;
    fetch->url = url;
    enter(client, fetch);
    code = make(fetch);
    if (code == CURLE_OK)
        *out_fetch = fetch;
    else
        fetch_destroy(fetch);
    return code;
}

void fetch_destroy(struct fetch *fetch)
{
    leave(fetch->client, fetch);
    curl_easy_cleanup(fetch->easy);
    free(fetch->url);
    curl_free(fetch->next_url);
    curl_slist_free_all(fetch->headers);
    free(fetch->head.data);
    free(fetch->body.data);
    free(fetch);
}
