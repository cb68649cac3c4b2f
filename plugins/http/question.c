/* SPDX-License-Identifier: MIT */
#include "question.h"

#include <ctype.h>
#include <string.h>

#include "http.h"

#define BEARER "Bearer "
#define CONTENT_TYPE "content-type"

/* --- paths ------------------------------------------------------------------------------------ */

static size_t path_size(const char *uri)
{
    return strcspn(uri, "?");
}

bool question_is_health(const struct server *server, const char *uri)
{
    const char *health = server->settings->health;

    return health && strlen(health) == path_size(uri) && strncmp(uri, health, strlen(health)) == 0;
}

/* A route `/a` has the path `/a` and those below `/a/`. */
static bool is_below(const char *uri, const char *route)
{
    size_t size = strlen(route);

    if (strncmp(uri, route, size) != 0)
        return false;
    return route[size - 1] == '/' || uri[size] == '/' || uri[size] == '?' || uri[size] == '\0';
}

int question_target(const struct server *server, const char *uri, weir_pid *out_pid)
{
    const struct weir_map *routes = &server->settings->routes;
    const struct weir_pair *best = NULL;

    for (size_t i = 0; i < routes->count; i++)
        if (is_below(uri, routes->items[i].key) &&
            (!best || strlen(routes->items[i].key) > strlen(best->key)))
            best = &routes->items[i];
    return best ? weir_lookup(server->self, best->value, out_pid)
                : weir_target(server->self, SERVER_OUTPUT, out_pid);
}

/* --- the head --------------------------------------------------------------------------------- */

/* The value of the first header with this name; NULL: there is none. The host of the target counts
 * more than Host: RFC 9112, 3.2.2. */
static const char *header(const struct exchange *exchange, const char *name, size_t *out_size)
{
    const struct receipt *receipt = exchange->connection->receipt;
    struct http1_span host = receipt->head.host;

    *out_size = host.size;
    if (host.size > 0 && strcasecmp(name, "host") == 0)
        return receipt->text + host.at;
    for (uint32_t i = 0; i < receipt->head.field_count; i++) {
        const struct http1_field *field = &receipt->head.fields[i];

        *out_size = field->value.size;
        if (http1_is_named(field, receipt->text, name))
            return receipt->text + field->value.at;
    }
    return NULL;
}

static bool is_method(const char *method)
{
    return method[strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")] == '\0';
}

/* Compares all bytes of the given token, so the time does not reveal how many of them are right. */
static bool is_token(const char *given, size_t size, const char *token)
{
    size_t right = strlen(token);
    unsigned char differs = size != right;

    for (size_t i = 0; i < size; i++)
        differs |= (unsigned char)(given[i] ^ token[right ? i % right : 0]);
    return !differs;
}

static bool is_allowed(const struct server *server, const struct exchange *exchange)
{
    const char *value;
    size_t size, scheme = sizeof BEARER - 1;

    if (!server->settings->token)
        return true;
    value = header(exchange, "authorization", &size);
    return value && size > scheme && strncasecmp(value, BEARER, scheme) == 0 &&
           is_token(value + scheme, size - scheme, server->settings->token);
}

const char *question_body_reason(unsigned status)
{
    return status == 413 ? "the body is too large" : "no room for the body";
}

unsigned question_check(const struct server *server, const struct exchange *exchange,
                        const char **out_reason)
{
    uint64_t length = exchange->connection->receipt->head.length;

    if (!is_method(exchange->method)) {
        *out_reason = "the method is not supported";
        return 501;
    }
    if (!is_allowed(server, exchange)) {
        *out_reason = "the token is missing or wrong";
        return 401;
    }
    if (length > server->settings->body_max) {
        *out_reason = question_body_reason(413);
        return 413;
    }
    return 0;
}

/* --- the message ------------------------------------------------------------------------------ */

/* Writes text into memory of the right size; without memory it only counts. */
struct text {
    char *to; /* may be NULL */
    size_t size;
};

static void put(struct text *text, const char *data, size_t size)
{
    if (text->to && size > 0)
        memcpy(text->to + text->size, data, size);
    text->size += size;
}

static void put_name(struct text *text, const char *name)
{
    for (; *name; name++) {
        char letter = (char)tolower((unsigned char)*name);

        put(text, &letter, 1);
    }
    put(text, ": ", 2);
}

static void put_value(struct text *text, const char *value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        put(text, value[i] == '\t' ? " " : &value[i], 1);
}

/* Several headers of one name are one list, in their order: RFC 9110, 5.3. Cookies have a separator
 * of their own: RFC 6265, 5.4. Nothing, when there is none. */
static void put_list(struct text *text, const struct exchange *exchange, const char *name)
{
    const struct receipt *receipt = exchange->connection->receipt;
    const char *separator = strcasecmp(name, "cookie") == 0 ? "; " : ", ";
    uint32_t count = 0;

    for (uint32_t i = 0; i < receipt->head.field_count; i++) {
        const struct http1_field *field = &receipt->head.fields[i];

        if (!http1_is_named(field, receipt->text, name))
            continue;
        if (count++ == 0)
            put_name(text, name);
        else
            put(text, separator, 2);
        put_value(text, receipt->text + field->value.at, field->value.size);
    }
    if (count > 0)
        put(text, "\n", 1);
}

/* A header that can only be there once. */
static void put_single(struct text *text, const struct exchange *exchange, const char *name)
{
    size_t size;
    const char *value = header(exchange, name, &size);

    if (!value)
        return;
    put_name(text, name);
    put_value(text, value, size);
    put(text, "\n", 1);
}

static void put_chosen(struct text *text, const struct exchange *exchange, const char *name)
{
    if (strcasecmp(name, "host") == 0)
        put_single(text, exchange, name);
    else if (strcasecmp(name, CONTENT_TYPE) != 0)
        put_list(text, exchange, name);
}

static void put_request(struct text *text, const struct server *server,
                        const struct exchange *exchange)
{
    const struct weir_list *headers = &server->settings->headers;

    put(text, exchange->method, strlen(exchange->method));
    put(text, " ", 1);
    put(text, exchange->uri, strlen(exchange->uri));
    put(text, "\n", 1);
    put_single(text, exchange, CONTENT_TYPE);
    for (size_t i = 0; i < headers->count; i++)
        put_chosen(text, exchange, headers->items[i]);
    put(text, "\n", 1);
    put(text, exchange->body, exchange->body_size);
}

struct weir_message *question_create(const struct server *server, const struct exchange *exchange)
{
    bool is_whole = server->settings->pass == SERVER_PASS_REQUEST;
    struct text text = { NULL, 0 };
    struct weir_message *message;

    if (is_whole)
        put_request(&text, server, exchange);
    else
        put(&text, exchange->body, exchange->body_size);
    message = weir_message_new(server->self, is_whole ? server->request_tag : server->body_tag,
                               text.size);
    if (!message)
        return NULL;
    text = (struct text){ message->data, 0 };
    if (is_whole)
        put_request(&text, server, exchange);
    else
        put(&text, exchange->body, exchange->body_size);
    message->key = weir_key(exchange->uri, path_size(exchange->uri));
    return message;
}
