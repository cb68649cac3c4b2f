/* SPDX-License-Identifier: MIT */
#include "kit.h"

#include <inttypes.h>

#include "base/plural.h"
#include "kit_message.h"
#include "kit_tag.h"
#include "kit_turn.h"

const struct weir_tag *weir_kit_tag(struct weir_kit *kit, const char *name)
{
    (void)kit;
    return kit_tag_find(name);
}

int weir_kit_deliver(struct weir_kit *kit, const struct weir_message *like)
{
    if (!kit || !kit_turn_can_run(kit, kit->behaviour.handle != NULL, "handle"))
        return WEIR_FAIL;
    return kit_turn_handle(kit, kit_message_copy(kit, KIT_IN_HAND, like));
}

static int deliver_kind(struct weir_kit *kit, enum weir_kind kind, const char *tag,
                        const void *data, size_t size)
{
    const struct weir_message like = {
        .data = (void *)data,
        .size = size,
        .tag = tag ? kit_tag_find(tag) : NULL,
        .kind = (uint8_t)kind,
    };

    return weir_kit_deliver(kit, &like);
}

int weir_kit_handle(struct weir_kit *kit, const char *tag, const void *data, size_t size)
{
    return deliver_kind(kit, WEIR_MESSAGE, tag, data, size);
}

int weir_kit_request(struct weir_kit *kit, const char *tag, const void *data, size_t size)
{
    return deliver_kind(kit, WEIR_REQUEST, tag, data, size);
}

int weir_kit_flush(struct weir_kit *kit)
{
    int verdict;

    if (!kit_turn_can_run(kit, kit->behaviour.flush != NULL, "flush"))
        return WEIR_FAIL;
    kit_turn_begin(kit);
    verdict = kit->behaviour.flush(&kit->self, kit->state);
    if (verdict == WEIR_DONE)
        kit_message_settle_all_kept(kit);
    else if (verdict != WEIR_KEEP && verdict != WEIR_STOP && verdict != WEIR_FAIL)
        kit_problem(kit, "flush answered %d, which says nothing", verdict);
    kit_turn_end(kit);
    return verdict;
}

void weir_kit_resume(struct weir_kit *kit, const void *position, size_t size)
{
    if (!kit_turn_can_run(kit, true, "resume"))
        return;
    kit_turn_begin(kit);
    if (kit->behaviour.resume)
        kit->behaviour.resume(&kit->self, kit->state, position, size);
    kit_turn_end(kit);
}

const void *weir_kit_left(const struct weir_kit *kit, size_t *out_size)
{
    *out_size = kit->left_size;
    return kit->left;
}

int weir_kit_produce(struct weir_kit *kit, uint32_t credit)
{
    size_t before = kit->emit_count;
    size_t made;
    int produced;

    if (credit > KIT_OUTBOX_MAX) /* as in core */
        credit = KIT_OUTBOX_MAX;
    if (!kit_turn_can_run(kit, kit->behaviour.produce != NULL, "produce"))
        return WEIR_ENOTALLOWED;
    kit_turn_begin(kit);
    produced = kit->behaviour.produce(&kit->self, kit->state, credit);
    made = kit->emit_count - before;
    if (made > credit)
        kit_problem(kit, "%zu %s produced, and %" PRIu32 " asked for", made,
                    plural(made, "message was", "messages were"), credit);
    if (produced > WEIR_END)
        kit_problem(kit, "produce answered %d, which says nothing", produced);
    kit_turn_end(kit);
    return produced;
}

int weir_kit_produce_all(struct weir_kit *kit, uint32_t credit)
{
    int produced;

    do
        produced = weir_kit_produce(kit, credit);
    while (produced == WEIR_MORE);
    return produced;
}
