/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker_ahead.h"

#include <stdlib.h>
#include <unistd.h>

#include "host/isolation/worker_crash.h"
#include "host/isolation/worker_messages.h"

void worker_queue(struct worker *worker, struct channel_frame *frame)
{
    struct worker_ahead *ahead;

    if (worker->ahead_count == DIALOGUE_WINDOW_MAX)
        _exit(EXIT_FAILURE); /* no host of ours gives more */
    ahead = &worker->ahead[(worker->ahead_first + worker->ahead_count++) % DIALOGUE_WINDOW_MAX];
    ahead->number = frame->number;
    ahead->is_first = unparcel_number(&frame->content);
    ahead->message = worker_unpack_message(worker, &frame->content);
}

/* The host decides what comes next: about messages that come again first, about the end of the
 * worker, about how many it may keep. */
static bool host_decides(int verdict)
{
    return verdict != WEIR_DONE && verdict != WEIR_RETRY && verdict != WEIR_REJECT;
}

static int handle(struct worker *worker, const struct worker_ahead *ahead)
{
    struct worker_message *message = ahead->message;
    int verdict;

    if (!message)
        return WEIR_POSTPONE; /* memory is out */
    segment_begin_number(&worker->channel.end, ahead->number);
    if (!worker->behaviour->handle) {
        worker_free_message(message);
        return WEIR_REJECT;
    }
    worker_crash_note(DIALOGUE_HANDLE);
    worker_crash_note_message(message);
    verdict = worker->behaviour->handle(&worker->self, worker->state, &message->public);
    worker_crash_note(0);
    if (verdict != WEIR_KEEP || message->is_left)
        worker_free_message(message);
    else if (worker->behaviour->flush)
        worker_add_gathered(worker, message);
    return verdict;
}

int worker_run_ahead(struct worker *worker)
{
    struct worker_ahead ahead = worker->ahead[worker->ahead_first];
    int verdict;

    worker->ahead_first = (worker->ahead_first + 1) % DIALOGUE_WINDOW_MAX;
    worker->ahead_count--;
    if (ahead.is_first)
        worker->stops = false;
    if (worker->stops || segment_recalled(&worker->channel.end) >= ahead.number) {
        worker_free_message(ahead.message);
        parcel_clear(&worker->out);
        return channel_post(&worker->channel, DIALOGUE_UNTOUCHED, ahead.number, &worker->out);
    }
    verdict = handle(worker, &ahead);
    worker->stops = worker->stops || host_decides(verdict);
    parcel_clear(&worker->out);
    parcel_number(&worker->out, (uint64_t)(int64_t)verdict);
    return channel_post(&worker->channel, DIALOGUE_RETURN, ahead.number, &worker->out);
}
