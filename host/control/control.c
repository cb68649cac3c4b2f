#include "host/control/control.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>
#include <weir/status.h>

#include "base/list.h"
#include "base/lock.h"

#define INPUT_SIZE 2048
#define BACKLOG 128
#define TOO_MANY "too many connections; try again"
#define TEXT_PLAIN "text/plain; charset=utf-8"

/* A socket and its libuv handle. The last one offered is the youngest: see control_offer. */
struct control_listener {
    struct control *control;      /* the owner */
    struct list link;             /* in the list of offered, then of listening ones */
    struct control_socket socket; /* path "" = none: no client can connect */
    uv_pipe_t pipe;               /* has a descriptor of its own, which libuv closes */
    int descriptor;               /* of the pipe, until the loop has it */
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

/* A connection that is refused: nothing is read from it. */
struct stranger {
    uv_pipe_t pipe;
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
        answer_text(connection, HTTP_STATUS_BAD_REQUEST, "neither GET nor POST of a valid path");
    else if (connection->reserved && !control->setup.is_probe(&request))
        answer_text(connection, HTTP_STATUS_SERVICE_UNAVAILABLE, TOO_MANY);
    else
        control->setup.ask(control->setup.context, connection, &request);
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
    if (progress == HTTP_MORE)
        return;
    stop_reading(connection);
    if (progress == HTTP_COMPLETE)
        on_request(connection);
    else if (progress == HTTP_TOO_LARGE)
        answer_text(connection, HTTP_STATUS_PAYLOAD_TOO_LARGE, "the request is too large");
    else
        answer_text(connection, HTTP_STATUS_BAD_REQUEST, http_problem(&connection->reading));
}

static void on_allocate(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    struct connection *connection = handle->data;

    (void)wanted;
    *buffer = uv_buf_init(connection->input, sizeof connection->input);
}

/* --- accepting ------------------------------------------------------------------------------ */

static void on_stranger_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* Accepts a connection, sends the reason of the refusal, and closes. Bytes that do not fit into the
 * socket's buffer are dropped. */
static void turn_away(struct control_listener *listener, unsigned status, const char *reason)
{
    struct control *control = listener->control;
    struct stranger *stranger = calloc(1, sizeof *stranger);
    char text[256];
    uv_buf_t output;

    if (!stranger)
        return;
    (void)uv_pipe_init(control->setup.loop, &stranger->pipe, 0);
    stranger->pipe.data = stranger;
    if (uv_accept((uv_stream_t *)&listener->pipe, (uv_stream_t *)&stranger->pipe) == 0) {
        int length = snprintf(text, sizeof text,
                              "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                              "Connection: close\r\n\r\nerror: %s\n",
                              status, http_status_str((enum http_status)status), TEXT_PLAIN,
                              strlen(reason) + 8, reason);

        output = uv_buf_init(text, (unsigned)length);
        (void)uv_try_write((uv_stream_t *)&stranger->pipe, &output, 1);
    }
    uv_close((uv_handle_t *)&stranger->pipe, on_stranger_closed);
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

static void on_connection(uv_stream_t *stream, int status)
{
    struct control_listener *listener = stream->data;
    struct control *control = listener->control;
    struct connection *connection;

    if (status < 0)
        return;
    connection = make_connection(control);
    if (!connection)
        turn_away(listener, HTTP_STATUS_SERVICE_UNAVAILABLE, TOO_MANY);
    else if (uv_accept(stream, (uv_stream_t *)&connection->pipe) == 0)
        serve(connection);
    else
        close_connection(connection);
}

/* --- listeners ------------------------------------------------------------------------------ */

static bool has_socket(const struct control_listener *listener)
{
    return listener->socket.path[0] != '\0';
}

int control_listener_create(struct control_socket *socket, struct control_listener **out)
{
    struct control_listener *listener = calloc(1, sizeof *listener);
    int descriptor = -1;

    if (listener && socket)
        descriptor = fcntl(socket->descriptor, F_DUPFD_CLOEXEC, 0);
    if (!listener || (socket && descriptor < 0)) {
        if (socket)
            control_socket_close(socket);
        free(listener);
        return WEIR_ENOMEM;
    }
    if (socket)
        listener->socket = *socket;
    listener->descriptor = descriptor;
    *out = listener;
    return 0;
}

void control_listener_destroy(struct control_listener *listener)
{
    if (!listener)
        return;
    if (has_socket(listener)) {
        close(listener->descriptor);
        control_socket_close(&listener->socket);
    }
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

    list_remove(&listener->link);
    if (has_socket(listener))
        control_socket_close(&listener->socket);
    free(listener);
    free_control(control);
}

/* Serves the clients that are connected already. There will be no others, since the file is
 * removed. */
static void serve_the_rest(struct control_listener *listener)
{
    struct control *control = listener->control;
    struct connection *connection;
    int descriptor;

    while ((descriptor = accept4(listener->socket.descriptor, NULL, NULL,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        connection = make_connection(control);
        if (connection && uv_pipe_open(&connection->pipe, descriptor) == 0) {
            serve(connection);
            continue;
        }
        close(descriptor);
        if (connection)
            close_connection(connection);
    }
}

static void close_listener(struct control_listener *listener)
{
    uv_close((uv_handle_t *)&listener->pipe, on_listener_closed);
}

static int begin_listening(struct control_listener *listener)
{
    int error = 0;

    (void)uv_pipe_init(listener->control->setup.loop, &listener->pipe, 0);
    listener->pipe.data = listener;
    if (!has_socket(listener))
        return 0;
    error = uv_pipe_open(&listener->pipe, listener->descriptor);
    if (error != 0)
        close(listener->descriptor);
    else
        error = uv_listen((uv_stream_t *)&listener->pipe, BACKLOG, on_connection);
    return error == 0 ? 0 : WEIR_EINVALID;
}

/* Closes the listener that is replaced. */
static void retire(struct control *control)
{
    struct control_listener *listener;

    if (list_empty(&control->listening))
        return;
    listener = LIST_ENTRY(control->listening.previous, struct control_listener, link);
    if (uv_is_closing((uv_handle_t *)&listener->pipe))
        return;
    if (has_socket(listener))
        control_socket_remove(&listener->socket);
    if (uv_is_active((uv_handle_t *)&listener->pipe))
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

        if (!uv_is_closing((uv_handle_t *)&listener->pipe))
            close_listener(listener);
    }
    free_control(control);
}
