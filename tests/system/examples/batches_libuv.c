/* SPDX-License-Identifier: MIT */
/*
 * examples/batches with libuv: batches_libuv PATH. 4 threads, the same answers and time-out. It
 * connects again as the worker does: at once, then after a pause that doubles. SIGTERM ends it.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uv.h>

#define LINE_SIZE 1024
#define NUMBERS_MAX (LINE_SIZE / 2)
#define LOOK_EACH 4096u
#define WITHIN_MS 10000
#define PAUSE_MIN_MS 100u
#define PAUSE_MAX_MS 10000u

struct check {
    uv_work_t work; /* first: libuv's pointer is ours */
    struct reader *reader;
    uint64_t number;
    bool is_composite;
};

struct reader {
    const char *path;
    uv_pipe_t pipe;
    uv_connect_t connect;
    uv_timer_t within, pause;
    uv_signal_t signal;
    uv_write_t write;
    char line[LINE_SIZE], answer[64];
    size_t length;
    struct check checks[NUMBERS_MAX];
    size_t count, open, done;
    uint64_t pause_ms;
    _Atomic bool is_cancelled;
    bool is_closing, is_closed, ends;
};

static void serve_line(struct reader *reader);
static void disconnect(struct reader *reader);
static void connect_later(struct reader *reader);

/* --- tasks ------------------------------------------------------------------------------------ */

static void check_number(uv_work_t *work)
{
    struct check *check = (struct check *)work;

    for (uint64_t divisor = 2; divisor <= check->number / divisor; divisor++) {
        if (check->number % divisor == 0) {
            check->is_composite = true;
            return;
        }
        if (divisor % LOOK_EACH == 0 && atomic_load(&check->reader->is_cancelled))
            return;
    }
}

static void cancel(struct reader *reader)
{
    atomic_store(&reader->is_cancelled, true);
    for (size_t i = 0; i < reader->count; i++)
        (void)uv_cancel((uv_req_t *)&reader->checks[i].work);
}

static void give_up(uv_timer_t *timer)
{
    cancel(timer->data);
}

static void written(uv_write_t *write, int status)
{
    if (status == 0)
        serve_line(write->data);
}

static void answer(struct reader *reader)
{
    const char *text = reader->done == reader->count ? "all prime\n" : "not known\n";
    uv_buf_t buffer;

    snprintf(reader->answer, sizeof reader->answer, "%s", text);
    for (size_t i = 0; i < reader->count; i++)
        if (reader->checks[i].is_composite) {
            snprintf(reader->answer, sizeof reader->answer, "%ju is not prime\n",
                     (uintmax_t)reader->checks[i].number);
            break;
        }
    (void)uv_timer_stop(&reader->within);
    reader->count = 0;
    if (reader->is_closing) {
        if (reader->is_closed)
            connect_later(reader);
        return;
    }
    buffer = uv_buf_init(reader->answer, (unsigned)strlen(reader->answer));
    if (uv_write(&reader->write, (uv_stream_t *)&reader->pipe, &buffer, 1, written) != 0)
        disconnect(reader);
}

static void checked(uv_work_t *work, int status)
{
    struct check *check = (struct check *)work;
    struct reader *reader = check->reader;

    reader->open--;
    if (status == 0 && !check->is_composite && !atomic_load(&reader->is_cancelled))
        reader->done++;
    if (check->is_composite)
        cancel(reader);
    if (reader->open == 0)
        answer(reader);
}

static void run(struct reader *reader, const char *line)
{
    char *end;

    atomic_store(&reader->is_cancelled, false);
    reader->done = 0;
    for (;; line = end) {
        struct check *check = &reader->checks[reader->count];

        *check = (struct check){ .reader = reader, .number = strtoull(line, &end, 10) };
        if (end == line)
            break;
        reader->count++;
        if (uv_queue_work(uv_default_loop(), &check->work, check_number, checked) != 0)
            exit(70);
    }
    reader->open = reader->count;
    if (reader->open == 0)
        answer(reader);
    else
        (void)uv_timer_start(&reader->within, give_up, WITHIN_MS, 0);
}

/* --- the connection --------------------------------------------------------------------------- */

static void connect_again(uv_timer_t *timer);

static void connect_later(struct reader *reader)
{
    if (reader->ends)
        return;
    (void)uv_timer_start(&reader->pause, connect_again, reader->pause_ms, 0);
    reader->pause_ms = reader->pause_ms == 0 ? PAUSE_MIN_MS : reader->pause_ms * 2;
    if (reader->pause_ms > PAUSE_MAX_MS)
        reader->pause_ms = PAUSE_MAX_MS;
}

static void disconnected(uv_handle_t *pipe)
{
    struct reader *reader = pipe->data;

    reader->is_closed = true;
    if (reader->count == 0)
        connect_later(reader);
}

static void disconnect(struct reader *reader)
{
    cancel(reader);
    if (reader->is_closing)
        return;
    reader->is_closing = true;
    uv_close((uv_handle_t *)&reader->pipe, disconnected);
}

static void give_buffer(uv_handle_t *pipe, size_t wanted, uv_buf_t *buffer)
{
    struct reader *reader = pipe->data;

    (void)wanted;
    *buffer = uv_buf_init(reader->line + reader->length,
                          (unsigned)(sizeof reader->line - reader->length));
}

static void lines_read(uv_stream_t *pipe, ssize_t size, const uv_buf_t *buffer)
{
    struct reader *reader = pipe->data;

    (void)buffer;
    if (size == UV_ENOBUFS) {
        (void)uv_read_stop(pipe); /* a batch is running, and the next lines fill the buffer */
        return;
    }
    if (size < 0) {
        disconnect(reader);
        return;
    }
    reader->pause_ms = 0;
    reader->length += (size_t)size;
    serve_line(reader);
}

/* Serves the first line that has been read, unless a batch is running. */
static void serve_line(struct reader *reader)
{
    char line[LINE_SIZE];
    char *end = memchr(reader->line, '\n', reader->length);
    size_t size;

    if (reader->count > 0)
        return;
    if (!end) {
        if (reader->length == sizeof reader->line)
            disconnect(reader);
        return;
    }
    size = (size_t)(end - reader->line);
    memcpy(line, reader->line, size);
    line[size] = '\0';
    reader->length -= size + 1;
    memmove(reader->line, end + 1, reader->length);
    (void)uv_read_start((uv_stream_t *)&reader->pipe, give_buffer, lines_read);
    run(reader, line);
}

static void connected(uv_connect_t *connect, int status)
{
    struct reader *reader = connect->data;

    if (status == UV_ECANCELED)
        return;
    if (status != 0 || uv_read_start((uv_stream_t *)&reader->pipe, give_buffer, lines_read) != 0) {
        fprintf(stderr, "%s: %s\n", reader->path, uv_strerror(status));
        disconnect(reader);
    }
}

static void connect_again(uv_timer_t *timer)
{
    struct reader *reader = timer->data;

    reader->is_closing = reader->is_closed = false;
    reader->length = 0;
    if (uv_pipe_init(uv_default_loop(), &reader->pipe, 0) != 0)
        exit(70);
    uv_pipe_connect(&reader->connect, &reader->pipe, reader->path, connected);
}

/* --- the program ------------------------------------------------------------------------------ */

static void end(uv_signal_t *signal, int number)
{
    struct reader *reader = signal->data;

    (void)number;
    reader->ends = true;
    if (!uv_is_active((uv_handle_t *)&reader->pause))
        disconnect(reader);
    uv_close((uv_handle_t *)&reader->within, NULL);
    uv_close((uv_handle_t *)&reader->pause, NULL);
    uv_close((uv_handle_t *)&reader->signal, NULL);
}

int main(int argc, char **argv)
{
    static struct reader reader;
    uv_loop_t *loop = uv_default_loop();

    reader.path = argv[argc - 1];
    reader.pipe.data = reader.connect.data = reader.within.data = reader.pause.data =
        reader.signal.data = reader.write.data = &reader;
    if (argc != 2 || setenv("UV_THREADPOOL_SIZE", "4", 1) != 0 ||
        uv_timer_init(loop, &reader.within) != 0 || uv_timer_init(loop, &reader.pause) != 0 ||
        uv_signal_init(loop, &reader.signal) != 0 ||
        uv_signal_start(&reader.signal, end, SIGTERM) != 0)
        return 70;
    connect_again(&reader.pause);
    (void)uv_run(loop, UV_RUN_DEFAULT);
    return uv_loop_close(loop) == 0 ? 0 : 70;
}
