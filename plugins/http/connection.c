#include "connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "exchange.h"
#include "tls.h"

#define ROOM_MIN ((size_t)4096)        /* most heads have less */
#define BODY_PIECE ((size_t)16 * 1024) /* room for a read behind a head */
#define LINGER_MS 2000u
#define FRESH_MS 1000u /* in a phase: the connection is not given up yet */
#define STEPS_MAX 256u /* of one connection in a turn: some MB of a body */
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define INPUT_EVENTS (EPOLLIN | EPOLLRDHUP | EPOLLET)

/* --- life ------------------------------------------------------------------------------------- */

static void write_peer(struct connection *connection, const struct sockaddr *address)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
    const char *text = NULL;

    if (address && address->sa_family == AF_INET)
        text = inet_ntop(AF_INET, &four->sin_addr, connection->peer, sizeof connection->peer);
    else if (address && address->sa_family == AF_INET6)
        text = inet_ntop(AF_INET6, &six->sin6_addr, connection->peer, sizeof connection->peer);
    if (!text)
        (void)snprintf(connection->peer, sizeof connection->peer, "unix");
}

/* False: descriptors of the set, or memory, are out. */
static bool join_set(struct connection *connection, const struct sockaddr *peer)
{
    struct server *server = connection->server;
    struct epoll_event event = { .events = INPUT_EVENTS, .data.ptr = connection };
    int on = 1;

    if (server->tls && !(connection->session = tls_begin(server->tls, connection->descriptor)))
        return false;
    if (peer->sa_family != AF_UNIX)
        (void)setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return epoll_ctl(server->poller, EPOLL_CTL_ADD, connection->descriptor, &event) == 0;
}

void connection_begin(struct server *server, int descriptor, const struct sockaddr *peer)
{
    struct connection *connection = calloc(1, sizeof *connection);

    if (!connection) {
        (void)close(descriptor);
        return;
    }
    connection->server = server;
    connection->descriptor = descriptor;
    if (!join_set(connection, peer)) {
        tls_end(connection->session);
        free(connection);
        (void)close(descriptor);
        return;
    }
    write_peer(connection, peer);
    connection->next = server->first;
    if (server->first)
        server->first->previous = connection;
    server->first = connection;
    server->connection_count++;
    connection_enter(connection, CONNECTION_IDLE);
}

static void drop(struct connection *connection)
{
    struct server *server = connection->server;

    if (connection->previous)
        connection->previous->next = connection->next;
    else
        server->first = connection->next;
    if (connection->next)
        connection->next->previous = connection->previous;
    server->connection_count--;
    connection->next = server->ended;
    server->ended = connection;
}

static void free_receipt(struct connection *connection)
{
    free(connection->receipt);
    connection->receipt = NULL;
}

void connection_end(struct connection *connection)
{
    if (connection->descriptor >= 0) {
        tls_end(connection->session);
        connection->session = NULL;
        (void)epoll_ctl(connection->server->poller, EPOLL_CTL_DEL, connection->descriptor, NULL);
        (void)close(connection->descriptor);
        connection->descriptor = -1;
        connection->deadline_ms = UINT64_MAX;
    }
    if (connection->phase == CONNECTION_REQUESTING && connection->exchange) {
        exchange_lose(connection->exchange);
        return;
    }
    if (connection->exchange)
        exchange_end(connection->exchange, false);
    free_receipt(connection);
    free(connection->out);
    connection->out = NULL;
    drop(connection);
}

void connection_sweep(struct server *server)
{
    while (server->ended) {
        struct connection *connection = server->ended;

        server->ended = connection->next;
        free(connection);
    }
}

/* --- deadlines -------------------------------------------------------------------------------- */

static uint64_t time_of(const struct server_settings *settings, enum connection_phase phase)
{
    switch (phase) {
    case CONNECTION_IDLE:
        return settings->idle;
    case CONNECTION_RECEIVING:
        return settings->receive;
    case CONNECTION_ANSWERING:
        return settings->send;
    case CONNECTION_LINGERING:
        return LINGER_MS;
    case CONNECTION_REQUESTING:
        break;
    }
    return UINT64_MAX;
}

void connection_enter(struct connection *connection, enum connection_phase phase)
{
    struct server *server = connection->server;
    uint64_t time = time_of(server->settings, phase), now = weir_now_ms(server->self);
    uint64_t deadline = time == UINT64_MAX ? time : now + time;

    /* A source that leaves has given the connection less already. */
    if (phase == CONNECTION_RECEIVING && server->is_leaving && connection->deadline_ms < deadline)
        deadline = connection->deadline_ms;
    connection->phase = phase;
    connection->since_ms = now;
    connection->deadline_ms = deadline;
}

void connection_expire(struct server *server)
{
    uint64_t now = weir_now_ms(server->self);

    for (struct connection *c = server->first, *next; c; c = next) {
        next = c->next;
        if (c->deadline_ms > now)
            continue;
        server->figures.expired += c->phase != CONNECTION_LINGERING;
        connection_end(c);
    }
}

/* Whether bytes that nobody has read lie in the socket: then it is not idle. */
static bool has_bytes(const struct connection *connection)
{
    struct pollfd look = { .fd = connection->descriptor, .events = POLLIN };

    return poll(&look, 1, 0) > 0 && (look.revents & POLLIN) != 0;
}

/* Its request, or the next flight of its TLS handshake, may be on its way. */
static bool is_fresh(const struct connection *connection, uint64_t now)
{
    if (connection->phase == CONNECTION_LINGERING ||
        (connection->phase == CONNECTION_IDLE && connection->has_served))
        return false;
    return now < connection->since_ms + FRESH_MS;
}

static struct connection *find_oldest(struct server *server, enum connection_phase phase)
{
    struct connection *oldest = NULL;
    uint64_t now = weir_now_ms(server->self);

    for (struct connection *c = server->first; c; c = c->next)
        if (c->phase == phase && c->descriptor >= 0 && !c->has_input && !is_fresh(c, now) &&
            (!oldest || c->deadline_ms <= oldest->deadline_ms))
            oldest = c;
    return oldest;
}

/* Passes by those with unread bytes in their sockets: the set is about to report them. */
static struct connection *find_idle(struct server *server)
{
    struct connection *oldest;

    while ((oldest = find_oldest(server, CONNECTION_IDLE)) && has_bytes(oldest))
        oldest->has_input = true;
    return oldest;
}

bool connection_crowd_out(struct server *server)
{
    struct connection *oldest = find_oldest(server, CONNECTION_LINGERING);

    if (!oldest)
        oldest = find_idle(server);
    if (!oldest)
        oldest = find_oldest(server, CONNECTION_RECEIVING);
    if (!oldest)
        return false;
    server->figures.crowded_out++;
    connection_end(oldest);
    return true;
}

void connection_shorten(struct server *server, uint64_t grace_ms)
{
    uint64_t end = weir_now_ms(server->self) + grace_ms;

    for (struct connection *c = server->first; c; c = c->next)
        if ((c->phase == CONNECTION_IDLE || c->phase == CONNECTION_RECEIVING) &&
            c->deadline_ms > end)
            c->deadline_ms = end;
}

/* --- bytes out -------------------------------------------------------------------------------- */

static void watch_output(struct connection *connection, bool watches)
{
    struct epoll_event event = { .events = INPUT_EVENTS | (watches ? EPOLLOUT : 0u),
                                 .data.ptr = connection };

    if (connection->watches_output == watches)
        return;
    connection->watches_output = watches;
    (void)epoll_ctl(connection->server->poller, EPOLL_CTL_MOD, connection->descriptor, &event);
}

/* Bytes that the socket took of these two parts; -1 with errno. */
static ssize_t put(struct connection *connection, const char *head, size_t head_size,
                   const char *body, size_t body_size)
{
    struct iovec parts[] = { { .iov_base = (void *)(uintptr_t)head, .iov_len = head_size },
                             { .iov_base = (void *)(uintptr_t)body, .iov_len = body_size } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = body_size ? 2 : 1 };

    if (connection->session)
        return head_size ? tls_write(connection->session, head, head_size)
                         : tls_write(connection->session, body, body_size);
    return sendmsg(connection->descriptor, &message, MSG_NOSIGNAL);
}

/* The answer is in the socket. */
static void finish_answer(struct connection *connection)
{
    bool closes = connection->closes || connection->server->is_leaving;

    free(connection->out);
    connection->out = NULL;
    connection->out_size = connection->out_sent = 0;
    watch_output(connection, false);
    exchange_end(connection->exchange, true);
    connection->has_served = true;
    if (closes) {
        tls_end(connection->session);
        connection->session = NULL;
        (void)shutdown(connection->descriptor, SHUT_WR);
    }
    connection_enter(connection, closes ? CONNECTION_LINGERING : CONNECTION_IDLE);
    connection->is_readable = connection->is_readable || closes;
}

/* Sends on; true: all is sent. */
static bool flush(struct connection *connection)
{
    while (connection->out_sent < connection->out_size) {
        ssize_t sent = put(connection, connection->out + connection->out_sent,
                           connection->out_size - connection->out_sent, NULL, 0);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            connection->has_left = connection->has_left || errno != EAGAIN;
            watch_output(connection, true);
            return false;
        }
        connection->out_sent += (size_t)sent;
    }
    return true;
}

/* Copies what the socket did not take. False: memory is out. */
static bool keep(struct connection *connection, const char *head, size_t head_size,
                 const char *body, size_t body_size, size_t sent)
{
    size_t of_head = sent < head_size ? sent : head_size;
    size_t of_body = sent - of_head;

    connection->out_size = head_size - of_head + body_size - of_body;
    connection->out_sent = 0;
    connection->out = malloc(connection->out_size ? connection->out_size : 1);
    if (!connection->out)
        return false;
    memcpy(connection->out, head + of_head, head_size - of_head);
    if (body_size > of_body)
        memcpy(connection->out + (head_size - of_head), body + of_body, body_size - of_body);
    return true;
}

void connection_send(struct connection *connection, const char *head, size_t head_size,
                     const char *body, size_t body_size)
{
    ssize_t sent = 0;

    connection_enter(connection, CONNECTION_ANSWERING);
    if (!connection->session)
        sent = put(connection, head, head_size, body, body_size);
    if (sent == (ssize_t)(head_size + body_size)) {
        finish_answer(connection);
        return;
    }
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        connection->has_left = true;
    if (!keep(connection, head, head_size, body, body_size, sent < 0 ? 0 : (size_t)sent)) {
        connection->has_left = true;
        return;
    }
    if (flush(connection))
        finish_answer(connection);
}

void connection_let_continue(struct connection *connection)
{
    ssize_t size = sizeof CONTINUE - 1;

    /* The client does not read its earlier answers: no half line stands before the next one. */
    if (put(connection, CONTINUE, (size_t)size, NULL, 0) != size)
        connection->has_left = true;
}

/* --- bytes in --------------------------------------------------------------------------------- */

static ssize_t get(struct connection *connection, char *bytes, size_t size)
{
    bool wants_write = false;
    ssize_t got = connection->session ? tls_read(connection->session, bytes, size, &wants_write)
                                      : recv(connection->descriptor, bytes, size, 0);

    if (wants_write)
        watch_output(connection, true);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        connection->has_left = true;
    /* Without TLS, a short read has emptied the socket; the end is reported by the set. */
    if (got <= 0 || (!connection->session && (size_t)got < size && !connection->hangs_up))
        connection->is_readable = got < 0 && errno == EINTR;
    return got;
}

/* Room for more bytes. False: memory is out. */
static bool make_room(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;
    size_t room = receipt ? receipt->room : 0;

    if (receipt && room - receipt->size >= (receipt->head.size ? ROOM_MIN : 1))
        return true;
    room = room ? room + (room < BODY_PIECE ? room : BODY_PIECE) : ROOM_MIN;
    receipt = realloc(receipt, sizeof *receipt + room);
    if (!receipt)
        return false;
    if (!connection->receipt) {
        uint32_t max = (uint32_t)connection->server->settings->header_max;

        http1_request_init(&receipt->head, max, max);
        receipt->size = receipt->taken = 0;
    }
    receipt->room = room;
    connection->receipt = receipt;
    return true;
}

/* Reads more. False: nothing has come. */
static bool fill(struct connection *connection)
{
    struct receipt *receipt;
    ssize_t got;

    if (!connection->is_readable)
        return false;
    if (!make_room(connection)) {
        connection->has_left = true;
        return false;
    }
    receipt = connection->receipt;
    got = get(connection, receipt->text + receipt->size, receipt->room - receipt->size);
    if (got > 0)
        receipt->size += (size_t)got;
    return got > 0;
}

/* Bytes of the next request move to the front. */
static void begin_next(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;
    uint32_t max = (uint32_t)connection->server->settings->header_max;

    if (!receipt)
        return;
    if (receipt->taken == receipt->size) {
        free_receipt(connection);
        return;
    }
    memmove(receipt->text, receipt->text + receipt->taken, receipt->size - receipt->taken);
    receipt->size -= receipt->taken;
    receipt->taken = 0;
    http1_request_init(&receipt->head, max, max);
}

/* --- the way through the phases --------------------------------------------------------------- */

static enum http1_result read_body(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;

    while (receipt->body.result == HTTP1_MORE && receipt->taken < receipt->size &&
           connection->phase == CONNECTION_RECEIVING) {
        struct http1_piece piece;

        (void)http1_body_read(&receipt->body, receipt->text + receipt->taken,
                              receipt->size - receipt->taken, &piece);
        receipt->taken += piece.used;
        if (piece.size > 0)
            exchange_add(connection->exchange, piece.data, piece.size);
    }
    if (receipt->taken == receipt->size) /* the text of the head stays */
        receipt->taken = receipt->size = receipt->head.size;
    return receipt->body.result;
}

/* The request is read on. False: more bytes are needed, or it is with the pool. */
static bool receive(struct connection *connection)
{
    struct receipt *receipt = connection->receipt;
    enum http1_result result = receipt->head.reading.result;

    if (result == HTTP1_MORE) {
        result = http1_head_read(&receipt->head, receipt->text, receipt->size);
        if (result == HTTP1_MORE)
            return fill(connection);
        if (result != HTTP1_DONE) {
            exchange_refuse(connection, http1_status(result), http1_words(result));
            return true;
        }
        receipt->taken = receipt->head.size;
        http1_body_init(&receipt->body, &receipt->head);
        exchange_begin(connection);
        return true;
    }
    result = read_body(connection);
    if (connection->phase != CONNECTION_RECEIVING)
        return true;
    if (result == HTTP1_MORE)
        return fill(connection);
    if (result == HTTP1_DONE)
        exchange_dispatch(connection->exchange);
    else
        exchange_refuse(connection, http1_status(result), http1_words(result));
    return true;
}

/* Reads and drops. */
static bool linger(struct connection *connection)
{
    char bytes[4096];

    free_receipt(connection);
    return connection->is_readable && get(connection, bytes, sizeof bytes) > 0;
}

/* Others have their turn. The bytes may have all left the socket, and be held here or by the TLS
 * session: so the set is to report that the socket takes bytes. */
static void report_again(struct connection *connection)
{
    connection->watches_output = false;
    watch_output(connection, true);
}

/* One step; false: there is nothing to do now. */
static bool step(struct connection *connection)
{
    switch (connection->phase) {
    case CONNECTION_IDLE:
        begin_next(connection);
        if (!connection->receipt && !fill(connection)) {
            free_receipt(connection);
            return false;
        }
        connection_enter(connection, CONNECTION_RECEIVING);
        return true;
    case CONNECTION_RECEIVING:
        return receive(connection);
    case CONNECTION_LINGERING:
        return linger(connection);
    case CONNECTION_REQUESTING:
    case CONNECTION_ANSWERING:
        break;
    }
    return false;
}

void connection_work(struct connection *connection)
{
    unsigned steps = 0;

    while (connection->descriptor >= 0 && !connection->has_left && step(connection))
        if (++steps == STEPS_MAX) {
            report_again(connection);
            return;
        }
    if (connection->hangs_up && connection->phase == CONNECTION_REQUESTING)
        connection->has_left = true;
    if (connection->has_left && connection->descriptor >= 0)
        connection_end(connection);
}

void connection_ready(struct connection *connection, uint32_t events)
{
    if (connection->descriptor < 0)
        return;
    connection->is_readable = true;
    connection->has_input = false;
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        connection->hangs_up = true;
    if (connection->phase != CONNECTION_ANSWERING)
        watch_output(connection, false);
    else if ((events & EPOLLOUT) && flush(connection))
        finish_answer(connection);
    connection_work(connection);
}
