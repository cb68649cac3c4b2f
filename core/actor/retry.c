/* SPDX-License-Identifier: MIT */
#include "actor/retry.h"

#include "actor/spec.h"

#define NS_PER_MS 1000000u
#define TIME_MAX_MS ((uint64_t)INT32_MAX) /* `tried_ms` goes no further back; no bound is longer */

uint32_t retry_number(const struct weir_message *message)
{
    uint32_t failures = message_failures(message);

    return message->attempt > failures ? message->attempt - failures : 1;
}

/* The whole pause before retry number `retry`, from 1 on. */
static uint64_t pause_of(const struct retry *policy, uint32_t retry)
{
    uint64_t pause = policy->backoff_ms_min;

    while (--retry > 0 && pause < policy->backoff_ms_max)
        pause *= 2;
    return pause < policy->backoff_ms_max ? pause : policy->backoff_ms_max;
}

/* Drawn from the last quarter of a pause. */
static uint64_t draw(struct executor *executor, uint64_t pause)
{
    return pause - executor_random(executor) % (pause / 4 + 1);
}

/* The sum of the pauses before earlier retries. */
static uint64_t time_of_pauses(const struct retry *policy, uint32_t retry)
{
    uint64_t sum = 0;

    for (uint32_t i = 1; i < retry; i++) {
        if (pause_of(policy, i) == policy->backoff_ms_max) { /* as are all that follow */
            sum += (retry - i) * policy->backoff_ms_max;
            break;
        }
        sum += pause_of(policy, i);
    }
    return sum < TIME_MAX_MS ? sum : TIME_MAX_MS;
}

/* Since the first try of the message ended. */
static uint64_t time_since(struct actor *actor, struct message *message, uint32_t retry)
{
    uint32_t now_ms = (uint32_t)(executor_look_at_clock(actor->executor) / NS_PER_MS);
    uint64_t time;

    if (message->public.reserved & MESSAGE_RETRIED)
        return (uint32_t)(now_ms - message->tried_ms);
    time = time_of_pauses(&actor->spec->retry, retry);
    if (!(message->public.reserved & MESSAGE_LEASED)) {
        message->public.reserved |= MESSAGE_RETRIED;
        message->tried_ms = now_ms - (uint32_t)time;
    }
    return time;
}

bool retry_allows(struct actor *actor, struct message *message, uint64_t *delay_ms)
{
    const struct retry *policy = &actor->spec->retry;
    uint32_t retry = retry_number(&message->public);
    uint64_t pause = draw(actor->executor, pause_of(policy, retry));
    uint64_t time = time_since(actor, message, retry);

    if (*delay_ms < pause)
        *delay_ms = pause;
    return retry <= policy->max && (policy->for_ms == 0 || time + *delay_ms <= policy->for_ms);
}
