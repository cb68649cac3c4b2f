/* SPDX-License-Identifier: MIT */
/*
 * timer - a source of messages at times.
 */
#include "timer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <weir/plugin.h>

#include "clock.h"
#include "cron.h"

#define OUTPUT_OUT 0u

#define MS_PER_S 1000
/* A look at the clock, which may have been set, or may have gone on while the machine slept. */
#define LOOK_MS ((int64_t)30000)
/* Setting the clock back by more than that is a correction: the beats come by the new time. Lines
 * that follow the clock come by the new time at once, but for small corrections, as cron(8) has
 * it. */
#define BACK_MAX_MS ((int64_t)3 * 3600 * 1000)
#define BACK_MAX_FOLLOWING_MS ((int64_t)60000)
/* A later beat is a missed one. */
#define LATE_MS ((int64_t)60000)
/* Before another try to get memory. */
#define NO_MEMORY_MS 100u
/* Beats that are counted one by one after a jump. */
#define COUNTED_MAX 10000u
#define REASON_SIZE 160u

enum missed_choice {
    MISSED_ONCE,
    MISSED_SKIP,
};

struct settings {
    const char *cron;
    uint64_t every;
    const char *zone;
    const char *payload;
    uint32_t missed; /* enum missed_choice */
    bool overlap;
};

struct timer {
    const struct settings *settings; /* borrowed until close */
    const struct weir_tag *tag;
    struct cron cron;
    struct zone zone;

    /* Milliseconds: of UTC for a cron line, otherwise of weir_now_ms. */
    int64_t next;    /* the next beat; INT64_MAX = there is none */
    int64_t seen;    /* the last reading of the clock */
    int64_t last;    /* the last beat that was due */
    bool pending;    /* a beat waits for room */
    bool at_work;    /* the last beat is not settled, and the next must not overlap it */
    bool again;      /* the last beat is sent again when `again_at` is over */
    bool rests;      /* a timer waits */
    uint64_t looked; /* `seen`, in milliseconds of weir_now_ms */
    uint64_t wake;   /* the timer */
    uint64_t again_at;
    uint16_t attempt; /* of the pending beat */

    uint64_t sent;
    uint64_t missed;
};

/* The position of a source for its successor, which may have other settings. */
struct position {
    int64_t seen, last; /* of UTC; otherwise as in struct timer */
    uint64_t looked;
    int64_t done;     /* beats of `every` up to that time are decided, of weir_now_ms */
    uint64_t attempt; /* of the beat that waits; 0: there is none */
    uint64_t again_at;
};

/* --- the clock of the beats ------------------------------------------------------------------- */

static int64_t now_of(struct weir_self *self, const struct timer *state)
{
    return state->settings->cron ? clock_utc_ms() : (int64_t)weir_now_ms(self);
}

/* The first beat after a time. */
static int64_t beat_after(const struct timer *state, int64_t time)
{
    int64_t next;

    if (!state->settings->cron)
        return time + (int64_t)state->settings->every;
    next = cron_next(&state->cron, &state->zone, time / MS_PER_S);
    return next == INT64_MAX ? INT64_MAX : next * MS_PER_S;
}

/* Moves `next` past `now`. Returns how many beats are due; `out_last` is the last one. */
static uint64_t take_due(struct timer *state, int64_t now, int64_t *out_last)
{
    uint64_t count = 0;

    while (state->next <= now) {
        *out_last = state->next;
        count++;
        if (count < COUNTED_MAX)
            state->next = beat_after(state, state->next);
        else if (state->settings->cron)
            state->next = beat_after(state, now);
        else
            state->next += (now - state->next) / (int64_t)state->settings->every *
                               (int64_t)state->settings->every +
                           (int64_t)state->settings->every;
    }
    return count;
}

/* --- opening ---------------------------------------------------------------------------------- */

static int open_zone(struct weir_self *self, struct timer *state)
{
    const char *name = state->settings->zone ? state->settings->zone : "of the host";
    char text[128];
    int error = zone_open(&state->zone, state->settings->zone);

    if (error == 0)
        return 0;
    if (error == ENOMEM)
        return WEIR_ENOMEM;
    weir_log(self, WEIR_LOG_ERROR, "time zone is not known", weir_str("zone", name),
             weir_str("reason", strerror_r(error, text, sizeof text)));
    if (error == ENOENT && state->settings->zone)
        weir_reason(self, "tzdata has no time zone %s", name);
    else
        weir_reason(self, "time zone %s: %s", name, strerror_r(error, text, sizeof text));
    return WEIR_EINVALID;
}

static int timer_open(struct weir_self *self, const void *settings, void *memory)
{
    struct timer *state = memory;
    char reason[REASON_SIZE];
    int status = 0;

    state->settings = settings;
    state->tag = weir_tag(self, TIMER_BEAT_TAG);
    if (!state->tag)
        return WEIR_ENOMEM;
    if (state->settings->cron) {
        if (!cron_read(&state->cron, state->settings->cron, reason, sizeof reason))
            return WEIR_EINVALID; /* `check` has refused it */
        status = open_zone(self, state);
    }
    state->seen = now_of(self, state);
    state->looked = weir_now_ms(self);
    state->next = beat_after(state, state->seen);
    return status;
}

static void timer_resume(struct weir_self *self, void *memory, const void *bytes, size_t size)
{
    struct timer *state = memory;
    struct position position;

    if (size != sizeof position)
        return;
    memcpy(&position, bytes, size);
    if (state->settings->cron) {
        /* The clock may have been set back past the last beat. */
        state->seen = position.seen;
        state->last = position.last;
        state->looked = position.looked;
        state->next = beat_after(state,
                                 position.last > position.seen ? position.last : position.seen);
    } else {
        state->next = beat_after(state, position.done);
    }
    if (position.attempt == 0)
        return;
    state->attempt = (uint16_t)position.attempt;
    state->again_at = position.again_at;
    state->again = position.again_at > weir_now_ms(self);
    state->pending = !state->again;
    state->at_work = state->again;
}

static void timer_close(struct weir_self *self, void *memory, int reason)
{
    struct timer *state = memory;
    struct position position = { .seen = clock_utc_ms(), .looked = weir_now_ms(self) };

    (void)reason;
    position.done = (int64_t)position.looked;
    if (state->settings->cron) {
        position.seen = state->seen;
        position.last = state->last;
        position.looked = state->looked;
    } else {
        position.done = state->next - (int64_t)state->settings->every;
    }
    if (state->pending || state->again) {
        position.attempt = state->attempt;
        position.again_at = state->again ? state->again_at : 0;
        /* Whether another source follows is not known here. */
        weir_log(
            self, WEIR_LOG_WARNING, "a beat waits", weir_uint("attempt", state->attempt),
            weir_str("effect", "after a reload it is sent; at the end of the host it is lost"));
    }
    if (weir_leave_position(self, &position, sizeof position) != 0)
        weir_log(self, WEIR_LOG_WARNING, "position lost");
    zone_close(&state->zone);
}

/* --- beats ------------------------------------------------------------------------------------ */

static void log_missed(struct weir_self *self, struct timer *state, uint64_t count,
                       const char *reason)
{
    if (count == 0)
        return;
    state->missed += count;
    weir_log(self, WEIR_LOG_WARNING, "beats are left out", weir_uint("beats", count),
             weir_str("reason", reason));
}

/* How far the clock may be set back so that no beat comes twice. */
static int64_t back_max_ms(const struct timer *state)
{
    return state->cron.follows_the_clock ? BACK_MAX_FOLLOWING_MS : BACK_MAX_MS;
}

/* Notes the time. True: it has gone on by more than the time that has passed for the host. */
static bool note_time(struct weir_self *self, struct timer *state, int64_t now)
{
    uint64_t host_now = weir_now_ms(self);
    int64_t passed = (int64_t)(host_now - state->looked);
    bool jumped = now - state->seen - passed > LATE_MS;

    if (now < state->seen - back_max_ms(state)) {
        weir_log(self, WEIR_LOG_WARNING, "clock was set back",
                 weir_int("seconds", (state->seen - now) / MS_PER_S));
        state->next = beat_after(state, now);
        state->last = now;
    }
    state->seen = now;
    state->looked = host_now;
    return jumped;
}

/* Decides about the beats that are due. */
static void look_at_clock(struct weir_self *self, struct timer *state)
{
    int64_t now = now_of(self, state);
    bool jumped = note_time(self, state, now);
    /* `produce` is not called while the target has no room. */
    const char *reason = jumped ? "the clock has jumped, or the machine slept"
                                : "the target had no room, or the host was late";
    uint64_t due = take_due(state, now, &state->last);

    if (due == 0)
        return;
    if (state->at_work || state->pending) {
        log_missed(self, state, due,
                   state->pending ? "the target has no room" : "the one before is at work");
    } else if (state->settings->missed == MISSED_SKIP && jumped && now - state->last > LATE_MS) {
        log_missed(self, state, due, reason);
    } else {
        log_missed(self, state, due - 1, reason);
        state->pending = true;
        state->attempt = 1;
    }
}

static int send(struct weir_self *self, struct timer *state)
{
    size_t size = strlen(state->settings->payload);
    struct weir_message *message = weir_message_new(self, state->tag, size);
    int status = message ? 0 : WEIR_ENOMEM;

    if (message && size > 0)
        memcpy(message->data, state->settings->payload, size);
    if (message)
        message->attempt = state->attempt;
    if (status == 0 && !state->settings->overlap)
        status = weir_set_origin(self, message, 1);
    if (status == 0)
        status = weir_emit(self, OUTPUT_OUT, message);
    if (status < 0) {
        weir_message_free(self, message);
        return status;
    }
    state->pending = false;
    state->at_work = !state->settings->overlap;
    state->sent += state->attempt == 1;
    weir_progress(self, "beats", state->sent, 0);
    return 0;
}

static void wake_up(struct weir_self *self, void *memory, void *context)
{
    struct timer *state = memory;

    (void)self;
    (void)context;
    state->rests = false;
}

/* Waits until the next beat, or until the clock is to be read. */
static int rest(struct weir_self *self, struct timer *state, uint64_t delay_ms)
{
    if (state->rests)
        (void)weir_cancel_timer(self, state->wake);
    state->rests = weir_after(self, delay_ms, wake_up, NULL, &state->wake) == 0;
    return state->rests ? WEIR_WAIT : WEIR_ENOMEM;
}

static uint64_t time_to_rest(struct weir_self *self, const struct timer *state)
{
    int64_t left = state->next - state->seen;
    uint64_t now = weir_now_ms(self);

    if (left > LOOK_MS)
        left = LOOK_MS;
    if (state->again && state->again_at <= now)
        return 1;
    if (state->again && state->again_at - now < (uint64_t)left)
        return state->again_at - now;
    return left > 0 ? (uint64_t)left : 1;
}

static int timer_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct timer *state = memory;
    int status = 0;

    look_at_clock(self, state);
    if (state->again && weir_now_ms(self) >= state->again_at) {
        state->again = false;
        state->pending = true;
    }
    if (state->pending && credit > 0)
        status = send(self, state);
    if (status == WEIR_EFULL)
        return WEIR_MORE;
    if (status == WEIR_ENOMEM)
        return rest(self, state, NO_MEMORY_MS);
    return status < 0 ? status : rest(self, state, time_to_rest(self, state));
}

static void timer_settled(struct weir_self *self, void *memory, const struct weir_outcome *outcome)
{
    struct timer *state = memory;

    if (outcome->result != WEIR_OUTCOME_RETRY) {
        state->at_work = false;
        return;
    }
    state->again = true;
    state->again_at = weir_now_ms(self) + outcome->delay_ms;
    state->attempt = (uint16_t)(outcome->attempt + 1);
}

static void timer_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct timer *state = memory;
    int64_t left = state->next - now_of(self, state);
    time_t at = (time_t)(state->next / MS_PER_S);
    char text[32] = "never";
    struct tm utc;

    if (state->settings->cron && state->next != INT64_MAX && gmtime_r(&at, &utc))
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (state->settings->cron)
        weir_inspect_add(out, "next", "%s", text);
    if (state->next != INT64_MAX)
        weir_inspect_add(out, "next_in_ms", "%" PRId64, left > 0 ? left : 0);
    weir_inspect_add(out, "beats", "%" PRIu64, state->sent);
    weir_inspect_add(out, "left_out", "%" PRIu64, state->missed);
    weir_inspect_add(out, "at_work", "%s", state->at_work ? "yes" : "no");
}

static void timer_check(const void *memory, struct weir_report *report)
{
    const struct settings *settings = memory;
    struct zone utc = { .count = 0 };
    char reason[REASON_SIZE];
    struct cron cron;

    if (!settings->cron == !settings->every) {
        weir_report_error(report, NULL, "give either `cron` or `every`");
        return;
    }
    if (settings->zone && !settings->cron)
        weir_report_error(report, "zone", "belongs to `cron`");
    else if (settings->zone && !zone_is_name(settings->zone))
        weir_report_error(report, "zone", "`%s` is no name of tzdata, such as Europe/Berlin",
                          settings->zone);
    if (!settings->cron)
        return;
    if (!cron_read(&cron, settings->cron, reason, sizeof reason))
        weir_report_error(report, "cron", "%s", reason);
    else if (cron_next(&cron, &utc, 0) == INT64_MAX)
        weir_report_error(report, "cron", "no year has such a day");
}

/* --- tables ----------------------------------------------------------------------------------- */

/* In the order of enum missed_choice. */
static const char *const missed_choices[] = { "once", "skip", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, cron,
                       .help = "minute, hour, day, month, day of the week, as in crontab(5), or "
                               "@daily and the like"),
    WEIR_OPTION_DURATION(struct settings, every, .fallback = "0s", .max = 31622400000,
                         .help = "instead of `cron`: a beat each such time, the first after one"),
    WEIR_OPTION_STRING(struct settings, zone,
                       .help = "time zone of `cron`, such as Europe/Berlin; default: that of the "
                               "host"),
    WEIR_OPTION_STRING(struct settings, payload, .fallback = "", .help = "of each message"),
    WEIR_OPTION_ENUM(struct settings, missed, .fallback = "once", .choices = missed_choices,
                     .help = "when the clock has jumped past beats, or the machine slept: one "
                             "beat for all, or none"),
    WEIR_OPTION_BOOL(struct settings, overlap, .fallback = "false", .origins = 1 + false,
                     .help = "send a beat while the message of the one before is not settled"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each beat, as timer.beat/1" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "cron",
        .summary = "sends a message at times",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct timer),
        .flags = WEIR_BLOCKING | WEIR_ENDLESS | WEIR_KEYLESS,
        .check = timer_check,
        .open = timer_open,
        .produce = timer_produce,
        .close = timer_close,
        .settled = timer_settled,
        .resume = timer_resume,
        .inspect = timer_inspect,
    },
    { 0 },
};

WEIR_PLUGIN("timer", "1.0.0", behaviours);
