/* SPDX-License-Identifier: MIT */
#include "host/run/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <uv.h>
#include <weir/status.h>

#define NS_PER_MS UINT64_C(1000000)

struct io {
    struct io_callbacks callbacks; /* const */
    uv_loop_t loop;
    uv_poll_t signals;
    uv_async_t wake;
    uv_timer_t tick;
    uv_timer_t deadline;
    uint64_t tick_ms; /* const; 0 = no beat */
    uint64_t beat_ms; /* until the next beat; up to tick_ms */
    int signal_descriptor;
    uint32_t stop_signals;
    struct signalfd_siginfo last_stop; /* the signal that was counted last */
    uint64_t last_stop_ns;             /* the clock after its callback */
    atomic_bool stopping;              /* by io_stop on any thread; read by the I/O thread */
};

static sigset_t our_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    return set;
}

static void handle_with(int number, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };

    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void io_block_signals(void)
{
    sigset_t set = our_signals();

    pthread_sigmask(SIG_BLOCK, &set, NULL);
    /* An ignored signal does not even become pending. */
    handle_with(SIGHUP, SIG_DFL);
    handle_with(SIGTERM, SIG_DFL);
    handle_with(SIGUSR1, SIG_DFL);
    handle_with(SIGUSR2, SIG_DFL);
    handle_with(SIGPIPE, SIG_IGN);
    handle_with(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails */
    /* Ignored, it would keep us from learning how a child ended. */
    handle_with(SIGCHLD, SIG_DFL);
}

void io_hold_standard_descriptors(void)
{
    for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++)
        /* The lowest free descriptor is taken, which is this one. */
        if (fcntl(descriptor, F_GETFD) < 0)
            (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void io_unblock_signals(void)
{
    sigset_t set = our_signals();

    handle_with(SIGPIPE, SIG_DFL);
    handle_with(SIGXFSZ, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void call(void (*callback)(void *), void *context)
{
    if (callback)
        callback(context);
}

static uint64_t now_ns(const struct io *io)
{
    struct clock clock = io->callbacks.clock ? *io->callbacks.clock : clock_monotonic();

    return clock_now_ns(&clock);
}

static bool is_same_stop(const struct io *io, const struct signalfd_siginfo *signal)
{
    return io->stop_signals > 0 && signal->ssi_signo == io->last_stop.ssi_signo &&
           signal->ssi_pid == io->last_stop.ssi_pid &&
           now_ns(io) - io->last_stop_ns <= IO_SAME_STOP_MS * NS_PER_MS;
}

/* The time counts from the end of the callback, since a signal that arrives during it is read
 * afterwards. */
static void stop(struct io *io, const struct signalfd_siginfo *signal)
{
    if (is_same_stop(io, signal))
        return;
    io->stop_signals++;
    if (io->callbacks.on_stop)
        io->callbacks.on_stop(io->callbacks.context, io->stop_signals);
    io->last_stop = *signal;
    io->last_stop_ns = now_ns(io);
}

static void take_signal(struct io *io, const struct signalfd_siginfo *signal)
{
    switch (signal->ssi_signo) {
    case SIGHUP:
        call(io->callbacks.on_reload, io->callbacks.context);
        break;
    case SIGTERM:
    case SIGINT:
        stop(io, signal);
        break;
    case SIGUSR1:
        call(io->callbacks.on_reopen, io->callbacks.context);
        break;
    case SIGUSR2:
        call(io->callbacks.on_dump, io->callbacks.context);
        break;
    default:
        break;
    }
}

static void on_signals(uv_poll_t *handle, int status, int events)
{
    struct io *io = handle->data;
    struct signalfd_siginfo information;

    (void)events;
    if (status < 0)
        return;
    while (read(io->signal_descriptor, &information, sizeof information) ==
           (ssize_t)sizeof information)
        take_signal(io, &information);
}

static void on_wake(uv_async_t *handle)
{
    struct io *io = handle->data;

    call(io->callbacks.on_wake, io->callbacks.context);
    /* Acquire: pairs with the release in io_stop; the caller's writes are visible after io_run. */
    if (atomic_load_explicit(&io->stopping, memory_order_acquire))
        uv_stop(&io->loop);
}

static void on_tick(uv_timer_t *handle)
{
    struct io *io = handle->data;

    if (io->beat_ms < io->tick_ms) {
        io->beat_ms = io->beat_ms * 2 < io->tick_ms ? io->beat_ms * 2 : io->tick_ms;
        uv_timer_start(handle, on_tick, io->beat_ms, io->beat_ms);
    }
    io->callbacks.on_tick(io->callbacks.context, uv_hrtime() / 1000000);
}

static void on_deadline(uv_timer_t *handle)
{
    struct io *io = handle->data;

    call(io->callbacks.on_deadline, io->callbacks.context);
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void finish_loop(struct io *io)
{
    uv_walk(&io->loop, close_handle, NULL);
    uv_run(&io->loop, UV_RUN_DEFAULT);
    uv_loop_close(&io->loop);
}

/* Makes all handles of the loop. 0 or libuv's error; finish_loop closes those that were made. */
static int init_handles(struct io *io, uint64_t tick_ms)
{
    int error = uv_async_init(&io->loop, &io->wake, on_wake);

    if (error == 0)
        error = uv_timer_init(&io->loop, &io->tick);
    if (error == 0)
        error = uv_timer_init(&io->loop, &io->deadline);
    if (error == 0)
        error = uv_poll_init(&io->loop, &io->signals, io->signal_descriptor);
    if (error == 0)
        error = uv_poll_start(&io->signals, UV_READABLE, on_signals);
    io->tick_ms = io->callbacks.on_tick ? tick_ms : 0;
    io->beat_ms = tick_ms < IO_FIRST_TICK_MS ? tick_ms : IO_FIRST_TICK_MS;
    if (error == 0 && io->tick_ms)
        error = uv_timer_start(&io->tick, on_tick, io->beat_ms, io->beat_ms);
    io->wake.data = io->tick.data = io->deadline.data = io->signals.data = io;
    return error;
}

static int init_loop(struct io *io, uint64_t tick_ms)
{
    int error = uv_loop_init(&io->loop);

    if (error != 0)
        return error;
    error = init_handles(io, tick_ms);
    if (error != 0)
        finish_loop(io);
    return error;
}

int io_create(const struct io_callbacks *callbacks, uint64_t tick_ms, struct report *report,
              struct io **out_io)
{
    struct io *io = calloc(1, sizeof *io);
    sigset_t set = our_signals();
    int error;

    if (!io)
        return WEIR_ENOMEM;
    io->callbacks = *callbacks;
    atomic_init(&io->stopping, false);
    io->signal_descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (io->signal_descriptor < 0) {
        report_add(report, NULL, NULL, "cannot read signals: %s", strerror(errno));
        goto fail_io;
    }
    error = init_loop(io, tick_ms);
    if (error != 0) {
        report_add(report, NULL, NULL, "cannot make an event loop: %s", uv_strerror(error));
        goto fail_descriptor;
    }
    *out_io = io;
    return WEIR_OK;

fail_descriptor:
    close(io->signal_descriptor);
fail_io:
    free(io);
    return WEIR_EINVALID;
}

void io_destroy(struct io *io)
{
    if (!io)
        return;
    finish_loop(io);
    close(io->signal_descriptor);
    free(io);
}

struct uv_loop_s *io_loop(struct io *io)
{
    return &io->loop;
}

void io_pause_tick(struct io *io)
{
    uv_timer_stop(&io->tick);
}

void io_resume_tick(struct io *io)
{
    if (!io->tick_ms || uv_is_active((uv_handle_t *)&io->tick))
        return;
    uv_update_time(&io->loop);
    io->beat_ms = io->tick_ms < IO_RESUMED_TICK_MS ? io->tick_ms : IO_RESUMED_TICK_MS;
    uv_timer_start(&io->tick, on_tick, io->beat_ms, io->beat_ms);
}

void io_set_tick(struct io *io, uint64_t tick_ms)
{
    if (!io->tick_ms)
        return;
    io->tick_ms = tick_ms;
    if (io->beat_ms <= tick_ms || !uv_is_active((uv_handle_t *)&io->tick))
        return;
    io->beat_ms = tick_ms;
    uv_timer_start(&io->tick, on_tick, tick_ms, tick_ms);
}

void io_run(struct io *io)
{
    uv_run(&io->loop, UV_RUN_DEFAULT);
}

void io_wake(struct io *io)
{
    uv_async_send(&io->wake);
}

void io_stop(struct io *io)
{
    /* Release: pairs with the acquire in on_wake. */
    atomic_store_explicit(&io->stopping, true, memory_order_release);
    uv_async_send(&io->wake);
}

void io_set_deadline(struct io *io, uint64_t delay_ms)
{
    /* libuv counts from the time at which the loop has last read the clock. */
    uv_update_time(&io->loop);
    uv_timer_start(&io->deadline, on_deadline, delay_ms, 0);
}

void io_clear_deadline(struct io *io)
{
    uv_timer_stop(&io->deadline);
}
