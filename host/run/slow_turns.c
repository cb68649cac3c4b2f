/* SPDX-License-Identifier: MIT */
#include "host/run/slow_turns.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/columns.h"
#include "base/lock.h"
#include "config/json.h"

#define NS_PER_MS 1000000u

struct record {
    struct record *next;
    struct turn_at at;
    uint64_t since_ns; /* by the monotonic clock */
    struct slow_turn turn;
};

struct slow_turns {
    struct lock lock;
    struct record *first; /* lock */
};

int slow_turns_create(struct slow_turns **out)
{
    struct slow_turns *turns = calloc(1, sizeof *turns);

    if (!turns)
        return WEIR_ENOMEM;
    lock_init(&turns->lock, LOCK_SLOW_TURNS);
    *out = turns;
    return 0;
}

void slow_turns_destroy(struct slow_turns *turns)
{
    if (!turns)
        return;
    while (turns->first) {
        struct record *next = turns->first->next;

        free(turns->first);
        turns->first = next;
    }
    lock_finish(&turns->lock);
    free(turns);
}

static bool is_same_thread(const struct turn_at *one, const struct turn_at *other)
{
    return one->dispatcher == other->dispatcher && one->thread == other->thread;
}

/* The record of the thread: that of an earlier turn, which is over, or a new one. NULL: memory is
 * out. */
static struct record *record_of_locked(struct slow_turns *turns, const struct turn_at *at)
{
    struct record *record = turns->first;

    while (record && !is_same_thread(&record->at, at))
        record = record->next;
    if (record)
        return record;
    record = calloc(1, sizeof *record);
    if (record) {
        record->next = turns->first;
        turns->first = record;
    }
    return record;
}

void slow_turns_add(struct slow_turns *turns, const struct turn_at *at,
                    const struct slow_turn *turn, uint64_t now_ns)
{
    struct record *record;

    lock_acquire(&turns->lock);
    record = record_of_locked(turns, at);
    if (record) {
        record->at = *at;
        record->since_ns = now_ns - turn->ms * NS_PER_MS;
        record->turn = *turn;
    }
    lock_release(&turns->lock);
}

static bool is_any(struct slow_turns *turns)
{
    bool any;

    lock_acquire(&turns->lock);
    any = turns->first != NULL;
    lock_release(&turns->lock);
    return any;
}

static bool find(struct slow_turns *turns, const struct turn_at *at, struct slow_turn *out)
{
    struct clock clock = clock_monotonic();
    uint64_t now_ns = clock_now_ns(&clock);
    const struct record *record;
    bool found = false;

    lock_acquire(&turns->lock);
    for (record = turns->first; record && !found; record = record->next) {
        found = is_same_thread(&record->at, at) && record->at.turns == at->turns;
        if (!found)
            continue;
        *out = record->turn;
        if (now_ns > record->since_ns + out->ms * NS_PER_MS)
            out->ms = (now_ns - record->since_ns) / NS_PER_MS;
    }
    lock_release(&turns->lock);
    return found;
}

bool slow_turns_find(struct slow_turns *turns, struct pool *pool, uint32_t index, weir_pid pid,
                     struct slow_turn *out)
{
    struct turn_at at;

    return is_any(turns) && pool_find_turn(pool, index, pid, &at) && find(turns, &at, out);
}

void slow_turn_describe(const struct slow_turn *turn, char *out, size_t size)
{
    char age[COLUMNS_CELL], thread[64] = "a thread";

    columns_age(turn->ms, age, sizeof age);
    if (turn->thread)
        (void)snprintf(thread, sizeof thread, "thread %" PRId64, turn->thread);
    (void)snprintf(out, size, "in %s for %s%s%s, in %s of dispatcher %s: %s",
                   turn->callback[0] ? turn->callback : "a callback", age,
                   turn->message[0] ? " with " : "", turn->message, thread, turn->dispatcher,
                   turn->stack);
}

void slow_turn_write(const struct slow_turn *turn, struct json *json)
{
    json_begin_object(json, "stuck");
    json_text(json, "callback", turn->callback);
    json_unsigned(json, "ms", turn->ms);
    json_text(json, "message", turn->message);
    json_text(json, "dispatcher", turn->dispatcher);
    json_unsigned(json, "thread", (uint64_t)turn->thread);
    json_text(json, "stack", turn->stack);
    json_end(json);
}
