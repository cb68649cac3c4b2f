/* SPDX-License-Identifier: MIT */
/*
 * http.server - a gateway: each HTTP request becomes a request to a pool.
 */
#include "server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weir/output_file.h>

#include "access_log.h"
#include "connection.h"
#include "connection_work.h"
#include "exchange.h"
#include "http.h"
#include "listener.h"
#include "places.h"
#include "renewal.h"
#include "stored.h"
#include "tls.h"
#include "wire/http1_bytes.h"

#define ROUNDS_MAX 4u   /* looks at the set in one turn, so that others run, too */
#define ACCEPTS_MAX 64u /* connections accepted in one turn */
#define EVENTS_MAX 64
#define GUESTS_MAX 64u /* connections beyond the places */
#define GUESTS_MS 10u  /* in which so many more are accepted: some 4 % of a CPU */
#define GUESTS 16u
#define GUESTS_TLS 4u  /* a handshake is dear */
#define LOOK_MS 250u   /* between two looks at the deadlines */
#define SCARCE_MS 100u /* before accepting again, when descriptors or memory are out */
#define SCARCE_LOG_MS 1000u
#define DAY_MS ((uint64_t)86400000)
#define GRACE_MS 500u /* for a request that is on its way when the source leaves */
/* Beside connections: its listener, its sets, its log. */
#define BASE_DESCRIPTORS 8u

static void accept_some(struct server *server);

/* --- the set ---------------------------------------------------------------------------------- */

static void enter(struct weir_self *self, struct server *server)
{
    server->self = self;
}

static void run(struct server *server);

static void run_again(struct weir_self *self, void *memory, void *context)
{
    struct server *server = memory;

    (void)context;
    enter(self, server);
    server->has_timer = false;
    run(server);
}

static void on_poller(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness)
{
    struct server *server = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    enter(self, server);
    server->is_polling = false;
    run(server);
}

static void run_later(struct server *server, uint64_t delay_ms)
{
    if (!server->has_timer)
        server->has_timer = weir_after(server->self, delay_ms, run_again, NULL, NULL) == 0;
}

static void watch_set(struct server *server)
{
    if (!server->is_polling)
        server->is_polling = weir_watch(server->self, server->poller, WEIR_READABLE, on_poller,
                                        NULL, NULL) == 0;
    if (!server->is_polling)
        run_later(server, SCARCE_MS);
}

/* Handles what the set reports. Without the watch, the set is looked at later. */
static void run(struct server *server)
{
    struct epoll_event events[EVENTS_MAX];
    int count = EVENTS_MAX;

    for (uint32_t round = 0; round < ROUNDS_MAX && count == EVENTS_MAX; round++) {
        count = epoll_wait(server->poller, events, EVENTS_MAX, 0);
        for (int i = 0; i < count; i++)
            connection_ready(events[i].data.ptr, events[i].events);
        connection_sweep(server);
    }
    watch_set(server);
    accept_some(server);
    /* Less than before, when connections have ended: others get what they had. */
    (void)weir_set_descriptors(server->self, BASE_DESCRIPTORS + server->connection_count);
}

/* --- accepting -------------------------------------------------------------------------------- */

static void on_listener(struct weir_self *self, void *memory, void *context, int descriptor,
                        int readiness)
{
    struct server *server = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    enter(self, server);
    server->is_listening = false;
    run(server);
}

/* Waits for the next connection. */
static void listen_again(struct server *server)
{
    int status = weir_watch(server->self, server->listener, WEIR_READABLE, on_listener, NULL, NULL);

    server->is_listening = status == 0 || status == WEIR_EEXISTS;
    if (!server->is_listening)
        run_later(server, SCARCE_MS);
}

static void report_scarce(struct server *server, int error)
{
    uint64_t now = weir_now_ms(server->self);
    uint32_t few;
    char text[128];

    if (!places_have_waiting(server)) {
        listen_again(server);
        return;
    }
    if (now >= server->scarce_ms)
        weir_log(server->self, WEIR_LOG_WARNING, "connections have to wait",
                 weir_str("reason", strerror_r(error, text, sizeof text)));
    server->scarce_ms = now + SCARCE_LOG_MS;
    /* What is left of the descriptors has a share for guests: health is answered there. */
    few = server->connection_count - server->connection_count / 4;
    if (few < server->places)
        server->places = few ? few : 1;
    run_later(server, places_give_up_guest(server) || places_give_up(server) ? 0 : SCARCE_MS);
}

/* A shortage is over some day: the places come back slowly. */
static void regain_places(struct server *server)
{
    uint32_t most = server->settings->connections, more = server->places / 8 + 1;

    server->places = more < most - server->places ? server->places + more : most;
}

/* False: nothing is accepted now. */
static bool accept_one(struct server *server)
{
    uint32_t share = BASE_DESCRIPTORS + server->connection_count + 1;
    struct sockaddr_storage peer = { 0 };
    socklen_t size = sizeof peer;
    int client;

    if (weir_set_descriptors(server->self, share) != 0) {
        report_scarce(server, EMFILE);
        return false;
    }
    client = accept4(server->listener, (struct sockaddr *)&peer, &size,
                     SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
        connection_begin(server, client, (struct sockaddr *)&peer);
        return true;
    }
    if (errno == ECONNABORTED || errno == EINTR)
        return true;
    if (errno == EAGAIN)
        listen_again(server);
    else
        report_scarce(server, errno);
    return false;
}

/* Clients that wait behind the places get an answer, too. The number in a while is bounded, since
 * those with a place pay for it. */
static void accept_guests(struct server *server)
{
    uint64_t now = weir_now_ms(server->self);
    uint32_t left = server->tls ? GUESTS_TLS : GUESTS;

    if (now >= server->guests_ms) {
        server->guests_ms = now + GUESTS_MS;
        while (left-- > 0 && (server->guest_count < GUESTS_MAX || places_give_up_guest(server)))
            if (!accept_one(server))
                return;
    }
    run_later(server, GUESTS_MS);
}

/* True: all places are in use. */
static bool accept_to_places(struct server *server)
{
    uint32_t accepted = 0;

    while (server->connection_count - server->guest_count < server->places) {
        if (accepted++ == ACCEPTS_MAX) {
            run_later(server, 0);
            return false;
        }
        if (!accept_one(server))
            return false;
    }
    return true;
}

static void accept_some(struct server *server)
{
    if (server->is_listening || server->is_leaving || server->listener < 0 ||
        !accept_to_places(server))
        return;
    if (!places_have_waiting(server))
        listen_again(server);
    else if (places_give_up(server))
        run_later(server, 0);
    else
        accept_guests(server);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_listener(struct weir_self *self, struct server *server)
{
    struct address address;
    char text[128];

    if (!listener_parse(server->settings->listen, &address))
        return WEIR_EINVALID; /* `check` reported it */
    server->listener = listener_open(&address);
    if (server->listener >= 0)
        return 0;
    weir_reason(self, "listen: %s", strerror_r(errno, text, sizeof text));
    return WEIR_EINVALID;
}

static int open_log(struct weir_self *self, struct server *server)
{
    char text[128];

    server->access_log = access_log_open(server);
    if (server->access_log >= 0 || !server->settings->access_log)
        return 0;
    weir_reason(self, "access_log: %s", weir_output_reason(errno, text, sizeof text));
    return WEIR_EINVALID;
}

static void close_one(int descriptor)
{
    if (descriptor >= 0)
        (void)close(descriptor);
}

static void release(struct server *server)
{
    tls_destroy(server->tls);
    close_one(server->listener);
    close_one(server->poller);
    close_one(server->access_log);
}

static int make_tags(struct weir_self *self, struct server *server)
{
    server->request_tag = weir_tag(self, HTTP_REQUEST_TAG);
    server->body_tag = weir_tag(self, HTTP_BODY_TAG);
    server->response_tag = weir_tag(self, HTTP_RESPONSE_TAG);
    return server->request_tag && server->body_tag && server->response_tag ? 0 : WEIR_ENOMEM;
}

static int server_open(struct weir_self *self, const void *settings, void *memory)
{
    struct server *server = memory;
    int status;

    server->self = self;
    server->settings = settings;
    server->listener = server->access_log = -1;
    server->places = server->settings->connections;
    server->poller = epoll_create1(EPOLL_CLOEXEC);
    status = server->poller < 0 ? WEIR_ENOMEM : make_tags(self, server);
    if (status == 0)
        status = open_log(self, server);
    if (status == 0)
        status = open_listener(self, server);
    if (status == 0)
        status = renewal_begin(self, server);
    if (status != 0)
        release(server);
    return status;
}

/* --- running ---------------------------------------------------------------------------------- */

static void look_at_deadlines(struct weir_self *self, void *memory, void *context)
{
    struct server *server = memory;

    (void)context;
    enter(self, server);
    run(server); /* the sockets first: their bytes are older than the deadlines */
    places_expire(server);
    connection_sweep(server);
    regain_places(server);
    weir_progress(self, "requests", server->figures.received, 0);
}

static void look_at_certificate(struct weir_self *self, void *memory, void *context)
{
    (void)context;
    renewal_warn(self, memory);
}

/* Two sources of one host would share the socket of one address. The name is free when the source
 * that had it has ended, so not yet in `open`. */
static int claim_address(struct weir_self *self, const struct server_settings *settings)
{
    struct address address;
    char name[LISTENER_NAME_MAX];

    if (!listener_parse(settings->listen, &address))
        return WEIR_EINVALID; /* `check` reported it */
    listener_name(&address, name);
    return weir_name(self, name);
}

/* Calls `produce` again. */
static void look_again(struct weir_self *self, void *memory, void *context)
{
    (void)self;
    (void)memory;
    (void)context;
}

/* A source that a reload has removed has the address until its last request is answered. */
static int wait_for_address(struct weir_self *self, struct server *server)
{
    if (!server->is_waiting)
        weir_log(self, WEIR_LOG_WARNING, "another source listens at this address",
                 weir_str("at", server->settings->listen),
                 weir_str("effect", "waits until that one has ended"));
    server->is_waiting = true;
    return weir_after(self, LOOK_MS, look_again, NULL, NULL) == 0 ? WEIR_WAIT : WEIR_ENOMEM;
}

static int server_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct server *server = memory;
    int status;

    (void)credit;
    enter(self, server);
    if (server->is_started) {
        run(server); /* behind the replies of a turn */
        return WEIR_WAIT;
    }
    status = claim_address(self, server->settings);
    if (status != 0)
        return status == WEIR_EEXISTS ? wait_for_address(self, server) : status;
    if (weir_every(self, LOOK_MS, look_at_deadlines, NULL, NULL) != 0 ||
        weir_every(self, DAY_MS, look_at_certificate, NULL, NULL) != 0)
        return WEIR_ENOMEM;
    server->is_started = true;
    run(server);
    weir_log(self, WEIR_LOG_INFO, "listening", weir_str("at", server->settings->listen));
    return WEIR_WAIT;
}

static int server_leave(struct weir_self *self, void *memory)
{
    struct server *server = memory;

    enter(self, server);
    if (!server->is_leaving) {
        server->is_leaving = true;
        places_shorten(server, GRACE_MS);
        run(server);
    }
    return server->is_started && server->connection_count > 0 ? WEIR_WAIT : WEIR_END;
}

static void server_reopen(struct weir_self *self, void *memory)
{
    struct server *server = memory;
    int log = access_log_open(server);
    char text[128];

    if (log >= 0) {
        close_one(server->access_log);
        server->access_log = log;
    } else if (server->settings->access_log) {
        weir_log(self, WEIR_LOG_ERROR, "access log cannot be opened; the former file is kept",
                 weir_str("reason", weir_output_reason(errno, text, sizeof text)));
    }
    renewal_look(self, server);
}

/* The requests that the pool still has: the host does not wait for them any more. */
static void end_all(struct server *server)
{
    for (unsigned list = 0; list < SERVER_LISTS; list++)
        for (struct connection *c; (c = server->lists[list].first);) {
            if (c->phase == CONNECTION_REQUESTING && c->descriptor >= 0)
                exchange_abandon(c->exchange);
            connection_enter(c, CONNECTION_LINGERING);
            connection_end(c);
        }
    connection_sweep(server);
}

static void server_close(struct weir_self *self, void *memory, int reason)
{
    struct server *server = memory;

    (void)reason;
    enter(self, server);
    server->is_leaving = true;
    end_all(server);
    release(server);
}

static void server_settled(struct weir_self *self, void *memory, const struct weir_outcome *outcome)
{
    struct server *server = memory;

    enter(self, server);
    stored_settled(server, outcome);
}

static void server_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct server *server = memory;
    const struct server_figures *figures = &server->figures;

    (void)self;
    weir_inspect_add(out, "connections", "%u", server->connection_count);
    weir_inspect_add(out, "guests", "%u", server->guest_count);
    weir_inspect_add(out, "asking", "%u", server->open_requests);
    weir_inspect_add(out, "body_bytes", "%llu", (unsigned long long)server->body_bytes);
    weir_inspect_add(out, "received", "%llu", (unsigned long long)figures->received);
    weir_inspect_add(out, "refused", "%llu", (unsigned long long)figures->refused);
    weir_inspect_add(out, "cancelled", "%llu", (unsigned long long)figures->cancelled);
    weir_inspect_add(out, "expired", "%llu", (unsigned long long)figures->expired);
    weir_inspect_add(out, "crowded_out", "%llu", (unsigned long long)figures->crowded_out);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void check_routes(const struct server_settings *settings, struct weir_report *report)
{
    for (size_t i = 0; i < settings->routes.count; i++)
        if (settings->routes.items[i].key[0] != '/')
            weir_report_error(report, "routes", "%s: a path begins with /",
                              settings->routes.items[i].key);
}

static bool is_header_value(const char *text)
{
    return text[0] && http1_skip(text, 0, strlen(text), BYTE_VALUE) == strlen(text);
}

static void server_check(const void *memory, struct weir_report *report)
{
    const struct server_settings *settings = memory;
    struct address address;

    if (!listener_parse(settings->listen, &address))
        weir_report_error(report, "listen",
                          "%s is no address: 127.0.0.1:8080, [::1]:8080, *:8080 or unix:/path",
                          settings->listen);
    if (!settings->certificate != !settings->key)
        weir_report_error(report, NULL, "certificate and key need each other");
    if (settings->token && !settings->token[0])
        weir_report_error(report, "token", "is empty");
    if (settings->health && settings->health[0] != '/')
        weir_report_error(report, "health", "a path begins with /");
    if (!is_header_value(settings->content_type))
        weir_report_error(report, "content_type", "is no value of a header");
    check_routes(settings, report);
}

static const char *const modes[] = { "reply", "accept", "stored", NULL };
static const char *const passes[] = { "request", "body", NULL };

#define MINUTES(count) ((int64_t)(count)*60000)
#define MIB(count) ((int64_t)(count) << 20)

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct server_settings, listen, .fallback = "127.0.0.1:8080",
                       .help = "127.0.0.1:8080, [::1]:8080, *:8080 or unix:/path"),
    WEIR_OPTION_ENUM(
        struct server_settings, mode, .fallback = "reply", .choices = modes,
        .origins = 1 + SERVER_STORED,
        .help = "answer with the worker's reply, with 202 when the pool accepts, or with "
                "202 when the message is done"),
    WEIR_OPTION_ENUM(struct server_settings, pass, .fallback = "request", .choices = passes,
                     .help = "payload for the worker: http.request/1, or the body alone"),
    WEIR_OPTION_MAP(struct server_settings, routes, .pools = true,
                    .help = "path: pool; other paths go to the pool behind `to`"),
    WEIR_OPTION_LIST(struct server_settings, headers,
                     .help = "headers that the worker gets besides content-type"),
    WEIR_OPTION_STRING(struct server_settings, content_type, .fallback = "application/octet-stream",
                       .help = "of replies that are bytes alone"),
    WEIR_OPTION_DURATION(struct server_settings, timeout, .fallback = "30s", .min = 1,
                         .max = MINUTES(1440), .help = "then the client gets 504"),
    WEIR_OPTION_DURATION(struct server_settings, retry_after, .fallback = "1s", .min = 1,
                         .max = MINUTES(1440), .help = "Retry-After of a 503, in whole seconds"),
    WEIR_OPTION_DURATION(struct server_settings, idle, .fallback = "15s", .min = 1,
                         .max = MINUTES(60),
                         .help = "until a connection has sent a byte of a request"),
    WEIR_OPTION_DURATION(struct server_settings, receive, .fallback = "30s", .min = 1,
                         .max = MINUTES(1440),
                         .help = "from the first byte of a request to the last"),
    WEIR_OPTION_DURATION(struct server_settings, send, .fallback = "30s", .min = 1,
                         .max = MINUTES(1440), .help = "until the client has taken the answer"),
    WEIR_OPTION_U32(struct server_settings, connections, .fallback = "1000", .min = 1,
                    .max = 1000000,
                    .help = "places; beyond them clients get 503, and the health path answers"),
    WEIR_OPTION_SIZE(struct server_settings, header_max, .fallback = "32KiB", .min = 1024,
                     .max = MIB(16), .help = "of the headers of a request, with its first line"),
    WEIR_OPTION_SIZE(struct server_settings, body_max, .fallback = "1MiB", .max = MIB(1024),
                     .help = "a larger body gets 413"),
    WEIR_OPTION_SIZE(struct server_settings, bodies_max, .fallback = "64MiB", .min = 4096,
                     .max = MIB(1048576), .help = "all bodies that are being received"),
    WEIR_OPTION_STRING(struct server_settings, token, .secret = true,
                       .help = "clients send it as `Authorization: Bearer TOKEN`"),
    WEIR_OPTION_STRING(struct server_settings, certificate,
                       .help = "PEM file of the certificates, for TLS"),
    WEIR_OPTION_STRING(struct server_settings, key, .help = "PEM file of the private key"),
    WEIR_OPTION_STRING(struct server_settings, health, .fallback = "/healthz",
                       .help = "path that the server itself answers with 200, without a token"),
    WEIR_OPTION_STRING(struct server_settings, access_log, .writes = true,
                       .help = "file that gets a line for each request"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each request, as http.request/1 or http.body/1" },
    { 0 },
};

const struct weir_behaviour http_server = {
    .name = "server",
    .summary = "HTTP requests, answered by a pool; 503 when it is full",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct server_settings),
    .state_size = sizeof(struct server),
    .flags = WEIR_ENDLESS | WEIR_ASKING,
    .check = server_check,
    .open = server_open,
    .produce = server_produce,
    .close = server_close,
    .inspect = server_inspect,
    .settled = server_settled,
    .reopen = server_reopen,
    .leave = server_leave,
};
