/* SPDX-License-Identifier: MIT */
/*
 * Goal: the control socket serves many clients at once, and none of them blocks it: slow, silent,
 * wrong and surplus clients each get a status, and the others are answered.
 *
 * Method: a loop in a thread of its own with a handler that answers at once, or later on demand;
 * clients are plain sockets of the test's thread. Time-outs are short where a test waits for them.
 */
#include "host/control/control.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/run/io.h"
#include "unit/host/suite.h"
#include "unit/support/wait_limit.h"

#define HOST "Host: weir\r\n\r\n"
#define SHORT_MS 30
#define LONG_MS 600000 /* never reached */
#define FOREVER_MS 600000
#define FLOOD 300u
#define LARGE (4u << 20) /* more than any socket's buffer */

struct fixture {
    char directory[32];
    char path[64];
    struct io *io;
    struct control *control;
    pthread_t thread;
    struct connection *_Atomic kept; /* asked `later`; answered at the next wake-up */
    _Atomic bool release;
};

static struct control_reply reply_of(const char *text, size_t size)
{
    struct control_reply reply = { 200, "text/plain", calloc(1, size + 1), size };

    memcpy(reply.text, text, strlen(text));
    return reply;
}

static void ask(void *context, struct connection *connection, const struct http_request *request)
{
    struct fixture *f = context;

    if (strcmp(request->path, "later") == 0)
        atomic_store(&f->kept, connection);
    else if (strcmp(request->path, "large") == 0)
        control_answer(connection, reply_of("large", LARGE));
    else
        control_answer(connection, reply_of(request->path, strlen(request->path)));
}

static bool is_probe(const struct http_request *request)
{
    return strcmp(request->path, "livez") == 0;
}

static void on_wake(void *context)
{
    struct fixture *f = context;
    struct connection *kept = atomic_load(&f->release) ? atomic_exchange(&f->kept, NULL) : NULL;

    if (f->control)
        CU_ASSERT_EQUAL(control_collect(f->control), 0);
    if (kept)
        control_answer(kept, reply_of("now", 3));
}

static void *run(void *context)
{
    io_run(((struct fixture *)context)->io);
    return NULL;
}

/* Another socket, at a path; "" = none. */
static void offer(struct fixture *f, const char *path)
{
    struct control_listener *listener;
    struct control_socket socket;

    if (path[0])
        CU_ASSERT_EQUAL_FATAL(control_socket_listen(path, NULL, NULL, &socket), 0);
    CU_ASSERT_EQUAL_FATAL(control_listener_create(path[0] ? &socket : NULL, &listener), 0);
    control_offer(f->control, listener);
}

/* Nothing is served before start. */
static void prepare(struct fixture *f, uint64_t timeout_ms)
{
    struct io_callbacks callbacks = { .context = f, .on_wake = on_wake };
    struct control_setup setup = {
        .ask = ask, .is_probe = is_probe, .context = f, .timeout_ms = timeout_ms
    };

    memset(f, 0, sizeof *f);
    memcpy(f->directory, "/tmp/weir-test-XXXXXX", 22);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(f->directory));
    (void)snprintf(f->path, sizeof f->path, "%s/control", f->directory);
    CU_ASSERT_EQUAL_FATAL(io_create(&callbacks, 0, NULL, &f->io), 0);
    setup.loop = io_loop(f->io);
    CU_ASSERT_EQUAL_FATAL(control_create(&setup, &f->control), 0);
    offer(f, f->path);
    CU_ASSERT_EQUAL_FATAL(control_collect(f->control), 0);
}

static void start(struct fixture *f)
{
    CU_ASSERT_EQUAL_FATAL(pthread_create(&f->thread, NULL, run, f), 0);
}

static void begin(struct fixture *f, uint64_t timeout_ms)
{
    prepare(f, timeout_ms);
    start(f);
}

static void finish(struct fixture *f)
{
    io_stop(f->io);
    pthread_join(f->thread, NULL);
    control_destroy(f->control);
    io_destroy(f->io);
    CU_ASSERT_EQUAL(rmdir(f->directory), 0);
}

/* --- clients -------------------------------------------------------------------------------- */

static int connect_at(const char *path)
{
    int client = control_socket_connect(path, FOREVER_MS);
    struct timeval limit = { .tv_sec = wait_limit_ms() / 1000, .tv_usec = 1 };

    CU_ASSERT_TRUE_FATAL(client >= 0);
    (void)setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return client;
}

static int connect_to(struct fixture *f)
{
    return connect_at(f->path);
}

static void say(int client, const char *text)
{
    (void)send(client, text, strlen(text), MSG_NOSIGNAL);
}

/* Reads to the end, which the server makes; keeps the first bytes as a text. */
static size_t hear(int client, char *text, size_t size)
{
    char rest[65536];
    size_t total = 0;
    ssize_t got;

    text[0] = '\0';
    while ((got = recv(client, rest, sizeof rest, 0)) > 0) {
        if (total == 0) {
            size_t kept = (size_t)got < size - 1 ? (size_t)got : size - 1;

            memcpy(text, rest, kept);
            text[kept] = '\0';
        }
        total += (size_t)got;
    }
    close(client);
    return total;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static bool hears(int client, const char *end)
{
    char text[512];

    (void)hear(client, text, sizeof text);
    return ends_with(text, end);
}

static bool is_answered(struct fixture *f)
{
    int client = connect_to(f);
    char text[512];

    say(client, "GET /hello HTTP/1.1\r\n" HOST);
    (void)hear(client, text, sizeof text);
    return begins_with(text, "HTTP/1.1 200 OK\r\n") && ends_with(text, "\r\n\r\nhello");
}

/* --- tests ---------------------------------------------------------------------------------- */

static void test_request_is_answered_and_closed(void)
{
    struct fixture f;

    begin(&f, LONG_MS);
    CU_ASSERT_TRUE(is_answered(&f));
    CU_ASSERT_TRUE(is_answered(&f));
    finish(&f);
}

/* The client sends its body when the host says so. */
static void test_body_and_answer_may_come_later(void)
{
    static const char wanted[] = "HTTP/1.1 100 Continue\r\n\r\n";
    struct fixture f;
    char text[512] = "";
    int client;

    begin(&f, LONG_MS);
    client = connect_to(&f);
    say(client, "POST /later HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n" HOST);
    (void)recv(client, text, sizeof wanted - 1, MSG_WAITALL);
    CU_ASSERT_TRUE(begins_with(text, wanted));
    say(client, "hi");
    (void)shutdown(client, SHUT_WR);
    while (!atomic_load(&f.kept))
        CU_ASSERT_TRUE(is_answered(&f));
    atomic_store(&f.release, true);
    io_wake(f.io);
    (void)hear(client, text, sizeof text);
    CU_ASSERT_TRUE(ends_with(text, "\r\n\r\nnow"));
    finish(&f);
}

static void test_client_that_left_is_answered_into_the_air(void)
{
    struct fixture f;
    int client;

    begin(&f, LONG_MS);
    client = connect_to(&f);
    say(client, "POST /later HTTP/1.1\r\n" HOST);
    while (!atomic_load(&f.kept))
        CU_ASSERT_TRUE(is_answered(&f));
    close(client);
    CU_ASSERT_TRUE(is_answered(&f));
    atomic_store(&f.release, true);
    io_wake(f.io);
    while (atomic_load(&f.kept))
        CU_ASSERT_TRUE(is_answered(&f));
    finish(&f);
}

static void test_what_nobody_answered_is_freed_at_the_end(void)
{
    struct fixture f;
    int waiting, silent;

    begin(&f, LONG_MS);
    waiting = connect_to(&f);
    silent = connect_to(&f);
    say(waiting, "POST /later HTTP/1.1\r\n" HOST);
    while (!atomic_load(&f.kept))
        CU_ASSERT_TRUE(is_answered(&f));
    finish(&f);
    close(waiting);
    close(silent);
}

/* promise C9 */
static void test_slow_client_gets_an_answer_and_is_closed(void)
{
    struct fixture f;
    char text[512];
    int client;

    begin(&f, SHORT_MS);
    client = connect_to(&f);
    say(client, "GET /slo");
    (void)hear(client, text, sizeof text);
    CU_ASSERT_TRUE(begins_with(text, "HTTP/1.1 408 "));
    finish(&f);
}

/* promise C9 */
static void test_client_that_does_not_read_is_closed(void)
{
    struct pollfd hang_up = { .events = 0 };
    struct fixture f;
    char text[512];
    int client;

    begin(&f, SHORT_MS);
    client = hang_up.fd = connect_to(&f);
    say(client, "GET /large HTTP/1.1\r\n" HOST);
    /* It reads only after the server has given it up: the kernel's buffer has the rest. */
    CU_ASSERT_EQUAL(poll(&hang_up, 1, (int)wait_limit_ms()), 1);
    CU_ASSERT_TRUE(hear(client, text, sizeof text) < LARGE);
    finish(&f);
}

static void test_client_that_reads_gets_all(void)
{
    struct fixture f;
    char text[512];
    int client;

    begin(&f, LONG_MS);
    client = connect_to(&f);
    say(client, "GET /large HTTP/1.1\r\n" HOST);
    CU_ASSERT_TRUE(hear(client, text, sizeof text) > LARGE);
    finish(&f);
}

static void test_wrong_requests_are_reported(void)
{
    static const char *const requests[][2] = {
        { "nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
        { "DELETE /hello HTTP/1.1\r\n" HOST, "HTTP/1.1 405 Method Not Allowed\r\n" },
        { "GET /hello HTTP/1.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n" },
    };
    struct fixture f;
    char text[512];

    begin(&f, LONG_MS);
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        int client = connect_to(&f);

        say(client, requests[i][0]);
        (void)hear(client, text, sizeof text);
        CU_ASSERT_TRUE(begins_with(text, requests[i][1]));
    }
    finish(&f);
}

static void test_endless_request_is_cut_off(void)
{
    struct fixture f;
    char line[1024];
    char text[512];
    int client;

    begin(&f, LONG_MS);
    client = connect_to(&f);
    memset(line, 'a', sizeof line);
    memcpy(line, "A: ", 3);
    memcpy(line + sizeof line - 3, "\r\n", 3);
    say(client, "GET /hello HTTP/1.1\r\n");
    for (int i = 0; i < 64; i++)
        say(client, line);
    (void)hear(client, text, sizeof text);
    CU_ASSERT_TRUE(begins_with(text, "HTTP/1.1 431 "));
    finish(&f);
}

/* Silent clients in all places that are not reserved. */
static void occupy(struct fixture *f, int *clients)
{
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++)
        clients[i] = connect_to(f);
}

/* The silent ones are answered when they ask, and the places are free again. */
static void vacate(struct fixture *f, const int *clients)
{
    char text[512];

    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++) {
        say(clients[i], "GET /hello HTTP/1.1\r\n" HOST);
        (void)hear(clients[i], text, sizeof text);
        CU_ASSERT_TRUE(begins_with(text, "HTTP/1.1 200 "));
    }
    while (!is_answered(f)) /* the last ones may be closing yet */
        ;
}

/* promise C9 */
static void test_too_many_connections_are_turned_away(void)
{
    struct fixture f;
    int clients[CONTROL_CONNECTIONS_MAX];
    char text[512];

    begin(&f, LONG_MS);
    occupy(&f, clients);
    for (uint32_t i = 0; i < FLOOD; i++) {
        int client = connect_to(&f);

        say(client, "GET /hello HTTP/1.1\r\n" HOST);
        (void)hear(client, text, sizeof text);
        CU_ASSERT_TRUE_FATAL(begins_with(text, "HTTP/1.1 503 "));
    }
    vacate(&f, clients);
    finish(&f);
}

/* promise C9 */
static void test_probe_is_answered_in_a_reserved_place(void)
{
    struct fixture f;
    int clients[CONTROL_CONNECTIONS_MAX];
    int probe;

    begin(&f, LONG_MS);
    occupy(&f, clients);
    probe = connect_to(&f);
    say(probe, "GET /livez HTTP/1.1\r\n" HOST);
    CU_ASSERT_TRUE(hears(probe, "livez"));
    vacate(&f, clients);
    finish(&f);
}

/* promise C9 */
static void test_silent_clients_beyond_the_reserve_are_turned_away_at_once(void)
{
    struct fixture f;
    int clients[CONTROL_CONNECTIONS_MAX];
    int silent[CONTROL_CONNECTIONS_RESERVED];
    int client;
    char text[512];

    begin(&f, LONG_MS);
    occupy(&f, clients);
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_RESERVED; i++)
        silent[i] = connect_to(&f);
    client = connect_to(&f);
    (void)hear(client, text, sizeof text);
    CU_ASSERT_TRUE(begins_with(text, "HTTP/1.1 503 "));
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_RESERVED; i++)
        close(silent[i]);
    vacate(&f, clients);
    finish(&f);
}

static void test_silent_client_leaves_its_reserved_place(void)
{
    struct fixture f;
    int clients[CONTROL_CONNECTIONS_MAX];
    int silent;
    char text[512];

    begin(&f, 10 * SHORT_MS);
    occupy(&f, clients);
    silent = connect_to(&f);
    (void)hear(silent, text, sizeof text);
    CU_ASSERT_TRUE(begins_with(text, "HTTP/1.1 408 "));
    for (uint32_t i = 0; i < CONTROL_CONNECTIONS_MAX; i++)
        close(clients[i]);
    finish(&f);
}

/* Offers a socket at `name`, "" = none, and from then on this is where the fixture's is. */
static void move(struct fixture *f, const char *name)
{
    char path[64] = "";

    if (name[0])
        (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    offer(f, path);
    memcpy(f->path, path, sizeof path);
}

/* promise R17 */
static void test_those_of_the_former_socket_are_served_to_the_end(void)
{
    struct fixture f;
    char former[64];
    int asked, asking;

    begin(&f, LONG_MS);
    asked = connect_to(&f);
    say(asked, "POST /later HTTP/1.1\r\n" HOST);
    while (!atomic_load(&f.kept))
        CU_ASSERT_TRUE(is_answered(&f));
    asking = connect_to(&f);
    say(asking, "GET /half");
    memcpy(former, f.path, sizeof former);
    move(&f, "other");
    io_wake(f.io);
    CU_ASSERT_TRUE(is_answered(&f));
    CU_ASSERT(control_socket_connect(former, FOREVER_MS) < 0);
    CU_ASSERT_NOT_EQUAL(access(former, F_OK), 0);
    say(asking, "-way HTTP/1.1\r\n" HOST);
    CU_ASSERT_TRUE(hears(asking, "half-way"));
    atomic_store(&f.release, true);
    io_wake(f.io);
    CU_ASSERT_TRUE(hears(asked, "now"));
    finish(&f);
}

/* promise R17: they are not accepted yet when the next socket comes. */
static void test_those_who_wait_at_a_former_socket_are_served(void)
{
    struct fixture f;
    int first, second, third;

    prepare(&f, LONG_MS);
    first = connect_to(&f);
    say(first, "GET /first HTTP/1.1\r\n" HOST);
    move(&f, "second");
    second = connect_to(&f); /* before it is served itself */
    say(second, "GET /second HTTP/1.1\r\n" HOST);
    move(&f, "third");
    third = connect_to(&f);
    say(third, "GET /third HTTP/1.1\r\n" HOST);
    io_wake(f.io);
    start(&f);
    CU_ASSERT_TRUE(hears(first, "first"));
    CU_ASSERT_TRUE(hears(second, "second"));
    CU_ASSERT_TRUE(hears(third, "third"));
    finish(&f);
}

/* promise R17 */
static void test_socket_may_go_and_come_back(void)
{
    struct fixture f;
    char former[64];

    begin(&f, LONG_MS);
    memcpy(former, f.path, sizeof former);
    CU_ASSERT_TRUE(control_is_at(f.control, former));
    move(&f, "");
    io_wake(f.io);
    while (access(former, F_OK) == 0)
        ;
    CU_ASSERT_FALSE(control_is_at(f.control, former));
    move(&f, "control");
    CU_ASSERT_TRUE(control_is_at(f.control, former));
    io_wake(f.io);
    CU_ASSERT_TRUE(is_answered(&f));
    finish(&f);
}

/* A listener that was offered and never served leaves no file: finish would not remove the
 * folder. */
static void test_socket_that_was_never_served_is_removed(void)
{
    struct fixture f;

    prepare(&f, LONG_MS);
    move(&f, "second");
    move(&f, "third");
    start(&f);
    finish(&f);
}

/* Where a host leaves in a hurry. */
static void test_files_are_removed_when_the_host_leaves(void)
{
    struct fixture f;

    prepare(&f, LONG_MS);
    move(&f, "second");
    control_leave(f.control);
    CU_ASSERT_NOT_EQUAL(access(f.path, F_OK), 0);
    CU_ASSERT_EQUAL(rmdir(f.directory), 0);
    CU_ASSERT_EQUAL(mkdir(f.directory, 0700), 0); /* finish removes it */
    start(&f);
    finish(&f);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "answered", test_request_is_answered_and_closed },
        { "later", test_body_and_answer_may_come_later },
        { "left", test_client_that_left_is_answered_into_the_air },
        { "nobody answered", test_what_nobody_answered_is_freed_at_the_end },
        { "slow", test_slow_client_gets_an_answer_and_is_closed },
        { "does not read", test_client_that_does_not_read_is_closed },
        { "reads", test_client_that_reads_gets_all },
        { "wrong", test_wrong_requests_are_reported },
        { "endless", test_endless_request_is_cut_off },
        { "too many", test_too_many_connections_are_turned_away },
        { "probe", test_probe_is_answered_in_a_reserved_place },
        { "beyond the reserve", test_silent_clients_beyond_the_reserve_are_turned_away_at_once },
        { "leaves the reserve", test_silent_client_leaves_its_reserved_place },
        { "former", test_those_of_the_former_socket_are_served_to_the_end },
        { "waiting", test_those_who_wait_at_a_former_socket_are_served },
        { "goes and comes", test_socket_may_go_and_come_back },
        { "never served", test_socket_that_was_never_served_is_removed },
        { "leaves", test_files_are_removed_when_the_host_leaves },
        CU_TEST_INFO_NULL,
    };

    io_block_signals();
    return suite_run("control", tests);
}
