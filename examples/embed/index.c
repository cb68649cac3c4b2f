/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"

struct state {
    const struct job_settings *settings;
    struct job *jobs;
    size_t count;
    size_t capacity;
};

static int open_actor(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct state *)state)->settings = settings;
    return 0;
}

static int handle(struct weir_self *self, void *state_, const struct weir_message *message)
{
    struct state *state = state_;

    if (state->count == state->capacity) {
        size_t capacity = state->capacity ? state->capacity * 2 : 64;
        struct job *jobs = realloc(state->jobs, capacity * sizeof *jobs);

        if (!jobs) {
            weir_retry_after(self, 100);
            return WEIR_RETRY;
        }
        state->jobs = jobs;
        state->capacity = capacity;
    }
    memcpy(&state->jobs[state->count++], message->data, sizeof *state->jobs);
    return WEIR_DONE;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct job *)a)->name, ((const struct job *)b)->name);
}

static void write_line(FILE *file, const struct job *job)
{
    (void)fprintf(file, "%08" PRIx32 " %" PRIu64 " %" PRIu64 " ", job->crc, job->size,
                  job->packed_size);
    for (const char *p = job->name; *p; p++) {
        if (*p == '\\')
            (void)fputs("\\\\", file);
        else if (*p == '\n')
            (void)fputs("\\n", file);
        else
            (void)fputc(*p, file);
    }
    (void)fputc('\n', file);
}

/* Writes a new file and renames it, so that there is a whole index at any time. */
static int write_index(struct state *state)
{
    int to = state->settings->to;
    int fd = openat(to, "index.part", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    int is_broken;

    if (!file) {
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    if (state->count > 0)
        qsort(state->jobs, state->count, sizeof *state->jobs, by_name);
    for (size_t i = 0; i < state->count; i++)
        write_line(file, &state->jobs[i]);
    is_broken = ferror(file);
    if (fclose(file) != 0 || is_broken)
        return -1;
    return renameat(to, "index.part", to, "index");
}

static void close_actor(struct weir_self *self, void *state_, int reason)
{
    struct state *state = state_;

    (void)reason;
    if (write_index(state) != 0) {
        weir_log(self, WEIR_LOG_ERROR, "cannot write the index");
        weir_exit_status(self, 1);
    }
    free(state->jobs);
}

const struct weir_behaviour index_behaviour = {
    .name = "index",
    .summary = "collects the packed files, and writes the index",
    .state_size = sizeof(struct state),
    .flags = WEIR_BLOCKING,
    .open = open_actor,
    .handle = handle,
    .close = close_actor,
};
