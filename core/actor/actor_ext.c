#include "actor/actor_ext.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/alarm.h"
#include "actor/backlog.h"
#include "actor/deadlines.h"
#include "actor/events.h"
#include "actor/kept.h"
#include "actor/leave.h"
#include "actor/link.h"
#include "actor/place.h"
#include "actor/port.h"
#include "actor/printing.h"
#include "actor/request.h"
#include "actor/restart.h"
#include "actor/runtime.h"
#include "actor/watched.h"

#define DUE_MAX 32 /* callbacks in one step: the messages of a turn */

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

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t run_due(struct actor *actor, uint64_t now_ns)
{
    struct deadline due;
    uint32_t count = 0;

    while (count < DUE_MAX && deadlines_take_due(actor->ext, now_ns, &due)) {
        if (due.kind == DEADLINE_REQUEST)
            request_time(actor, due.index);
        else
            alarm_time(actor, due.index, now_ns);
        count++;
    }
    return count;
}

uint32_t actor_ext_time(struct actor *actor)
{
    uint64_t now = executor_look_at_clock(actor->executor);
    uint64_t next;
    uint32_t count;

    if (!actor->ext)
        return 0;
    actor->ext->armed_ns = TIMER_NEVER;
    count = run_due(actor, now);
    if (deadlines_next(actor->ext) <= now)
        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), actor->executor, SIGNAL_TIME);
    next = earlier(deadlines_next(actor->ext), backlog_time(actor, now));
    next = earlier(next, restart_time(actor, now));
    next = earlier(next, leave_time(actor, now));
    next = earlier(next, printing_time(actor, now));
    next = earlier(next, kept_time(actor, now));
    if (next != TIMER_NEVER)
        actor_ext_arm(actor, next);
    return count;
}

void actor_ext_end_incarnation(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    if (!ext)
        return;
    request_drop_all(actor);
    alarm_drop_all(actor);
    watched_end_all(actor);
    link_withdraw_monitors(actor);
    if (ext->has_names)
        names_remove_claims(&actor->runtime->names, actor_pid(actor), &actor->executor->reader);
    ext->has_names = false;
    port_close(ext->port);
    ext->port = NULL;
    if (ext->has_events)
        events_forget(actor->runtime, actor->executor, actor_pid(actor));
    ext->has_events = false;
    ext->life++;
    ext->origins_open = 0;
}

void actor_ext_destroy(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    if (!ext)
        return;
    timers_disarm(&actor->dispatcher->timers, &ext->timer);
    timers_release(&actor->dispatcher->timers);
    port_close(ext->port);
    watched_end_all(actor);
    deadlines_finish(&ext->deadlines);
    free(ext->pending);
    free(ext->alarms);
    free(ext->detail);
    free(ext);
    actor->ext = NULL;
}

void actor_ext_set_detail(struct actor *actor, const char *text)
{
    struct actor_ext *ext = actor_ext_get(actor);

    if (!ext)
        return;
    if (!ext->detail)
        ext->detail = malloc(ACTOR_DETAIL_SIZE);
    if (ext->detail)
        (void)snprintf(ext->detail, ACTOR_DETAIL_SIZE, "%s", text);
}
