/* SPDX-License-Identifier: MIT */
/*
 * Goal: the program's poller reports a ready descriptor once to its watcher; refuses descriptors
 * that cannot be watched; forgets ended watches; and reports a descriptor that was closed.
 * Method: real pipes, sockets and files, a runtime whose workers watch them, and a loop that the
 * thread of the test runs until the expected notes are there.
 */
#include "host/run/poll_set.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <uv.h>

#include "suite.h"
#include "unit/support/rig.h"
#include "unit/support/wait_limit.h"

#define TOLD 1000u   /* notes: this, 100 for each descriptor of the test, and the readiness */
#define CLOSED 2000u /* as READY, for a negative one */

enum { WATCH = 1, UNWATCH = 2 };

struct fixture {
    struct rig rig;
    struct probe *probe;
    struct poll_set *set;
    uv_loop_t loop;
    struct pool *pool;
    uint64_t now_ms;
    uint32_t orders;
    _Atomic int status;
    uint64_t watches[64]; /* the worker's: by descriptor */
};

/* --- the worker ----------------------------------------------------------------------------- */

static void ready(struct weir_self *self, void *state, void *context, int descriptor, int readiness)
{
    struct probe *probe = context;

    (void)self;
    (void)state;
    probe_note(probe,
               (readiness < 0 ? CLOSED : TOLD + (uint64_t)readiness) + (uint64_t)descriptor * 100);
}

static int obey(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    const struct order *order = probe_order(message);
    struct fixture *f = probe->context;
    int descriptor = (int)(order->argument & 0xff);
    uint32_t events = (uint32_t)(order->argument >> 8);

    if (events)
        f->status = weir_watch(self, descriptor, events, ready, probe, &f->watches[descriptor]);
    else
        f->status = weir_unwatch(self, f->watches[descriptor]);
    probe_note(probe, UINT64_MAX - 1);
    return WEIR_DONE;
}

/* --- the test ------------------------------------------------------------------------------- */

static void begin(struct fixture *f)
{
    *f = (struct fixture){ .probe = probe_create(), .now_ms = 10000 };
    f->probe->context = f;
    rig_init(&f->rig, 2, 0);
    CU_ASSERT_EQUAL_FATAL(poll_set_create(&f->set), 0);
    f->rig.runtime->options.poller = poll_set_poller(f->set);
    CU_ASSERT_EQUAL_FATAL(uv_loop_init(&f->loop), 0);
    f->pool = rig_workers(&f->rig, f->probe, "pool", 1, 4);
}

static void attach(struct fixture *f)
{
    CU_ASSERT_EQUAL_FATAL(poll_set_attach(f->set, &f->loop, f->rig.runtime), 0);
}

static void finish(struct fixture *f)
{
    CU_ASSERT_TRUE(rig_end(&f->rig, f->pool, NULL));
    rig_finish(&f->rig);
    poll_set_detach(f->set);
    uv_run(&f->loop, UV_RUN_DEFAULT);
    CU_ASSERT_EQUAL(uv_loop_close(&f->loop), 0);
    poll_set_destroy(f->set);
    probe_destroy(f->probe);
}

/* Lets the worker begin a watch, or end it when `events` is 0; returns its status. */
static int ask(struct fixture *f, int descriptor, uint32_t events)
{
    struct order order = { .act = obey, .argument = (uint64_t)descriptor | (uint64_t)events << 8 };

    CU_ASSERT_EQUAL_FATAL(rig_send(&f->rig, f->pool->pid, order), 0);
    CU_ASSERT_TRUE(rig_noted(&f->rig, f->probe, UINT64_MAX - 1, ++f->orders));
    return f->status;
}

/* Runs the loop until a note has been taken so often. */
static bool noted(struct fixture *f, uint64_t note, uint32_t times)
{
    struct pollfd loop = { .fd = uv_backend_fd(&f->loop), .events = POLLIN };

    for (uint32_t i = 0; i < wait_limit_ms(); i++) {
        (void)uv_run(&f->loop, UV_RUN_NOWAIT);
        if (probe_times(f->probe, note) >= times)
            return true;
        (void)poll(&loop, 1, 1); /* the worker's turn is no event: look again soon */
    }
    return false;
}

/* One beat of the host, a second after the last. */
static void beat(struct fixture *f)
{
    f->now_ms += 1000;
    poll_set_tick(f->set, f->now_ms);
}

static uint64_t note_of(int descriptor, int readiness)
{
    return TOLD + (uint64_t)descriptor * 100 + (uint64_t)readiness;
}

static uint64_t closed(int descriptor)
{
    return CLOSED + (uint64_t)descriptor * 100;
}

/* promise A16 */
static void test_pipe_is_reported_each_time_it_is_watched(void)
{
    struct fixture f;
    int ends[2];
    char byte;

    begin(&f);
    attach(&f);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    for (uint32_t i = 1; i <= 3; i++) {
        CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_READABLE), 0);
        CU_ASSERT_EQUAL(probe_times(f.probe, note_of(ends[0], WEIR_READABLE)), i - 1);
        CU_ASSERT_EQUAL(write(ends[1], "x", 1), 1);
        CU_ASSERT_TRUE(noted(&f, note_of(ends[0], WEIR_READABLE), i));
        CU_ASSERT_EQUAL(read(ends[0], &byte, 1), 1);
    }
    /* The end of a file is reported, too. */
    CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_READABLE), 0);
    close(ends[1]);
    CU_ASSERT_TRUE(noted(&f, note_of(ends[0], WEIR_READABLE), 4));
    CU_ASSERT_EQUAL(ask(&f, ends[0], 0), WEIR_EUNKNOWN);
    finish(&f);
    close(ends[0]);
}

/* promise A16: a worker that opens before the loop is there is not forgotten. */
static void test_descriptor_that_is_ready_before_the_loop_is_reported(void)
{
    struct fixture f;
    int pair[2];

    begin(&f);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    CU_ASSERT_EQUAL(write(pair[1], "x", 1), 1);
    CU_ASSERT_EQUAL(ask(&f, pair[0], WEIR_READABLE | WEIR_WRITABLE), 0);
    attach(&f);
    CU_ASSERT_TRUE(noted(&f, note_of(pair[0], 3), 1));
    /* Its mode is the plugin's: libuv's own poll handle would have made it non-blocking. */
    CU_ASSERT_EQUAL(fcntl(pair[0], F_GETFL) & O_NONBLOCK, 0);
    finish(&f);
    close(pair[0]);
    close(pair[1]);
}

/* promise A16 */
static void test_what_cannot_be_waited_for_is_refused(void)
{
    struct fixture f;
    int ends[2];
    int file;

    begin(&f);
    attach(&f);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
    file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CU_ASSERT_EQUAL(ask(&f, file, WEIR_READABLE), WEIR_EUNSUPPORTED);
    CU_ASSERT_EQUAL(ask(&f, 63, WEIR_READABLE), WEIR_EINVALID);
    CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_READABLE), 0);
    CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_WRITABLE), WEIR_EEXISTS);
    CU_ASSERT_EQUAL(ask(&f, ends[0], 0), 0);
    CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_WRITABLE), 0);
    CU_ASSERT_EQUAL(ask(&f, ends[1], WEIR_WRITABLE), 0);
    CU_ASSERT_TRUE(noted(&f, note_of(ends[1], WEIR_WRITABLE), 1));
    finish(&f);
    close(file);
    close(ends[0]);
    close(ends[1]);
}

/* promise A16 */
static void test_watch_that_is_taken_back_is_not_reported(void)
{
    struct fixture f;
    int first[2], second[2];

    begin(&f);
    attach(&f);
    CU_ASSERT_EQUAL_FATAL(pipe2(first, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(second, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL(ask(&f, first[0], WEIR_READABLE), 0);
    CU_ASSERT_EQUAL(ask(&f, first[0], 0), 0);
    CU_ASSERT_EQUAL(write(first[1], "x", 1), 1);
    CU_ASSERT_EQUAL(write(second[1], "x", 1), 1);
    /* Of the two that are ready, only the other one; and the first again when it is wanted. */
    CU_ASSERT_EQUAL(ask(&f, second[0], WEIR_READABLE), 0);
    CU_ASSERT_TRUE(noted(&f, note_of(second[0], WEIR_READABLE), 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, note_of(first[0], WEIR_READABLE)), 0);
    CU_ASSERT_EQUAL(ask(&f, first[0], WEIR_READABLE), 0);
    CU_ASSERT_TRUE(noted(&f, note_of(first[0], WEIR_READABLE), 1));
    finish(&f);
    for (int i = 0; i < 2; i++) {
        close(first[i]);
        close(second[i]);
    }
}

/* promise A16: closed; closed and the number used again; that number watched again as well. */
static void test_descriptor_closed_under_its_watch_is_reported(void)
{
    struct fixture f;
    int pair[2], ends[2];
    int number;

    begin(&f);
    attach(&f);
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
    number = pair[0];
    CU_ASSERT_EQUAL(ask(&f, number, WEIR_READABLE), 0);
    beat(&f);
    close(number);
    beat(&f);
    CU_ASSERT_TRUE(noted(&f, closed(number), 1));
    /* The same number, of another file. */
    CU_ASSERT_EQUAL(dup3(ends[0], number, O_CLOEXEC), number);
    CU_ASSERT_EQUAL(ask(&f, number, WEIR_READABLE), 0);
    CU_ASSERT_EQUAL(dup3(pair[1], number, O_CLOEXEC), number);
    beat(&f);
    CU_ASSERT_TRUE(noted(&f, closed(number), 2));
    /* The set still has that file, under a number that is not its own: no report. */
    CU_ASSERT_EQUAL(write(ends[1], "x", 1), 1);
    CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_READABLE), 0);
    CU_ASSERT_TRUE(noted(&f, note_of(ends[0], WEIR_READABLE), 1));
    CU_ASSERT_EQUAL(probe_times(f.probe, note_of(number, WEIR_READABLE)), 0);
    finish(&f);
    close(number);
    close(pair[1]);
    close(ends[0]);
    close(ends[1]);
}

/* promise A16: the former watcher of the number gets a status, the present one is served. */
static void test_number_that_is_watched_anew_serves_the_new_one(void)
{
    struct fixture f;
    int ends[2], later[2];

    begin(&f);
    attach(&f);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL_FATAL(pipe2(later, O_CLOEXEC), 0);
    CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_READABLE), 0);
    /* Another file under the same number, and the old one gone. */
    CU_ASSERT_EQUAL(dup3(later[0], ends[0], O_CLOEXEC), ends[0]);
    CU_ASSERT_EQUAL(ask(&f, ends[0], WEIR_READABLE), 0);
    CU_ASSERT_EQUAL(probe_times(f.probe, closed(ends[0])), 0);
    beat(&f);
    CU_ASSERT_TRUE(noted(&f, closed(ends[0]), 1));
    CU_ASSERT_EQUAL(write(later[1], "x", 1), 1);
    CU_ASSERT_TRUE(noted(&f, note_of(ends[0], WEIR_READABLE), 1));
    beat(&f);
    CU_ASSERT_EQUAL(probe_times(f.probe, closed(ends[0])), 1);
    finish(&f);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        close(later[i]);
    }
}

/* promise A16: a plugin's mistake, which costs the host no memory. */
static void test_number_that_is_no_descriptor_is_refused_whatever_it_is(void)
{
    struct poll_set *set;
    struct poller poller;

    CU_ASSERT_EQUAL_FATAL(poll_set_create(&set), 0);
    poller = poll_set_poller(set);
    CU_ASSERT_EQUAL(poller.begin(poller.context, INT_MAX, WEIR_READABLE, 1), WEIR_EINVALID);
    CU_ASSERT_EQUAL(poller.begin(poller.context, 1 << 20, WEIR_READABLE, 2), WEIR_EINVALID);
    poller.end(poller.context, INT_MAX, 1);
    poll_set_destroy(set);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "pipe", test_pipe_is_reported_each_time_it_is_watched },
        { "early", test_descriptor_that_is_ready_before_the_loop_is_reported },
        { "refused", test_what_cannot_be_waited_for_is_refused },
        { "no descriptor", test_number_that_is_no_descriptor_is_refused_whatever_it_is },
        { "taken back", test_watch_that_is_taken_back_is_not_reported },
        { "closed", test_descriptor_closed_under_its_watch_is_reported },
        { "number", test_number_that_is_watched_anew_serves_the_new_one },
        CU_TEST_INFO_NULL,
    };

    return suite_run("host: poll set", tests);
}
