/* SPDX-License-Identifier: MIT */
#include "kit_send.h"

#include <inttypes.h>

#include "kit_due.h"
#include "kit_event.h"
#include "kit_message.h"
#include "kit_origin.h"

/* --- sending ---------------------------------------------------------------------------------- */

void kit_send_note(struct weir_kit *kit, const struct weir_kit_sent *sent)
{
    struct kit_sent *added = kit_take(sizeof *added);

    added->sent = *sent;
    *kit->sent_end = added;
    kit->sent_end = &added->next;
    kit->sent_count++;
    kit->emit_count += sent->way == WEIR_KIT_EMIT;
}

int kit_send_take_room(struct weir_kit *kit)
{
    if (kit->room == 0)
        return kit->room_status;
    if (kit->room != UINT32_MAX)
        kit->room--;
    return 0;
}

/* Checks the receiver and the lane. */
static int check_way(weir_pid to, enum weir_lane lane)
{
    if (to == 0)
        return WEIR_EUNKNOWN;
    return (unsigned)lane <= WEIR_URGENT ? 0 : WEIR_EINVALID;
}

static int take_room_at(struct weir_kit *kit, weir_pid to, enum weir_lane lane)
{
    int status = check_way(to, lane);

    return status != 0 ? status : kit_send_take_room(kit);
}

static void leave(struct weir_kit *kit, struct weir_message *message, struct weir_kit_sent sent)
{
    sent.message = message;
    if (sent.way != WEIR_KIT_PUBLISH)
        sent.token = ((struct kit_message *)(void *)message)->token;
    sent.joins = kit_origin_joined(kit, message, sent.way == WEIR_KIT_EMIT);
    message->lane = (uint8_t)sent.lane;
    message->from = kit_pid(kit);
    kit_message_give((struct kit_message *)(void *)message, KIT_SENT);
    kit_send_note(kit, &sent);
}

int kit_send_message(struct weir_self *self, weir_pid to, enum weir_lane lane,
                     struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    int status = WEIR_EINVALID;

    if (kit_message_is_owned(kit, message, "sent"))
        status = take_room_at(kit, to, lane);
    if (status == 0)
        leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_SEND, .to = to, .lane = lane });
    return status;
}

void kit_send_due(struct weir_kit *kit, const struct kit_due *due)
{
    struct kit_message *message = (struct kit_message *)(void *)due->message;
    const struct weir_undelivered what = { .timer = due->number,
                                           .to = due->to,
                                           .status = take_room_at(kit, due->to, due->lane),
                                           .message = due->message };

    if (what.status == 0) {
        leave(kit, due->message,
              (struct weir_kit_sent){ .way = WEIR_KIT_SEND, .to = due->to, .lane = due->lane });
        return;
    }
    if (message->has_origin)
        (void)weir_kit_tell(kit, &(struct weir_outcome){ .token = message->token,
                                                         .result = WEIR_OUTCOME_DEAD,
                                                         .reason = "full" });
    else if (kit->behaviour.undelivered)
        kit->behaviour.undelivered(&kit->self, kit->state, &what);
    kit_message_give(message, KIT_FREED);
}

int kit_send_chain(struct weir_self *self, weir_pid to, struct weir_message *const *messages,
                   uint32_t count)
{
    uint32_t taken = 0;
    int status = to ? 0 : WEIR_EUNKNOWN;

    while (taken < count && status == 0) {
        status = kit_send_message(self, to, WEIR_NORMAL, messages[taken]);
        taken += status == 0;
    }
    return taken > 0 ? (int)taken : status;
}

int kit_send_publish(struct weir_self *self, uint64_t token, struct weir_message *message,
                     uint32_t *out_taken, uint32_t *out_refused)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_event *event = kit_event_find(kit, token);

    if (!event)
        return WEIR_EUNKNOWN;
    if (!kit_message_is_owned(kit, message, "published") || kit_origin_is_set(message))
        return WEIR_EINVALID;
    message->kind = WEIR_EVENT;
    leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_PUBLISH, .token = token });
    if (out_taken)
        *out_taken = event->subscribers;
    if (out_refused)
        *out_refused = 0;
    return 0;
}

/* As an output whose target has no room while the callback runs: the messages wait in the outbox.
 * A test that calls weir_kit_limit says itself how much room there is. */
static int take_emit_room(struct weir_kit *kit)
{
    if (kit->room != UINT32_MAX)
        return kit_send_take_room(kit);
    if (kit->outbox >= KIT_OUTBOX_MAX)
        return WEIR_EFULL;
    kit->outbox++;
    return 0;
}

static bool has_output(const struct weir_behaviour *behaviour, uint32_t output)
{
    uint32_t count = 0;

    while (behaviour->outputs && count <= output && behaviour->outputs[count].name)
        count++;
    return output < count;
}

int kit_send_target(struct weir_self *self, uint32_t output, weir_pid *out_pid)
{
    if (!has_output(&kit_of(self)->behaviour, output))
        return WEIR_EINVALID;
    *out_pid = WEIR_KIT_TARGET + output;
    return 0;
}

int kit_send_emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    int status;

    if (!has_output(&kit->behaviour, output)) {
        kit_problem(kit, "a message was emitted at output %" PRIu32 ", which is not declared",
                    output);
        return WEIR_EINVALID;
    }
    status = kit_message_is_owned(kit, message, "sent") ? take_emit_room(kit) : WEIR_EINVALID;
    if (status == 0)
        leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_EMIT, .output = output });
    return status;
}

int kit_send_request(struct weir_self *self, weir_pid to, enum weir_lane lane,
                     struct weir_message *message, uint64_t timeout_ms, weir_then *then,
                     void *context, uint64_t *out_reference)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_due due = { .at_ms = kit_due_after(kit->now_ms, timeout_ms),
                           .is_request = true,
                           .then = then,
                           .context = context };
    struct weir_kit_sent sent = { .way = WEIR_KIT_REQUEST, .to = to, .lane = lane };
    int status = WEIR_EINVALID;

    if (kit_message_is_owned(kit, message, "sent") && !kit_origin_is_set(message))
        status = take_room_at(kit, to, lane);
    if (status == 0 && kit_allocation_fails(kit))
        status = WEIR_ENOMEM;
    if (status != 0)
        return status;
    sent.reference = kit_due_add(kit, &due);
    message->kind = WEIR_REQUEST;
    leave(kit, message, sent);
    if (out_reference)
        *out_reference = sent.reference;
    return 0;
}

/* --- answering -------------------------------------------------------------------------------- */

int kit_send_reply(struct weir_self *self, struct weir_message *to, struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *asked = (struct kit_message *)(void *)to;

    if (!kit_message_is_owned(kit, message, "sent") || to->kind != WEIR_REQUEST ||
        kit_origin_is_set(message))
        return WEIR_EINVALID;
    if (asked->replied || (asked->owner != KIT_IN_HAND && asked->owner != KIT_KEPT))
        return WEIR_ENOTALLOWED;
    asked->replied = true;
    leave(kit, message, (struct weir_kit_sent){ .way = WEIR_KIT_REPLY, .to = to->from });
    return 0;
}

int kit_send_forward(struct weir_self *self, weir_pid to, enum weir_lane lane,
                     struct weir_message *message)
{
    struct weir_kit *kit = kit_of(self);
    struct kit_message *in_hand = (struct kit_message *)(void *)message;
    const struct weir_kit_sent sent = {
        .way = WEIR_KIT_FORWARD, .to = to, .lane = lane, .message = message
    };
    int status;

    if ((in_hand->owner != KIT_IN_HAND && in_hand->owner != KIT_KEPT) || in_hand->forwarded) {
        kit_problem(kit, "a message was forwarded that is neither in hand nor kept");
        return WEIR_EINVALID;
    }
    status = check_way(to, lane);
    if (status == 0 && kit->room == 0)
        status = kit->room_status;
    if (status != 0)
        return status;
    in_hand->forwarded = true;
    if (in_hand->owner == KIT_KEPT) /* no verdict of `handle` follows */
        in_hand->owner = KIT_SENT;
    kit_send_note(kit, &sent);
    return 0;
}
