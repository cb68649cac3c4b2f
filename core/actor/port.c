/* SPDX-License-Identifier: MIT */
#include "actor/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/actor_ext.h"
#include "actor/askers.h"
#include "actor/children.h"
#include "actor/external_await.h"
#include "actor/external_request.h"
#include "actor/kept.h"
#include "actor/origin.h"
#include "actor/port_leases.h"
#include "actor/port_tasks.h"
#include "actor/request.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/verdict.h"

/* The payload of MESSAGE_PORT_SETTLE; the address identifies the kept message. */
struct settle_order {
    const struct weir_message *kept;
    int verdict;
    uint32_t retry_after_ms;
    char reason[48];
};

/* --- life ----------------------------------------------------------------------------------- */

static void ref(struct weir_port *public)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&port_of(public)->references, 1, memory_order_relaxed);
}

static void unref(struct weir_port *public)
{
    struct port *port = port_of(public);

    /* Each release pairs with the acquire of the last one: all uses come before. */
    if (atomic_fetch_sub_explicit(&port->references, 1, memory_order_acq_rel) != 1)
        return;
    external_requests_unref(port->external_requests);
    memory_unref(port->memory);
    lock_finish(&port->lock);
    free(port);
}

void port_close(struct port *port)
{
    if (!port)
        return;
    lock_acquire(&port->lock);
    port->runtime = NULL;
    if (port->place)
        place_disengage_ports(port->place);
    lock_release(&port->lock);
    unref(&port->public);
}

/* --- messages ------------------------------------------------------------------------------- */

static struct weir_message *new_message(struct weir_port *public, const struct weir_tag *tag,
                                        size_t size)
{
    struct executor *executor;
    struct message *message;

    if (port_borrow(port_of(public), &executor) != 0)
        return NULL;
    message = message_create(&executor->cache, tag, size);
    runtime_give_back(executor);
    return message ? &message->public : NULL;
}

/* Frees a message of which somebody has to learn that it is never sent, also when the port is
 * closed. False: the runtime ends, or memory is out. */
static bool free_tracked(struct port *port, struct message *message)
{
    struct runtime *runtime = external_requests_hold(port->external_requests);
    struct executor *executor = runtime ? runtime_enter(runtime) : NULL;

    if (executor) {
        origin_free(runtime, executor, message);
        runtime_leave(executor);
    }
    if (runtime)
        runtime_release(runtime);
    return executor != NULL;
}

static void free_message(struct weir_port *public, struct weir_message *message)
{
    struct executor *executor;

    if (!message)
        return;
    if ((message->reserved & MESSAGE_TRACKED) && free_tracked(port_of(public), message_of(message)))
        return;
    if (port_borrow(port_of(public), &executor) != 0) {
        /* Its cache may have been freed. */
        message_release(port_of(public)->memory, message_of(message));
        return;
    }
    message_destroy(&executor->cache, message_of(message));
    runtime_give_back(executor);
}

static int send(struct weir_port *public, weir_pid to, enum weir_lane lane,
                struct weir_message *message)
{
    struct port *port = port_of(public);
    struct executor *executor;
    int status = port_enter(port, &executor);

    if (status != 0)
        return status;
    message->from = port->pid;
    port_mark_own(port, to, message);
    status = port_unmark_own(message, send_message(executor->runtime, executor, to ? to : port->pid,
                                                   lane, message_of(message)));
    runtime_leave(executor);
    return to ? status : port_closed_if_gone(status);
}

/* Sends a request. Takes the message on 0. */
static int ask(struct port *port, const struct external_request_options *options,
               struct message *message, uint64_t *out_reference)
{
    struct executor *executor;
    int status = port_enter_to(port, options->inspects ? 0 : options->to, &executor);

    if (status != 0)
        return status;
    status = runtime_is_own_thread(executor->runtime)
                 ? WEIR_EDEADLK
                 : external_request_send(executor->runtime, executor, options, message,
                                         out_reference);
    runtime_leave(executor);
    return status;
}

static int request(struct weir_port *public, weir_pid to, enum weir_lane lane,
                   struct weir_message *message, uint64_t timeout_ms, struct weir_answer *out)
{
    const struct external_request_options options = { .to = to,
                                                      .lane = lane,
                                                      .timeout_ms = timeout_ms };
    struct port *port = port_of(public);
    struct external_request_answer answer = { 0 };
    uint64_t reference;
    int status = WEIR_EINVALID;

    port_mark_own(port, to, message);
    port_engage(port, 1);
    if (external_request_can_show(out))
        status = ask(port, &options, message_of(message), &reference);
    if (status != 0)
        free_message(public, message);
    else
        status = external_requests_await(port->external_requests, reference, &answer);
    port_engage(port, -1);
    external_request_show(&answer, out);
    return status;
}

static int look_up(struct weir_port *public, const char *name, weir_pid *out_pid)
{
    struct executor *executor;
    struct runtime *runtime;
    int status = port_enter(port_of(public), &executor);

    if (status != 0)
        return status;
    runtime = executor->runtime;
    status = names_find(&runtime->names, name, out_pid);
    runtime_leave(executor);
    return status;
}

/* --- kept messages -------------------------------------------------------------------------- */

static int order_reply(struct port *port, struct executor *executor,
                       const struct weir_message *kept, struct message *reply)
{
    int status;

    /* The reply itself is the request to the actor, so a later failure is impossible. */
    reply->public.kind = MESSAGE_PORT_REPLY;
    reply->reference = (uint64_t)(uintptr_t)kept;
    reply->output = port->life;
    status = send_control(executor->runtime, executor, port->pid, reply);
    if (status != 0)
        reply->public.kind = WEIR_MESSAGE;
    return status;
}

static int reply(struct weir_port *public, const struct weir_message *kept,
                 struct weir_message *given)
{
    struct port *port = port_of(public);
    struct message *message = message_of(given);
    struct executor *executor;
    int status = port_enter(port, &executor);

    if (status != 0)
        return status;
    status = message->public.reserved & MESSAGE_TRACKED
                 ? WEIR_EINVALID
                 : order_reply(port, executor, kept, message);
    runtime_leave(executor);
    return port_closed_if_gone(status);
}

static struct message *make_order(struct executor *executor, const struct port *port,
                                  const struct settle_order *order)
{
    struct message *message = message_create(&executor->cache, NULL, sizeof *order);

    if (!message)
        return NULL;
    memcpy(message->public.data, order, sizeof *order);
    message->public.kind = MESSAGE_PORT_SETTLE;
    message->output = port->life;
    return message;
}

static int settle(struct weir_port *public, const struct weir_message *kept, int verdict,
                  uint64_t retry_after_ms, const char *reason)
{
    struct settle_order order = {
        .kept = kept,
        .verdict = verdict,
        .retry_after_ms = retry_after_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)retry_after_ms,
    };
    struct port *port = port_of(public);
    struct executor *executor;
    struct message *message;
    int status;

    if (!verdict_settles(verdict))
        return WEIR_EINVALID;
    status = port_enter(port, &executor);
    if (status != 0)
        return status;
    (void)snprintf(order.reason, sizeof order.reason, "%s", reason ? reason : "");
    message = make_order(executor, port, &order);
    status = message ? send_control(executor->runtime, executor, port->pid, message) : WEIR_ENOMEM;
    if (status != 0)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    return port_closed_if_gone(status);
}

/* --- in the actor's turn -------------------------------------------------------------------- */

/* Takes the reply. */
static void carry_out_reply(struct actor *actor, struct message *message)
{
    struct message *kept = kept_find(actor, message->reference);

    message->public.kind = WEIR_MESSAGE;
    if (!kept || request_reply(actor, kept, message) != 0)
        message_destroy(&actor->executor->cache, message);
}

static void carry_out_settle(struct actor *actor, const struct settle_order *order)
{
    struct message *kept = kept_find(actor, (uint64_t)(uintptr_t)order->kept);

    if (!kept)
        return;
    actor->retry_after_ms = order->retry_after_ms;
    actor_ext_set_detail(actor, order->reason);
    (void)verdict_settle_kept(actor, kept, order->verdict);
    if (order->verdict != WEIR_FAIL) /* else it is the reason of the failure that follows */
        actor_ext_clear_detail(actor);
}

void port_arrived(struct actor *actor, struct message *message)
{
    bool is_meant = actor->ext && actor->ext->life == message->output;

    if (is_meant && message->public.kind == MESSAGE_PORT_REPLY) {
        carry_out_reply(actor, message);
        return;
    }
    if (is_meant)
        carry_out_settle(actor, message->public.data);
    message_destroy(&actor->executor->cache, message);
}

static const struct weir_port_calls calls = {
    .size = sizeof(struct weir_port_calls),
    .ref = ref,
    .unref = unref,
    .message_new = new_message,
    .message_free = free_message,
    .send = send,
    .request = request,
    .reply = reply,
    .settle = settle,
    .send_wait = port_send_wait,
    .begin = port_begin,
    .await = port_await,
    .await_any = port_await_any,
    .cancel = port_cancel,
    .wait_idle = port_wait_idle,
    .submit = port_submit,
    .submit_request = port_submit_request,
    .submit_wait = port_submit_wait,
    .group_create = port_group_create,
    .group_submit = port_group_submit,
    .group_send = port_group_send,
    .group_wait = port_group_wait,
    .group_cancel = port_group_cancel,
    .group_destroy = port_group_destroy,
    .lookup = look_up,
    .take = port_take,
    .take_begin = port_take_begin,
    .lease_send = port_lease_send,
    .lease_begin = port_lease_begin,
    .lease_return = port_lease_return,
    .lease_renew = port_lease_renew,
};

static struct port *create(struct actor *actor, uint32_t life)
{
    struct port *port = calloc(1, sizeof *port);

    if (!port)
        return NULL;
    port->public.calls = &calls;
    atomic_init(&port->references, 1);
    port->pid = actor_pid(actor);
    port->parent = children_parent(actor);
    port->part = askers_part_of(actor);
    port->life = life;
    port->runtime = actor->runtime;
    port->place = actor->place;
    port->external_requests = external_requests_ref(actor->runtime->external_requests);
    port->memory = memory_ref(actor->runtime->memory);
    lock_init(&port->lock, LOCK_PORT);
    return port;
}

struct weir_port *port_get(struct actor *actor)
{
    struct actor_ext *ext = actor_ext_get(actor);

    if (!ext)
        return NULL;
    if (!ext->port)
        ext->port = create(actor, ext->life);
    if (!ext->port)
        return NULL;
    ref(&ext->port->public);
    return &ext->port->public;
}
