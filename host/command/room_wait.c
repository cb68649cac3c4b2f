/* SPDX-License-Identifier: MIT */
#include "host/command/room_wait.h"

#include <poll.h>

#include "base/clock.h"
#include "base/text.h"
#include "host/control/http.h"
#include "host/pages/message_routes.h"

#define PAUSE_MIN_MS 1u
#define PAUSE_MAX_MS 50u /* people do not see it, and a waiting client costs the host nothing */
#define NS_PER_MS UINT64_C(1000000)

int room_wait_parse(const struct invocation *invocation, const char *text, uint64_t *out_ms)
{
    if (text_parse_duration(text, out_ms) == TEXT_OK && *out_ms <= MESSAGE_ROUTES_TIMEOUT_MAX_MS)
        return COMMAND_GO_ON;
    return command_usage_error(
        invocation, "--timeout is a time such as 500ms or 30s, at most 1h, not %s", text);
}

void room_wait_begin(struct room_wait *wait, uint64_t timeout_ms)
{
    struct clock clock = clock_monotonic();

    wait->due_ns = clock_after_ms(&clock, timeout_ms);
    wait->pause_ms = PAUSE_MIN_MS;
}

uint64_t room_wait_left_ms(const struct room_wait *wait)
{
    struct clock clock = clock_monotonic();
    uint64_t now_ns = clock_now_ns(&clock);

    return now_ns < wait->due_ns ? (wait->due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
}

bool room_wait_pause(struct room_wait *wait, const struct answer *answer)
{
    uint64_t left_ms = room_wait_left_ms(wait);
    uint32_t wait_ms = wait->pause_ms;

    if (answer->status != HTTP_STATUS_SERVICE_UNAVAILABLE || left_ms == 0)
        return false;
    (void)poll(NULL, 0, (int)(left_ms < wait_ms ? left_ms : wait_ms));
    wait->pause_ms = 2 * wait_ms < PAUSE_MAX_MS ? 2 * wait_ms : PAUSE_MAX_MS;
    return true;
}
