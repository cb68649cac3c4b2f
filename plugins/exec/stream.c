/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void stream_init(struct stream *stream)
{
    *stream = (struct stream){ .descriptor = -1 };
}

int stream_watch(struct weir_self *self, struct stream *stream, weir_ready *ready)
{
    int status = weir_watch(self, stream->descriptor, WEIR_READABLE, ready, NULL, &stream->watch);

    stream->watched = status == 0;
    return status == 0 ? 0 : status == WEIR_ENOMEM ? ENOMEM : ENOTSUP;
}

int stream_open(struct stream *stream, int *out_writer)
{
    int ends[2], error;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return errno;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) {
        error = errno;
        (void)close(ends[0]);
        (void)close(ends[1]);
        return error;
    }
    stream->descriptor = ends[0];
    *out_writer = ends[1];
    return 0;
}

void stream_close(struct weir_self *self, struct stream *stream)
{
    if (stream->watched)
        (void)weir_unwatch(self, stream->watch);
    if (stream->descriptor >= 0)
        (void)close(stream->descriptor);
    stream_init(stream);
}

void stream_fired(struct stream *stream)
{
    stream->watched = false;
}

ssize_t stream_read(const struct stream *stream, void *to, size_t size)
{
    ssize_t got;

    if (stream->descriptor < 0)
        return 0;
    do
        got = read(stream->descriptor, to, size);
    while (got < 0 && errno == EINTR);
    return got < 0 && errno != EAGAIN ? 0 : got;
}
