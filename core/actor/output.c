#include "actor/output.h"

#include "actor/room.h"
#include "actor/send.h"
#include "actor/settle.h"
#include "pool/pool.h"
#include "runtime.h"

static const struct binding *binding_of(struct actor *actor, uint32_t output)
{
    const struct wiring *wiring = wiring_get(actor->place->wiring);

    return wiring && output < wiring->count ? &wiring->bindings[output] : NULL;
}

/* The target refuses for good, not for want of room. */
static bool has_ended(int status)
{
    return status != 0 && status != WEIR_EFULL && status != WEIR_EINVALID;
}

/*
 * Sends to where the output leads; the binding used is left in `binding`. A target that has ended
 * may have been left behind by a re-binding since the turn looked: who re-binds does so before it
 * closes, so that whoever sees the end sees the new binding, and follows it.
 */
static int try_send(struct actor *actor, uint32_t output, const struct binding **binding,
                    struct message *message)
{
    const struct binding *used;
    int status;

    do {
        used = *binding;
        if (!used || !used->target)
            return WEIR_EUNKNOWN;
        status = send_message(actor->runtime, actor->executor, used->target, WEIR_NORMAL, message);
        if (has_ended(status))
            *binding = binding_of(actor, output);
    } while (*binding != used);
    if (status == 0)
        atomic_store_explicit(&actor->place->emitted,
                              atomic_load_explicit(&actor->place->emitted, memory_order_relaxed) +
                                  1,
                              memory_order_relaxed);
    return status;
}

static void drop(struct actor *actor, uint32_t output, struct message *message,
                 enum dead_reason reason, int status)
{
    settle_record(actor, message, reason, &(struct dead_letter_way){ 0, output },
                  weir_status_name(status));
    settle_stray(actor->runtime, actor->executor, message, reason, status);
}

static int put_aside(struct actor *actor, uint32_t output, struct message *message)
{
    struct place *place = actor->place;

    if (place->outbox.count >= actor->spec->outbox_max)
        return WEIR_EFULL;
    message->output = output;
    message_list_append(&place->outbox, message);
    return 0;
}

static int refused(struct actor *actor, uint32_t output, const struct binding *binding,
                   struct message *message, int status)
{
    if (status == WEIR_EINVALID)
        return status;
    if (status != WEIR_EFULL) {
        drop(actor, output, message, DEAD_NO_TARGET, status);
        return 0;
    }
    switch (binding->when_full) {
    case WHEN_FULL_WAIT:
        return put_aside(actor, output, message);
    case WHEN_FULL_REJECT:
        return WEIR_EFULL;
    default:
        drop(actor, output, message, DEAD_OUTPUT_FULL, status);
        return 0;
    }
}

int output_emit(struct actor *actor, uint32_t output, struct message *message)
{
    const struct binding *binding = binding_of(actor, output);
    int status;

    if (!binding) {
        misuse_report(actor, MISUSE_OUTPUT, output);
        return WEIR_EINVALID;
    }
    if (!binding->target) {
        settle_unwanted(actor, message);
        return 0;
    }
    message->public.from = actor_pid(actor);
    if (binding->when_full == WHEN_FULL_WAIT && output_is_waiting(actor))
        return put_aside(actor, output, message);
    status = try_send(actor, output, &binding, message);
    return status == 0 ? 0 : refused(actor, output, binding, message, status);
}

/* Those who wait for places behind an output; NULL: there is nobody there, or no memory. */
static struct waiters *waiters_of(struct actor *actor, weir_pid target)
{
    struct actor *other = actor_find(actor->runtime, target);

    return other ? room_of(other) : NULL;
}

/* Joins those who wait for places behind an output. */
static void wait_for_room(struct actor *actor, weir_pid target)
{
    struct waiters *waiters = waiters_of(actor, target);

    if (waiters)
        waiters_join(waiters, &actor->place->waiter, actor->executor);
}

/* What was sent took the place that this one was woken for, if it waited for that pool. */
static void take_place(struct actor *actor, weir_pid target)
{
    struct waiters *waits_for = atomic_load_explicit(&actor->place->waiter.waits_for,
                                                     memory_order_acquire);

    if (waits_for && waits_for == waiters_of(actor, target))
        waiters_use(&actor->place->waiter);
}

/* Sends the first of the outbox. WEIR_EFULL: it stays first. */
static int flush_first(struct actor *actor)
{
    struct place *place = actor->place;
    struct message *message = message_list_take(&place->outbox);
    uint32_t output = message->output;
    const struct binding *binding = binding_of(actor, output);
    int status = try_send(actor, output, &binding, message);

    if (status == WEIR_EFULL) {
        message_list_prepend(&place->outbox, message);
        wait_for_room(actor, binding->target);
        message = message_list_take(&place->outbox);
        /* Second look: see waiters.h. */
        status = try_send(actor, output, &binding, message);
        if (status == WEIR_EFULL)
            message_list_prepend(&place->outbox, message);
    }
    if (status == 0)
        take_place(actor, binding->target);
    else if (status != WEIR_EFULL)
        drop(actor, output, message, DEAD_NO_TARGET, status);
    return status;
}

bool output_flush(struct actor *actor)
{
    struct place *place = actor->place;

    while (place->outbox.count > 0)
        if (flush_first(actor) == WEIR_EFULL)
            return false;
    waiters_leave(&place->waiter, actor->executor);
    return true;
}

void output_drop_all(struct actor *actor)
{
    struct message *message;

    while ((message = message_list_take(&actor->place->outbox)))
        drop(actor, message->output, message, DEAD_NO_TARGET, WEIR_ETERMINATED);
    waiters_leave(&actor->place->waiter, actor->executor);
}
