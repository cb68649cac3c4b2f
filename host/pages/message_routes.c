/* SPDX-License-Identifier: MIT */
#include "host/pages/message_routes.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/text.h"
#include "config/encoding.h"
#include "config/json.h"
#include "host/pages/dead_letters.h"

#define DETAIL_SIZE (SETTINGS_PATH_MAX + 64u)
#define TAG_SIZE 129 /* the longest name, and its NUL */

/* The messages that a request asks for. */
struct outgoing {
    struct runtime *runtime;
    weir_pid to;
    const struct weir_tag *tag; /* NULL: none */
    uint64_t key;
};

static unsigned http_status_of(int status)
{
    switch (status) {
    case 0:
        return HTTP_STATUS_OK;
    case WEIR_ENOREPLY:
        return HTTP_STATUS_NO_CONTENT;
    case WEIR_EFULL:
    case WEIR_ECLOSED:
    case WEIR_ENOMEM:
        return HTTP_STATUS_SERVICE_UNAVAILABLE;
    case WEIR_ETIMEOUT:
    case WEIR_ERUNNING:
        return HTTP_STATUS_GATEWAY_TIMEOUT;
    case WEIR_EUNKNOWN:
    case WEIR_ETERMINATED:
        return HTTP_STATUS_NOT_FOUND;
    case WEIR_EREJECTED:
        return HTTP_STATUS_CONFLICT;
    default:
        return HTTP_STATUS_BAD_GATEWAY;
    }
}

/* --- the request ----------------------------------------------------------------------------- */

/* A source whose behaviour handles messages; 0: there is none. */
static weir_pid find_source_locked(const struct assembly *assembly, const char *name)
{
    const struct settings *settings = assembly->shared->settings;
    uint32_t index = settings_find_source(settings, name);

    if (index == SETTINGS_NONE || !settings->sources[index].use.entry->behaviour->handle ||
        !assembly->sources[index])
        return 0;
    return source_pid(assembly->sources[index]);
}

/* A pool, or else a source that handles messages. */
static bool find_receiver(const struct inquiry *inquiry, weir_pid *out)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    uint32_t index;

    lock_acquire(&assembly->lock);
    index = settings_find_pool(assembly->shared->settings, inquiry->rest);
    if (index != SETTINGS_NONE)
        *out = pool_pid(assembly->pools[index]);
    else
        *out = find_source_locked(assembly, inquiry->rest);
    lock_release(&assembly->lock);
    return *out != 0;
}

/* 0, or the HTTP status of a refusal, which it has written. */
static unsigned read_inquiry(struct inquiry *inquiry, struct outgoing *out)
{
    const struct http_request *request = inquiry->request;
    char text[HTTP_TARGET_MAX];

    *out = (struct outgoing){ .runtime = inquiry->routes->overview.assembly->runtime };
    if (!find_receiver(inquiry, &out->to))
        return inquiry_no_such_pool(inquiry);
    if (http_query(request, "key", text, sizeof text))
        out->key = weir_key(text, strlen(text));
    if (http_query(request, "hash", text, sizeof text) &&
        text_parse_u64(text, &out->key) != TEXT_OK)
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "hash must be a key as a number");
    if (!http_query(request, "tag", text, sizeof text))
        return 0;
    if (!text[0] || strlen(text) >= TAG_SIZE || encoding_problem(text, strlen(text)))
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST, "tag must be a text of 1..%d bytes",
                              TAG_SIZE - 1);
    out->tag = runtime_tag(out->runtime, text);
    return out->tag ? 0 : inquiry_refuse(inquiry, HTTP_STATUS_SERVICE_UNAVAILABLE, "out of memory");
}

static struct weir_message *make(const struct outgoing *outgoing, const char *bytes, size_t size)
{
    struct weir_message *message = runtime_message_new(outgoing->runtime, outgoing->tag, size);

    if (!message)
        return NULL;
    if (size > 0)
        memcpy(message->data, bytes, size);
    message->key = outgoing->key;
    return message;
}

/* --- refusals ------------------------------------------------------------------------------- */

/* True for a pool that refuses until an operator, a reload or a worker that opens changes it. */
static bool admits_nothing(const struct inquiry *inquiry)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    bool nothing = false;
    uint32_t index;

    lock_acquire(&assembly->lock);
    index = settings_find_pool(assembly->shared->settings, inquiry->rest);
    if (index != SETTINGS_NONE)
        nothing = pool_admits_nothing(assembly->pools[index]);
    lock_release(&assembly->lock);
    return nothing;
}

static bool routes_by_hash(const struct inquiry *inquiry)
{
    struct assembly *assembly = inquiry->routes->overview.assembly;
    uint32_t index;
    bool routes;

    lock_acquire(&assembly->lock);
    index = settings_find_pool(assembly->shared->settings, inquiry->rest);
    routes = index != SETTINGS_NONE &&
             assembly->shared->settings->pools[index].core.route == WEIR_ROUTE_HASH;
    lock_release(&assembly->lock);
    return routes;
}

/* What a person should know beside the text of the status; "" = nothing. */
static void describe_why(const struct inquiry *inquiry, const struct outgoing *outgoing, int status,
                         char out[DETAIL_SIZE])
{
    out[0] = '\0';
    if (status == WEIR_EINVALID && outgoing->key == 0 && routes_by_hash(inquiry))
        (void)snprintf(out, DETAIL_SIZE, "%.*s routes by hash: give a key, --key TEXT",
                       SETTINGS_PATH_MAX, inquiry->rest);
    else if (status == WEIR_EFULL && admits_nothing(inquiry))
        (void)snprintf(out, DETAIL_SIZE, "the pool is paused, or none of its workers is open");
}

/* --- sending -------------------------------------------------------------------------------- */

static int send_one(const struct outgoing *outgoing, const char *bytes, size_t size)
{
    struct weir_message *message = make(outgoing, bytes, size);
    int status;

    if (!message)
        return WEIR_ENOMEM;
    status = runtime_send(outgoing->runtime, outgoing->to, WEIR_NORMAL, message);
    if (status != 0)
        runtime_message_free(outgoing->runtime, message);
    return status;
}

/* The last line may have no end. */
static int send_lines(const struct outgoing *outgoing, const char *bytes, size_t size,
                      uint64_t *accepted)
{
    int status = 0;

    while (size > 0 && status == 0) {
        const char *end = memchr(bytes, '\n', size);
        size_t length = end ? (size_t)(end - bytes) : size;

        status = send_one(outgoing, bytes, length);
        *accepted += status == 0;
        bytes += length + (end != NULL);
        size -= length + (end != NULL);
    }
    return status;
}

static void answer_sent(const struct inquiry *inquiry, const struct outgoing *outgoing, int status,
                        uint64_t accepted)
{
    char detail[DETAIL_SIZE], error[DETAIL_SIZE + 128];
    struct json json;

    describe_why(inquiry, outgoing, status, detail);
    (void)snprintf(error, sizeof error, "%s%s%s", weir_status_text(status), detail[0] ? ": " : "",
                   detail);
    if (inquiry->request->wants_text) {
        if (status != 0)
            fprintf(inquiry->stream, "error: %s: %s; ", inquiry->rest, error);
        else
            fprintf(inquiry->stream, "%s: ", inquiry->rest);
        fprintf(inquiry->stream, "%ju %s accepted\n", (uintmax_t)accepted,
                plural(accepted, "message", "messages"));
        return;
    }
    json_init(&json, inquiry->stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", inquiry->rest);
    json_unsigned(&json, "accepted", accepted);
    if (status != 0)
        json_text(&json, "error", error);
    json_end(&json);
    json_finish(&json);
}

/* A message out of the file of dead letters was accepted. */
static void drop_dead_letter(const struct inquiry *inquiry)
{
    char id[HTTP_TARGET_MAX], path[HTTP_TARGET_MAX];

    if (http_query(inquiry->request, "dead", id, sizeof id) &&
        http_query(inquiry->request, "died", path, sizeof path))
        dead_letters_page_sent_again(&inquiry->routes->overview, path, id);
}

unsigned message_routes_send(struct inquiry *inquiry)
{
    const struct http_request *request = inquiry->request;
    struct outgoing outgoing;
    uint64_t accepted = 0;
    char lines[2];
    unsigned refused = read_inquiry(inquiry, &outgoing);
    int status;

    if (refused)
        return refused;
    if (http_query(request, "lines", lines, sizeof lines) && lines[0] == '1') {
        status = send_lines(&outgoing, request->body, request->body_size, &accepted);
    } else {
        status = send_one(&outgoing, request->body, request->body_size);
        accepted = status == 0;
    }
    if (status == 0)
        drop_dead_letter(inquiry);
    answer_sent(inquiry, &outgoing, status, accepted);
    return http_status_of(status);
}

/* --- requests ------------------------------------------------------------------------------- */

static void write_refusal(const struct pending_question *question, int status, const char *detail,
                          FILE *stream)
{
    struct json json;
    char text[DETAIL_SIZE + 128];

    if (encoding_problem(detail, strlen(detail)))
        detail = "?";
    (void)snprintf(text, sizeof text, "%s%s%s", weir_status_text(status), detail[0] ? ": " : "",
                   detail);
    if (question->wants_text) {
        fprintf(stream, "error: %s: %s\n", question->path, text);
        return;
    }
    json_init(&json, stream);
    json_begin_object(&json, NULL);
    json_text(&json, "path", question->path);
    json_text(&json, "error", text);
    json_end(&json);
    json_finish(&json);
}

static void write_reply(const struct pending_question *question, int status,
                        const struct weir_answer *answer, struct control_reply *reply, FILE *stream)
{
    reply->status = http_status_of(status);
    reply->content_type = TYPE_BYTES;
    if (status == 0 && answer->message) {
        if (answer->message->size) /* An empty message has no data. */
            (void)fwrite(answer->message->data, 1, answer->message->size, stream);
    } else if (status != 0 && status != WEIR_ENOREPLY) {
        reply->content_type = question->wants_text ? TYPE_TEXT : TYPE_JSON;
        write_refusal(question, status,
                      status == WEIR_ETIMEOUT || status == WEIR_ERUNNING
                          ? "the worker has sent no reply"
                          : answer->detail,
                      stream);
    }
}

static int request(struct pending_answers *pending, const struct outgoing *outgoing,
                   struct weir_message *message, struct pending_answer *answer)
{
    struct request_options options;
    uint64_t reference;
    int status;

    if (!message || !answer)
        return WEIR_ENOMEM;
    options = pending_answers_options(pending, answer, outgoing->to);
    status = runtime_request(outgoing->runtime, &options, message, &reference);
    if (status == 0)
        pending_answers_add(pending, answer, reference);
    return status;
}

static bool read_timeout(const struct inquiry *inquiry, uint64_t *out)
{
    char text[32];

    return http_query(inquiry->request, "timeout", text, sizeof text) &&
           text_parse_u64(text, out) == TEXT_OK && *out <= MESSAGE_ROUTES_TIMEOUT_MAX_MS;
}

unsigned message_routes_request(struct inquiry *inquiry)
{
    struct pending_question question = { .path = inquiry->rest,
                                         .wants_text = inquiry->request->wants_text,
                                         .connection = inquiry->connection,
                                         .write = write_reply };
    struct outgoing outgoing;
    struct weir_message *message;
    struct pending_answer *answer;
    char detail[DETAIL_SIZE];
    unsigned refused;
    int status;

    if (!read_timeout(inquiry, &question.timeout_ms))
        return inquiry_refuse(inquiry, HTTP_STATUS_BAD_REQUEST,
                              "timeout must be 0..%u milliseconds", MESSAGE_ROUTES_TIMEOUT_MAX_MS);
    refused = read_inquiry(inquiry, &outgoing);
    if (refused)
        return refused;
    message = make(&outgoing, inquiry->request->body, inquiry->request->body_size);
    answer = pending_answer_create(&question);
    status = request(&inquiry->routes->pending, &outgoing, message, answer);
    if (status == 0) {
        inquiry->later = true;
        return HTTP_STATUS_OK;
    }
    runtime_message_free(outgoing.runtime, message);
    free(answer);
    describe_why(inquiry, &outgoing, status, detail);
    write_refusal(&question, status, detail, inquiry->stream);
    return http_status_of(status);
}
