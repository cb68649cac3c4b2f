/* SPDX-License-Identifier: MIT */
#include "actor/due.h"

#include "actor/alarm.h"
#include "actor/backlog.h"
#include "actor/deadlines.h"
#include "actor/hand_back.h"
#include "actor/kept.h"
#include "actor/lease_turn.h"
#include "actor/leave.h"
#include "actor/newcomer.h"
#include "actor/printing.h"
#include "actor/request.h"
#include "actor/restart.h"
#include "actor/unwelcome.h"

#define DUE_MAX 32 /* callbacks in one step: the messages of a turn */

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

uint32_t due_run(struct actor *actor)
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
    next = earlier(deadlines_next(actor->ext), backlog_time(actor, now, unwelcome_drop));
    next = earlier(next, restart_time(actor, now));
    lease_leave_time(actor, now);
    next = earlier(next, leave_time(actor, now));
    hand_back_time(actor); /* after the retries that are due, and arms its own timer */
    next = earlier(next, printing_time(actor, now));
    next = earlier(next, kept_time(actor, now));
    next = earlier(next, lease_time(actor, now));
    next = earlier(next, lease_unsent_time(actor, now)); /* that may have ended the incarnation */
    next = earlier(next, newcomer_time(actor, now));
    if (next != TIMER_NEVER)
        actor_ext_arm(actor, next);
    return count;
}
