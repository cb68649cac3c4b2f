/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker_pending.h"

#include <stdlib.h>

#include "base/clock.h"
#include "host/isolation/dialogue.h"
#include "host/isolation/worker_ask.h"
#include "host/isolation/worker_messages.h"

#define NS_PER_MS 1000000u

static struct worker *worker_of(struct weir_self *self)
{
    return (struct worker *)self;
}

/* --- time ------------------------------------------------------------------------------------- */

static uint64_t now_ms(struct weir_self *self)
{
    struct clock clock = clock_monotonic();

    (void)self;
    return clock_now_ns(&clock) / NS_PER_MS;
}

static struct worker_pending *add_pending(struct worker *worker)
{
    struct worker_pending *pending = calloc(1, sizeof *pending);

    if (!pending)
        return NULL;
    pending->cookie = ++worker->last_cookie;
    pending->next = worker->pending;
    worker->pending = pending;
    return pending;
}

static struct worker_pending **find_pending(struct worker *worker, uint64_t cookie, uint64_t number)
{
    struct worker_pending **link = &worker->pending;

    while (*link && (cookie ? (*link)->cookie != cookie : (*link)->number != number))
        link = &(*link)->next;
    return link;
}

struct worker_pending *worker_take_pending(struct worker *worker, uint64_t cookie)
{
    struct worker_pending **link = find_pending(worker, cookie, 0), *pending = *link;

    if (pending && !pending->again)
        *link = pending->next;
    return pending;
}

static void drop_pending(struct worker *worker, struct worker_pending **link)
{
    struct worker_pending *pending = *link;

    (void)worker;
    if (!pending)
        return;
    *link = pending->next;
    free(pending);
}

static int arm(struct weir_self *self, bool again, uint64_t period_ms, weir_tick *tick,
               void *context, uint64_t *out_timer)
{
    struct worker *worker = worker_of(self);
    struct worker_pending *pending;
    struct parcel *out = worker_begin(self);
    uint64_t cookie;
    int status;

    if (!tick)
        return WEIR_EINVALID;
    pending = add_pending(worker);
    if (!pending)
        return WEIR_ENOMEM;
    pending->again = again;
    pending->tick = tick;
    pending->context = context;
    cookie = pending->cookie;
    parcel_number(out, again);
    parcel_number(out, period_ms);
    parcel_number(out, cookie);
    status = worker_ask_number(self, DIALOGUE_AFTER, &pending->number);
    if (status == WEIR_OK && out_timer)
        *out_timer = pending->number;
    if (status != WEIR_OK)
        drop_pending(worker, find_pending(worker, cookie, 0));
    return status;
}

static int after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick, void *context,
                 uint64_t *out_timer)
{
    return arm(self, false, delay_ms, tick, context, out_timer);
}

static int every(struct weir_self *self, uint64_t period_ms, weir_tick *tick, void *context,
                 uint64_t *out_timer)
{
    return arm(self, true, period_ms, tick, context, out_timer);
}

/* Timers have numbers of their own, and requests too: only one of a timer is looked for. */
static int cancel_timer(struct weir_self *self, uint64_t timer)
{
    struct worker *worker = worker_of(self);
    struct worker_pending **link = &worker->pending;
    int status = worker_ask_with(self, DIALOGUE_CANCEL_TIMER, timer);

    while (*link && (!(*link)->tick || (*link)->number != timer))
        link = &(*link)->next;
    if (status == WEIR_OK)
        drop_pending(worker, link);
    return status;
}

/* --- requests --------------------------------------------------------------------------------- */

static int request(struct weir_self *self, weir_pid to, enum weir_lane lane,
                   struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                   void *context, uint64_t *out_reference)
{
    struct worker *worker = worker_of(self);
    struct worker_pending *pending;
    struct parcel *out = worker_begin(self);
    int status;

    if (!then)
        return WEIR_EINVALID;
    pending = add_pending(worker);
    if (!pending)
        return WEIR_ENOMEM;
    pending->then = then;
    pending->context = context;
    parcel_number(out, to);
    parcel_number(out, lane);
    parcel_number(out, timeout_ms);
    parcel_number(out, pending->cookie);
    status = worker_give(self, DIALOGUE_REQUEST, message, &pending->number);
    if (status == WEIR_OK && out_reference)
        *out_reference = pending->number;
    if (status != WEIR_OK)
        drop_pending(worker, find_pending(worker, pending->cookie, 0));
    return status;
}

static int cancel(struct weir_self *self, uint64_t reference)
{
    return worker_ask_with(self, DIALOGUE_CANCEL, reference);
}

void worker_fill_pending(struct weir_host *host)
{
    host->now_ms = now_ms;
    host->after = after;
    host->every = every;
    host->cancel_timer = cancel_timer;
    host->request = request;
    host->cancel = cancel;
}
