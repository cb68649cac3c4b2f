/* SPDX-License-Identifier: MIT */
/*
 * weir/links.h - links and monitors, and the end of another actor.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply.
 */
#ifndef WEIR_LINKS_H
#define WEIR_LINKS_H

#include "host.h"

/* Links this actor and `other`: when one of them ends, the other one ends too, unless it traps
 * exits. The reasons WEIR_END_NORMAL and WEIR_END_REPLACED do not end the other one.
 * WEIR_ENOMEM. */
WEIR_INLINE int weir_link(struct weir_self *self, weir_pid other)
{
    return self->host->link(self, other);
}

/* Removes a link. 0 also when there is no link. WEIR_ENOMEM. */
WEIR_INLINE int weir_unlink(struct weir_self *self, weir_pid other)
{
    return self->host->unlink(self, other);
}

/* Monitors `other`: this actor gets one WEIR_DOWN message when the incarnation of `other` ends, or
 * at once if it has ended. `out_monitor` may be NULL. WEIR_ENOMEM. */
WEIR_INLINE int weir_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor)
{
    return self->host->monitor(self, other, out_monitor);
}

/* Removes a monitor. WEIR_EUNKNOWN: there is no such monitor, or its WEIR_DOWN has arrived. */
WEIR_INLINE int weir_demonitor(struct weir_self *self, uint64_t monitor)
{
    return self->host->demonitor(self, monitor);
}

/* Turns the trapping of exits on or off. While it is on, the end of a linked actor arrives as a
 * WEIR_EXIT message and does not end this actor. Returns 0. */
WEIR_INLINE int weir_trap_exits(struct weir_self *self, bool on)
{
    return self->host->trap_exits(self, on);
}

/* Asks an actor to end. An actor cannot trap WEIR_END_KILL. When a pool's worker ends, a new
 * incarnation opens in its place. A pool closes and drains; with WEIR_END_KILL it ends after the
 * messages in hand, and waiting messages become dead letters. WEIR_EUNKNOWN, WEIR_ETERMINATED: no
 * such actor, or it has ended. */
WEIR_INLINE int weir_exit(struct weir_self *self, weir_pid other, enum weir_end_reason reason)
{
    return self->host->exit(self, other, reason);
}

#endif
