/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker_ahead.h"

#include <stdlib.h>

#include "base/clock.h"
#include "host/isolation/worker_crash.h"
#include "host/isolation/worker_messages.h"

static int handle(struct worker *worker, uint64_t number, struct worker_message *message)
{
    int verdict;

    segment_begin_number(&worker->channel.end, number);
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

int worker_lacks_memory(struct worker *worker, uint64_t number)
{
    segment_begin_number(&worker->channel.end, number);
    channel_cry(worker->channel.bell);
    return WEIR_ENOMEM;
}

int worker_run_message(struct worker *worker, uint64_t number, struct unparcel *from)
{
    struct clock clock = clock_monotonic();
    uint64_t began_ns = clock_now_ns(&clock), ended_ns;
    struct worker_message *message;
    int verdict;

    if (unparcel_number(from)) /* the first one of a window */
        worker->stops = false;
    if (worker->stops || segment_recalled(&worker->channel.end) >= number) {
        parcel_clear(&worker->out);
        return channel_post(&worker->channel, DIALOGUE_UNTOUCHED, number, &worker->out, began_ns);
    }
    message = worker_unpack_message(worker, from);
    if (!message)
        return worker_lacks_memory(worker, number);
    verdict = handle(worker, number, message);
    worker->stops = worker->stops || dialogue_host_decides(verdict);
    ended_ns = clock_now_ns(&clock);
    parcel_clear(&worker->out);
    parcel_number(&worker->out, (uint64_t)(int64_t)verdict);
    parcel_number(&worker->out, ended_ns - began_ns);
    return channel_post(&worker->channel, DIALOGUE_RETURN, number, &worker->out, ended_ns);
}

int worker_run_ahead(struct worker *worker)
{
    struct worker_ahead ahead = worker->ahead[worker->ahead_first];
    struct unparcel from = unparcel_of(ahead.bytes, ahead.size);
    int status;

    worker->ahead_first = (worker->ahead_first + 1) % DIALOGUE_WINDOW_MAX;
    worker->ahead_count--;
    status = worker_run_message(worker, ahead.number, &from);
    free(ahead.bytes);
    return status;
}
