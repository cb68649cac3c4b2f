/* SPDX-License-Identifier: MIT */
#include "actor/spawn.h"

#include <string.h>

#include "actor/lifecycle.h"
#include "actor/place.h"
#include "actor/runtime.h"
#include "dispatch/shares.h"

/* Zeroes everything after the mailbox, and gives the slot its next PID. */
static void clear(struct actor *actor, uint32_t serial)
{
    uint32_t slot = (uint32_t)actor->pid;
    char *begin = (char *)&actor->flags;

    memset(begin, 0, (size_t)((char *)(actor + 1) - begin));
    actor->pid = (weir_pid)serial << 32 | slot;
}

int actor_create(struct runtime *runtime, struct executor *executor,
                 const struct actor_options *options, struct actor **out)
{
    uint32_t serial;
    struct actor *actor = slots_take(&runtime->slots, &executor->slots, &serial);

    if (!actor)
        return WEIR_ENOMEM;
    clear(actor, serial);
    actor->self.host = runtime->host;
    actor->schedulable.run = runtime->turn;
    actor->runtime = runtime;
    actor->dispatcher = options->dispatcher;
    actor->spec = options->spec ? spec_ref(options->spec) : NULL;
    actor->place = options->place;
    actor->router = options->router;
    actor->kind = (uint8_t)options->kind;
    atomic_init(&actor->state, ACTOR_STARTING);
    if (actor->place)
        actor->place->actor = actor;
    mailbox_init(&actor->mailbox, serial, options->limit);
    if (options->bytes_limit)
        mailbox_set_bytes_limit(&actor->mailbox, options->bytes_limit);
    dispatcher_begin_user(actor->dispatcher, executor);
    if (actor->spec && actor->spec->behaviour->flags & WEIR_BLOCKING)
        shares_set_on(actor->dispatcher);
    *out = actor;
    return 0;
}

struct dispatcher *actor_runs_on(const struct actor *actor)
{
    bool opens_apart = actor->place && actor->place->opener && actor->spec &&
                       actor_state(actor) == ACTOR_STARTING;

    return opens_apart ? actor->place->opener : actor->dispatcher;
}

void actor_begin(struct actor *actor, struct executor *executor)
{
    executor_submit_spawned(executor, actor_runs_on(actor), &actor->schedulable);
}

int actor_spawn(struct runtime *runtime, struct executor *executor,
                const struct actor_options *options, struct actor **out)
{
    int status = actor_create(runtime, executor, options, out);

    if (status == 0)
        actor_begin(*out, executor);
    return status;
}
