/* SPDX-License-Identifier: MIT */
#include "host/command/attempts.h"

#include <poll.h>

#include "base/clock.h"
#include "base/text.h"
#include "host/control/http.h"
#include "host/pages/message_routes.h"

#define PAUSE_MIN_MS 1u
#define PAUSE_MAX_MS 50u /* people do not see it, and a waiting client costs the host nothing */
#define NS_PER_MS UINT64_C(1000000)

int attempts_parse_timeout(const struct invocation *invocation, const char *text, uint64_t *out_ms)
{
    if (text_parse_duration(text, out_ms) == TEXT_OK && *out_ms <= MESSAGE_ROUTES_TIMEOUT_MAX_MS)
        return COMMAND_GO_ON;
    return command_usage_error(
        invocation, "--timeout is a time such as 500ms or 30s, at most 1h, not %s", text);
}

void attempts_begin(struct attempts *attempts, uint64_t timeout_ms)
{
    struct clock clock = clock_monotonic();

    attempts->due_ns = clock_after_ms(&clock, timeout_ms);
    attempts->wait_ms = PAUSE_MIN_MS;
}

uint64_t attempts_left_ms(const struct attempts *attempts)
{
    struct clock clock = clock_monotonic();
    uint64_t now_ns = clock_now_ns(&clock);

    return now_ns < attempts->due_ns ? (attempts->due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
}

bool attempts_pause(struct attempts *attempts, const struct answer *answer)
{
    uint64_t left_ms = attempts_left_ms(attempts);
    uint32_t wait_ms = attempts->wait_ms;

    if (answer->status != HTTP_STATUS_SERVICE_UNAVAILABLE || left_ms == 0)
        return false;
    (void)poll(NULL, 0, (int)(left_ms < wait_ms ? left_ms : wait_ms));
    attempts->wait_ms = 2 * wait_ms < PAUSE_MAX_MS ? 2 * wait_ms : PAUSE_MAX_MS;
    return true;
}
