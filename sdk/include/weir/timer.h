/* SPDX-License-Identifier: MIT */
/*
 * weir/timer.h - the clock, and timers of an actor.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply.
 */
#ifndef WEIR_TIMER_H
#define WEIR_TIMER_H

#include "host.h"

/* Monotonic milliseconds, not a date. The value may be some milliseconds old. */
WEIR_INLINE uint64_t weir_now_ms(struct weir_self *self)
{
    return self->host->now_ms(self);
}

/* Sends a message once, `delay_ms` from now. Takes the message on 0. If the receiver refuses the
 * message when it is due, the message becomes a dead letter and `undelivered` is called. The end of
 * this incarnation cancels the timer and frees the message; one that has joined an origin becomes a
 * dead letter, `terminated`. `out_timer` may be NULL. WEIR_EINVALID:
 * the caller does not own the message. WEIR_ENOMEM. */
WEIR_INLINE int weir_send_after(struct weir_self *self, weir_pid to, struct weir_message *message,
                                uint64_t delay_ms, uint64_t *out_timer)
{
    return self->host->send_after(self, to, WEIR_NORMAL, message, delay_ms, out_timer);
}

/* Calls `tick` once, `delay_ms` from now, never earlier. The end of this incarnation cancels the
 * timer. `out_timer` may be NULL. WEIR_EINVALID: `tick` is NULL. WEIR_ENOMEM. */
WEIR_INLINE int weir_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick,
                           void *context, uint64_t *out_timer)
{
    return self->host->after(self, delay_ms, tick, context, out_timer);
}

/* As weir_after, but calls `tick` every `period_ms` (at least 1). Missed periods are skipped.
 * WEIR_EINVALID also when `period_ms` is 0. */
WEIR_INLINE int weir_every(struct weir_self *self, uint64_t period_ms, weir_tick *tick,
                           void *context, uint64_t *out_timer)
{
    return self->host->every(self, period_ms, tick, context, out_timer);
}

/* Cancels a timer and frees its message, if any, which leaves the origin that it has joined.
 * WEIR_EUNKNOWN: no such timer, or it has fired. */
WEIR_INLINE int weir_cancel_timer(struct weir_self *self, uint64_t timer)
{
    return self->host->cancel_timer(self, timer);
}

#endif
