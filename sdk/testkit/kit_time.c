/* SPDX-License-Identifier: MIT */
#include "kit_time.h"

#include <stdlib.h>

#include "kit_due.h"
#include "kit_message.h"
#include "kit_send.h"
#include "kit_tag.h"
#include "kit_turn.h"

int kit_time_cancel_timer(struct weir_self *self, uint64_t number)
{
    struct kit_due *due = kit_due_take(kit_of(self), number, false);

    if (!due)
        return WEIR_EUNKNOWN;
    if (due->message)
        kit_message_give((struct kit_message *)(void *)due->message, KIT_FREED);
    free(due);
    return 0;
}

int kit_time_cancel_request(struct weir_self *self, uint64_t number)
{
    struct kit_due *due = kit_due_find_request(kit_of(self), number);

    if (!due)
        return WEIR_EUNKNOWN;
    due->cancelled = true;
    return 0;
}

static int add_timer(struct weir_kit *kit, const struct kit_due *due, uint64_t *out_timer)
{
    uint64_t number = kit_due_add(kit, due);

    if (out_timer)
        *out_timer = number;
    return 0;
}

int kit_time_send_after(struct weir_self *self, weir_pid to, enum weir_lane lane,
                        struct weir_message *message, uint64_t delay_ms, uint64_t *out_timer)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = {
        .at_ms = kit_due_after(kit->now_ms, delay_ms), .message = message, .to = to, .lane = lane
    };

    if (!kit_message_is_owned(kit, message, "sent"))
        return WEIR_EINVALID;
    if (kit_allocation_fails(kit))
        return WEIR_ENOMEM;
    kit_message_give((struct kit_message *)(void *)message, KIT_SENT);
    return add_timer(kit, &due, out_timer);
}

int kit_time_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick, void *context,
                   uint64_t *out_timer)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = { .at_ms = kit_due_after(kit->now_ms, delay_ms),
                                 .tick = tick,
                                 .context = context };

    if (!tick)
        return WEIR_EINVALID;
    return kit_allocation_fails(kit) ? WEIR_ENOMEM : add_timer(kit, &due, out_timer);
}

int kit_time_every(struct weir_self *self, uint64_t period_ms, weir_tick *tick, void *context,
                   uint64_t *out_timer)
{
    struct weir_kit *kit = kit_of(self);
    const struct kit_due due = { .at_ms = kit_due_after(kit->now_ms, period_ms),
                                 .every_ms = period_ms,
                                 .tick = tick,
                                 .context = context };

    if (!tick || period_ms == 0)
        return WEIR_EINVALID;
    return kit_allocation_fails(kit) ? WEIR_ENOMEM : add_timer(kit, &due, out_timer);
}

int weir_kit_answer(struct weir_kit *kit, uint64_t reference, int status, const char *tag,
                    const void *data, size_t size)
{
    struct kit_due *due = kit_due_take(kit, reference, true);
    struct kit_message *reply = NULL;

    if (!due)
        return WEIR_EUNKNOWN;
    if (status == 0) {
        const struct weir_message like = {
            .data = (void *)data,
            .size = size,
            .tag = tag ? kit_tag_find(tag) : NULL,
        };

        reply = kit_message_copy(kit, KIT_REPLY, &like);
    }
    kit_turn_begin(kit);
    kit_turn_answer(kit, due, status, reply ? &reply->message : NULL);
    kit_turn_end(kit);
    if (reply)
        kit_message_give(reply, KIT_SETTLED);
    return 0;
}

/* --- the clock -------------------------------------------------------------------------------- */

static void happen(struct weir_kit *kit, struct kit_due *due)
{
    struct kit_due now = *due;

    if (now.every_ms > 0)
        due->at_ms = kit_due_after(now.at_ms, now.every_ms);
    else
        due = kit_due_take(kit, now.number, now.is_request);
    kit_turn_begin(kit);
    if (now.is_request)
        kit_turn_answer(kit, due, WEIR_ETIMEOUT, NULL);
    else if (now.tick)
        now.tick(&kit->self, kit->state, now.context);
    else
        kit_send_due(kit, &now);
    if (!now.is_request && now.every_ms == 0)
        free(due);
    kit_turn_end(kit);
}

void weir_kit_advance(struct weir_kit *kit, uint64_t delay_ms)
{
    uint64_t until_ms = kit_due_after(kit->now_ms, delay_ms);

    for (struct kit_due *due; (due = kit_due_find_next(kit, until_ms)) != NULL;) {
        kit->now_ms = due->at_ms;
        happen(kit, due);
    }
    kit->now_ms = until_ms;
}
