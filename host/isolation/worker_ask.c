/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker_ask.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/isolation/dialogue.h"

static struct worker *worker_of(struct weir_self *self)
{
    return (struct worker *)self;
}

struct parcel *worker_begin(struct weir_self *self)
{
    struct worker *worker = worker_of(self);

    parcel_clear(&worker->out);
    return &worker->out;
}

/* The host gave a message ahead of the answer. */
static void queue(struct worker *worker, const struct channel_frame *frame)
{
    struct worker_ahead *ahead;
    size_t size = (size_t)(frame->content.end - frame->content.at);

    if (worker->ahead_count == DIALOGUE_WINDOW_MAX)
        _exit(EXIT_FAILURE); /* no host of ours gives more */
    ahead = &worker->ahead[(worker->ahead_first + worker->ahead_count++) % DIALOGUE_WINDOW_MAX];
    *ahead = (struct worker_ahead){ .number = frame->number, .bytes = malloc(size + 1) };
    if (!ahead->bytes)
        return;
    memcpy(ahead->bytes, frame->content.at, size);
    ahead->size = size;
}

/* Makes the call whose arguments were packed. Returns its status; `*from` is the rest of the
 * answer. Without a host the process ends. */
int worker_ask(struct weir_self *self, int call, struct unparcel *from)
{
    struct worker *worker = worker_of(self);
    struct channel_frame frame = { 0 };
    int status = channel_send(&worker->channel, (uint32_t)call, 0, &worker->out);

    if (status == WEIR_ENOMEM)
        return status;
    if (status == WEIR_OK)
        status = channel_receive(&worker->channel, &frame);
    while (status == WEIR_OK && frame.kind == DIALOGUE_HANDLE) {
        queue(worker, &frame);
        status = channel_receive(&worker->channel, &frame);
    }
    if (status != WEIR_OK || frame.kind != DIALOGUE_ANSWER)
        _exit(EXIT_FAILURE);
    *from = frame.content;
    return (int)(int64_t)unparcel_number(from);
}

int worker_ask_status(struct weir_self *self, int call)
{
    struct unparcel from;

    return worker_ask(self, call, &from);
}

/* Writes the number of the answer on success. */
int worker_ask_number(struct weir_self *self, int call, uint64_t *out)
{
    struct unparcel from;
    int status = worker_ask(self, call, &from);

    if (status >= 0 && out)
        *out = unparcel_number(&from);
    return status;
}

int worker_ask_with(struct weir_self *self, int call, uint64_t first)
{
    parcel_number(worker_begin(self), first);
    return worker_ask_status(self, call);
}
