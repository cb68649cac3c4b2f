/* SPDX-License-Identifier: MIT */
#include "actor/deliver.h"

#include "actor/lifecycle.h"
#include "message/control_queue.h"
#include "message/packed.h"

/* Below it a task takes memory that its sender has used before. */
#define LONG 256 /* messages */

/* True when many messages wait. Relaxed: nothing follows from it but a choice. */
static bool is_long(const struct mailbox *mailbox)
{
    uint64_t word = atomic_load_explicit(&mailbox->word, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&mailbox->head, memory_order_relaxed);

    return (int32_t)((uint32_t)word - head) > LONG;
}

static inline int push(struct actor *actor, uint32_t serial, struct executor *executor,
                       struct message *message, bool *out_woke)
{
    int status = mailbox_push(&actor->mailbox, serial, message, out_woke);

    if (status == 0 && *out_woke)
        actor_wake(actor, executor);
    return status;
}

/* A task behind many messages waits packed; the sender keeps the memory for its next task. */
__attribute__((noinline)) static int push_task(struct actor *actor, uint32_t serial,
                                               struct executor *executor, struct message *message,
                                               bool *out_woke)
{
    struct message *packed = NULL;
    int status;

    if (is_long(&actor->mailbox))
        packed = packed_make(&executor->cache.packing, message);
    if (!packed)
        return push(actor, serial, executor, message, out_woke);
    status = push(actor, serial, executor, packed, out_woke);
    if (status == 0)
        message_destroy(&executor->cache, message);
    else
        packed_drop(packed);
    return status;
}

static inline int deliver_normal(struct actor *actor, uint32_t serial, struct executor *executor,
                                 struct message *message, bool *out_woke)
{
    message->public.lane = WEIR_NORMAL;
    if (__builtin_expect(message->public.reserved & MESSAGE_TASK, false))
        return push_task(actor, serial, executor, message, out_woke);
    return push(actor, serial, executor, message, out_woke);
}

int deliver_woke(struct actor *actor, uint32_t serial, struct executor *executor,
                 struct message *message, bool *out_woke)
{
    return deliver_normal(actor, serial, executor, message, out_woke);
}

int deliver(struct actor *actor, uint32_t serial, struct executor *executor,
            struct message *message)
{
    bool woke;

    return deliver_normal(actor, serial, executor, message, &woke);
}

int deliver_under_lease(struct actor *actor, uint32_t serial, struct executor *executor,
                        struct message *message)
{
    bool woke;
    int status;

    message->public.lane = WEIR_NORMAL;
    status = mailbox_push_past_close(&actor->mailbox, serial, message, &woke);
    if (status == 0 && woke)
        actor_wake(actor, executor);
    return status;
}

int deliver_chain(struct actor *actor, uint32_t serial, struct executor *executor,
                  struct message *const *messages, uint32_t count)
{
    bool wake;
    int taken;

    for (uint32_t i = 0; i < count; i++)
        messages[i]->public.lane = WEIR_NORMAL;
    taken = mailbox_push_chain(&actor->mailbox, serial, messages, count, &wake);
    if (taken > 0 && wake)
        actor_wake(actor, executor);
    return taken;
}

/* Takes a place in the high or urgent lane; both have a limit of their own. */
static int take_lane_place(struct actor *actor, enum weir_lane lane)
{
    _Atomic uint32_t *waiting = &actor->mailbox.lanes[lane - WEIR_HIGH];
    uint32_t count = atomic_load_explicit(waiting, memory_order_relaxed);

    do
        if (count >= ACTOR_LANE_LIMIT)
            return WEIR_EFULL;
    /* Relaxed: it counts; the message itself is published by the mailbox. */
    while (!atomic_compare_exchange_weak_explicit(waiting, &count, count + 1, memory_order_relaxed,
                                                  memory_order_relaxed));
    return 0;
}

int deliver_to_control_queue(struct actor *actor, uint32_t serial, struct executor *executor,
                             struct message *message)
{
    bool wake;
    int status = control_queue_push(&actor->mailbox, serial, message, &wake);

    if (status != 0)
        return status;
    if (wake)
        actor_wake(actor, executor);
    else
        actor_call(actor);
    return 0;
}

int deliver_to_lane(struct actor *actor, uint32_t serial, struct executor *executor,
                    enum weir_lane lane, struct message *message)
{
    int status;

    if (lane != WEIR_HIGH && lane != WEIR_URGENT)
        return WEIR_EINVALID;
    status = take_lane_place(actor, lane);
    if (status != 0)
        return status;
    message->public.lane = (uint8_t)lane;
    status = deliver_to_control_queue(actor, serial, executor, message);
    if (status != 0)
        atomic_fetch_sub_explicit(&actor->mailbox.lanes[lane - WEIR_HIGH], 1, memory_order_relaxed);
    return status;
}

/* True when the actor opens, or will be restarted. */
static bool is_coming(const struct actor *actor)
{
    enum actor_state state = actor_state(actor);

    return state == ACTOR_STARTING || state == ACTOR_WAITING;
}

/*
 * The mailbox is closed. WEIR_EFULL if the actor will open, so that an output which leads there
 * waits. Tries once more, since the actor may have opened between the refusal and the check of its
 * state: a mailbox opens before the state is OPEN, and closes after it.
 */
__attribute__((noinline)) static int deliver_to_closed(struct actor *actor, uint32_t serial,
                                                       struct executor *executor,
                                                       struct message *message)
{
    int status;

    if (is_coming(actor))
        return WEIR_EFULL;
    status = deliver(actor, serial, executor, message);
    return status == WEIR_ECLOSED && is_coming(actor) ? WEIR_EFULL : status;
}

int deliver_to_actor(struct actor *actor, uint32_t serial, struct executor *executor,
                     struct message *message)
{
    int status;

    message->public.reserved |= MESSAGE_DIRECT;
    status = deliver(actor, serial, executor, message);
    if (status == WEIR_ECLOSED)
        status = deliver_to_closed(actor, serial, executor, message);
    if (status != 0)
        message->public.reserved &= ~(uint32_t)MESSAGE_DIRECT; /* it is the sender's still */
    return status;
}

int deliver_chain_to_actor(struct actor *actor, uint32_t serial, struct executor *executor,
                           struct message *const *messages, uint32_t count)
{
    int taken;

    for (uint32_t i = 0; i < count; i++)
        messages[i]->public.reserved |= MESSAGE_DIRECT;
    taken = deliver_chain(actor, serial, executor, messages, count);
    for (uint32_t i = taken > 0 ? (uint32_t)taken : 0; i < count; i++)
        messages[i]->public.reserved &= ~(uint32_t)MESSAGE_DIRECT;
    return taken;
}

int deliver_notice(struct actor *actor, uint32_t serial, struct executor *executor,
                   struct message *message)
{
    int status;

    /* Relaxed: as in take_lane_place. */
    atomic_fetch_add_explicit(&actor->mailbox.lanes[0], 1, memory_order_relaxed);
    message->public.lane = WEIR_HIGH;
    status = deliver_to_control_queue(actor, serial, executor, message);
    if (status != 0)
        atomic_fetch_sub_explicit(&actor->mailbox.lanes[0], 1, memory_order_relaxed);
    return status;
}
