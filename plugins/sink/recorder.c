/* SPDX-License-Identifier: MIT */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/output_file.h>
#include <weir/status.h>

#define LINE_SIZE 24u /* 20 digits, the line end and a NUL fit */

static int open_file(const char *path)
{
    return weir_output_open(path, 0644);
}

int recorder_init(struct recorder *recorder, const char *path, uint32_t batch)
{
    *recorder = (struct recorder){ .descriptor = -1, .batch = batch };
    recorder->buffer = malloc(RECORDER_SIZE);
    if (!recorder->buffer)
        return WEIR_ENOMEM;
    recorder->descriptor = open_file(path);
    if (recorder->descriptor >= 0)
        return 0;
    recorder->error = errno;
    recorder_finish(recorder);
    return WEIR_EINVALID;
}

void recorder_finish(struct recorder *recorder)
{
    if (recorder->descriptor >= 0)
        (void)close(recorder->descriptor);
    recorder->descriptor = -1;
    free(recorder->buffer);
    recorder->buffer = NULL;
}

static ssize_t append(const struct recorder *recorder)
{
    ssize_t written;

    do
        written = write(recorder->descriptor, recorder->buffer, recorder->size);
    while (written < 0 && errno == EINTR);
    return written;
}

int recorder_flush(struct recorder *recorder)
{
    while (recorder->size > 0) {
        ssize_t written = append(recorder);

        if (written < 0) {
            recorder->error = errno;
            return WEIR_EINVALID;
        }
        recorder->size -= (size_t)written;
        memmove(recorder->buffer, recorder->buffer + written, recorder->size);
    }
    recorder->lines = 0;
    return 0;
}

int recorder_reopen(struct recorder *recorder, const char *path)
{
    int status = recorder_flush(recorder);
    int descriptor = status == 0 ? open_file(path) : -1;

    if (status == 0 && descriptor < 0) {
        recorder->error = errno;
        status = WEIR_EINVALID;
    }
    if (status != 0)
        return status;
    (void)close(recorder->descriptor);
    recorder->descriptor = descriptor;
    return 0;
}

int recorder_add(struct recorder *recorder, uint64_t number)
{
    bool full = recorder->size + LINE_SIZE > RECORDER_SIZE;
    int status = full ? recorder_flush(recorder) : 0;

    if (status < 0)
        return status;
    recorder->size += (size_t)snprintf(recorder->buffer + recorder->size, LINE_SIZE,
                                       "%" PRIu64 "\n", number);
    recorder->lines++;
    return recorder->lines >= recorder->batch ? recorder_flush(recorder) : 0;
}
