#include "actor/actor.h"

#include <string.h>

#include "actor/link.h"
#include "actor/place.h"
#include "actor/runtime.h"
#include "actor/settle.h"
#include "actor/slots.h"
#include "actor/turn.h"
#include "message/control_queue.h"

uint32_t actor_serial_of(weir_pid pid)
{
    return (uint32_t)(pid >> 32);
}

struct actor *actor_find(struct runtime *runtime, weir_pid pid)
{
    /* An even serial is that of a free slot: see actor/slots.h. */
    return actor_serial_of(pid) & 1 ? slots_get(&runtime->slots, (uint32_t)pid) : NULL;
}

int actor_find_alive(struct runtime *runtime, weir_pid pid, struct actor **out)
{
    struct actor *actor = actor_find(runtime, pid);
    uint64_t word;

    if (!actor)
        return WEIR_EUNKNOWN;
    /* Acquire pairs with [M0]: the slot's fields belong to this serial. */
    word = atomic_load_explicit(&actor->mailbox.word, memory_order_acquire);
    if (mailbox_serial(word) != actor_serial_of(pid))
        return mailbox_serial(word) < actor_serial_of(pid) ? WEIR_EUNKNOWN : WEIR_ETERMINATED;
    *out = actor;
    return 0;
}

struct router *actor_find_router(struct runtime *runtime, weir_pid pid)
{
    struct actor *actor;

    /* The router is freed a grace period after the word was ended. */
    return actor_find_alive(runtime, pid, &actor) == 0 ? actor->router : NULL;
}

const char *actor_path(const struct actor *actor)
{
    return actor->place ? actor->place->path : "";
}

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
    actor->schedulable.run = actor_turn;
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
    mailbox_set_bytes_limit(&actor->mailbox, options->bytes_limit);
    dispatcher_begin_user(actor->dispatcher, executor);
    *out = actor;
    return 0;
}

void actor_begin(struct actor *actor, struct executor *executor)
{
    executor_submit_spawned(executor, actor_runs_on(actor), &actor->schedulable);
}

struct dispatcher *actor_runs_on(const struct actor *actor)
{
    bool opens_apart = actor->place && actor->place->opener && actor->spec &&
                       actor_state(actor) == ACTOR_STARTING;

    return opens_apart ? actor->place->opener : actor->dispatcher;
}

int actor_spawn(struct runtime *runtime, struct executor *executor,
                const struct actor_options *options, struct actor **out)
{
    int status = actor_create(runtime, executor, options, out);

    if (status == 0)
        actor_begin(*out, executor);
    return status;
}

int actor_signal(struct actor *actor, uint32_t serial, struct executor *executor, uint32_t bits)
{
    bool wake;
    int status = control_queue_signal(&actor->mailbox, serial, bits, &wake);

    if (status != 0)
        return status;
    if (wake)
        actor_wake(actor, executor);
    else
        actor_call(actor);
    return 0;
}
