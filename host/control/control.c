/* SPDX-License-Identifier: MIT */
#include "host/control/control.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>
#include <weir/fault.h>
#include <weir/status.h>

#include "base/list.h"
#include "base/lock.h"

#define INPUT_SIZE 2048
#define BACKLOG 128
#define ACCEPTS_MAX 64 /* in one turn of the loop */
#define TOO_MANY "too many connections; try again"
#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"
#define TEXT_PLAIN "text/plain; charset=utf-8"

/* A socket and its libuv handle. The last one offered is the youngest: see control_offer. */
struct control_listener {
    struct control *control;      /* the owner */
    struct list link;             /* in the list of offered, then of listening ones */
    struct control_socket socket; /* path "" = none: no client can connect */
    uv_poll_t poll;               /* of the socket, if there is one */
    uv_timer_t again;             /* runs while descriptors are out */
    uint32_t handles;             /* open ones */
};

struct control {
    struct control_setup setup;
    struct lock lock;                  /* of offers by other threads */
    struct list offered;               /* lock: by other threads */
    struct control_listener *youngest; /* lock: offered last, or listening; NULL = none so far */
    struct list listening; /* the present one, and old ones whose handle is being closed */
    struct list connections;
    uint32_t count;
    bool destroyed; /* freed with the last of its handles */
};

struct connection {
    struct control *control;
    struct list link;
    uv_pipe_t pipe;
    uv_timer_t timer;
    uv_write_t write;
    uint32_t handles; /* open ones */
    bool reserved;    /* a reserved place: it answers probes only */
    struct http_reading reading;
    char input[INPUT_SIZE];
    uv_buf_t output[2];
};

/* --- the end of a connection ---------------------------------------------------------------- */

static void free_control(struct control *control)
{
    if (!control->destroyed || control->count > 0 || !list_empty(&control->listening))
        return;
    lock_finish(&control->lock);
    free(control);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *connection = handle->data;
    struct control *control = connection->control;

    if (--connection->handles > 0)
        return;
    list_remove(&connection->link);
    control->count--;
    free(connection->output[0].base);
    free(connection->output[1].base);
    http_reading_finish(&connection->reading);
    free(connection);
    if (control->setup.reserve)
        (void)reserve_refill(control->setup.reserve);
    free_control(control);
}

static void close_connection(struct connection *connection)
{
    if (!uv_is_closing((uv_handle_t *)&connection->pipe))
        uv_close((uv_handle_t *)&connection->pipe, on_closed);
    if (!uv_is_closing((uv_handle_t *)&connection->timer))
        uv_close((uv_handle_t *)&connection->timer, on_closed);
}

/* --- answering ------------------------------------------------------------------------------ */

static void on_written(uv_write_t *write, int status)
{
    (void)status;
    close_connection(write->data);
}

static void on_slow_reader(uv_timer_t *timer)
{
    close_connection(timer->data);
}

static uint64_t timeout_ms(const struct connection *connection)
{
    const struct control_setup *setup = &connection->control->setup;
    uint64_t timeout = setup->timeout_ms ? setup->timeout_ms : CONTROL_TIMEOUT_MS;

    return connection->reserved ? timeout / 10 : timeout;
}

/* The head of an answer, allocated; its base is NULL when memory is out. */
static uv_buf_t make_head(const struct control_reply *reply)
{
    uv_buf_t head = { 0 };
    FILE *stream = open_memstream(&head.base, &head.len);

    if (!stream)
        return head;
    http_write_head(stream, reply->status, reply->content_type, reply->size);
    if (fclose(stream) != 0)
        head.len = 0;
    return head;
}

void control_answer(struct connection *connection, struct control_reply reply)
{
    const struct control_setup *setup = &connection->control->setup;
    int error;

    if (setup->conceal && reply.text)
        setup->conceal(setup->context, &reply);
    connection->output[0] = make_head(&reply);
    connection->output[1] = uv_buf_init(reply.text, (unsigned)reply.size);
    if (uv_is_closing((uv_handle_t *)&connection->pipe))
        return;
    if (!reply.text || connection->output[0].len == 0) {
        close_connection(connection);
        return;
    }
    uv_timer_start(&connection->timer, on_slow_reader, timeout_ms(connection), 0);
    connection->write.data = connection;
    error = uv_write(&connection->write, (uv_stream_t *)&connection->pipe, connection->output, 2,
                     on_written);
    if (error != 0)
        close_connection(connection);
}

static void answer_text(struct connection *connection, unsigned status, const char *text)
{
    struct control_reply reply = { .status = status, .content_type = TEXT_PLAIN };
    FILE *stream = open_memstream(&reply.text, &reply.size);

    if (stream) {
        fprintf(stream, "error: %s\n", text);
        (void)fclose(stream);
    }
    control_answer(connection, reply);
}

/* --- reading -------------------------------------------------------------------------------- */

static void stop_reading(struct connection *connection)
{
    uv_read_stop((uv_stream_t *)&connection->pipe);
    uv_timer_stop(&connection->timer);
}

static void on_slow_writer(uv_timer_t *timer)
{
    struct connection *connection = timer->data;

    stop_reading(connection);
    answer_text(connection, HTTP_STATUS_REQUEST_TIMEOUT, "the request took too long");
}

static void on_request(struct connection *connection)
{
    struct control *control = connection->control;
    struct http_request request;

    if (!http_take_request(&connection->reading, &request))
        answer_text(connection, connection->reading.status, connection->reading.problem);
    else if (connection->reserved && !control->setup.is_probe(&request))
        answer_text(connection, HTTP_STATUS_SERVICE_UNAVAILABLE, TOO_MANY);
    else
        control->setup.ask(control->setup.context, connection, &request);
}

/* Without it the client sends the body a second later. */
static void let_continue(struct connection *connection)
{
    uv_buf_t line = uv_buf_init((char[]){ CONTINUE }, sizeof CONTINUE - 1);

    connection->reading.may_continue = false;
    (void)uv_try_write((uv_stream_t *)&connection->pipe, &line, 1);
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct connection *connection = stream->data;
    enum http_progress progress;

    if (size == 0)
        return;
    if (size < 0 && (size != UV_EOF || connection->reading.bytes == 0)) {
        close_connection(connection);
        return;
    }
    progress = http_read(&connection->reading, buffer->base, size < 0 ? 0 : (size_t)size);
    if (progress == HTTP_MORE) {
        if (connection->reading.may_continue)
            let_continue(connection);
        return;
    }
    stop_reading(connection);
    if (progress == HTTP_COMPLETE)
        on_request(connection);
    else
        answer_text(connection, connection->reading.status, connection->reading.problem);
}

static void on_allocate(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    struct connection *connection = handle->data;

    (void)wanted;
    *buffer = uv_buf_init(connection->input, sizeof connection->input);
}

/* --- accepting ------------------------------------------------------------------------------ */

/* Sends the reason of the refusal, and closes. Bytes that do not fit into the socket's buffer are
 * dropped. */
static void turn_away(int client, unsigned status, const char *reason)
{
    char text[256];
    int length = snprintf(text, sizeof text,
                          "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\nerror: %s\n",
                          status, http_status_words(status), TEXT_PLAIN, strlen(reason) + 8,
                          reason);

    (void)send(client, text, (size_t)length, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)close(client);
}

/* NULL: the places are taken, or memory is out. */
static struct connection *make_connection(struct control *control)
{
    struct connection *connection;

    if (control->count == CONTROL_CONNECTIONS_MAX + CONTROL_CONNECTIONS_RESERVED)
        return NULL;
    connection = calloc(1, sizeof *connection);
    if (!connection)
        return NULL;
    connection->control = control;
    connection->handles = 2;
    connection->reserved = control->count >= CONTROL_CONNECTIONS_MAX;
    http_reading_init(&connection->reading);
    (void)uv_pipe_init(control->setup.loop, &connection->pipe, 0);
    (void)uv_timer_init(control->setup.loop, &connection->timer);
    connection->pipe.data = connection->timer.data = connection;
    list_append(&control->connections, &connection->link);
    control->count++;
    return connection;
}

static bool is_ours(struct connection *connection)
{
    uv_os_fd_t descriptor;

    return uv_fileno((uv_handle_t *)&connection->pipe, &descriptor) == 0 &&
           control_socket_is_ours(descriptor);
}

/* Serves an accepted connection. */
static void serve(struct connection *connection)
{
    if (!is_ours(connection)) {
        answer_text(connection, HTTP_STATUS_FORBIDDEN, "only the host's own user and root may ask");
        return;
    }
    uv_timer_start(&connection->timer, on_slow_writer, timeout_ms(connection), 0);
    if (uv_read_start((uv_stream_t *)&connection->pipe, on_allocate, on_read) != 0)
        close_connection(connection);
}

static void welcome(struct control *control, int client)
{
    struct connection *connection = make_connection(control);

    if (connection && uv_pipe_open(&connection->pipe, client) == 0) {
        serve(connection);
        return;
    }
    turn_away(client, HTTP_STATUS_SERVICE_UNAVAILABLE, TOO_MANY);
    if (connection)
        close_connection(connection);
}

static int accept_once(const struct control_listener *listener)
{
    return accept4(listener->socket.descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* The descriptor of a client, owned by the caller; -1: errno. */
static int accept_client(const struct control_listener *listener)
{
    struct reserve *reserve = listener->control->setup.reserve;
    int client = accept_once(listener);

    if (client < 0 && (errno == EMFILE || errno == ENFILE) && reserve && reserve_give(reserve))
        client = accept_once(listener);
    return client;
}

static void listen_again(uv_timer_t *timer);

/* Other clients, and those that lack a descriptor, are accepted later. */
static void accept_clients(struct control_listener *listener)
{
    for (uint32_t i = 0; i < ACCEPTS_MAX; i++) {
        int client = accept_client(listener);

        if (client >= 0) {
            welcome(listener->control, client);
        } else if (weir_is_short(errno) && errno != EAGAIN) {
            uv_poll_stop(&listener->poll);
            uv_timer_start(&listener->again, listen_again, CONTROL_AGAIN_MS, 0);
            return;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

static void on_clients(uv_poll_t *poll, int status, int events)
{
    (void)events;
    if (status == 0)
        accept_clients(poll->data);
}

static int watch_clients(struct control_listener *listener)
{
    return uv_poll_start(&listener->poll, UV_READABLE, on_clients);
}

static void listen_again(uv_timer_t *timer)
{
    struct control_listener *listener = timer->data;

    (void)watch_clients(listener);
}

/* --- listeners ------------------------------------------------------------------------------ */

static bool has_socket(const struct control_listener *listener)
{
    return listener->socket.path[0] != '\0';
}

int control_listener_create(struct control_socket *socket, struct control_listener **out)
{
    struct control_listener *listener = calloc(1, sizeof *listener);

    if (!listener) {
        if (socket)
            control_socket_close(socket);
        return WEIR_ENOMEM;
    }
    if (socket)
        listener->socket = *socket;
    *out = listener;
    return 0;
}

void control_listener_destroy(struct control_listener *listener)
{
    if (!listener)
        return;
    if (has_socket(listener))
        control_socket_close(&listener->socket);
    free(listener);
}

void control_offer(struct control *control, struct control_listener *listener)
{
    lock_acquire(&control->lock);
    listener->control = control;
    list_append(&control->offered, &listener->link);
    control->youngest = listener;
    lock_release(&control->lock);
}

bool control_is_at(struct control *control, const char *path)
{
    bool is;

    lock_acquire(&control->lock);
    is = control->youngest && has_socket(control->youngest) &&
         control_socket_is_at(&control->youngest->socket, path);
    lock_release(&control->lock);
    return is;
}

/* NULL: there is none. */
static struct control_listener *take_offered(struct control *control)
{
    struct control_listener *listener = NULL;

    lock_acquire(&control->lock);
    if (!list_empty(&control->offered)) {
        listener = LIST_ENTRY(control->offered.next, struct control_listener, link);
        list_remove(&listener->link);
    }
    lock_release(&control->lock);
    return listener;
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct control_listener *listener = handle->data;
    struct control *control = listener->control;

    if (--listener->handles > 0)
        return;
    list_remove(&listener->link);
    if (has_socket(listener))
        control_socket_close(&listener->socket);
    free(listener);
    free_control(control);
}

/* Serves the clients that are connected already. There will be no others, since the file is
 * removed. */
static void serve_the_rest(const struct control_listener *listener)
{
    int client;

    while ((client = accept_client(listener)) >= 0)
        welcome(listener->control, client);
}

static bool is_closing(const struct control_listener *listener)
{
    return uv_is_closing((const uv_handle_t *)&listener->again);
}

static void close_listener(struct control_listener *listener)
{
    uv_close((uv_handle_t *)&listener->again, on_listener_closed);
    if (listener->handles > 1)
        uv_close((uv_handle_t *)&listener->poll, on_listener_closed);
}

static int begin_listening(struct control_listener *listener)
{
    struct uv_loop_s *loop = listener->control->setup.loop;

    (void)uv_timer_init(loop, &listener->again);
    listener->again.data = listener->poll.data = listener;
    listener->handles = 1;
    if (!has_socket(listener))
        return 0;
    if (listen(listener->socket.descriptor, BACKLOG) < 0 ||
        uv_poll_init(loop, &listener->poll, listener->socket.descriptor) != 0)
        return WEIR_EINVALID;
    listener->handles = 2;
    return watch_clients(listener) == 0 ? 0 : WEIR_EINVALID;
}

/* Closes the listener that is replaced. */
static void retire(struct control *control)
{
    struct control_listener *listener;

    if (list_empty(&control->listening))
        return;
    listener = LIST_ENTRY(control->listening.previous, struct control_listener, link);
    if (is_closing(listener))
        return;
    if (has_socket(listener))
        control_socket_remove(&listener->socket);
    if (listener->handles > 1)
        serve_the_rest(listener);
    close_listener(listener);
}

int control_collect(struct control *control)
{
    struct control_listener *listener;
    int result = 0;

    while ((listener = take_offered(control))) {
        int status = begin_listening(listener);

        retire(control);
        list_append(&control->listening, &listener->link);
        if (status != 0)
            result = status;
    }
    return result;
}

/* --- life ----------------------------------------------------------------------------------- */

int control_create(const struct control_setup *setup, struct control **out)
{
    struct control *control = calloc(1, sizeof *control);

    if (!control)
        return WEIR_ENOMEM;
    control->setup = *setup;
    lock_init(&control->lock, LOCK_CONTROL);
    list_init(&control->offered);
    list_init(&control->listening);
    list_init(&control->connections);
    *out = control;
    return 0;
}

void control_leave(struct control *control)
{
    struct control_listener *listener;

    lock_acquire(&control->lock);
    control->youngest = NULL; /* no thread uses it any more */
    lock_release(&control->lock);
    while ((listener = take_offered(control)))
        control_listener_destroy(listener);
    for (struct list *node = control->listening.next; node != &control->listening;
         node = node->next) {
        listener = LIST_ENTRY(node, struct control_listener, link);
        if (has_socket(listener))
            control_socket_remove(&listener->socket);
    }
}

void control_destroy(struct control *control)
{
    if (!control)
        return;
    control_leave(control);
    control->destroyed = true;
    for (struct list *node = control->connections.next; node != &control->connections;
         node = node->next)
        close_connection(LIST_ENTRY(node, struct connection, link));
    for (struct list *node = control->listening.next; node != &control->listening;
         node = node->next) {
        struct control_listener *listener = LIST_ENTRY(node, struct control_listener, link);

        if (!is_closing(listener))
            close_listener(listener);
    }
    free_control(control);
}
