/* SPDX-License-Identifier: MIT */
/*
 * lines - a server: each client gets each of its lines back, reversed. One actor listens; each
 * connection is a child of that actor with a few kilobytes of its own. No thread blocks for a
 * connection.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/plugin.h>

#define LINE_MAX_BYTES 1024
#define AT_ONCE 64 /* connections that are accepted in one turn */

/* --- one connection --------------------------------------------------------------------------- */

struct connection {
    int descriptor;
    uint64_t answered;
    size_t size; /* of the received text without an end of line */
    size_t sent; /* of the answer */
    size_t left; /* of the answer, after the sent part */
    char text[LINE_MAX_BYTES];
    char answer[LINE_MAX_BYTES];
};

static void serve(struct weir_self *self, void *state, void *context, int descriptor,
                  int readiness);

static int open_connection(struct weir_self *self, const void *settings, void *state)
{
    struct connection *connection = state;

    int status;

    connection->descriptor = *(const int *)settings;
    status = weir_watch(self, connection->descriptor, WEIR_READABLE, serve, NULL, NULL);
    if (status != 0)
        (void)close(connection->descriptor); /* there is no other call of `close` for it */
    return status;
}

/* Makes the answer from the first line of the text. */
static bool answer_line(struct connection *connection)
{
    const char *end = memchr(connection->text, '\n', connection->size);
    size_t length = end ? (size_t)(end - connection->text) : 0;

    if (!end)
        return false;
    for (size_t i = 0; i < length; i++)
        connection->answer[i] = connection->text[length - 1 - i];
    connection->answer[length] = '\n';
    connection->sent = 0;
    connection->left = length + 1;
    connection->answered++;
    connection->size -= length + 1;
    memmove(connection->text, end + 1, connection->size);
    return true;
}

/* True when the connection goes on: everything is sent, or the socket is full for now. */
static bool send_answers(struct connection *connection)
{
    while (connection->left > 0 || answer_line(connection)) {
        ssize_t sent = send(connection->descriptor, connection->answer + connection->sent,
                            connection->left, MSG_NOSIGNAL);

        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        connection->sent += (size_t)sent;
        connection->left -= (size_t)sent;
    }
    return true;
}

/* True when the connection goes on: text arrived, or none is there yet. */
static bool receive(struct connection *connection)
{
    ssize_t size = recv(connection->descriptor, connection->text + connection->size,
                        LINE_MAX_BYTES - connection->size, 0);

    if (size > 0)
        connection->size += (size_t)size;
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

/* The socket is readable or writable. A client that sends faster than it reads has to wait. */
static void serve(struct weir_self *self, void *state, void *context, int descriptor, int readiness)
{
    struct connection *connection = state;
    bool goes_on = readiness > 0 && (connection->left > 0 || receive(connection)) &&
                   send_answers(connection) && connection->size < LINE_MAX_BYTES;
    uint32_t events = connection->left > 0 ? WEIR_WRITABLE : WEIR_READABLE;

    if (!goes_on || weir_watch(self, descriptor, events, serve, context, NULL) != 0)
        (void)weir_exit(self, weir_pid_of(self), WEIR_END_NORMAL);
}

static int handle_connection(struct weir_self *self, void *state,
                             const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    return WEIR_REJECT; /* there are no other messages */
}

static void close_connection(struct weir_self *self, void *state, int reason)
{
    struct connection *connection = state;

    (void)self;
    (void)reason;
    (void)close(connection->descriptor);
}

static void inspect_connection(struct weir_self *self, void *state, struct weir_inspection *out)
{
    const struct connection *connection = state;

    (void)self;
    weir_inspect_add(out, "answered", "%ju", (uintmax_t)connection->answered);
}

static const struct weir_behaviour connection_behaviour = {
    .name = "connection",
    .summary = "one connection",
    .settings_size = sizeof(int),
    .state_size = sizeof(struct connection),
    .open = open_connection,
    .handle = handle_connection,
    .close = close_connection,
    .inspect = inspect_connection,
};

/* --- the listener ----------------------------------------------------------------------------- */

struct settings {
    const char *path;
};

struct listener {
    const struct settings *settings; /* borrowed until close */
    int descriptor;
    uint64_t served;      /* connections, ever */
    uint32_t connections; /* open now */
};

/* Takes the descriptor: a new child serves it, and closes it. */
static void adopt(struct weir_self *self, struct listener *listener, int descriptor)
{
    struct weir_spawn_options options = WEIR_SPAWN_OPTIONS;
    weir_pid child;

    options.behaviour = &connection_behaviour;
    options.settings = &descriptor;
    if (weir_spawn(self, &options, &child) != 0) {
        (void)close(descriptor);
    } else if (weir_monitor(self, child, NULL) != 0) {
        (void)weir_stop_now(self, child); /* without a monitor its end would go unnoticed */
    } else {
        listener->served++;
        listener->connections++;
    }
}

static void take_connections(struct weir_self *self, void *state, void *context, int descriptor,
                             int readiness)
{
    struct listener *listener = state;

    (void)readiness;
    for (int i = 0; i < AT_ONCE; i++) {
        int connection = accept4(descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (connection < 0)
            break;
        adopt(self, listener, connection);
    }
    if (weir_watch(self, descriptor, WEIR_READABLE, take_connections, context, NULL) != 0)
        (void)weir_exit(self, weir_pid_of(self), WEIR_END_CRASH); /* and is opened again */
}

static int refuse(struct weir_self *self, const char *reason)
{
    weir_reason(self, "%s", reason);
    return WEIR_EINVALID;
}

static int open_listener(struct weir_self *self, const void *settings, void *state)
{
    struct listener *listener = state;
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    listener->settings = settings;
    if (strlen(listener->settings->path) >= sizeof address.sun_path)
        return refuse(self, "the path is too long for a socket");
    memcpy(address.sun_path, listener->settings->path, strlen(listener->settings->path) + 1);
    listener->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener->descriptor < 0 ||
        bind(listener->descriptor, (const struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener->descriptor, SOMAXCONN) != 0) {
        const char *reason = strerror(errno);

        if (listener->descriptor >= 0)
            (void)close(listener->descriptor);
        return refuse(self, reason);
    }
    return weir_watch(self, listener->descriptor, WEIR_READABLE, take_connections, NULL, NULL);
}

/* A monitor reports the end of a connection. */
static int handle_listener(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct listener *listener = state;

    (void)self;
    if (message->kind != WEIR_DOWN)
        return WEIR_REJECT;
    listener->connections--;
    return WEIR_DONE;
}

static void close_listener(struct weir_self *self, void *state, int reason)
{
    struct listener *listener = state;

    (void)self;
    (void)reason;
    (void)close(listener->descriptor);
    (void)unlink(listener->settings->path);
}

static void inspect_listener(struct weir_self *self, void *state, struct weir_inspection *out)
{
    const struct listener *listener = state;

    (void)self;
    weir_inspect_add(out, "connections", "%u", listener->connections);
    weir_inspect_add(out, "served", "%ju", (uintmax_t)listener->served);
}

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, path, .help = "where its socket lies", .required = true),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "serve",
        .summary = "gives each line back, backwards",
        .options = options,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct listener),
        .flags = WEIR_EXCLUSIVE,
        .open = open_listener,
        .handle = handle_listener,
        .close = close_listener,
        .inspect = inspect_listener,
    },
    { 0 },
};
WEIR_PLUGIN("lines", "1.0.0", behaviours);
