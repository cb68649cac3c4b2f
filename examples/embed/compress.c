/* SPDX-License-Identifier: MIT */
#include "compress.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "job.h"

#define BLOCK_SIZE 65536
#define GZIP_WINDOW (15 + 16) /* asks zlib for a gzip header */

struct state {
    const struct job_settings *settings;
    z_stream stream;
    unsigned char in[BLOCK_SIZE];
    unsigned char out[BLOCK_SIZE];
};

void job_packed_name(const struct job *job, int part, char out[JOB_PACKED_MAX])
{
    (void)snprintf(out, JOB_PACKED_MAX, "%s.gz%s", job->name, part ? ".part" : "");
}

static int open_worker(struct weir_self *self, const void *settings, void *state_)
{
    struct state *state = state_;

    (void)self;
    state->settings = settings;
    if (deflateInit2(&state->stream, state->settings->level, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return WEIR_ENOMEM;
    return 0;
}

static int write_all(int fd, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Gives zlib the block in state->in, and writes the output. -1: see errno. */
static int deflate_block(struct state *state, size_t size, int flush, int fd, struct job *job)
{
    state->stream.next_in = state->in;
    state->stream.avail_in = (uInt)size;
    do {
        size_t made;

        state->stream.next_out = state->out;
        state->stream.avail_out = BLOCK_SIZE;
        (void)deflate(&state->stream, flush);
        made = BLOCK_SIZE - state->stream.avail_out;
        if (write_all(fd, state->out, made) != 0)
            return -1;
        job->packed_size += made;
    } while (state->stream.avail_out == 0);
    return 0;
}

static int compress_file(struct state *state, int from, int to, struct job *job)
{
    ssize_t size;

    job->crc = (uint32_t)crc32(0, NULL, 0);
    (void)deflateReset(&state->stream);
    do {
        size = read(from, state->in, BLOCK_SIZE);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return -1;
        job->crc = (uint32_t)crc32(job->crc, state->in, (uInt)size);
        job->size += (uint64_t)size;
        if (deflate_block(state, (size_t)size, size ? Z_NO_FLUSH : Z_FINISH, to, job) != 0)
            return -1;
    } while (size != 0);
    return 0;
}

static int compress_named(struct state *state, struct job *job)
{
    char packed[JOB_PACKED_MAX];
    int from = openat(state->settings->from, job->name, O_RDONLY | O_CLOEXEC);
    int status = -1;
    int to;

    if (from < 0)
        return -1;
    job_packed_name(job, 1, packed);
    to = openat(state->settings->to, packed, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (to >= 0) {
        status = compress_file(state, from, to, job);
        if (close(to) != 0)
            status = -1;
    }
    (void)close(from);
    return status;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *next = weir_message_new(self, message->tag, sizeof(struct job));
    struct job *job;

    if (!next)
        return WEIR_RETRY; /* no memory: try again */
    job = next->data;
    memcpy(job, message->data, sizeof *job);
    job->size = job->packed_size = 0;
    if (compress_named(state, job) != 0) {
        weir_reason(self, "%s", strerror(errno));
        weir_log(self, WEIR_LOG_ERROR, "cannot pack", weir_str("file", job->name),
                 weir_str("reason", strerror(errno)));
        weir_message_free(self, next);
        return WEIR_REJECT;
    }
    if (weir_emit(self, 0, next) != 0) {
        weir_message_free(self, next);
        return WEIR_REJECT;
    }
    return WEIR_DONE;
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    (void)self;
    (void)reason;
    (void)deflateEnd(&((struct state *)state)->stream);
}

const struct weir_behaviour compress_behaviour = {
    .name = "compress",
    .summary = "reads a file and writes it compressed",
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING,
    .open = open_worker,
    .handle = handle,
    .close = close_worker,
};
