/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "job.h"

#define BLOCK_SIZE 65536

struct state {
    const struct job_settings *settings;
    unsigned char block[BLOCK_SIZE];
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct state *)state)->settings = settings;
    return 0;
}

/* True when the gzip file unpacks to the original bytes. Takes the descriptor. */
static int is_right(struct state *state, int fd, const struct job *job)
{
    uint32_t crc = (uint32_t)crc32(0, NULL, 0);
    gzFile file = gzdopen(fd, "rb");
    uint64_t size = 0;
    int got;

    if (!file) {
        (void)close(fd);
        return 0;
    }
    while ((got = gzread(file, state->block, BLOCK_SIZE)) > 0) {
        crc = (uint32_t)crc32(crc, state->block, (uInt)got);
        size += (uint64_t)got;
    }
    return gzclose(file) == Z_OK && got == 0 && crc == job->crc && size == job->size;
}

/* Renames the file to its final name, or removes it. */
static int verify(struct state *state, const struct job *job)
{
    char part[JOB_PACKED_MAX];
    char whole[JOB_PACKED_MAX];
    int to = state->settings->to;
    int fd;

    job_packed_name(job, 1, part);
    job_packed_name(job, 0, whole);
    fd = openat(to, part, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && is_right(state, fd, job) && renameat(to, part, to, whole) == 0)
        return 1;
    (void)unlinkat(to, part, 0);
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct job *job = message->data;
    struct weir_message *next = weir_message_new(self, message->tag, sizeof *job);

    if (!next)
        return WEIR_RETRY; /* no memory: try again */
    memcpy(next->data, job, sizeof *job);
    if (verify(state, job) && weir_emit(self, 0, next) == 0)
        return WEIR_DONE;
    weir_reason(self, "not as it was");
    weir_log(self, WEIR_LOG_ERROR, "packed file is not right", weir_str("file", job->name));
    weir_message_free(self, next);
    return WEIR_REJECT;
}

const struct weir_behaviour verify_behaviour = {
    .name = "verify",
    .summary = "unpacks the written file and compares",
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING,
    .open = open_worker,
    .handle = handle,
};
