#include "actor/find.h"

#include "actor/runtime.h"

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
