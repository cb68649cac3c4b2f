/* SPDX-License-Identifier: MIT */
#include "link.h"

#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define FRAME_MAX 131072
#define BACKOFF_FIRST_MS 100u

void link_init(struct link *link, const struct amqp_settings *settings)
{
    memset(link, 0, sizeof *link);
    link->settings = settings;
    if (getrandom(&link->random, sizeof link->random, 0) != (ssize_t)sizeof link->random)
        link->random = (uintptr_t)link;
    link->random |= 1; /* the generator never leaves 0 */
}

void link_finish(struct link *link)
{
    struct timeval limit = { LINK_END_MS / 1000, 0 };

    if (link->connection) {
        (void)amqp_set_rpc_timeout(link->connection, &limit);
        (void)amqp_connection_close(link->connection, AMQP_REPLY_SUCCESS);
    }
    link_drop(link);
}

void link_drop(struct link *link)
{
    if (!link->connection)
        return;
    (void)amqp_destroy_connection(link->connection);
    link->connection = NULL;
    link->is_blocked = false;
    link->refusal[0] = '\0';
}

void link_turn(struct link *link)
{
    link->server = (link->server + 1) % (uint32_t)link->settings->servers.count;
}

int link_fail(struct link *link, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(link->error, sizeof link->error, format, arguments);
    va_end(arguments);
    return WEIR_EINVALID;
}

void link_name_server(const struct link *link, char *out, size_t size)
{
    if (link->address.host)
        (void)snprintf(out, size, "%s:%d", link->address.host, link->address.port);
    else
        (void)snprintf(out, size, "none");
}

/* --- what the server says --------------------------------------------------------------------- */

/* The server says this alone when a piece has been unsettled for too long. */
static void note_timeout(struct link *link, const char *text)
{
    const char *value = strstr(text, "Timeout value used: ");

    if (value)
        link->server_timeout_ms = strtoull(value + strlen("Timeout value used: "), NULL, 10);
}

static int fail_by_server(struct link *link, const char *what, amqp_bytes_t text)
{
    char said[256];

    (void)snprintf(said, sizeof said, "%.*s", (int)(text.len < 255 ? text.len : 255),
                   (const char *)text.bytes);
    note_timeout(link, said);
    if (strstr(said, "delivery acknowledgement on channel"))
        return link_fail(link,
                         "a piece was unsettled for longer than the server's consumer time-out of "
                         "%" PRIu64 " ms; it gives all unsettled pieces to others",
                         link->server_timeout_ms);
    return link_fail(link, "%s: %s", what, said);
}

static int fail_by_reply(struct link *link, const char *what, amqp_rpc_reply_t reply)
{
    const amqp_connection_close_t *ended = reply.reply.decoded;
    const amqp_channel_close_t *closed = reply.reply.decoded;

    link->is_refused = false;
    if (reply.reply_type == AMQP_RESPONSE_NORMAL)
        return 0;
    if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
        return link_fail(link, "%s: %s", what, amqp_error_string2(reply.library_error));
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION)
        return link_fail(link, "%s: no answer", what);
    link->is_refused = true;
    if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD)
        return fail_by_server(link, what, ended->reply_text);
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD)
        return fail_by_server(link, what, closed->reply_text);
    return link_fail(link, "%s: refused", what);
}

int link_check(struct link *link, const char *what)
{
    return fail_by_reply(link, what, amqp_get_rpc_reply(link->connection));
}

/* True when the last answer of the server closed the channel, since an object does not exist. */
static bool is_absent(amqp_rpc_reply_t reply)
{
    const amqp_channel_close_t *closed = reply.reply.decoded;

    return reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
           reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD && closed->reply_code == AMQP_NOT_FOUND;
}

static int open_channel(struct link *link, amqp_channel_t channel)
{
    (void)amqp_channel_open(link->connection, channel);
    return link_check(link, "channel");
}

static int open_puts(struct link *link)
{
    int status = open_channel(link, LINK_PUTS);

    if (status != 0)
        return status;
    (void)amqp_confirm_select(link->connection, LINK_PUTS);
    return link_check(link, "confirms");
}

/* After the server has closed the channel. */
static int agree_to_close(struct link *link, amqp_channel_t channel)
{
    amqp_channel_close_ok_t method = { .dummy = 0 };
    int status = amqp_send_method(link->connection, channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &method);

    return status == AMQP_STATUS_OK ? 0 : link_fail(link, "%s", amqp_error_string2(status));
}

int link_reopen(struct link *link)
{
    int status = agree_to_close(link, LINK_PUTS);

    link->refusal[0] = '\0';
    return status == 0 ? open_puts(link) : status;
}

const char *link_refusal(const struct link *link)
{
    const char *text = strstr(link->refusal, " - ");

    return text ? text + 3 : link->refusal;
}

int link_check_presence(struct link *link, const char *what, bool *out_exists)
{
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(link->connection);
    int status;

    *out_exists = !is_absent(reply);
    if (*out_exists)
        return fail_by_reply(link, what, reply);
    status = agree_to_close(link, LINK_CHANNEL);
    return status == 0 ? open_channel(link, LINK_CHANNEL) : status;
}

/* --- connecting ------------------------------------------------------------------------------- */

static amqp_socket_t *make_tls_socket(struct link *link)
{
    const struct amqp_settings *settings = link->settings;
    amqp_socket_t *socket = amqp_ssl_socket_new(link->connection);

    if (!socket) {
        (void)link_fail(link, "out of memory");
        return NULL;
    }
    amqp_ssl_socket_set_verify_peer(socket, settings->verify);
    amqp_ssl_socket_set_verify_hostname(socket, settings->verify);
    (void)amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
    if (settings->verify && amqp_ssl_socket_set_cacert(socket, settings->ca) != AMQP_STATUS_OK)
        (void)link_fail(link, "ca %s cannot be read", settings->ca);
    else if (settings->certificate && amqp_ssl_socket_set_key(socket, settings->certificate,
                                                              settings->key) != AMQP_STATUS_OK)
        (void)link_fail(link, "certificate %s and its key cannot be used", settings->certificate);
    else
        return socket;
    link->is_refused = true;
    return NULL;
}

/* A server that reads nothing ends a write after this time. */
static void limit_writes(struct link *link)
{
    unsigned limit_ms = (unsigned)(2 * link->settings->heartbeat);

    (void)setsockopt(link_descriptor(link), IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms,
                     sizeof limit_ms);
}

static int open_socket(struct link *link)
{
    uint64_t timeout = link->settings->timeout;
    struct timeval limit = { (time_t)(timeout / 1000), (suseconds_t)(timeout % 1000 * 1000) };
    amqp_socket_t *socket;
    char text[128];
    int status;

    socket = link->address.is_tls ? make_tls_socket(link) : amqp_tcp_socket_new(link->connection);
    if (!socket)
        return WEIR_EINVALID;
    (void)amqp_set_handshake_timeout(link->connection, &limit);
    (void)amqp_set_rpc_timeout(link->connection, &limit);
    errno = 0;
    status = amqp_socket_open_noblock(socket, link->address.host, link->address.port, &limit);
    if (status == AMQP_STATUS_SOCKET_ERROR && errno == EINPROGRESS)
        return link_fail(link, "nothing listens there, or no way leads there");
    if (status == AMQP_STATUS_SOCKET_ERROR && errno != 0)
        return link_fail(link, "%s", strerror_r(errno, text, sizeof text));
    if (status != AMQP_STATUS_OK)
        return link_fail(link, "%s", amqp_error_string2(status));
    limit_writes(link);
    return 0;
}

static amqp_table_entry_t text_entry(const char *name, const char *text)
{
    amqp_table_entry_t entry = { .key = amqp_cstring_bytes(name) };

    entry.value.kind = AMQP_FIELD_KIND_UTF8;
    entry.value.value.bytes = amqp_cstring_bytes(text);
    return entry;
}

static amqp_table_entry_t true_entry(const char *name)
{
    amqp_table_entry_t entry = { .key = amqp_cstring_bytes(name) };

    entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
    entry.value.value.boolean = 1;
    return entry;
}

/* The capabilities let the server refuse a publishing, say that it is blocked, cancel a consumer
 * whose queue is gone, and say why it refuses a login. */
static int log_in(struct link *link, const char *name)
{
    const struct amqp_settings *settings = link->settings;
    int heartbeat_s = (int)((settings->heartbeat + 999) / 1000);
    amqp_table_entry_t able[] = { true_entry("basic.nack"), true_entry("connection.blocked"),
                                  true_entry("consumer_cancel_notify"),
                                  true_entry("authentication_failure_close"),
                                  true_entry("publisher_confirms") };
    amqp_table_entry_t entries[] = { text_entry("product", "Weir"),
                                     text_entry("connection_name", name),
                                     { .key = amqp_cstring_bytes("capabilities") } };
    amqp_table_t properties = { 3, entries };
    amqp_rpc_reply_t reply;

    entries[2].value.kind = AMQP_FIELD_KIND_TABLE;
    entries[2].value.value.table = (amqp_table_t){ 5, able };
    if (settings->sasl == AMQP_SASL_BY_CERTIFICATE)
        reply = amqp_login_with_properties(link->connection, link->address.vhost, 0, FRAME_MAX,
                                           heartbeat_s, &properties, AMQP_SASL_METHOD_EXTERNAL,
                                           settings->user);
    else
        reply = amqp_login_with_properties(link->connection, link->address.vhost, 0, FRAME_MAX,
                                           heartbeat_s, &properties, AMQP_SASL_METHOD_PLAIN,
                                           settings->user, settings->password);
    return fail_by_reply(link, "login", reply);
}

/* Puts the server in front of the reason. */
static int name_failure(struct link *link)
{
    char server[128], reason[LINK_ERROR_MAX];

    link_name_server(link, server, sizeof server);
    memcpy(reason, link->error, sizeof reason);
    return link_fail(link, "%s: %.250s", server, reason);
}

static int name_server(struct link *link)
{
    if (!address_parse(link->settings->servers.items[link->server], &link->address))
        return 0;
    return link_fail(link, "the address is not valid"); /* `check` reported it */
}

int link_open(struct link *link)
{
    int status = name_server(link);

    link->is_refused = false;
    if (status != 0)
        return status;
    link->connection = amqp_new_connection();
    if (!link->connection)
        return link_fail(link, "out of memory");
    return open_socket(link) == 0 ? 0 : name_failure(link);
}

int link_enter(struct link *link, const struct link_use *use)
{
    int status = log_in(link, use->name);

    if (status == 0)
        status = open_channel(link, LINK_CHANNEL);
    if (status == 0)
        status = open_puts(link);
    if (status == 0)
        status = use->begin(link);
    return status == 0 ? 0 : name_failure(link);
}

void link_interrupt(const struct link *link)
{
    (void)shutdown(link_descriptor(link), SHUT_RDWR);
}

void link_move(struct link *link, struct link *from)
{
    link->connection = from->connection;
    link->server = from->server;
    link->is_blocked = from->is_blocked;
    link->is_refused = from->is_refused;
    memcpy(link->error, from->error, sizeof link->error);
    (void)name_server(link);
    from->connection = NULL;
}

uint64_t link_backoff_ms(struct link *link)
{
    uint32_t doublings = link->failures < 20 ? link->failures : 20;
    uint64_t wait = (uint64_t)BACKOFF_FIRST_MS << doublings;

    link->failures++;
    if (wait > link->settings->backoff_max)
        wait = link->settings->backoff_max;
    link->random ^= link->random << 13; /* xorshift64 */
    link->random ^= link->random >> 7;
    link->random ^= link->random << 17;
    return wait / 2 + link->random % (wait / 2 + 1);
}

/* --- reading ---------------------------------------------------------------------------------- */

int link_descriptor(const struct link *link)
{
    return amqp_get_sockfd(link->connection);
}

/* The server names the method because of which it closes a channel. Without one, the cause is not
 * what was sent, and the next connection may be better. */
static int on_channel_close(struct link *link, amqp_channel_t channel,
                            const amqp_channel_close_t *closed)
{
    amqp_method_number_t cause = (amqp_method_number_t)closed->class_id << 16 | closed->method_id;
    amqp_bytes_t text = closed->reply_text;

    if (channel == LINK_PUTS &&
        (cause == AMQP_BASIC_PUBLISH_METHOD || cause == AMQP_QUEUE_DECLARE_METHOD))
        (void)snprintf(link->refusal, sizeof link->refusal, "%.*s",
                       (int)(text.len < LINK_REFUSAL_MAX ? text.len : LINK_REFUSAL_MAX - 1),
                       (const char *)text.bytes);
    return fail_by_server(link, "channel closed", text);
}

static int on_method(struct link *link, amqp_channel_t channel, const amqp_method_t *method)
{
    const amqp_connection_close_t *ended = method->decoded;

    switch (method->id) {
    case AMQP_CONNECTION_CLOSE_METHOD:
        return fail_by_server(link, "closed", ended->reply_text);
    case AMQP_CHANNEL_CLOSE_METHOD:
        return on_channel_close(link, channel, method->decoded);
    case AMQP_BASIC_CANCEL_METHOD:
        return link_fail(link, "the queue was deleted, or its leader is gone");
    case AMQP_CONNECTION_BLOCKED_METHOD:
        link->is_blocked = true;
        return 1;
    case AMQP_CONNECTION_UNBLOCKED_METHOD:
        link->is_blocked = false;
        return 1;
    default:
        return 1;
    }
}

/* As link_read, but waits for the frame. */
static int wait_for_frame(struct link *link, uint64_t milliseconds, amqp_frame_t *out_frame)
{
    struct timeval limit = { (time_t)(milliseconds / 1000),
                             (suseconds_t)(milliseconds % 1000 * 1000) };
    int status = amqp_simple_wait_frame_noblock(link->connection, out_frame, &limit);

    if (status == AMQP_STATUS_TIMEOUT)
        return 0;
    if (status != AMQP_STATUS_OK)
        return link_fail(link, "%s", amqp_error_string2(status));
    return out_frame->frame_type == AMQP_FRAME_METHOD
               ? on_method(link, out_frame->channel, &out_frame->payload.method)
               : 1;
}

int link_read(struct link *link, amqp_frame_t *out_frame)
{
    return wait_for_frame(link, 0, out_frame);
}

uint64_t link_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int link_rest(struct link *link, uint64_t milliseconds)
{
    uint64_t now = link_now_ms(), end = now + milliseconds;
    amqp_frame_t frame;
    int status = 0;

    while (status >= 0 && now < end) {
        status = wait_for_frame(link, end - now, &frame);
        link_release(link);
        now = link_now_ms();
    }
    return status < 0 ? status : 0;
}

/* The library writes each frame by a call of its own; a packet for each would wake the server. */
static void set_cork(const struct link *link, int on)
{
    (void)setsockopt(link_descriptor(link), IPPROTO_TCP, TCP_CORK, &on, sizeof on);
}

void link_hold(const struct link *link)
{
    set_cork(link, 1);
}

void link_send_held(const struct link *link)
{
    set_cork(link, 0);
}

void link_release(struct link *link)
{
    amqp_maybe_release_buffers(link->connection);
}
