/* SPDX-License-Identifier: MIT */
/*
 * unit/host/window_process.h - what the process of an isolated worker says, for tests of its host.
 */
#ifndef UNIT_HOST_WINDOW_PROCESS_H
#define UNIT_HOST_WINDOW_PROCESS_H

#include <weir/plugin.h>

#include "host/isolation/channel.h"
#include "host/isolation/dialogue.h"

#define COUNT 6u

struct process {
    struct channel channel;
    uint64_t numbers[COUNT]; /* of the messages that came, in order */
    uint32_t came;
    uint32_t next; /* the first one that `take` has not returned */
};

/* The next frame of the kind. Messages before it are noted. Without a host the process ends. */
struct channel_frame listen_for(struct process *process, uint32_t kind);
/* The number of the next message. */
uint64_t take(struct process *process);
/* As `take`, and says that it begins the message. */
uint64_t begin(struct process *process);

/* A verdict, or that a message is untouched. */
void say(struct process *process, uint32_t kind, uint64_t number, int verdict);
void end_next(struct process *process, int verdict);
/* All others of COUNT. */
void leave_untouched(struct process *process);
/* Makes a call, and returns its status. */
int call(struct process *process, uint32_t kind, const struct parcel *arguments);

#endif
