/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE ((size_t)4 * 1024)
/* Reads after the end of the process. A process that has left the group may still write. */
#define LAST_READS_MAX 64u
/* After SIGKILL, for processes that wait for a device. */
#define END_WAIT_MS 1000
/* Between two tries to send an output at the end. */
#define BLOCKED_MS 10
/* That a child needs while it starts, and while it runs. */
#define STARTING_DESCRIPTORS 16u
#define RUNNING_DESCRIPTORS 7u
/* Bytes of a read that does not look at them. */
#define BELL_SIZE 64u
/* Standard streams, 3 and 4. */
#define DESCRIPTORS 5u

void peer_init(struct peer *peer, uint32_t log_lines, size_t json_max)
{
    *peer = (struct peer){ .words = { .event = "child prints", .limit = log_lines },
                           .json_max = json_max };
    child_init(&peer->child);
    inbox_init(&peer->inbox);
    outbox_init(&peer->outbox);
    stream_init(&peer->bell);
    stream_init(&peer->prints);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static uint64_t clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static ssize_t read_prints(struct weir_self *self, struct peer *peer)
{
    char text[READ_SIZE];
    ssize_t got = stream_read(&peer->prints, text, sizeof text);

    if (got > 0)
        words_add(self, &peer->words, peer->child.process, text, (size_t)got);
    return got;
}

/* Waits until the process has ended (true), `frames` (-1: none) has bytes, or `wait_ms` is over.
 * Logs what it prints meanwhile. */
static bool wait_for_end(struct weir_self *self, struct peer *peer, int frames, uint64_t wait_ms)
{
    struct pollfd waits[] = { { .fd = frames, .events = POLLIN },
                              { .fd = peer->child.descriptor, .events = POLLIN },
                              { .fd = peer->prints.descriptor, .events = POLLIN } };
    uint64_t until = clock_ms() + wait_ms;
    uint64_t now;

    while ((now = clock_ms()) < until) {
        int ready = poll(waits, 3, (int)(until - now));

        if (ready < 0 && errno != EINTR)
            return false;
        if (ready <= 0)
            continue;
        if (waits[0].revents & POLLIN)
            return false;
        if (waits[1].revents)
            return true;
        if (waits[0].revents)
            waits[0].fd = -1;
        if (waits[2].revents && read_prints(self, peer) == 0)
            waits[2].fd = -1;
    }
    return false;
}

/* --- starting --------------------------------------------------------------------------------- */

static int watch_end(struct weir_self *self, struct peer *peer, const struct peer_calls *calls)
{
    int status = weir_watch(self, peer->child.descriptor, WEIR_READABLE, calls->ended, NULL,
                            &peer->watch);

    peer->watched = status == 0;
    return status == 0 ? 0 : status == WEIR_ENOMEM ? ENOMEM : ENOTSUP;
}

static int watch(struct weir_self *self, struct peer *peer, const struct peer_calls *calls)
{
    int error = stream_watch(self, &peer->prints, calls->prints);

    if (error == 0)
        error = stream_watch(self, &peer->inbox.stream, calls->frames);
    return error == 0 ? watch_end(self, peer, calls) : error;
}

/* Fills `ends`, each of which the caller closes unless it is -1. */
static int open_ends(struct peer *peer, int *ends)
{
    int error;

    ends[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (ends[0] < 0)
        return errno;
    error = stream_open(&peer->prints, &ends[1]);
    if (error == 0)
        error = outbox_open(&peer->outbox, peer->json_max > 0, &ends[3]);
    if (error == 0)
        error = inbox_open(&peer->inbox, peer->json_max, &ends[4]);
    ends[2] = ends[1];
    return error;
}

static void close_ends(const int *ends)
{
    for (size_t i = 0; i < DESCRIPTORS; i++) {
        if (ends[i] >= 0 && i != 2) /* the second is the same as the first */
            (void)close(ends[i]);
    }
}

int peer_start(struct weir_self *self, struct peer *peer, const struct child_plan *plan,
               char *const *arguments, const struct peer_calls *calls)
{
    int ends[DESCRIPTORS] = { -1, -1, -1, -1, -1 };
    int error = weir_set_descriptors(self, STARTING_DESCRIPTORS) == 0 ? open_ends(peer, ends)
                                                                      : EMFILE;

    words_begin(&peer->words);
    if (error == 0)
        error = child_start(&peer->child, plan, arguments, ends, DESCRIPTORS);
    close_ends(ends);
    weir_child_process(self, peer->child.process);
    if (error == 0)
        error = watch(self, peer, calls);
    if (error != 0)
        (void)peer_finish(self, peer);
    else
        (void)weir_set_descriptors(self, RUNNING_DESCRIPTORS);
    return error;
}

bool peer_ends_early(struct weir_self *self, struct peer *peer, uint64_t *left_ms,
                     struct child_end *out_end)
{
    const uint64_t began = clock_ms();
    const bool has_ended = wait_for_end(self, peer, peer->inbox.stream.descriptor, *left_ms) &&
                           child_has_ended(&peer->child, out_end);
    const uint64_t passed = clock_ms() - began;

    *left_ms -= passed < *left_ms ? passed : *left_ms;
    return has_ended;
}

/* --- while it runs ---------------------------------------------------------------------------- */

bool peer_has_ended(struct weir_self *self, struct peer *peer, const struct peer_calls *calls,
                    struct child_end *out_end)
{
    peer->watched = false;
    if (child_has_ended(&peer->child, out_end))
        return true;
    (void)watch_end(self, peer, calls);
    return false;
}

/* Without a watch the rest is read at the end. */
void peer_on_prints(struct weir_self *self, struct peer *peer, const struct peer_calls *calls)
{
    stream_fired(&peer->prints);
    if (read_prints(self, peer) != 0)
        (void)stream_watch(self, &peer->prints, calls->prints);
}

/* Another descriptor than that of the outbox, which may be watched, too. */
int peer_hear_bell(struct weir_self *self, struct peer *peer, weir_ready *rings)
{
    stream_close(self, &peer->bell);
    peer->bell.descriptor = fcntl(peer->outbox.descriptor, F_DUPFD_CLOEXEC, 0);
    return peer->bell.descriptor < 0 ? errno : stream_watch(self, &peer->bell, rings);
}

int peer_take_bell(struct weir_self *self, struct peer *peer, weir_ready *rings)
{
    char bytes[BELL_SIZE];

    stream_fired(&peer->bell);
    if (stream_read(&peer->bell, bytes, sizeof bytes) == 0)
        return 0;
    return stream_watch(self, &peer->bell, rings);
}

/* --- ending ----------------------------------------------------------------------------------- */

bool peer_await_frames(struct weir_self *self, struct peer *peer, bool is_blocked,
                       uint64_t *left_ms)
{
    uint64_t began = clock_ms(), passed;
    bool has_ended = false;

    if (is_blocked)
        (void)poll(NULL, 0, BLOCKED_MS);
    else
        has_ended = wait_for_end(self, peer, peer->inbox.stream.descriptor, *left_ms);
    passed = clock_ms() - began;
    *left_ms -= passed < *left_ms ? passed : *left_ms;
    return *left_ms > 0 && !has_ended;
}

void peer_leave(struct weir_self *self, struct peer *peer, uint64_t wait_ms)
{
    /* The bell stays open: a child would read ECONNRESET in place of the end of file. */
    outbox_close(self, &peer->outbox);
    /* It may wait for a reader of its last frames. */
    inbox_close(self, &peer->inbox);
    if (peer->child.process > 0)
        (void)wait_for_end(self, peer, -1, wait_ms);
}

static void read_rest(struct weir_self *self, struct peer *peer)
{
    for (uint32_t i = 0; i < LAST_READS_MAX; i++) {
        if (read_prints(self, peer) <= 0)
            break;
    }
}

bool peer_finish(struct weir_self *self, struct peer *peer)
{
    long long process = peer->child.process;
    bool ended;

    if (peer->watched)
        (void)weir_unwatch(self, peer->watch);
    peer->watched = false;
    /* The group is killed first: none of its processes writes any more. */
    child_signal(&peer->child, SIGKILL);
    read_rest(self, peer);
    words_end(self, &peer->words, process);
    weir_child_process(self, 0);
    ended = child_reap(&peer->child, END_WAIT_MS);
    inbox_close(self, &peer->inbox);
    outbox_close(self, &peer->outbox);
    stream_close(self, &peer->bell);
    stream_close(self, &peer->prints);
    (void)weir_set_descriptors(self, 0);
    return ended;
}
