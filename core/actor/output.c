/* SPDX-License-Identifier: MIT */
#include "actor/output.h"

#include "actor/actor_ext.h"
#include "actor/fan_out.h"
#include "actor/find.h"
#include "actor/misuse.h"
#include "actor/room_queue.h"
#include "actor/router.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/settle.h"
#include "actor/tokens.h"

#define CHAIN_MAX 64u             /* the default limit of a mailbox */
#define NO_TOKEN 0                /* instead of a status or a number of messages: none has passed */
#define LOOK_AGAIN_NS 1000000000u /* the longest sleep of an actor that waits for a token */

bool output_is_paused_for(const struct actor *actor, weir_pid to)
{
    return actor->place->wiring && output_is_paused(actor) && actor_find_router(actor->runtime, to);
}

static const struct wiring *wiring_of(const struct actor *actor)
{
    return actor->place ? wiring_get(actor->place->wiring) : NULL;
}

/* The bucket of an output; NULL: it has no rate. */
static struct tokens *tokens_of(const struct actor *actor, uint32_t output)
{
    const struct wiring *wiring = wiring_of(actor);

    return wiring && output < wiring->count ? wiring_tokens(wiring, output) : NULL;
}

static const struct binding *binding_in(const struct wiring *wiring, uint32_t output)
{
    return wiring && output < wiring->count ? &wiring->bindings[output] : NULL;
}

static const struct binding *binding_of(struct actor *actor, uint32_t output)
{
    return binding_in(wiring_of(actor), output);
}

/* True when the target has ended: it refuses for another reason than a lack of room. */
static bool has_ended(int status)
{
    return status < 0 && status != WEIR_EFULL && status != WEIR_EINVALID;
}

static void add_to(_Atomic uint64_t *figure, uint32_t count)
{
    /* Relaxed: a figure that only this thread writes. */
    atomic_store_explicit(figure, atomic_load_explicit(figure, memory_order_relaxed) + count,
                          memory_order_relaxed);
}

static void count_emitted(struct place *place, uint32_t count)
{
    add_to(&place->emitted, count);
}

/* How many were taken, from the front, or why none was. */
static int send_some(struct actor *actor, weir_pid to, struct message *const *messages,
                     uint32_t count, struct message_list *left)
{
    int status;

    if (count > 1)
        return send_chain(actor->runtime, actor->executor, to, messages, count);
    status = send_leaving(actor->runtime, actor->executor, to, messages[0], left);
    return status == 0 ? 1 : status;
}

/* As send_some, with a token for each message that is taken. NO_TOKEN: there is none. */
static int send_throttled(struct actor *actor, struct tokens *tokens, weir_pid to,
                          struct message *const *messages, uint32_t count,
                          struct message_list *left)
{
    uint32_t lent = tokens_borrow(tokens, executor_look_at_clock(actor->executor), count);
    int taken;

    if (lent == 0)
        return NO_TOKEN;
    taken = send_some(actor, to, messages, lent, left);
    tokens_return(tokens, executor_look_at_clock(actor->executor), lent,
                  taken > 0 ? (uint32_t)taken : 0);
    return taken;
}

/* As send_some, to the target of an output, at its rate. */
static int send_at_rate(struct actor *actor, uint32_t output, const struct binding *binding,
                        struct message *const *messages, uint32_t count, struct message_list *left)
{
    struct tokens *tokens = tokens_of(actor, output);

    return tokens ? send_throttled(actor, tokens, binding->target, messages, count, left)
                  : send_some(actor, binding->target, messages, count, left);
}

/* The list for copies of an emitted message without room; NULL: they are refused. */
static inline struct message_list *left_of(struct actor *actor, const struct binding *binding)
{
    return binding->when_full == WEIR_FULL_REJECT ? NULL : &actor->executor->copies;
}

/*
 * Sends to the target of the output, as send_at_rate; `binding` becomes the binding that was used.
 * When the target has ended, the output may have been bound again: a reload binds outputs before it
 * closes their former targets, so a sender that sees the end also sees the new binding, and uses
 * it. Copies without room are appended to the copies of the executor, or refused where the binding
 * that was used rejects; with `keeps` they are never refused.
 */
static int try_send(struct actor *actor, uint32_t output, const struct binding **binding,
                    struct message *const *messages, uint32_t count, bool keeps)
{
    const struct binding *used;
    int status;

    do {
        used = *binding;
        if (!used || !used->target)
            return WEIR_EUNKNOWN;
        status = send_at_rate(actor, output, used, messages, count,
                              keeps ? &actor->executor->copies : left_of(actor, used));
        if (has_ended(status))
            *binding = binding_of(actor, output);
    } while (*binding != used);
    if (status > 0)
        count_emitted(actor->place, (uint32_t)status);
    return status;
}

/* Finds the receiver of a copy that waits: the worker that has the seat now. Returns as worker_in;
 * without such a worker `out_pid` is the pool. */
static int find_receiver(struct actor *actor, const struct message *copy, weir_pid *out_pid)
{
    struct router *router;

    *out_pid = copy->to;
    if (copy->seat == FAN_OUT_NO_SEAT)
        return 0;
    router = actor_find_router(actor->runtime, copy->to);
    return router ? router->ops->worker_in(router, copy->seat, out_pid) : WEIR_ETERMINATED;
}

static weir_pid receiver_of(struct actor *actor, const struct message *copy)
{
    weir_pid receiver;

    (void)find_receiver(actor, copy, &receiver);
    return receiver;
}

/* Drops a message. `member`: the only receiver of a copy; 0: the message is no copy. */
static void drop(struct actor *actor, uint32_t output, struct message *message, weir_pid member,
                 enum dead_reason reason, int status)
{
    const struct wiring *wiring = wiring_get(actor->place->wiring);
    const struct binding *binding = binding_of(actor, output);
    struct dead_letter_way way = { .to = member,
                                   .output = output,
                                   .table = wiring ? wiring->table : 0,
                                   .led_to = binding ? binding->target : 0 };
    uint64_t record;

    record = settle_record(actor, message, reason, &way, weir_status_name(status));
    settle_stray(actor->runtime, actor->executor, message, reason, status, record);
}

static int keep_for_later(struct actor *actor, uint32_t output, struct message *message)
{
    struct outbox *outbox = place_make_outbox(actor->place);

    if (!outbox)
        return WEIR_ENOMEM;
    if (outbox->waiting.count >= actor->spec->outbox_max)
        return WEIR_EFULL;
    message->output = output;
    message_list_append(&outbox->waiting, message);
    actor_disturb(actor);
    return 0;
}

/* Appends copies without room, of a message that other members have taken, to the waiting copies.
 * */
static void copies_wait(struct actor *actor, uint32_t output, struct message_list *copies)
{
    struct outbox *outbox = place_outbox(actor->place);
    struct message *message;

    while ((message = message_list_take(copies))) {
        message->output = output;
        message_list_append(&outbox->copies, message);
    }
    actor_disturb(actor);
}

/* Settles the copies without room by `when_full`; without memory for an outbox they cannot wait. */
static void copies_left(struct actor *actor, uint32_t output, enum weir_when_full when_full,
                        struct message_list *copies)
{
    struct message *message;

    if (when_full == WEIR_FULL_WAIT && place_make_outbox(actor->place)) {
        copies_wait(actor, output, copies);
        return;
    }
    while ((message = message_list_take(copies)))
        drop(actor, output, message, receiver_of(actor, message), DEAD_OUTPUT_FULL, WEIR_EFULL);
}

/* The target has no room, or there is NO_TOKEN, or the target refuses for good. */
static int refused(struct actor *actor, uint32_t output, const struct binding *binding,
                   struct message *message, int status)
{
    if (status == NO_TOKEN)
        status = WEIR_EFULL;
    if (status == WEIR_EINVALID)
        return status;
    if (status != WEIR_EFULL) {
        drop(actor, output, message, 0, DEAD_NO_TARGET, status);
        return 0;
    }
    switch (binding->when_full) {
    case WEIR_FULL_WAIT:
        return keep_for_later(actor, output, message);
    case WEIR_FULL_REJECT:
        return WEIR_EFULL;
    default:
        drop(actor, output, message, 0, DEAD_OUTPUT_FULL, status);
        return 0;
    }
}

/* The target has refused: tries the present target if the output was bound again, otherwise settles
 * by `when_full`. */
static int emit_elsewhere(struct actor *actor, uint32_t output, const struct binding *binding,
                          struct message *message, int status)
{
    const struct binding *present = binding_of(actor, output);
    struct message_list *left = &actor->executor->copies;

    if (has_ended(status) && present != binding) {
        binding = present;
        status = try_send(actor, output, &binding, &message, 1, false);
    }
    if (left->count > 0)
        copies_left(actor, output, binding->when_full, left);
    return status > 0 ? 0 : refused(actor, output, binding, message, status);
}

/* The output is unbound, or its number is wrong. */
__attribute__((noinline)) static int emit_nowhere(struct actor *actor, uint32_t output,
                                                  const struct binding *binding,
                                                  struct message *message)
{
    if (!binding) {
        misuse_report(actor, MISUSE_OUTPUT, output);
        return WEIR_EINVALID;
    }
    settle_unwanted(actor, message);
    add_to(&actor->place->unbound, 1);
    return 0;
}

/* Finishes an emit that was refused or has left copies over. Out of line, so that the usual case
 * saves no registers for it. */
__attribute__((noinline)) static int emit_rest(struct actor *actor, uint32_t output,
                                               const struct binding *binding,
                                               struct message *message, int status)
{
    if (status != 0)
        return emit_elsewhere(actor, output, binding, message, status);
    count_emitted(actor->place, 1);
    copies_left(actor, output, binding->when_full, &actor->executor->copies);
    return 0;
}

/* At an output with a rate. */
__attribute__((noinline)) static int emit_throttled(struct actor *actor, uint32_t output,
                                                    const struct binding *binding,
                                                    struct message *message)
{
    struct message_list *copies = &actor->executor->copies;
    int status = try_send(actor, output, &binding, &message, 1, false);

    if (copies->count > 0)
        copies_left(actor, output, binding->when_full, copies);
    return status > 0 ? 0 : refused(actor, output, binding, message, status);
}

/* Whether what it emits goes out when the callback returns. */
static inline bool gathers(const struct actor *actor)
{
    return actor->kind == ACTOR_SOURCE && (actor->spec->behaviour->flags & WEIR_GATHERS);
}

int output_emit(struct actor *actor, uint32_t output, struct message *message)
{
    const struct wiring *wiring = wiring_of(actor);
    const struct binding *binding = binding_in(wiring, output);
    int status;

    if (!binding || !binding->target)
        return emit_nowhere(actor, output, binding, message);
    message->public.from = actor_pid(actor);
    if (binding->when_full == WEIR_FULL_WAIT && (output_is_waiting(actor) || gathers(actor)))
        return keep_for_later(actor, output, message);
    if (output_is_paused(actor))
        return refused(actor, output, binding, message, WEIR_EFULL);
    if (wiring_tokens(wiring, output))
        return emit_throttled(actor, output, binding, message);
    status = send_leaving(actor->runtime, actor->executor, binding->target, message,
                          left_of(actor, binding));
    if (status != 0 || actor->executor->copies.count > 0)
        return emit_rest(actor, output, binding, message, status);
    count_emitted(actor->place, 1);
    return 0;
}

/* The wait queue of a target; NULL: the target has ended, or memory is out. */
static struct wait_queue *wait_queue_of(struct actor *actor, weir_pid target)
{
    struct actor *other = actor_find(actor->runtime, target);

    return other ? room_queue_of(other) : NULL;
}

/* Joins the line of a target, with `wants` messages. */
static void wait_for_room(struct actor *actor, weir_pid target, uint32_t wants)
{
    struct wait_queue *queue = wait_queue_of(actor, target);

    if (queue)
        wait_queue_join(queue, &place_outbox(actor->place)->waiter, wants, actor->executor);
    else /* without memory for a line it checks again in its next turn */
        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), actor->executor, SIGNAL_ROOM);
}

/* Leaves the wait queue, since the actor could not use a place, and has its timer wake it when a
 * token is due. The timer fires earlier, too: an actor with an earlier time may have ended. */
static void wait_for_token(struct actor *actor, struct tokens *tokens, uint32_t messages)
{
    uint64_t now = executor_look_at_clock(actor->executor);
    struct outbox *outbox = place_outbox(actor->place);
    uint64_t due = tokens_wait(tokens, now, &outbox->token_wait, messages);

    wait_queue_leave(&outbox->waiter, actor->executor);
    if (actor_ext_get(actor))
        actor_ext_arm(actor, due < now + LOOK_AGAIN_NS ? due : now + LOOK_AGAIN_NS);
    else /* without memory for a timer it checks again in its next turn */
        (void)actor_signal(actor, actor_serial_of(actor_pid(actor)), actor->executor, SIGNAL_ROOM);
}

uint32_t output_tokens(struct actor *actor, uint32_t output, uint32_t max)
{
    struct token_wait *wait = &place_outbox(actor->place)->token_wait;
    struct tokens *tokens = tokens_of(actor, output);
    uint32_t free;

    if (!tokens) {
        tokens_leave(wait); /* a new wiring may have taken the rate away */
        return max;
    }
    free = tokens_free(tokens, executor_look_at_clock(actor->executor));
    if (free > 0)
        tokens_leave(wait);
    else
        wait_for_token(actor, tokens, 1);
    return free < max ? free : max;
}

/* True when a message to this target uses the places that this worker was woken for. */
static bool waits_for(struct actor *actor, weir_pid target)
{
    struct waiter *waiter = &place_outbox(actor->place)->waiter;
    struct wait_queue *present = atomic_load_explicit(&waiter->waits_for, memory_order_acquire);

    return present && present == wait_queue_of(actor, target);
}

/* The number of messages that go to the target in one step: one if they are spread over its
 * members. */
static uint32_t chain_max(struct actor *actor, const struct binding *binding)
{
    struct router *target = binding ? actor_find_router(actor->runtime, binding->target) : NULL;
    uint32_t room = target ? target->ops->chain_room(target) : 1;

    return room > CHAIN_MAX ? CHAIN_MAX : room ? room : 1;
}

/* The messages that are sent next: several that go to the target of one output in one step, or one
 * copy for one member of a pool. */
struct batch {
    uint32_t output;
    const struct binding *binding;
    weir_pid member; /* the receiver of a copy; 0: the batch is no copy */
    struct message *messages[CHAIN_MAX];
    uint32_t count;
};

static bool belongs(const struct batch *batch, const struct message *message)
{
    return message && message->output == batch->output;
}

/* Takes the next batch; the outbox is not empty. */
static void take_batch(struct actor *actor, struct batch *batch)
{
    struct outbox *outbox = place_outbox(actor->place);
    struct message *copy = message_list_take(&outbox->copies);
    struct message *first = copy ? copy : message_list_take(&outbox->waiting);
    uint32_t max;

    batch->output = first->output;
    batch->member = copy ? receiver_of(actor, copy) : 0;
    batch->binding = binding_of(actor, first->output);
    batch->messages[0] = first;
    batch->count = 1;
    max = copy ? 1 : chain_max(actor, batch->binding);
    while (batch->count < max && belongs(batch, message_queue_first(&outbox->waiting.queue)))
        batch->messages[batch->count++] = message_list_take(&outbox->waiting);
}

/* Puts the messages from number `taken` on back. */
static void put_back(struct outbox *outbox, const struct batch *batch, uint32_t taken)
{
    struct message_list *list = batch->member ? &outbox->copies : &outbox->waiting;

    for (uint32_t i = batch->count; i-- > taken;)
        message_list_prepend(list, batch->messages[i]);
}

static weir_pid target_of(const struct batch *batch)
{
    return batch->member ? batch->member : batch->binding->target;
}

/* True when the pool is open: then a lasting refusal means that no worker is in the seat. */
static bool has_no_receiver(struct actor *actor, const struct message *copy)
{
    struct router *router = actor_find_router(actor->runtime, copy->to);

    return copy->seat != FAN_OUT_NO_SEAT && router && !router->ops->is_closing(router);
}

/*
 * Sends a copy to the worker that has the seat now. When that worker has closed, another one may
 * have the seat: workers close after new members are published, so a sender that sees a closed
 * worker finds its successor. A copy without a receiver is freed: broadcasts skip workers that
 * leave.
 */
static int try_copy(struct actor *actor, struct batch *batch)
{
    struct message *copy = batch->messages[0];
    int status = find_receiver(actor, copy, &batch->member);

    while (status == 0) {
        weir_pid tried = batch->member;
        int found;

        status = send_some(actor, tried, batch->messages, 1, NULL);
        if (!has_ended(status))
            return status;
        found = find_receiver(actor, copy, &batch->member);
        if (found != 0 || batch->member != tried)
            status = found;
    }
    if (!has_ended(status) || !has_no_receiver(actor, copy))
        return status;
    settle_unwanted(actor, copy);
    batch->count = 0;
    return 0;
}

/* How many were taken, from the front, or why none was. */
static int try_batch(struct actor *actor, struct batch *batch)
{
    if (batch->member)
        return try_copy(actor, batch);
    return try_send(actor, batch->output, &batch->binding, batch->messages, batch->count, true);
}

/* There was no room: joins the line and checks once more; when the output leads elsewhere now,
 * joins the line there. */
static int wait_with(struct actor *actor, struct batch *batch, uint32_t *used)
{
    struct outbox *outbox = place_outbox(actor->place);
    uint32_t wants = batch->member ? 1 : outbox->waiting.count + batch->count;
    weir_pid target;
    int taken;

    wait_queue_use(&outbox->waiter, *used);
    *used = 0;
    do {
        target = target_of(batch);
        wait_for_room(actor, target, wants);
        /* The second check: see wait_queue.h. Places that it finds were not granted. Places that
         * are granted from now on come on top; if this actor does not use them, they go to the next
         * waiter. */
        taken = try_batch(actor, batch);
    } while (taken == WEIR_EFULL && target_of(batch) != target);
    return taken;
}

/* The first messages of the outbox have no token. WEIR_EFULL: they wait for one. 0: the output has
 * been bound again, without a rate. */
static int stay_without_token(struct actor *actor, uint32_t output, uint32_t *used)
{
    struct outbox *outbox = place_outbox(actor->place);
    struct tokens *tokens = tokens_of(actor, output);

    if (!tokens)
        return 0;
    wait_queue_use(&outbox->waiter, *used);
    *used = 0;
    wait_for_token(actor, tokens, outbox->waiting.count);
    return WEIR_EFULL;
}

/* Sends the first batch, several messages at once if they go to one worker; counts the granted
 * places that they `used`. WEIR_EFULL: they stay first, and wait for room or for a token. */
static int flush_first(struct actor *actor, uint32_t *used)
{
    struct message_list *copies = &actor->executor->copies;
    struct outbox *outbox = place_outbox(actor->place);
    uint32_t granted = wait_queue_granted(&outbox->waiter);
    struct batch batch;
    int taken;

    take_batch(actor, &batch);
    taken = try_batch(actor, &batch);
    if (taken == WEIR_EFULL)
        taken = wait_with(actor, &batch, used);
    else if (taken > 0 && waits_for(actor, target_of(&batch)))
        *used = *used + (uint32_t)taken < granted ? *used + (uint32_t)taken : granted;
    if (taken < 0 && taken != WEIR_EFULL) {
        drop(actor, batch.output, batch.messages[0], batch.member, DEAD_NO_TARGET, taken);
        taken = 1;
    }
    put_back(outbox, &batch, taken > 0 ? (uint32_t)taken : 0);
    if (copies->count > 0)
        copies_wait(actor, batch.output, copies);
    if (taken == NO_TOKEN && batch.count > 0)
        return stay_without_token(actor, batch.output, used);
    tokens_leave(&outbox->token_wait);
    return taken;
}

bool output_flush(struct actor *actor)
{
    struct outbox *outbox = place_outbox(actor->place);
    uint32_t used = 0;

    outbox_note_room(outbox);
    if (output_is_waiting(actor) && output_is_paused(actor)) {
        wait_queue_leave(&outbox->waiter, actor->executor);
        return false;
    }
    while (output_is_waiting(actor))
        if (flush_first(actor, &used) == WEIR_EFULL) {
            outbox_note_wait(outbox, outbox_next_output(outbox));
            return false;
        }
    wait_queue_use(&outbox->waiter, used);
    wait_queue_leave(&outbox->waiter, actor->executor);
    return true;
}

void output_drop_all(struct actor *actor, enum dead_reason reason, int status)
{
    struct outbox *outbox = place_outbox(actor->place);
    struct message *message;

    while ((message = message_list_take(&outbox->copies)))
        drop(actor, message->output, message, receiver_of(actor, message), reason, status);
    while ((message = message_list_take(&outbox->waiting)))
        drop(actor, message->output, message, 0, reason, status);
    outbox_note_room(outbox);
    tokens_leave(&outbox->token_wait);
    wait_queue_leave(&outbox->waiter, actor->executor);
}
