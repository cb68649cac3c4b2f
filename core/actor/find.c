/* SPDX-License-Identifier: MIT */
#include "actor/find.h"

struct router *actor_find_router(struct runtime *runtime, weir_pid pid)
{
    struct actor *actor;

    /* The router is freed a grace period after the word was ended. */
    return actor_find_alive(runtime, pid, &actor) == 0 ? actor->router : NULL;
}
