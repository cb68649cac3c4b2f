#include "question.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"

#define METHOD_SIZE_MAX 16u
#define BEARER "Bearer "

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

static const char *header(const struct exchange *exchange, const char *name)
{
    return MHD_lookup_connection_value(exchange->connection->handle, MHD_HEADER_KIND, name);
}

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || *text == 0x7f)
            return false;
    return true;
}

static bool is_method(const char *method)
{
    size_t size = strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-");

    return size > 0 && size <= METHOD_SIZE_MAX && method[size] == '\0';
}

/* Compares all bytes of the given token, so the time does not reveal how many of them are right. */
static bool is_token(const char *given, const char *token)
{
    size_t size = strlen(given), right = strlen(token);
    unsigned char differs = size != right;

    for (size_t i = 0; i < size; i++)
        differs |= (unsigned char)(given[i] ^ token[right ? i % right : 0]);
    return !differs;
}

static bool is_allowed(const struct server *server, const struct exchange *exchange)
{
    const char *value;

    if (!server->settings->token)
        return true;
    value = header(exchange, MHD_HTTP_HEADER_AUTHORIZATION);
    return value && strncasecmp(value, BEARER, strlen(BEARER)) == 0 &&
           is_token(value + strlen(BEARER), server->settings->token);
}

/* The stated length of the body; 0: none is stated, UINT64_MAX: it is not a number. */
static uint64_t length_of(const struct exchange *exchange)
{
    const char *text = header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
    char *end;
    uint64_t length;

    if (!text)
        return 0;
    errno = 0;
    length = strtoull(text, &end, 10);
    return !isdigit((unsigned char)text[0]) || *end || errno ? UINT64_MAX : length;
}

const char *question_body_reason(unsigned status)
{
    return status == MHD_HTTP_CONTENT_TOO_LARGE ? "the body is too large" : "no room for the body";
}

unsigned question_check(const struct server *server, const struct exchange *exchange,
                        const char **out_reason)
{
    if (exchange->uri[0] != '/' || !is_printable(exchange->uri) || !is_method(exchange->method)) {
        *out_reason = "the request line is not valid";
        return MHD_HTTP_BAD_REQUEST;
    }
    if (header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH) &&
        header(exchange, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        *out_reason = "both Content-Length and Transfer-Encoding";
        return MHD_HTTP_BAD_REQUEST;
    }
    if (!is_allowed(server, exchange)) {
        *out_reason = "the token is missing or wrong";
        return MHD_HTTP_UNAUTHORIZED;
    }
    if (length_of(exchange) > server->settings->body_max) {
        *out_reason = question_body_reason(MHD_HTTP_CONTENT_TOO_LARGE);
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    if (length_of(exchange) > server->settings->bodies_max - server->body_bytes) {
        *out_reason = question_body_reason(MHD_HTTP_SERVICE_UNAVAILABLE);
        return MHD_HTTP_SERVICE_UNAVAILABLE;
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

/* Line ends of a folded header become spaces. */
static void put_header(struct text *text, const char *name, const char *value)
{
    size_t size = strlen(name), value_size = strlen(value);

    for (size_t i = 0; i < size; i++) {
        char letter = (char)tolower((unsigned char)name[i]);

        put(text, &letter, 1);
    }
    put(text, ": ", 2);
    for (size_t i = 0; i < value_size; i++)
        put(text, (unsigned char)value[i] < ' ' ? " " : &value[i], 1);
    put(text, "\n", 1);
}

static void put_request(struct text *text, const struct server *server,
                        const struct exchange *exchange)
{
    const struct weir_list *headers = &server->settings->headers;
    const char *value = header(exchange, MHD_HTTP_HEADER_CONTENT_TYPE);

    put(text, exchange->method, strlen(exchange->method));
    put(text, " ", 1);
    put(text, exchange->uri, strlen(exchange->uri));
    put(text, "\n", 1);
    if (value)
        put_header(text, MHD_HTTP_HEADER_CONTENT_TYPE, value);
    for (size_t i = 0; i < headers->count; i++)
        if (strcasecmp(headers->items[i], MHD_HTTP_HEADER_CONTENT_TYPE) != 0 &&
            (value = header(exchange, headers->items[i])))
            put_header(text, headers->items[i], value);
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
