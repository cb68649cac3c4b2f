/* SPDX-License-Identifier: MIT */
/*
 * command/attempts.h - how long a client tries again while a pool of the host has no room: first
 * after a millisecond, then less and less often, until its time is over.
 */
#ifndef HOST_COMMAND_ATTEMPTS_H
#define HOST_COMMAND_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "host/command/command.h"
#include "host/command/exchange.h"

/* as the usual `open_timeout`: a host that restarts its workers has room */
#define ATTEMPTS_USUAL_MS 30000u

struct attempts {
    uint64_t due_ns;
    uint32_t wait_ms; /* before the next attempt */
};

/* Reads the argument of --timeout. COMMAND_GO_ON or an exit code. */
int attempts_parse_timeout(const struct invocation *invocation, const char *text, uint64_t *out_ms);

/* The whole time-out, for the next message. */
void attempts_begin(struct attempts *attempts, uint64_t timeout_ms);

/* The rest of the time-out. */
uint64_t attempts_left_ms(const struct attempts *attempts);

/* Pauses before another attempt. False: the answer is not that there is no room now, or the time is
 * over. */
bool attempts_pause(struct attempts *attempts, const struct answer *answer);

#endif
