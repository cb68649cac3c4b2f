#include "actor/alarm.h"

#include <stdlib.h>

#include "actor/callback.h"
#include "actor/extra.h"
#include "actor/origin.h"
#include "actor/send.h"
#include "actor/settle.h"

#define NS_PER_MS 1000000u
#define DELAY_MS_MAX (UINT64_MAX / NS_PER_MS / 4) /* 146 years: now + delay cannot wrap */

static struct alarm *take_entry(struct extra *extra)
{
    struct alarm *alarms;
    uint32_t count;

    for (uint32_t i = 0; i < extra->alarm_count; i++)
        if (!extra->alarms[i].id)
            return &extra->alarms[i];
    count = extra->alarm_count ? extra->alarm_count * 2 : 4;
    alarms = realloc(extra->alarms, count * sizeof *alarms);
    if (!alarms)
        return NULL;
    for (uint32_t i = extra->alarm_count; i < count; i++)
        alarms[i] = (struct alarm){ 0 };
    extra->alarms = alarms;
    alarms = &alarms[extra->alarm_count];
    extra->alarm_count = count;
    return alarms;
}

static int add(struct actor *actor, struct alarm alarm, uint64_t delay_ms, uint64_t *out_alarm)
{
    struct extra *extra = extra_get(actor);
    struct alarm *entry = extra ? take_entry(extra) : NULL;

    if (!entry)
        return WEIR_ENOMEM;
    if (delay_ms > DELAY_MS_MAX)
        delay_ms = DELAY_MS_MAX;
    alarm.id = ++extra->next_alarm;
    alarm.due_ns = executor_look_at_clock(actor->executor) + delay_ms * NS_PER_MS;
    *entry = alarm;
    extra_arm(actor, alarm.due_ns);
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

static void drop(struct actor *actor, struct alarm *alarm)
{
    origin_discard(actor, alarm->message);
    *alarm = (struct alarm){ 0 };
}

int alarm_cancel(struct actor *actor, uint64_t id)
{
    struct extra *extra = actor->extra;

    for (uint32_t i = 0; id && extra && i < extra->alarm_count; i++) {
        if (extra->alarms[i].id == id) {
            drop(actor, &extra->alarms[i]);
            return 0;
        }
    }
    return WEIR_EUNKNOWN;
}

/* In the turn that found it refused: there is nothing between that could be lost or be full. */
static void tell_undelivered(struct actor *actor, const struct alarm *alarm, int status)
{
    const struct weir_undelivered what = { .timer = alarm->id,
                                           .to = alarm->message->to,
                                           .status = status,
                                           .message = &alarm->message->public };

    if (!actor->spec->behaviour->undelivered || (alarm->message->public.reserved & MESSAGE_ORIGIN))
        return;
    callback_begin(actor);
    actor->spec->behaviour->undelivered(&actor->self, actor->memory, &what);
    callback_end(actor);
}

static void send_due(struct actor *actor, const struct alarm *alarm)
{
    struct message *message = alarm->message;
    enum dead_reason reason;
    int status = send_message(actor->runtime, actor->executor, message->to,
                              (enum weir_lane)message->public.lane, message);

    if (status == 0)
        return;
    reason = status == WEIR_EFULL ? DEAD_FULL : DEAD_NO_TARGET;
    settle_record(actor, message, reason,
                  &(struct dead_letter_way){ .to = message->to, .output = DEAD_LETTER_DIRECT },
                  weir_status_name(status));
    tell_undelivered(actor, alarm, status);
    settle_stray(actor->runtime, actor->executor, message, reason, status);
}

/* Runs one that is due. The callback may add and cancel alarms: the entry is done with before. */
static void run(struct actor *actor, struct alarm *entry, uint64_t now_ns)
{
    struct alarm alarm = *entry;

    if (alarm.period_ns)
        entry->due_ns = now_ns + alarm.period_ns;
    else
        *entry = (struct alarm){ 0 };
    if (!alarm.tick) {
        send_due(actor, &alarm);
        return;
    }
    callback_begin(actor);
    alarm.tick(&actor->self, actor->memory, alarm.context);
    callback_end(actor);
}

uint64_t alarm_time(struct actor *actor, uint64_t now_ns)
{
    struct extra *extra = actor->extra;
    uint64_t next = TIMER_NEVER;

    /* Each entry once: who arms anew what is due at once does not keep the turn for ever. */
    for (uint32_t i = 0; i < extra->alarm_count; i++)
        if (extra->alarms[i].id && extra->alarms[i].due_ns <= now_ns)
            run(actor, &extra->alarms[i], now_ns);
    for (uint32_t i = 0; i < extra->alarm_count; i++)
        if (extra->alarms[i].id && extra->alarms[i].due_ns < next)
            next = extra->alarms[i].due_ns;
    return next;
}

void alarm_drop_all(struct actor *actor)
{
    struct extra *extra = actor->extra;

    for (uint32_t i = 0; i < extra->alarm_count; i++)
        drop(actor, &extra->alarms[i]);
}
