/* SPDX-License-Identifier: MIT */
#include "fetch.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../files/files.h"

#define ROOM_MIN ((size_t)1024)
#define US_PER_MS 1000u
/* A kept connection that was idle for longer is not used for a request that must not be sent twice:
 * most servers close theirs after two seconds or more, and may do it just now. */
#define IDLE_SECONDS_MAX 1L

/* --- the answer ------------------------------------------------------------------------------- */

static bool add(struct fetch_bytes *bytes, const char *data, size_t size)
{
    size_t needed = bytes->size + size;

    if (needed > bytes->room) {
        size_t room = needed < ROOM_MIN ? ROOM_MIN : needed + needed / 2;
        char *grown = realloc(bytes->data, room);

        if (!grown)
            return false;
        bytes->data = grown;
        bytes->room = room;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size = needed;
    return true;
}

void fetch_refuse(struct fetch *fetch, const char *cause)
{
    fetch->fault = FETCH_REFUSED;
    fetch->cause = cause;
}

void fetch_lack(struct fetch *fetch, int error)
{
    fetch->fault = FETCH_SHORT;
    fetch->cause = NULL;
    fetch->shortage = error;
}

/* Returns `size` on success; any other number ends the transfer. */
static size_t keep(struct fetch *fetch, struct fetch_bytes *bytes, uint64_t max, const char *data,
                   size_t size)
{
    if (size > max - bytes->size) {
        fetch_refuse(fetch, bytes == &fetch->body ? "more than response_max" : "too many headers");
        return 0;
    }
    if (size == 0 || add(bytes, data, size))
        return size;
    fetch_lack(fetch, ENOMEM);
    return 0;
}

static size_t take_body(char *data, size_t one, size_t size, void *context)
{
    struct fetch *fetch = context;
    size_t whole = one * size;
    size_t kept = keep(fetch, &fetch->body, fetch->client->settings->response_max, data, whole);

    fetch->client->figures.bytes += kept;
    return kept == whole ? whole : CURL_WRITEFUNC_ERROR;
}

static bool is_of_transfer(const char *line, size_t size)
{
    static const char *const names[] = { "connection:", "content-length:", "transfer-encoding:" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (size > strlen(names[i]) && strncasecmp(line, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* Keeps one line with its name in lower case, and ends it with LF. */
static bool keep_line(struct fetch *fetch, const char *line, size_t size)
{
    const char *colon = memchr(line, ':', size);
    size_t before = fetch->head.size;

    if (!colon || is_of_transfer(line, size))
        return true;
    if (keep(fetch, &fetch->head, FETCH_HEAD_MAX, line, size) != size ||
        keep(fetch, &fetch->head, FETCH_HEAD_MAX, "\n", 1) != 1)
        return false;
    for (char *letter = fetch->head.data + before; *letter != ':'; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    return true;
}

/* An interim answer, a line that is left out and a trailer count, too. */
static bool is_too_much(struct fetch *fetch, size_t size)
{
    fetch->came += size;
    if (fetch->came <= FETCH_HEAD_MAX)
        return false;
    fetch_refuse(fetch, "too many headers");
    return true;
}

/* libcurl gives whole lines; a status line begins the headers of another answer. */
static size_t take_header(char *data, size_t one, size_t size, void *context)
{
    struct fetch *fetch = context;
    size_t whole = one * size, length = whole;

    if (is_too_much(fetch, whole))
        return CURL_WRITEFUNC_ERROR;
    while (length > 0 && (data[length - 1] == '\n' || data[length - 1] == '\r'))
        length--;
    if (length >= 5 && strncmp(data, "HTTP/", 5) == 0) {
        fetch->phase = FETCH_HEAD;
        fetch->head.size = 0;
    } else if (length == 0) {
        fetch->phase = FETCH_BODY;
    } else if (fetch->phase == FETCH_HEAD && !keep_line(fetch, data, length)) {
        return CURL_WRITEFUNC_ERROR;
    }
    return whole;
}

/* --- the transfer ----------------------------------------------------------------------------- */

static void set_text(CURL *easy, CURLoption option, const char *text)
{
    if (text)
        (void)curl_easy_setopt(easy, option, text);
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
    if (++fetch->sent == 1 || is_idempotent(fetch))
        return CURL_PREREQFUNC_OK;
    fetch->fault = FETCH_REPEATED;
    fetch->cause = "the server closed a kept connection without an answer";
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

static void set_method(const struct fetch *fetch)
{
    CURL *easy = fetch->easy;
    bool is_post = is_method(fetch, "POST");
    bool is_usual = is_post || (is_method(fetch, "GET") && !fetch->has_body);

    (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
    if (fetch->has_body || is_post)
        set_body(fetch);
    if (is_method(fetch, "HEAD"))
        (void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, is_usual ? NULL : fetch->method);
    if (!is_idempotent(fetch))
        (void)curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_SECONDS_MAX);
}

static void set_limits(CURL *easy, const struct client_settings *settings)
{
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)settings->connect_timeout);
    /* libcurl looks names up in threads. Without this it joins them, at a time-out and at the end,
     * and getaddrinfo has no time-out that we could set. */
    (void)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, settings->verify ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, settings->verify ? 2L : 0L);
}

static void set_texts(CURL *easy, const struct client *client)
{
    const struct client_settings *settings = client->settings;

    set_text(easy, CURLOPT_USERAGENT, settings->user_agent);
    set_text(easy, CURLOPT_CAINFO, settings->ca);
    set_text(easy, CURLOPT_UNIX_SOCKET_PATH, settings->socket);
    /* NULL: libcurl reads http_proxy and the like. "": no proxy. */
    if (!settings->proxy || strcmp(settings->proxy, "environment") != 0)
        (void)curl_easy_setopt(easy, CURLOPT_PROXY, settings->proxy ? settings->proxy : "");
}

/* curl_opensocket_callback: libcurl does not pass on why there is no socket. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct fetch *fetch = context;
    int made = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);

    (void)purpose;
    if (made < 0 && weir_is_short(errno))
        fetch_lack(fetch, errno);
    return made < 0 ? CURL_SOCKET_BAD : made;
}

static void set_calls(struct fetch *fetch)
{
    CURL *easy = fetch->easy;

    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
    (void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, fetch);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    (void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, fetch);
}

/* What differs between the requests of a fetch. */
static CURLcode set_request(struct fetch *fetch)
{
    const struct client *client = fetch->client;
    uint64_t left = client->settings->timeout - fetch->spent_ms;
    struct curl_slist *headers = fetch->next_url ? fetch->headers : client->headers;

    set_method(fetch);
    (void)curl_easy_setopt(fetch->easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(fetch->easy, CURLOPT_TIMEOUT_MS, (long)left);
    return curl_easy_setopt(fetch->easy, CURLOPT_URL,
                            fetch->next_url ? fetch->next_url : fetch->url);
}

static bool make(struct fetch *fetch)
{
    const struct client *client = fetch->client;

    fetch->easy = curl_easy_init();
    if (!fetch->easy)
        return false;
    fetch->method = client->settings->method;
    fetch->has_body = client->has_body;
    set_limits(fetch->easy, client->settings);
    set_texts(fetch->easy, client);
    set_calls(fetch);
    return set_request(fetch) == CURLE_OK;
}

/* The time-out is that of the whole try. */
CURLcode fetch_repeat(struct fetch *fetch)
{
    curl_off_t spent_us = 0;

    (void)curl_easy_getinfo(fetch->easy, CURLINFO_TOTAL_TIME_T, &spent_us);
    fetch->spent_ms += (uint64_t)spent_us / US_PER_MS;
    if (fetch->spent_ms >= fetch->client->settings->timeout)
        return CURLE_OPERATION_TIMEDOUT;
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

struct fetch *fetch_create(struct client *client, const struct weir_message *message, char *url)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);

    if (!fetch) {
        free(url);
        return NULL;
    }
    fetch->client = client;
    fetch->message = message;
    fetch->url = url;
    enter(client, fetch);
    if (make(fetch))
        return fetch;
    fetch_destroy(fetch);
    return NULL;
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
