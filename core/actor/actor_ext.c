/* SPDX-License-Identifier: MIT */
#include "actor/actor_ext.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/runtime.h"
#include "base/text.h"

/* Under the lock of the timers; the actor cannot end while its timer is armed. */
static void fire(struct timer *timer, struct executor *executor)
{
    struct actor_ext *ext = (struct actor_ext *)(void *)((char *)timer -
                                                         offsetof(struct actor_ext, timer));
    struct actor *actor = ext->actor;

    (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, SIGNAL_TIME);
}

struct actor_ext *actor_ext_get(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    if (ext)
        return ext;
    ext = calloc(1, sizeof *ext);
    if (!ext)
        return NULL;
    if (timers_reserve(&actor->dispatcher->timers) != 0) {
        free(ext);
        return NULL;
    }
    ext->timer.fire = fire;
    ext->actor = actor;
    ext->armed_ns = TIMER_NEVER;
    actor->ext = ext;
    return ext;
}

void actor_ext_arm(struct actor *actor, uint64_t due_ns)
{
    struct actor_ext *ext = actor->ext;

    if (due_ns >= ext->armed_ns)
        return;
    ext->armed_ns = due_ns;
    dispatcher_arm(actor->dispatcher, &ext->timer, due_ns);
}

void actor_ext_set_detail(struct actor *actor, const char *text)
{
    struct actor_ext *ext = actor_ext_get(actor);
    char whole[256]; /* as in weir_reason */

    if (!ext)
        return;
    if (!ext->detail)
        ext->detail = malloc(ACTOR_DETAIL_SIZE);
    if (!ext->detail)
        return;
    (void)snprintf(whole, sizeof whole, "%s", text);
    /* Here, since it goes to dead letters and their file, to origins, and to requesters; and before
     * the cut, which would leave a part of a secret. */
    log_conceal(&actor->runtime->options.log, whole, sizeof whole);
    (void)snprintf(ext->detail, ACTOR_DETAIL_SIZE, "%.*s", (int)ACTOR_DETAIL_SIZE - 1, whole);
    text_end_at_character(ext->detail); /* `text` may be cut, too */
}
