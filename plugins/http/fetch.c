#include "fetch.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../files/files.h"
#include "target.h"

#define ROOM_MIN ((size_t)1024)

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

/* Returns `size` on success; any other number ends the transfer. */
static size_t keep(struct fetch *fetch, struct fetch_bytes *bytes, uint64_t max, const char *data,
                   size_t size)
{
    if (size > max - bytes->size) {
        fetch->cause = bytes == &fetch->body ? "more than response_max" : "too many headers";
        return 0;
    }
    if (size == 0 || add(bytes, data, size))
        return size;
    fetch->has_no_memory = true;
    return 0;
}

/* A body of an answer that is not the last one, such as that of a redirect, does not come here. */
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

/* libcurl gives whole lines; a status line begins the headers of another answer. */
static size_t take_header(char *data, size_t one, size_t size, void *context)
{
    struct fetch *fetch = context;
    size_t whole = one * size, length = whole;

    while (length > 0 && (data[length - 1] == '\n' || data[length - 1] == '\r'))
        length--;
    if (length >= 5 && strncmp(data, "HTTP/", 5) == 0)
        fetch->head.size = 0;
    else if (!keep_line(fetch, data, length))
        return whole ? 0 : 1;
    return whole;
}

/* --- redirects -------------------------------------------------------------------------------- */

static char *part(CURLU *url, CURLUPart which)
{
    char *text = NULL;

    return curl_url_get(url, which, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

static bool is_same_part(CURLU *url, CURLU *other, CURLUPart which)
{
    char *left = part(url, which), *right = part(other, which);
    bool is_same = left && right && strcasecmp(left, right) == 0;

    curl_free(left);
    curl_free(right);
    return is_same;
}

static bool is_same_origin(const char *text, const char *other_text)
{
    CURLU *url = curl_url(), *other = curl_url();
    bool is_same = url && other && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK &&
                   curl_url_set(other, CURLUPART_URL, other_text, 0) == CURLUE_OK &&
                   is_same_part(url, other, CURLUPART_SCHEME) &&
                   is_same_part(url, other, CURLUPART_HOST) &&
                   is_same_part(url, other, CURLUPART_PORT);

    curl_url_cleanup(url);
    curl_url_cleanup(other);
    return is_same;
}

/* curl_prereq_callback, before each request: another server must not get the secret headers. */
static int before_request(void *context, char *address, char *own_address, int port, int own_port)
{
    struct fetch *fetch = context;
    const char *now = NULL;

    (void)own_port;
    if (fetch->client->settings->secret_headers.count == 0 ||
        (curl_easy_getinfo(fetch->easy, CURLINFO_EFFECTIVE_URL, &now) == CURLE_OK && now &&
         is_same_origin(now, fetch->url)))
        return CURL_PREREQFUNC_OK;
    (void)snprintf(fetch->refusal, sizeof fetch->refusal,
                   "redirect to another server, with secrets: %s port %d, from %s", address, port,
                   own_address);
    fetch->cause = fetch->refusal;
    return CURL_PREREQFUNC_ABORT;
}

/* --- the transfer ----------------------------------------------------------------------------- */

static void set_text(CURL *easy, CURLoption option, const char *text)
{
    if (text)
        (void)curl_easy_setopt(easy, option, text);
}

static void set_method(CURL *easy, const struct client *client, const char *payload, size_t size)
{
    const char *method = client->settings->method;

    if (client->has_body || strcmp(method, "POST") == 0) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, size > 0 ? payload : "");
    }
    if (strcmp(method, "HEAD") == 0)
        (void)curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (client->has_body ? strcmp(method, "POST") != 0
                              : strcmp(method, "GET") != 0 && strcmp(method, "POST") != 0)
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

static void set_limits(CURL *easy, const struct client_settings *settings)
{
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)settings->timeout);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)settings->connect_timeout);
    /* libcurl looks names up in threads. Without this it joins them, at a time-out and at the end,
     * and getaddrinfo has no time-out that we could set. */
    (void)curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, settings->redirects > 0 ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_MAXREDIRS, (long)settings->redirects);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, settings->verify ? 1L : 0L);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, settings->verify ? 2L : 0L);
}

static void set_texts(CURL *easy, const struct client *client)
{
    const struct client_settings *settings = client->settings;

    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, client->headers);
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
        fetch->shortage = errno;
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

static bool make(struct fetch *fetch)
{
    const struct client *client = fetch->client;
    size_t size;
    const char *payload = files_text(fetch->message, client->line, &size);

    fetch->url = target_create(client->settings->url, payload, size, fetch->message->key);
    fetch->easy = fetch->url ? curl_easy_init() : NULL;
    if (!fetch->easy || curl_easy_setopt(fetch->easy, CURLOPT_URL, fetch->url) != CURLE_OK)
        return false;
    set_limits(fetch->easy, client->settings);
    set_texts(fetch->easy, client);
    set_calls(fetch);
    set_method(fetch->easy, client, client->has_body ? payload : "", client->has_body ? size : 0);
    return true;
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

struct fetch *fetch_create(struct client *client, const struct weir_message *message)
{
    struct fetch *fetch = calloc(1, sizeof *fetch);

    if (!fetch)
        return NULL;
    fetch->client = client;
    fetch->message = message;
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
    free(fetch->head.data);
    free(fetch->body.data);
    free(fetch);
}
