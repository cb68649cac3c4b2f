/* SPDX-License-Identifier: MIT */
#include "actor/host_calls.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "actor/actor_ext.h"
#include "actor/alarm.h"
#include "actor/askers.h"
#include "actor/callback.h"
#include "actor/find.h"
#include "actor/giving.h"
#include "actor/kept.h"
#include "actor/lifecycle.h"
#include "actor/link.h"
#include "actor/origin.h"
#include "actor/output.h"
#include "actor/own.h"
#include "actor/port.h"
#include "actor/printing.h"
#include "actor/request.h"
#include "actor/router.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/settle.h"
#include "actor/verdict.h"

#define LINKED_END_SIGNALS(reason)                                                                 \
    ((reason) == WEIR_END_KILL    ? SIGNAL_KILL                                                    \
     : (reason) == WEIR_END_CRASH ? SIGNAL_CRASH                                                   \
                                  : SIGNAL_SHUTDOWN)

/* --- messages ------------------------------------------------------------------------------- */

const struct weir_tag *host_tag(struct weir_self *self, const char *name)
{
    return tag_table_get(&actor_of_self(self)->runtime->tags, name);
}

void host_message_free(struct weir_self *self, struct weir_message *message)
{
    if (message && giving_begin(actor_of_self(self), message_of(message)))
        origin_discard(actor_of_self(self), message_of(message));
}

/* --- sending -------------------------------------------------------------------------------- */

/* The message belongs to the plugin again. Out of line, so that a call that is not refused saves no
 * registers for it. */
__attribute__((noinline)) static int refused(struct actor *actor, struct message *message,
                                             int status)
{
    if (status == WEIR_EFULL)
        executor_give_way(actor->executor);
    return giving_end(message, status);
}

int host_send(struct weir_self *self, weir_pid to, enum weir_lane lane,
              struct weir_message *message)
{
    struct actor *actor = callback_enter_host(self);
    int status = giving_enter(actor, message_of(message));

    if (status == 0) {
        message->from = actor_pid(actor);
        own_mark(actor, to, message_of(message));
        status = output_send(actor, to, lane, message_of(message));
        if (status != 0)
            status = refused(actor, message_of(message), status);
    }
    callback_leave_host(actor);
    return status;
}

int host_lookup(struct weir_self *self, const char *name, weir_pid *out_pid)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : names_find(&actor->runtime->names, name, out_pid);

    callback_leave_host(actor);
    return status;
}

/* A message that is emitted while a message with an origin is in hand joins that origin, also when
 * the target refuses it now. */
__attribute__((noinline)) static int join_current(struct actor *actor, struct message *message)
{
    if (!origin_is_followed(actor->current) ||
        (message->public.reserved & (MESSAGE_TRACKED | MESSAGE_DETACHED)))
        return 0;
    return origin_join(message, actor->current);
}

int host_emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    struct actor *actor = callback_enter_host(self);
    int status = giving_enter(actor, message_of(message));

    if (status == 0) {
        if (actor->current && (actor->current->public.reserved & MESSAGE_TRACKED))
            status = join_current(actor, message_of(message));
        if (status == 0)
            status = output_emit(actor, output, message_of(message));
        if (status != 0)
            status = refused(actor, message_of(message), status);
    }
    callback_leave_host(actor);
    return status;
}

int host_request(struct weir_self *self, weir_pid to, enum weir_lane lane,
                 struct weir_message *message, uint64_t timeout_ms, weir_then *then, void *context,
                 uint64_t *out_reference)
{
    const struct request_options options = {
        .to = to, .lane = lane, .timeout_ms = timeout_ms, .then = then, .context = context
    };
    struct actor *actor = callback_enter_host(self);
    int status = giving_enter(actor, message_of(message));

    if (status == 0) {
        status = output_refuses(actor, to)
                     ? WEIR_EFULL
                     : request_send(actor, &options, message_of(message), out_reference);
        status = giving_end(message_of(message), status);
    }

    callback_leave_host(actor);
    return status;
}

struct weir_port *host_port(struct weir_self *self)
{
    struct actor *actor = callback_enter_host(self);
    struct weir_port *port = callback_is_left(actor) ? NULL : port_get(actor);

    callback_leave_host(actor);
    return port;
}

int host_cancel(struct weir_self *self, uint64_t reference)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : request_cancel(actor, reference);

    callback_leave_host(actor);
    return status;
}

int host_reply(struct weir_self *self, struct weir_message *request, struct weir_message *reply)
{
    struct actor *actor = callback_enter_host(self);
    int status = giving_enter(actor, message_of(reply));

    if (status == 0)
        status = giving_end(message_of(reply),
                            request_reply(actor, message_of(request), message_of(reply)));

    callback_leave_host(actor);
    return status;
}

/* The current message or a kept one. It keeps its sender and reference, and its attempt if it has
 * an origin. */
static int pass_on(struct actor *actor, weir_pid to, enum weir_lane lane, struct message *message)
{
    uint32_t flags = message->public.reserved;
    uint16_t attempt = message->public.attempt;
    uint8_t old_lane = message->public.lane;
    int status;

    message->public.reserved &= ~(uint32_t)(MESSAGE_OUTSIDE_LEDGER | MESSAGE_DIRECT |
                                            MESSAGE_LEASED | MESSAGE_OWN | MESSAGE_RETRIED |
                                            MESSAGE_KEPT);
    own_mark(actor, to, message);
    if (to == actor_pid(actor))
        message->public.reserved |= MESSAGE_OWN;
    if (!(flags & MESSAGE_TRACKED)) {
        message->public.attempt = 1;
        message->public.reserved %= MESSAGE_FAILURE;
    }
    if (message->public.kind == WEIR_REQUEST)
        askers_note(actor, to);
    status = output_send(actor, to, lane, message);
    if (status != 0) {
        message->public.reserved = flags;
        message->public.attempt = attempt;
        message->public.lane = old_lane;
        return status;
    }
    if (!(flags & MESSAGE_OUTSIDE_LEDGER))
        settle_forwarded(actor);
    return 0;
}

static int forward(struct actor *actor, weir_pid to, enum weir_lane lane, struct message *message)
{
    bool is_current = message == actor->current;
    int status;

    /* Compares addresses first: the message may be settled and freed. A notice of an end is for its
     * receiver only. */
    if ((!is_current && !kept_has(actor, message)) || message->public.kind > WEIR_EVENT)
        return WEIR_EINVALID;
    if (!is_current)
        kept_remove(actor, message);
    status = pass_on(actor, to, lane, message);
    if (status == 0 && is_current)
        actor->current = NULL;
    if (status != 0 && !is_current)
        kept_return(actor, message);
    return status;
}

int host_forward(struct weir_self *self, weir_pid to, enum weir_lane lane,
                 struct weir_message *message)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : forward(actor, to, lane, message_of(message));

    callback_leave_host(actor);
    return status;
}

int host_settle(struct weir_self *self, struct weir_message *kept, int verdict)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : verdict_settle_kept(actor, message_of(kept), verdict);

    callback_leave_host(actor);
    return status;
}

void host_retry_after(struct weir_self *self, uint64_t delay_ms)
{
    actor_of_self(self)->retry_after_ms = delay_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)delay_ms;
}

void host_reason(struct weir_self *self, const char *text)
{
    struct actor *actor = callback_enter_host(self);

    if (!callback_is_left(actor))
        actor_ext_set_detail(actor, text);
    callback_leave_host(actor);
}

/* --- time ----------------------------------------------------------------------------------- */

uint64_t host_now_ms(struct weir_self *self)
{
    return executor_look_at_clock(actor_of_self(self)->executor) / 1000000u;
}

int host_send_after(struct weir_self *self, weir_pid to, enum weir_lane lane,
                    struct weir_message *message, uint64_t delay_ms, uint64_t *out_timer)
{
    struct actor *actor = callback_enter_host(self);
    int status = giving_enter(actor, message_of(message));

    if (status == 0)
        status = giving_end(message_of(message),
                            alarm_send(actor, to, lane, message_of(message), delay_ms, out_timer));
    callback_leave_host(actor);
    return status;
}

int host_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick, void *context,
               uint64_t *out_timer)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : alarm_tick(actor, delay_ms, 0, tick, context, out_timer);

    callback_leave_host(actor);
    return status;
}

int host_every(struct weir_self *self, uint64_t period_ms, weir_tick *tick, void *context,
               uint64_t *out_timer)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                 : period_ms == 0
                     ? WEIR_EINVALID
                     : alarm_tick(actor, period_ms, period_ms, tick, context, out_timer);

    callback_leave_host(actor);
    return status;
}

int host_cancel_timer(struct weir_self *self, uint64_t timer)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : alarm_cancel(actor, timer);

    callback_leave_host(actor);
    return status;
}

/* --- other actors --------------------------------------------------------------------------- */

int host_link(struct weir_self *self, weir_pid other)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : link_add(actor, other);

    callback_leave_host(actor);
    return status;
}

int host_unlink(struct weir_self *self, weir_pid other)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : link_remove(actor, other);

    callback_leave_host(actor);
    return status;
}

int host_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED
                                         : link_monitor(actor, other, out_monitor);

    callback_leave_host(actor);
    return status;
}

int host_demonitor(struct weir_self *self, uint64_t monitor)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : link_demonitor(actor, monitor);

    callback_leave_host(actor);
    return status;
}

int host_trap_exits(struct weir_self *self, bool on)
{
    struct actor *actor = actor_of_self(self);

    if (on)
        actor->flags |= ACTOR_TRAPS_EXITS;
    else
        actor->flags &= (uint8_t)~ACTOR_TRAPS_EXITS;
    return 0;
}

/* A pool ends by closing, its workers first; a killed pool does not drain. */
static int ask_to_end(struct actor *actor, weir_pid other, enum weir_end_reason reason)
{
    struct actor *target;
    int status = actor_find_alive(actor->runtime, other, &target);

    if (status != 0)
        return status;
    if (!target->router)
        return actor_signal(target, actor_serial_of(other), actor->executor,
                            LINKED_END_SIGNALS(reason));
    target->router->ops->close(target->router, reason, actor->executor);
    return 0;
}

int host_exit(struct weir_self *self, weir_pid other, enum weir_end_reason reason)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : ask_to_end(actor, other, reason);

    callback_leave_host(actor);
    return status;
}

static int claim(struct actor *actor, const char *name)
{
    struct actor_ext *ext = actor_ext_get(actor);
    int status;

    if (!ext)
        return WEIR_ENOMEM;
    status = names_claim(&actor->runtime->names, name, actor_pid(actor),
                         actor_state(actor) == ACTOR_OPEN, &actor->executor->reader);
    ext->has_names |= status == 0;
    return status;
}

int host_name(struct weir_self *self, const char *name)
{
    struct actor *actor = callback_enter_host(self);
    int status = callback_is_left(actor) ? WEIR_ETERMINATED : claim(actor, name);

    callback_leave_host(actor);
    return status;
}

/* --- about oneself -------------------------------------------------------------------------- */

weir_pid host_pid(struct weir_self *self)
{
    return actor_pid(actor_of_self(self));
}

const char *host_path(struct weir_self *self)
{
    return place_path(actor_of_self(self));
}

uint32_t host_index(struct weir_self *self)
{
    struct place *place = actor_of_self(self)->place;

    return place ? place->index : 0;
}

void host_child_process(struct weir_self *self, int64_t process)
{
    struct place *place = actor_of_self(self)->place;

    if (place)
        place_name_process(place, process > 0 && process <= INT32_MAX ? (int32_t)process : 0);
}

/* --- logs and progress ------------------------------------------------------------------------ */

void host_log(struct weir_self *self, enum weir_log_level level, const char *event,
              const struct weir_field *fields)
{
    struct actor *actor = actor_of_self(self);
    struct log_line line = {
        .level = level, .component = place_path(actor), .event = event, .fields = fields
    };

    log_write(&actor->runtime->options.log, &line);
}

/* The entry of a unit, and in *out_known the copy of its name, which the caller publishes last. The
 * figures outlive the plugin, hence the copy. NULL: there is no room, or memory is out. */
static struct progress *find_unit(struct actor *actor, const char *unit, const char **out_known)
{
    struct progress *all = actor->place ? place_make_progress(actor->place) : NULL;

    for (uint32_t i = 0; all && i < PLACE_UNITS; i++) {
        const char *known = atomic_load_explicit(&all[i].unit, memory_order_relaxed);

        if (known && strcmp(known, unit) != 0)
            continue;
        *out_known = known ? known : tag_table_label(&actor->runtime->tags, unit);
        return *out_known ? &all[i] : NULL;
    }
    return NULL;
}

void host_progress(struct weir_self *self, const char *unit, uint64_t done, uint64_t total)
{
    const char *known = NULL;
    struct progress *progress = find_unit(actor_of_self(self), unit, &known);
    bool is_gauge = total == WEIR_GAUGE;

    if (!progress)
        return;
    /* Relaxed: figures for people. Release: the unit's text. */
    atomic_store_explicit(&progress->done, is_gauge ? done : progress->before + done,
                          memory_order_relaxed);
    atomic_store_explicit(&progress->total, total && !is_gauge ? progress->before + total : total,
                          memory_order_relaxed);
    atomic_store_explicit(&progress->unit, known, memory_order_release);
}

void host_progress_text(struct weir_self *self, const char *unit, const char *text)
{
    struct actor *actor = actor_of_self(self);
    const char *copy = tag_table_label(&actor->runtime->tags, text);
    const char *known = NULL;
    struct progress *progress = copy ? find_unit(actor, unit, &known) : NULL;

    if (!progress)
        return;
    /* Relaxed: figures for people. Release: the bytes of the text, and those of the unit. */
    atomic_store_explicit(&progress->total, WEIR_GAUGE, memory_order_relaxed);
    atomic_store_explicit(&progress->text, copy, memory_order_release);
    atomic_store_explicit(&progress->unit, known, memory_order_release);
}

void host_exit_status(struct weir_self *self, int wanted)
{
    if ((wanted >= 0 && wanted <= 63) || wanted == EX_IOERR)
        runtime_raise_exit_status(actor_of_self(self)->runtime, wanted);
}

void host_print(struct weir_self *self, const char *text, size_t size)
{
    printing_print(actor_of_self(self), text, size);
}
