/* SPDX-License-Identifier: MIT */
/*
 * http.client - fetches a URL for each message.
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "../files/files.h"
#include "fetch.h"
#include "http.h"
#include "lookups.h"
#include "redirect.h"
#include "settling.h"
#include "target.h"

#define METHOD_SIZE_MAX 16u
#define HEADER_SIZE_MAX 8192u
#define SOCKET_SIZE sizeof((struct sockaddr_un *)NULL)->sun_path
#define HEADERS_SIZE_MAX ((size_t)64 * 1024) /* of all; libcurl has a bound of 1 MB */
#define LOOK_MS 1000u /* between two looks at whether the answers are wanted */
#define AGAIN_MS 100u /* before another try to send an answer, or to start a fetch */
/* Of one fetch: its connection, and those of a look-up. */
#define FETCH_DESCRIPTORS 3u
#define NOISE 0x9e3779b97f4a7c15u /* never 0 */

/* --- looking after fetches -------------------------------------------------------------------- */

static void look(struct weir_self *self, void *memory, void *context);

static bool is_any_sending(const struct client *client)
{
    for (const struct fetch *fetch = client->first; fetch; fetch = fetch->next)
        if (fetch->phase == FETCH_LEAVING)
            return true;
    return false;
}

/* Without memory for the timer the next message arms it. */
static void look_later(struct weir_self *self, struct client *client)
{
    if (client->look || client->fetch_count == 0)
        return;
    if (weir_after(self, is_any_sending(client) ? AGAIN_MS : LOOK_MS, look, NULL, &client->look) !=
        0)
        client->look = 0;
}

static void look_at(struct weir_self *self, struct fetch *fetch)
{
    if (fetch->phase == FETCH_LEAVING) {
        settling_send(self, fetch);
    } else if (!weir_is_wanted(self, fetch->message)) {
        lookups_give_up(self, fetch);
        settling_give_up(self, fetch);
    }
}

static void look(struct weir_self *self, void *memory, void *context)
{
    struct client *client = memory;

    (void)context;
    client->look = 0;
    for (struct fetch *fetch = client->first, *next; fetch; fetch = next) {
        next = fetch->next;
        look_at(self, fetch);
    }
    engine_look(self, &client->engine);
    look_later(self, client);
}

static bool ended(struct weir_self *self, void *memory, CURL *easy, CURLcode code)
{
    struct client *client = memory;
    struct fetch *fetch = NULL;

    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &fetch);
    if (!fetch) {
        lookups_forget(client, easy);
        return false;
    }
    if (code == CURLE_OK && redirect_take(fetch, &code))
        return true;
    settling_end(self, fetch, code);
    if (is_any_sending(client) && client->look) {
        (void)weir_cancel_timer(self, client->look);
        client->look = 0;
    }
    look_later(self, client);
    return false;
}

/* The share only grows, since connections are kept for the next fetches. So one fetch at a time
 * needs none: else a worker could wait for another one for ever. */
static bool may_fetch(struct weir_self *self, struct client *client)
{
    uint32_t beside = client->fetch_count ? client->fetch_count + client->late_count : 0;

    if (beside <= client->share)
        return true;
    if (weir_set_descriptors(self, FETCH_DESCRIPTORS * beside) != 0)
        return false;
    client->share = beside;
    (void)curl_multi_setopt(client->engine.multi, CURLMOPT_MAXCONNECTS, (long)beside + 1);
    return true;
}

static int postpone(struct weir_self *self, const char *why)
{
    weir_reason(self, "%s", why);
    weir_retry_after(self, AGAIN_MS);
    return WEIR_POSTPONE;
}

static int reject(struct weir_self *self, struct client *client, const char *why)
{
    client->figures.rejected++;
    weir_reason(self, "%s", why);
    return WEIR_REJECT;
}

/* Takes `url`. */
static int begin(struct weir_self *self, struct client *client, const struct weir_message *message,
                 char *url)
{
    struct fetch *fetch = NULL;
    CURLcode code = fetch_create(client, message, url, &fetch);

    if (code == CURLE_OK && engine_add(self, &client->engine, fetch->easy) == 0) {
        look_later(self, client);
        return WEIR_KEEP;
    }
    if (fetch)
        fetch_destroy(fetch);
    if (code == CURLE_OK || code == CURLE_OUT_OF_MEMORY)
        return postpone(self, "no memory for a fetch");
    return reject(self, client, curl_easy_strerror(code));
}

static int client_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct client *client = memory;
    const char *payload, *refusal;
    size_t size;
    char *url;

    if (!may_fetch(self, client))
        return postpone(self, "descriptors are short");
    payload = files_text(message, client->line, &size);
    url = target_create(client->settings->url, payload, size, message->key, &refusal);
    if (url)
        return begin(self, client, message, url);
    return refusal ? reject(self, client, refusal) : postpone(self, "no memory for a URL");
}

/* --- opening ---------------------------------------------------------------------------------- */

static bool add_header(struct client *client, const char *name, const char *value)
{
    char line[HEADER_SIZE_MAX];
    struct curl_slist *longer;
    int size = value[0] ? snprintf(line, sizeof line, "%s: %s", name, value)
                        : snprintf(line, sizeof line, "%s;", name); /* libcurl: an empty value */

    longer = size < (int)sizeof line ? curl_slist_append(client->headers, line) : NULL;
    explicit_bzero(line, sizeof line);
    if (longer)
        client->headers = longer;
    return longer != NULL;
}

static bool add_headers(struct client *client, const struct weir_map *map)
{
    for (size_t i = 0; i < map->count; i++)
        if (!add_header(client, map->items[i].key, map->items[i].value))
            return false;
    return true;
}

static bool has_header(const struct weir_map *map, const char *name)
{
    for (size_t i = 0; i < map->count; i++)
        if (strcasecmp(map->items[i].key, name) == 0)
            return true;
    return false;
}

/* libcurl would say that a body is a form, an empty one too, and would ask the server before it
 * sends a large one. */
static bool make_headers(struct client *client)
{
    const struct client_settings *settings = client->settings;
    bool needs_type = client->has_body && !has_header(&settings->headers, "content-type") &&
                      !has_header(&settings->secret_headers, "content-type");
    struct curl_slist *first = curl_slist_append(NULL, "Expect:");

    client->headers = first;
    return first && curl_slist_append(first, "Content-Type:") &&
           (!needs_type || add_header(client, "Content-Type", "application/octet-stream")) &&
           add_headers(client, &settings->headers) &&
           add_headers(client, &settings->secret_headers);
}

static bool sends_body(const struct client_settings *settings)
{
    const char *method = settings->method;

    if (settings->body != CLIENT_BODY_AUTO)
        return settings->body == CLIENT_BODY_PAYLOAD;
    return !target_takes_payload(settings->url) &&
           (strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
            strcmp(method, "PATCH") == 0);
}

static void release(struct weir_self *self, struct client *client)
{
    lookups_close(self, client);
    engine_close(&client->engine);
    curl_slist_free_all(client->headers);
}

static int start(struct weir_self *self, struct client *client)
{
    const struct client_settings *settings = client->settings;

    client->line = weir_tag(self, FILES_LINE_TAG);
    client->body_tag = weir_tag(self, HTTP_BODY_TAG);
    client->response_tag = weir_tag(self, HTTP_RESPONSE_TAG);
    if (!client->line || !client->body_tag || !client->response_tag || !make_headers(client))
        return WEIR_ENOMEM;
    (void)curl_multi_setopt(client->engine.multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                            (long)settings->per_host);
    return weir_set_demand(self, settings->parallel);
}

static int client_open(struct weir_self *self, const void *settings, void *memory)
{
    struct client *client = memory;
    int status;

    client->settings = settings;
    client->noise = NOISE ^ weir_pid_of(self);
    client->has_body = sends_body(client->settings);
    (void)statuses_read(&client->done, &client->settings->done);
    (void)statuses_read(&client->retry, &client->settings->retry);
    status = engine_open(self, &client->engine, ended, lookups_expire);
    if (status == 0)
        status = lookups_open(client);
    if (status == 0)
        status = start(self, client);
    if (status != 0)
        release(self, client);
    return status;
}

/* The host settles the messages that are left. */
static void client_close(struct weir_self *self, void *memory, int reason)
{
    struct client *client = memory;

    (void)reason;
    while (client->first) {
        struct fetch *fetch = client->first;

        if (fetch->phase != FETCH_LEAVING)
            engine_remove(self, &client->engine, fetch->easy);
        fetch_destroy(fetch);
    }
    release(self, client);
}

static void client_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    static const char *const names[] = { "no_answer",   "answers_1xx", "answers_2xx",
                                         "answers_3xx", "answers_4xx", "answers_5xx" };
    const struct client *client = memory;
    const struct client_figures *figures = &client->figures;

    (void)self;
    weir_inspect_add(out, "fetching", "%u", client->fetch_count);
    weir_inspect_add(out, "late_lookups", "%u", client->late_count);
    weir_inspect_add(out, "fetches", "%llu", (unsigned long long)figures->done);
    weir_inspect_add(out, "retried", "%llu", (unsigned long long)figures->retried);
    weir_inspect_add(out, "rejects", "%llu", (unsigned long long)figures->rejected);
    weir_inspect_add(out, "bytes", "%llu", (unsigned long long)figures->bytes);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        weir_inspect_add(out, names[i], "%llu", (unsigned long long)figures->classes[i]);
}

/* --- checking --------------------------------------------------------------------------------- */

static bool is_token(const char *text)
{
    return text[0] && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                        "0123456789!#$%&'*+-.^_`|~")] == '\0';
}

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            return false;
    return true;
}

/* Headers that say how a connection is used, and where a body ends. */
static bool is_of_connection(const char *name)
{
    static const char *const names[] = { "connection", "content-length",   "keep-alive",
                                         "te",         "proxy-connection", "trailer",
                                         "upgrade",    "transfer-encoding" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_host(const char *value)
{
    return value[0] && !value[strcspn(value, " \t,/?#@")];
}

/* Does not print the value, which may be secret. */
static void check_header(const char *option, const char *name, const char *value,
                         struct weir_report *report)
{
    if (!is_token(name))
        weir_report_error(report, option, "%s is no name of a header", name);
    else if (is_of_connection(name))
        weir_report_error(report, option, "%s is of the connection, which http.client makes", name);
    else if (!is_printable(value))
        weir_report_error(report, option, "the value of %s has a control character", name);
    else if (strcasecmp(name, "host") == 0 && !is_host(value))
        weir_report_error(report, option, "the value of %s is no host", name);
    else if (strlen(name) + strlen(value) + 4 > HEADER_SIZE_MAX)
        weir_report_error(report, option, "%s is longer than %u bytes", name, HEADER_SIZE_MAX);
}

/* Returns the bytes of all. */
static size_t check_headers(const char *option, const struct weir_map *map,
                            struct weir_report *report)
{
    size_t size = 0;

    for (size_t i = 0; i < map->count; i++) {
        check_header(option, map->items[i].key, map->items[i].value, report);
        size += strlen(map->items[i].key) + strlen(map->items[i].value) + 4;
    }
    return size;
}

static void check_request(const struct client_settings *settings, struct weir_report *report)
{
    const char *method = settings->method;
    bool has_body = settings->body == CLIENT_BODY_PAYLOAD;
    size_t size = check_headers("headers", &settings->headers, report) +
                  check_headers("secret_headers", &settings->secret_headers, report);

    if (size > HEADERS_SIZE_MAX)
        weir_report_error(report, "headers", "and secret_headers have more than 64 KiB together");
    if (!is_token(method) || strlen(method) > METHOD_SIZE_MAX)
        weir_report_error(report, "method", "%s is no method", method);
    if (strcmp(method, "CONNECT") == 0)
        weir_report_error(report, "method", "CONNECT asks a proxy for a tunnel, and has no answer");
    if (has_body && (strcmp(method, "HEAD") == 0 || strcmp(method, "TRACE") == 0))
        weir_report_error(report, "body", "%s has no body", method);
    if (!is_printable(settings->user_agent) || strlen(settings->user_agent) > HEADER_SIZE_MAX)
        weir_report_error(report, "user_agent", "is no value of a header");
    if (settings->socket && strlen(settings->socket) >= SOCKET_SIZE)
        weir_report_error(report, "socket", "is longer than %zu bytes", SOCKET_SIZE - 1);
}

static void check_ends(const struct client_settings *settings, struct weir_report *report)
{
    struct statuses done, retry;
    const char *wrong_done = statuses_read(&done, &settings->done);
    const char *wrong_retry = statuses_read(&retry, &settings->retry);

    if (wrong_done)
        weir_report_error(report, "done", "%s is no status such as 204 or 2xx", wrong_done);
    if (wrong_retry)
        weir_report_error(report, "retry", "%s is not 429, 5xx, error or timeout", wrong_retry);
    if (done.has_error || done.has_timeout)
        weir_report_error(report, "done", "without an answer no message is done");
    if (statuses_meet(&done, &retry))
        weir_report_error(report, "retry", "a status is in `done`, too");
}

static void client_check(const void *memory, struct weir_report *report)
{
    const struct client_settings *settings = memory;

    const char *wrong_url = target_check(settings->url);

    if (wrong_url)
        weir_report_error(report, "url", "%.200s %s", settings->url, wrong_url);
    if (settings->backoff > settings->backoff_max)
        weir_report_error(report, "backoff", "is longer than backoff_max");
    check_request(settings, report);
    check_ends(settings, report);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const char *const bodies[] = { "auto", "payload", "none", NULL };
static const char *const passes[] = { "body", "response", NULL };

#define HOURS(count) ((int64_t)(count)*3600000)

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(
        struct client_settings, url, .required = true,
        .help = "{} is the payload, {payload} the same as one segment, {key} the key"),
    WEIR_OPTION_STRING(struct client_settings, method, .fallback = "GET", .help = "such as POST"),
    WEIR_OPTION_ENUM(struct client_settings, body, .fallback = "auto", .choices = bodies,
                     .help = "of the request; auto: the payload for POST, PUT and PATCH, unless "
                             "the URL has it"),
    WEIR_OPTION_MAP(struct client_settings, headers, .help = "of the request"),
    WEIR_OPTION_MAP(struct client_settings, secret_headers, .secret = true,
                    .help = "headers that are never printed"),
    WEIR_OPTION_ENUM(struct client_settings, pass, .fallback = "body", .choices = passes,
                     .help = "payload for the output and requesters: the body, or http.response/1"),
    WEIR_OPTION_DURATION(struct client_settings, timeout, .fallback = "30s", .min = 1,
                         .max = HOURS(24), .help = "of one try, from its start to the last byte"),
    WEIR_OPTION_DURATION(struct client_settings, connect_timeout, .fallback = "5s", .min = 1,
                         .max = HOURS(1), .help = "of the name look-up, the connection and TLS"),
    WEIR_OPTION_SIZE(struct client_settings, response_max, .fallback = "1MiB", .max = 1 << 30,
                     .help = "a larger body rejects the message"),
    WEIR_OPTION_U32(struct client_settings, redirects, .fallback = "0", .max = 50,
                    .help = "redirects that are followed"),
    WEIR_OPTION_U32(struct client_settings, parallel, .fallback = "16", .min = 1,
                    .max = CLIENT_PARALLEL_MAX, .help = "fetches of one worker at the same time"),
    WEIR_OPTION_U32(struct client_settings, per_host, .fallback = "0", .max = CLIENT_PARALLEL_MAX,
                    .help = "connections of one worker to one host; 0: no limit"),
    WEIR_OPTION_LIST(struct client_settings, done, .fallback = "2xx", .max = 600,
                     .help = "statuses after which the message is done"),
    WEIR_OPTION_LIST(struct client_settings, retry, .fallback = "408,429,5xx,error,timeout",
                     .max = 602, .help = "ends after which it is tried again; others reject it"),
    WEIR_OPTION_DURATION(struct client_settings, backoff, .fallback = "1s", .min = 1,
                         .max = HOURS(24),
                         .help = "before the second try; twice as long each time"),
    WEIR_OPTION_DURATION(struct client_settings, backoff_max, .fallback = "1m", .min = 1,
                         .max = HOURS(24), .help = "the longest of them"),
    WEIR_OPTION_DURATION(struct client_settings, retry_after_max, .fallback = "5m",
                         .max = HOURS(24), .help = "a longer Retry-After rejects the message"),
    WEIR_OPTION_BOOL(struct client_settings, verify, .fallback = "true",
                     .help = "check the certificate of the server"),
    WEIR_OPTION_STRING(struct client_settings, ca,
                       .help = "PEM file of the authorities; default: those of the system"),
    WEIR_OPTION_STRING(struct client_settings, proxy,
                       .help = "URL of a proxy, or `environment`; default: none"),
    WEIR_OPTION_STRING(struct client_settings, socket,
                       .help = "Unix socket that is connected to instead of the host"),
    WEIR_OPTION_STRING(struct client_settings, user_agent, .fallback = "weir",
                       .help = "of the request"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out",
      .help = "each answer, as http.body/1 or http.response/1; not for requests",
      .expected = true },
    { 0 },
};

const struct weir_behaviour http_client = {
    .name = "client",
    .summary = "fetches a URL for each message",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct client_settings),
    .state_size = sizeof(struct client),
    .in_hand = CLIENT_PARALLEL_MAX,
    .check = client_check,
    .open = client_open,
    .handle = client_handle,
    .close = client_close,
    .inspect = client_inspect,
};
