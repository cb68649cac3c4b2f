/* SPDX-License-Identifier: MIT */
#include "actor/alarm.h"

#include <stdlib.h>

#include "actor/actor_ext.h"
#include "actor/callback.h"
#include "actor/deadlines.h"
#include "actor/origin.h"
#include "actor/output.h"
#include "actor/own.h"
#include "actor/place.h"
#include "actor/settle.h"

#define INDEX_BITS 24 /* as for requests; 2^40 in a life */
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define NS_PER_MS 1000000u
#define DELAY_MS_MAX (UINT64_MAX / NS_PER_MS / 4) /* 146 years: now + delay cannot wrap */

static int grow(struct actor_ext *ext)
{
    uint32_t count = ext->alarm_count ? ext->alarm_count * 2 : 4;
    struct alarm *alarms;

    if (count > INDEX_MASK)
        return WEIR_ENOMEM;
    alarms = realloc(ext->alarms, count * sizeof *alarms);
    if (!alarms)
        return WEIR_ENOMEM;
    for (uint32_t i = ext->alarm_count; i < count; i++) {
        alarms[i] = (struct alarm){ .next_free = ext->alarm_free };
        ext->alarm_free = i + 1;
    }
    ext->alarms = alarms;
    ext->alarm_count = count;
    return 0;
}

/* Takes a free entry off the list; UINT32_MAX when memory is out. */
static uint32_t take_entry(struct actor_ext *ext)
{
    uint32_t index;

    if ((!ext->alarm_free && grow(ext) != 0) || deadlines_reserve(ext) != 0)
        return UINT32_MAX;
    index = ext->alarm_free - 1;
    ext->alarm_free = ext->alarms[index].next_free;
    return index;
}

static void give_entry(struct actor_ext *ext, uint32_t index)
{
    deadlines_clear(ext, DEADLINE_ALARM, index);
    if (!ext->alarms[index].period_ns)
        place_engage(ext->actor->place, -1);
    ext->alarms[index] = (struct alarm){ .next_free = ext->alarm_free };
    ext->alarm_free = index + 1;
}

static int add(struct actor *actor, struct alarm alarm, uint64_t delay_ms, uint64_t *out_alarm)
{
    struct actor_ext *ext = actor_ext_get(actor);
    uint32_t index = ext ? take_entry(ext) : UINT32_MAX;
    uint64_t due_ns;

    if (index == UINT32_MAX)
        return WEIR_ENOMEM;
    if (delay_ms > DELAY_MS_MAX)
        delay_ms = DELAY_MS_MAX;
    alarm.id = (++ext->next_alarm << INDEX_BITS) | index;
    ext->alarms[index] = alarm;
    if (!alarm.period_ns)
        place_engage(actor->place, 1);
    due_ns = executor_look_at_clock(actor->executor) + delay_ms * NS_PER_MS;
    deadlines_set(ext, DEADLINE_ALARM, index, due_ns);
    actor_ext_arm(actor, due_ns);
    if (out_alarm)
        *out_alarm = alarm.id;
    return 0;
}

int alarm_tick(struct actor *actor, uint64_t delay_ms, uint64_t period_ms, weir_tick *tick,
               void *context, uint64_t *out_alarm)
{
    struct alarm alarm = { .tick = tick, .context = context };

    if (!tick)
        return WEIR_EINVALID;
    alarm.period_ns = (period_ms > DELAY_MS_MAX ? DELAY_MS_MAX : period_ms) * NS_PER_MS;
    return add(actor, alarm, delay_ms, out_alarm);
}

int alarm_send(struct actor *actor, weir_pid to, enum weir_lane lane, struct message *message,
               uint64_t delay_ms, uint64_t *out_alarm)
{
    struct alarm alarm = { .message = message };
    int status = add(actor, alarm, delay_ms, out_alarm);

    if (status == 0) {
        message->to = to;
        message->public.lane = (uint8_t)lane;
        message->public.from = actor_pid(actor);
    }
    return status;
}

/* Takes the message of a timer that the behaviour has cancelled; NULL is allowed. */
static void cancel(struct actor *actor, uint32_t index)
{
    struct message *message = actor->ext->alarms[index].message;

    give_entry(actor->ext, index);
    origin_discard(actor, message);
}

int alarm_cancel(struct actor *actor, uint64_t id)
{
    struct actor_ext *ext = actor->ext;
    uint32_t index = (uint32_t)id & INDEX_MASK;

    if (!id || !ext || index >= ext->alarm_count || ext->alarms[index].id != id)
        return WEIR_EUNKNOWN;
    cancel(actor, index);
    return 0;
}

/* Called in the turn in which the message was refused: so the report cannot get lost, and no full
 * mailbox refuses it. */
static void report_undelivered(struct actor *actor, const struct alarm *alarm, int status)
{
    const struct weir_undelivered what = { .timer = alarm->id,
                                           .to = alarm->message->to,
                                           .status = status,
                                           .message = &alarm->message->public };

    /* An actor hears of a message whose origin it is by `settled`. */
    if (!actor->spec->behaviour->undelivered || (alarm->message->public.reserved & MESSAGE_ORIGIN))
        return;
    callback_begin(actor, NOTE_UNDELIVERED);
    actor->spec->behaviour->undelivered(&actor->self, actor->memory, &what);
    callback_end(actor);
}

/* Records a message that no actor has accepted: as settle_record. */
static uint64_t record_unsent(struct actor *actor, const struct message *message,
                              enum dead_reason reason, const char *detail)
{
    const struct dead_letter_way way = { .to = message->to, .output = DEAD_LETTER_DIRECT };

    return settle_record(actor, message, reason, &way, detail);
}

static void send_due(struct actor *actor, const struct alarm *alarm)
{
    struct message *message = alarm->message;
    enum dead_reason reason;
    uint64_t record;
    int status;

    own_mark(actor, message->to, message);
    status = output_send(actor, message->to, (enum weir_lane)message->public.lane, message);

    if (status == 0)
        return;
    reason = status == WEIR_EFULL ? DEAD_FULL : DEAD_NO_TARGET;
    record = record_unsent(actor, message, reason, weir_status_name(status));
    report_undelivered(actor, alarm, status);
    settle_stray(actor->runtime, actor->executor, message, reason, status, record);
}

/* The entry is complete before the callback, which may add and cancel alarms. */
void alarm_time(struct actor *actor, uint32_t index, uint64_t now_ns)
{
    struct alarm alarm = actor->ext->alarms[index];

    if (alarm.period_ns)
        deadlines_set(actor->ext, DEADLINE_ALARM, index, now_ns + alarm.period_ns);
    else
        give_entry(actor->ext, index);
    if (!alarm.tick) {
        send_due(actor, &alarm);
        return;
    }
    callback_begin_brief(actor, NOTE_TIMER);
    alarm.tick(&actor->self, actor->memory, alarm.context);
    callback_end(actor);
}

/* The incarnation has ended before the time of the timer. What has joined an origin is dead: nobody
 * has handled it. Takes the message; NULL is allowed. */
static void end_unsent(struct actor *actor, struct message *message)
{
    uint64_t record;

    if (!message || !(message->public.reserved & MESSAGE_JOINED)) {
        origin_discard(actor, message);
        return;
    }
    record = record_unsent(actor, message, DEAD_TERMINATED, "before its timer was due");
    settle_stray(actor->runtime, actor->executor, message, DEAD_TERMINATED, WEIR_ETERMINATED,
                 record);
}

static void forget_all(struct actor_ext *ext)
{
    /* Frees the array, so that the next incarnation has only the memory that it needs itself. */
    free(ext->alarms);
    ext->alarms = NULL;
    ext->alarm_count = 0;
    ext->alarm_free = 0;
}

void alarm_end_all(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    for (uint32_t i = 0; i < ext->alarm_count; i++) {
        struct alarm alarm = ext->alarms[i];

        if (!alarm.id)
            continue;
        give_entry(ext, i);
        end_unsent(actor, alarm.message);
    }
    forget_all(ext);
}

void alarm_free_all(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    for (uint32_t i = 0; i < ext->alarm_count; i++)
        message_destroy(&actor->executor->cache, ext->alarms[i].message);
    forget_all(ext);
}
