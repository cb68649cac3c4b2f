/* SPDX-License-Identifier: MIT */
/*
 * command/room_wait.h - how long a client tries again while a pool of the host has no room: first
 * after a millisecond, then less and less often, until its time is over.
 */
#ifndef HOST_COMMAND_ROOM_WAIT_H
#define HOST_COMMAND_ROOM_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/command/command.h"
#include "host/command/exchange.h"

/* as the usual `open_timeout`: a host that restarts its workers has room */
#define ROOM_WAIT_USUAL_MS 30000u

struct room_wait {
    uint64_t due_ns;
    uint32_t pause_ms; /* before the next try */
};

/* Reads the argument of --timeout. COMMAND_GO_ON or an exit code. */
int room_wait_parse(const struct invocation *invocation, const char *text, uint64_t *out_ms);

/* The whole time-out, for the next message. */
void room_wait_begin(struct room_wait *wait, uint64_t timeout_ms);

/* The rest of the time-out. */
uint64_t room_wait_left_ms(const struct room_wait *wait);

/* Pauses before another try. False: the answer is not that there is no room now, or the time is
 * over. */
bool room_wait_pause(struct room_wait *wait, const struct answer *answer);

#endif
