#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"

#define DETAIL_MAX 256u
/* Names of headers that the server itself writes. */
static const char *const own_headers[] = { "connection",        "content-length", "date",
                                           "transfer-encoding", "upgrade",        NULL };

static bool take(struct exchange *exchange, unsigned status, struct MHD_Response *response,
                 size_t size)
{
    exchange->response = response;
    exchange->status = status;
    exchange->answer_size = size;
    exchange->stage = EXCHANGE_READY;
    return response != NULL;
}

static struct MHD_Response *response_of(const void *data, size_t size)
{
    return MHD_create_response_from_buffer(size, (void *)(uintptr_t)data, MHD_RESPMEM_MUST_COPY);
}

/* Whole seconds, rounded up. */
static void add_retry_after(const struct server *server, struct MHD_Response *response)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%llu",
                   (unsigned long long)((server->settings->retry_after + 999) / 1000));
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, text);
}

bool answer_text(struct exchange *exchange, unsigned status, const char *text)
{
    struct server *server = exchange->connection->server;
    char line[DETAIL_MAX + 2];
    int size = snprintf(line, sizeof line, "%.*s\n", (int)DETAIL_MAX, text);
    struct MHD_Response *response = response_of(line, (size_t)size);

    if (!response)
        return take(exchange, status, NULL, 0);
    (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                  "text/plain; charset=utf-8");
    if (status == MHD_HTTP_UNAUTHORIZED)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE) {
        add_retry_after(server, response);
        server->figures.refused++;
    }
    return take(exchange, status, response, (size_t)size);
}

/* --- replies of workers ----------------------------------------------------------------------- */

static bool is_own(const char *name)
{
    for (size_t i = 0; own_headers[i]; i++)
        if (strcasecmp(own_headers[i], name) == 0)
            return true;
    return false;
}

/* One line `name: value` of the reply. Other lines, and headers of the server's own, are left
 * out. */
static void add_header(struct MHD_Response *response, const char *line, size_t size)
{
    char *copy = calloc(1, size + 1);
    char *colon;

    if (!copy)
        return;
    memcpy(copy, line, size);
    colon = strchr(copy, ':');
    if (colon) {
        char *value = colon + 1;

        *colon = '\0';
        value += strspn(value, " ");
        if (!is_own(copy))
            (void)MHD_add_response_header(response, copy, value);
    }
    free(copy);
}

static void add_headers(struct MHD_Response *response, const struct http_parts *parts)
{
    const char *text = parts->headers, *end = text + parts->headers_size, *stop;

    for (; (stop = http_line_end(text, end)); text = stop + 1)
        add_header(response, text, (size_t)(stop - text));
}

/* A status from 200 to 599; 0: the line is none. */
static unsigned status_of(const struct http_parts *parts)
{
    unsigned status = 0;

    if (parts->line_size != 3)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        if (parts->line[i] < '0' || parts->line[i] > '9')
            return 0;
        status = status * 10 + (unsigned)(parts->line[i] - '0');
    }
    return status >= 200 && status <= 599 ? status : 0;
}

static bool answer_parts(struct exchange *exchange, const struct weir_message *message)
{
    struct http_parts parts;
    unsigned status = http_parts_read(message->data, message->size, &parts) ? status_of(&parts) : 0;
    struct MHD_Response *response;

    if (!status)
        return answer_text(exchange, MHD_HTTP_BAD_GATEWAY, "the worker's reply is not valid");
    response = response_of(parts.body, parts.body_size);
    if (response)
        add_headers(response, &parts);
    return take(exchange, status, response, parts.body_size);
}

static bool answer_bytes(struct exchange *exchange, const struct weir_message *message)
{
    struct MHD_Response *response = response_of(message->data, message->size);

    if (response)
        (void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                      exchange->connection->server->settings->content_type);
    return take(exchange, MHD_HTTP_OK, response, message->size);
}

bool answer_reply(struct exchange *exchange, const struct weir_reply *reply)
{
    const struct server *server = exchange->connection->server;

    switch (reply->status) {
    case 0:
        return reply->message->tag == server->response_tag ? answer_parts(exchange, reply->message)
                                                           : answer_bytes(exchange, reply->message);
    case WEIR_ENOREPLY:
        return take(exchange, MHD_HTTP_NO_CONTENT, response_of("", 0), 0);
    case WEIR_EREJECTED:
        return answer_text(exchange, MHD_HTTP_UNPROCESSABLE_CONTENT,
                           reply->detail[0] ? reply->detail : "the worker rejected the request");
    case WEIR_ETIMEOUT:
        return answer_text(exchange, MHD_HTTP_GATEWAY_TIMEOUT, "no answer in time");
    case WEIR_ECRASHED:
    case WEIR_EREMOVED:
    case WEIR_ETERMINATED:
        return answer_text(exchange, MHD_HTTP_BAD_GATEWAY, weir_status_text(reply->status));
    default:
        return answer_text(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, weir_status_text(reply->status));
    }
}

bool answer_refusal(struct exchange *exchange, int status)
{
    if (status == WEIR_EINVALID)
        return answer_text(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the pool refuses this request");
    return answer_text(exchange, MHD_HTTP_SERVICE_UNAVAILABLE, weir_status_text(status));
}
