/* SPDX-License-Identifier: MIT */
#include "unit/host/window_process.h"

#include <unistd.h>

/* The next frame that is no message. Without a host the process ends. */
struct channel_frame listen_for(struct process *process, uint32_t kind)
{
    struct channel_frame frame = { 0 };

    while (frame.kind != kind) {
        if (channel_receive(&process->channel, &frame) != WEIR_OK)
            _exit(1);
        if (frame.kind == DIALOGUE_HANDLE && process->came < COUNT)
            process->numbers[process->came++] = frame.number;
    }
    return frame;
}

/* The number of the next message. */
uint64_t take(struct process *process)
{
    while (process->next == process->came)
        (void)listen_for(process, DIALOGUE_HANDLE);
    return process->numbers[process->next++];
}

void say(struct process *process, uint32_t kind, uint64_t number, int verdict)
{
    struct parcel out = { 0 };

    parcel_number(&out, (uint64_t)(int64_t)verdict);
    parcel_number(&out, 1000); /* nanoseconds */
    (void)channel_send(&process->channel, kind, number, &out);
    parcel_finish(&out);
}

uint64_t begin(struct process *process)
{
    uint64_t number = take(process);

    segment_begin_number(&process->channel.end, number);
    return number;
}

void end_next(struct process *process, int verdict)
{
    say(process, DIALOGUE_RETURN, begin(process), verdict);
}

/* Makes a call, and returns its status. */
int call(struct process *process, uint32_t kind, const struct parcel *arguments)
{
    struct channel_frame answer;

    (void)channel_send(&process->channel, kind, 0, arguments);
    answer = listen_for(process, DIALOGUE_ANSWER);
    return (int)(int64_t)unparcel_number(&answer.content);
}

void leave_untouched(struct process *process)
{
    while (process->next < COUNT)
        say(process, DIALOGUE_UNTOUCHED, take(process), 0);
}
