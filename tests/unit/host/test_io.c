/* SPDX-License-Identifier: MIT */
/*
 * Goal: signals, wake-ups, the beat and the deadline reach their callbacks, on the I/O thread; a
 * failed write is an error, and neither a signal nor a write to a file of ours. Shows promise H7.
 * Method: the test's own thread runs the loop; callbacks count and stop it. The test waits for
 * events, not for times.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run/io.h"
#include "suite.h"

struct seen {
    struct io *io;
    pthread_t thread;
    unsigned reloads, reopens, dumps, wakes, ticks, deadlines, elsewhere;
    uint32_t stops;
    uint32_t stops_at_wake;
    uint64_t now_ns; /* of a clock that stands still */
};

static void look_where(struct seen *seen)
{
    seen->elsewhere += !pthread_equal(pthread_self(), seen->thread);
}

static void on_reload(void *context)
{
    struct seen *seen = context;

    look_where(seen);
    seen->reloads++;
    raise(SIGUSR1);
}

static void on_reopen(void *context)
{
    ((struct seen *)context)->reopens++;
    raise(SIGUSR2);
}

static void on_dump(void *context)
{
    ((struct seen *)context)->dumps++;
    raise(SIGTERM);
}

static void on_stop(void *context, uint32_t count)
{
    struct seen *seen = context;

    seen->stops = count;
    if (count == 1)
        raise(SIGINT);
    else
        io_stop(seen->io);
}

static void on_wake(void *context)
{
    struct seen *seen = context;

    look_where(seen);
    seen->wakes++;
}

static void on_tick(void *context, uint64_t now_ms)
{
    struct seen *seen = context;

    CU_ASSERT(now_ms > 0);
    if (++seen->ticks == 3)
        io_stop(seen->io);
}

static void on_deadline(void *context)
{
    struct seen *seen = context;

    seen->deadlines++;
    io_stop(seen->io);
}

static void begin(struct seen *seen, struct io_callbacks callbacks, uint64_t tick_ms)
{
    struct report report;

    report_init(&report);
    *seen = (struct seen){ .thread = pthread_self() };
    callbacks.context = seen;
    CU_ASSERT_EQUAL_FATAL(io_create(&callbacks, tick_ms, &report, &seen->io), 0);
    report_finish(&report);
}

static void test_signals_reach_their_callbacks(void)
{
    struct io_callbacks callbacks = {
        .on_reload = on_reload, .on_stop = on_stop, .on_reopen = on_reopen, .on_dump = on_dump
    };
    struct seen seen;

    begin(&seen, callbacks, 0);
    raise(SIGHUP);
    raise(SIGHUP);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.reloads, 1);
    CU_ASSERT_EQUAL(seen.reopens, 1);
    CU_ASSERT_EQUAL(seen.dumps, 1);
    CU_ASSERT_EQUAL(seen.stops, 2);
    CU_ASSERT_EQUAL(seen.elsewhere, 0);
    io_destroy(seen.io);
}

static void test_signal_before_the_loop_is_kept(void)
{
    struct io_callbacks callbacks = { .on_stop = on_stop };
    struct seen seen;

    raise(SIGTERM);
    begin(&seen, callbacks, 0);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.stops, 2);
    io_destroy(seen.io);
}

static void test_signal_that_was_ignored_at_the_start_is_taken(void)
{
    struct io_callbacks callbacks = {
        .on_reload = on_reload, .on_stop = on_stop, .on_reopen = on_reopen, .on_dump = on_dump
    };
    struct seen seen;

    signal(SIGHUP, SIG_IGN);
    io_block_signals();
    begin(&seen, callbacks, 0);
    raise(SIGHUP);
    raise(SIGTERM);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.reloads, 1);
    io_destroy(seen.io);
}

static void test_signal_without_a_callback_is_nothing(void)
{
    struct io_callbacks callbacks = { .on_stop = on_stop };
    struct seen seen;

    begin(&seen, callbacks, 0);
    raise(SIGHUP);
    raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGTERM);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.stops, 2);
    io_destroy(seen.io);
}

static uint64_t still(void *context)
{
    return ((struct seen *)context)->now_ns;
}

/* As timeout(1), which signals its child and then its whole group. */
static void stop_twice(void *context, uint32_t count)
{
    struct seen *seen = context;

    seen->stops = count;
    if (count > 1) {
        io_stop(seen->io);
        return;
    }
    raise(SIGTERM);
    io_wake(seen->io); /* handled after all signals that wait */
}

static void stop_later(void *context)
{
    struct seen *seen = context;

    if (seen->stops_at_wake)
        return;
    seen->stops_at_wake = seen->stops;
    seen->now_ns += 100000001u;
    raise(SIGTERM);
}

/* promise H1 */
static void test_repeated_signal_of_one_sender_is_one_for_100_ms(void)
{
    struct seen seen;
    struct clock clock = { .now_ns = still, .context = &seen };
    struct io_callbacks callbacks = { .on_stop = stop_twice,
                                      .on_wake = stop_later,
                                      .clock = &clock };

    begin(&seen, callbacks, 0);
    seen.now_ns = 1;
    raise(SIGTERM);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.stops_at_wake, 1);
    CU_ASSERT_EQUAL(seen.stops, 2);
    io_destroy(seen.io);
}

static void stop_by_another(void *context, uint32_t count)
{
    struct seen *seen = context;
    pid_t child;

    seen->stops = count;
    if (count > 1) {
        io_stop(seen->io);
        return;
    }
    child = fork();
    if (child == 0)
        _exit(kill(getppid(), SIGTERM));
    CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
}

/* promise H1 */
static void test_signal_of_another_sender_is_a_second_one(void)
{
    struct seen seen;
    struct clock clock = { .now_ns = still, .context = &seen };
    struct io_callbacks callbacks = { .on_stop = stop_by_another, .clock = &clock };

    begin(&seen, callbacks, 0);
    raise(SIGTERM);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.stops, 2);
    io_destroy(seen.io);
}

static void *wake_and_stop(void *context)
{
    struct io *io = context;

    io_wake(io);
    io_stop(io);
    return NULL;
}

static void test_other_thread_wakes_and_stops(void)
{
    struct io_callbacks callbacks = { .on_wake = on_wake };
    struct seen seen;
    pthread_t thread;

    begin(&seen, callbacks, 0);
    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, wake_and_stop, seen.io), 0);
    io_run(seen.io);
    pthread_join(thread, NULL);
    CU_ASSERT(seen.wakes >= 1);
    CU_ASSERT_EQUAL(seen.elsewhere, 0);
    io_destroy(seen.io);
}

static void test_beat_comes_again_and_again(void)
{
    struct io_callbacks callbacks = { .on_tick = on_tick };
    struct seen seen;

    begin(&seen, callbacks, 1);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.ticks, 3);
    io_destroy(seen.io);
}

/* The first beats come long before the third of a beat that is an hour. */
static void test_first_beats_come_soon(void)
{
    struct io_callbacks callbacks = { .on_tick = on_tick };
    struct seen seen;

    begin(&seen, callbacks, UINT64_C(60) * 60 * 1000);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.ticks, 3);
    io_destroy(seen.io);
}

static void test_deadline_comes_once_and_can_be_replaced(void)
{
    struct io_callbacks callbacks = { .on_deadline = on_deadline };
    struct seen seen;

    begin(&seen, callbacks, 0);
    io_set_deadline(seen.io, 3600000);
    io_set_deadline(seen.io, 1);
    io_run(seen.io);
    CU_ASSERT_EQUAL(seen.deadlines, 1);
    io_set_deadline(seen.io, 0);
    io_clear_deadline(seen.io);
    io_destroy(seen.io);
    CU_ASSERT_EQUAL(seen.deadlines, 1);
}

/* In a child, which closes descriptors of its own. */
static int hold_what_is_closed(void)
{
    struct rlimit none = { 0, 0 };
    char byte = 'x';
    int file = memfd_create("file", MFD_CLOEXEC);

    if (file < 0 || setrlimit(RLIMIT_FSIZE, &none) != 0 || write(file, &byte, 1) >= 0)
        return 1;
    if (errno != EFBIG)
        return 2;
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        close(descriptor);
    io_hold_standard_descriptors();
    if (read(0, &byte, 1) >= 0 || write(1, &byte, 1) >= 0 || write(2, &byte, 1) >= 0)
        return 3;
    return dup(file) > 2 ? 0 : 4;
}

static void test_closed_standard_descriptors_and_files_that_may_not_grow_are_errors(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(hold_what_is_closed());
    CU_ASSERT_FATAL(child > 0);
    CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
    CU_ASSERT_EQUAL(status, 0);
}

static void test_destroy_of_nothing_is_nothing(void)
{
    io_destroy(NULL);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "signals reach their callbacks", test_signals_reach_their_callbacks },
        { "signal before the loop is kept", test_signal_before_the_loop_is_kept },
        { "signal that was ignored", test_signal_that_was_ignored_at_the_start_is_taken },
        { "signal without a callback", test_signal_without_a_callback_is_nothing },
        { "repeated signal", test_repeated_signal_of_one_sender_is_one_for_100_ms },
        { "signal of another sender", test_signal_of_another_sender_is_a_second_one },
        { "other thread wakes and stops", test_other_thread_wakes_and_stops },
        { "first beats", test_first_beats_come_soon },
        { "beat comes again", test_beat_comes_again_and_again },
        { "deadline comes once", test_deadline_comes_once_and_can_be_replaced },
        { "closed descriptors, full files",
          test_closed_standard_descriptors_and_files_that_may_not_grow_are_errors },
        { "destroy of nothing", test_destroy_of_nothing_is_nothing },
        CU_TEST_INFO_NULL,
    };

    io_block_signals();
    return suite_run("io", tests);
}
