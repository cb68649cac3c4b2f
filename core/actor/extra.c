#include "actor/extra.h"

#include <stdio.h>
#include <stdlib.h>

#include "actor/alarm.h"
#include "actor/backlog.h"
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
    struct extra *extra = (struct extra *)(void *)((char *)timer - offsetof(struct extra, timer));
    struct actor *actor = extra->actor;

    (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), executor, SIGNAL_TIME);
}

struct extra *extra_get(struct actor *actor)
{
    struct extra *extra = actor->extra;

    if (extra)
        return extra;
    extra = calloc(1, sizeof *extra);
    if (!extra)
        return NULL;
    if (timers_reserve(&actor->dispatcher->timers) != 0) {
        free(extra);
        return NULL;
    }
    extra->timer.fire = fire;
    extra->actor = actor;
    extra->armed_ns = TIMER_NEVER;
    actor->extra = extra;
    return extra;
}

void extra_arm(struct actor *actor, uint64_t due_ns)
{
    struct extra *extra = actor->extra;

    if (due_ns >= extra->armed_ns)
        return;
    extra->armed_ns = due_ns;
    dispatcher_arm(actor->dispatcher, &extra->timer, due_ns);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint32_t run_due(struct actor *actor, uint64_t now_ns)
{
    struct deadline due;
    uint32_t count = 0;

    while (count < DUE_MAX && deadlines_take_due(actor->extra, now_ns, &due)) {
        if (due.kind == DEADLINE_REQUEST)
            request_time(actor, due.index);
        else
            alarm_time(actor, due.index, now_ns);
        count++;
    }
    return count;
}

uint32_t extra_time(struct actor *actor)
{
    uint64_t now = executor_look_at_clock(actor->executor);
    uint64_t next;
    uint32_t count;

    if (!actor->extra)
        return 0;
    actor->extra->armed_ns = TIMER_NEVER;
    count = run_due(actor, now);
    if (deadlines_next(actor->extra) <= now)
        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), actor->executor, SIGNAL_TIME);
    next = earlier(deadlines_next(actor->extra), backlog_time(actor, now));
    next = earlier(next, restart_time(actor, now));
    next = earlier(next, leave_time(actor, now));
    next = earlier(next, printing_time(actor, now));
    next = earlier(next, kept_time(actor, now));
    if (next != TIMER_NEVER)
        extra_arm(actor, next);
    return count;
}

void extra_end_incarnation(struct actor *actor)
{
    struct extra *extra = actor->extra;

    if (!extra)
        return;
    request_drop_all(actor);
    alarm_drop_all(actor);
    watched_end_all(actor);
    link_withdraw_monitors(actor);
    if (extra->has_names)
        names_remove_claims(&actor->runtime->names, actor_pid(actor), &actor->executor->reader);
    extra->has_names = false;
    port_close(extra->port);
    extra->port = NULL;
    if (extra->has_events)
        events_forget(actor->runtime, actor->executor, actor_pid(actor));
    extra->has_events = false;
    extra->life++;
    extra->origins_open = 0;
}

void extra_destroy(struct actor *actor)
{
    struct extra *extra = actor->extra;

    if (!extra)
        return;
    timers_disarm(&actor->dispatcher->timers, &extra->timer);
    timers_release(&actor->dispatcher->timers);
    port_close(extra->port);
    watched_end_all(actor);
    deadlines_finish(&extra->deadlines);
    free(extra->pending);
    free(extra->alarms);
    free(extra->detail);
    free(extra);
    actor->extra = NULL;
}

void extra_set_detail(struct actor *actor, const char *text)
{
    struct extra *extra = extra_get(actor);

    if (!extra)
        return;
    if (!extra->detail)
        extra->detail = malloc(ACTOR_DETAIL_SIZE);
    if (extra->detail)
        (void)snprintf(extra->detail, ACTOR_DETAIL_SIZE, "%s", text);
}
