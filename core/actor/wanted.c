/* SPDX-License-Identifier: MIT */
#include "actor/wanted.h"

#include "actor/group.h"
#include "actor/request.h"
#include "actor/runtime.h"
#include "message/packed.h"

static const struct group *group_of_any(const struct message *message)
{
    if (packed_is(message))
        return (const struct group *)(uintptr_t)packed_group(message);
    return group_of(message);
}

static int status_of_group(const struct group *group)
{
    return group && group_is_cancelled(group) ? WEIR_ECANCELLED : 0;
}

/* Most workers have no such list. */
static bool is_poison(const struct actor *actor, const struct message *message)
{
    return actor->spec && actor->spec->poison &&
           !(message->public.reserved & MESSAGE_OUTSIDE_LEDGER) &&
           spec_crashes_of(actor->spec, message_identity(message)) > 0;
}

int wanted_begin(struct actor *actor, const struct message *message)
{
    if (is_poison(actor, message))
        return WEIR_EREJECTED;
    return message->public.kind == WEIR_REQUEST ? request_begin(actor, message)
                                                : status_of_group(group_of(message));
}

int wanted_status_of(struct runtime *runtime, struct executor *executor,
                     const struct message *message)
{
    if (!packed_is(message) && message->public.kind == WEIR_REQUEST)
        return request_why_given_up(runtime, executor, message);
    return status_of_group(group_of_any(message));
}

bool wanted_may_end(const struct message *message)
{
    return message->public.kind == WEIR_REQUEST || group_of(message);
}

uint64_t wanted_changes(const struct runtime *runtime)
{
    /* Relaxed: a group that is cancelled at the same time is seen at the next look. */
    return request_given_up_so_far(runtime) +
           atomic_load_explicit(&runtime->groups.cancels, memory_order_relaxed);
}

/* The worker is to stop after its present message, or the runtime ends. */
static bool is_stopped(struct actor *actor)
{
    /* Relaxed: a handler that asks a moment too early asks again. The signals stay until the
     * present callback has returned. */
    uint16_t signals = atomic_load_explicit(&actor->mailbox.signals, memory_order_relaxed);

    return (signals & (SIGNAL_STOP | SIGNAL_KILL)) ||
           atomic_load_explicit(&actor->dispatcher->stopping, memory_order_relaxed);
}

uint64_t wanted_time_left_ms(struct actor *actor, const struct message *message)
{
    const struct group *group = group_of(message);

    if (is_stopped(actor) || (group && group_is_cancelled(group)))
        return 0;
    return request_time_left_ms(actor, message);
}
