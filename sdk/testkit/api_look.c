/* SPDX-License-Identifier: MIT */
#include "kit.h"

#include <string.h>

#include "kit_leaves.h"
#include "kit_message.h"

/* --- the worker's surroundings -----------------------------------------------------------------
 * */

void weir_kit_limit_memory(struct weir_kit *kit, uint64_t bytes)
{
    kit->memory = bytes;
}

void weir_kit_fail_allocation(struct weir_kit *kit, uint32_t nth)
{
    weir_kit_fail_allocations(kit, nth, 1);
}

void weir_kit_fail_allocations(struct weir_kit *kit, uint32_t nth, uint32_t count)
{
    kit->fail_in = count > 0 ? nth : 0;
    kit->fail_count = count;
}

void weir_kit_limit(struct weir_kit *kit, uint32_t room, int status)
{
    kit->room = room;
    kit->room_status = status;
}

void weir_kit_limit_descriptors(struct weir_kit *kit, uint32_t limit)
{
    kit->descriptors_limit = limit;
}

void weir_kit_time_left(struct weir_kit *kit, uint64_t time_left_ms)
{
    kit->time_left_ms = time_left_ms;
}

void weir_kit_wanted(struct weir_kit *kit, bool wanted)
{
    kit->unwanted = !wanted;
}

void weir_kit_place(struct weir_kit *kit, uint32_t index, weir_pid pool)
{
    kit->index = index;
    kit->pool = pool;
}

struct weir_pool_stats *weir_kit_pool(struct weir_kit *kit)
{
    return &kit->stats;
}

/* --- the worker's actions ----------------------------------------------------------------------
 * */

size_t weir_kit_sent_count(const struct weir_kit *kit)
{
    return kit->sent_count;
}

const struct weir_kit_sent *weir_kit_sent(const struct weir_kit *kit, size_t index)
{
    const struct kit_sent *sent = kit->sent;

    while (sent && index-- > 0)
        sent = sent->next;
    return sent ? &sent->sent : NULL;
}

static bool is_next(const struct kit_seek *seek, enum weir_kit_way way, uint32_t output,
                    size_t index)
{
    return seek->at && seek->way == way && seek->output == output && seek->index <= index;
}

/* Goes on from the last place, so that a test may look at all of them one after the other. */
static const struct weir_message *find_sent(const struct weir_kit *kit, enum weir_kit_way way,
                                            uint32_t output, size_t index)
{
    const bool goes_on = is_next(kit->seek, way, output, index);
    const struct kit_sent *sent = goes_on ? kit->seek->at : kit->sent;
    size_t at = goes_on ? kit->seek->index : 0;

    for (; sent; sent = sent->next) {
        if (sent->sent.way != way || sent->sent.output != output)
            continue;
        if (at == index) {
            *kit->seek = (struct kit_seek){ way, output, index, sent };
            return sent->sent.message;
        }
        at++;
    }
    return NULL;
}

const struct weir_message *weir_kit_emitted(const struct weir_kit *kit, uint32_t output,
                                            size_t index)
{
    return find_sent(kit, WEIR_KIT_EMIT, output, index);
}

const struct weir_message *weir_kit_replied(const struct weir_kit *kit, size_t index)
{
    return find_sent(kit, WEIR_KIT_REPLY, 0, index);
}

size_t weir_kit_settled_count(const struct weir_kit *kit, enum weir_verdict verdict)
{
    return (unsigned)verdict < KIT_VERDICTS ? kit->settled[verdict] : 0;
}

uint32_t weir_kit_descriptors(const struct weir_kit *kit)
{
    return kit->descriptors;
}

int64_t weir_kit_child_process(const struct weir_kit *kit)
{
    return kit->child_process;
}

uint32_t weir_kit_demand(const struct weir_kit *kit)
{
    return kit->demand;
}

size_t weir_kit_kept_count(const struct weir_kit *kit)
{
    return kit_message_kept_count(kit);
}

const char *weir_kit_reason(const struct weir_kit *kit)
{
    return kit->reason;
}

uint64_t weir_kit_retry_ms(const struct weir_kit *kit)
{
    return kit->retry_ms;
}

const char *weir_kit_printed(const struct weir_kit *kit)
{
    return kit_text_get(&kit->printed);
}

static const struct kit_unit *find_unit(const struct weir_kit *kit, const char *name)
{
    const struct kit_unit *unit = kit->units;

    while (unit && strcmp(unit->unit, name) != 0)
        unit = unit->next;
    return unit;
}

uint64_t weir_kit_done(const struct weir_kit *kit, const char *unit)
{
    const struct kit_unit *found = find_unit(kit, unit);

    return found ? found->done : 0;
}

uint64_t weir_kit_total(const struct weir_kit *kit, const char *unit)
{
    const struct kit_unit *found = find_unit(kit, unit);

    return found ? found->total : 0;
}

const char *weir_kit_text(const struct weir_kit *kit, const char *unit)
{
    const struct kit_unit *found = find_unit(kit, unit);

    return found ? found->text : NULL;
}

int weir_kit_exit_status(const struct weir_kit *kit)
{
    return kit->exit_status;
}

int weir_kit_own_end(const struct weir_kit *kit)
{
    return kit->own_end;
}

const char *weir_kit_problems(const struct weir_kit *kit)
{
    return kit_text_get(&kit->problems);
}

bool weir_kit_leaves_nothing(void (*work)(void *context), void *context)
{
    return kit_leaves_nothing(work, context);
}
