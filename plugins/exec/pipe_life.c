/* SPDX-License-Identifier: MIT */
#include "pipe_state.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <weir/printable.h>

#include "../files/files.h"

/* A look at whether the result is still wanted. */
#define LOOK_MS 1000u
/* Before another try to start a child, for want of descriptors, memory or processes. */
#define START_AGAIN_MS 250u
/* Bytes of the reason of an end, with a NUL; the host shows 47 of them. */
#define REASON_SIZE 64u

static void on_room(struct weir_self *self, void *memory, void *context, int descriptor,
                    int readiness);
static void on_prints(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness);
static void on_ended(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness);

static const struct peer_calls calls = { on_ended, pipe_on_frames, on_room, on_prints };

bool pipe_listens(const struct pipe *state)
{
    return state->phase == PIPE_STARTING || state->phase == PIPE_READY ||
           state->phase == PIPE_BUSY || state->phase == PIPE_CLOSING;
}

/* --- timers ----------------------------------------------------------------------------------- */

static void look(struct weir_self *self, void *memory, void *context);

static void cancel_timer(struct weir_self *self, struct pipe *state)
{
    if (state->timer)
        (void)weir_cancel_timer(self, state->timer);
    state->timer = 0;
}

static void kill_child(struct pipe *state)
{
    state->phase = PIPE_KILLED;
    child_signal(&state->peer.child, SIGKILL);
}

static uint64_t time_to_look(const struct pipe *state, uint64_t now)
{
    uint64_t left = state->deadline > now ? state->deadline - now : 1;
    uint64_t most = state->blocked ? state->again_ms : LOOK_MS;

    return state->deadline && !state->full && left < most ? left : most;
}

static bool is_at_rest(const struct pipe *state)
{
    return state->phase == PIPE_KILLED || state->phase == PIPE_ENDED ||
           state->phase == PIPE_WAITING ||
           (state->phase == PIPE_READY && !state->blocked && window_count(&state->window) == 0);
}

/* A timer that fires earlier stays. Without memory for the timer the child ends now. */
void pipe_arm(struct weir_self *self, struct pipe *state)
{
    uint64_t now, due;

    if (is_at_rest(state))
        return;
    now = weir_now_ms(self);
    due = now + time_to_look(state, now);
    if (state->timer && state->timer_due <= due)
        return;
    cancel_timer(self, state);
    state->timer_due = due;
    if (weir_after(self, due - now, look, NULL, &state->timer) == 0)
        return;
    state->timer = 0;
    state->cause = "no memory for a timer";
    state->failed = true;
    state->blocked = false;
    (void)pipe_take_nothing(self, state);
    kill_child(state);
}

static void on_tick(struct weir_self *self, void *memory, void *context)
{
    struct pipe *state = memory;
    bool is_busy = state->phase == PIPE_BUSY;

    (void)context;
    if ((state->phase != PIPE_READY && !is_busy) || state->revision < 2 ||
        (is_busy && state->ticked))
        return;
    pipe_send(self, state);
    if (!pipe_listens(state) || outbox_waiting(&state->peer.outbox) > 0)
        return;
    state->ticked = true;
    if (outbox_say(&state->peer.outbox, "tick", 0) == 0)
        pipe_send(self, state);
}

/* Without memory for the timer the child gets no ticks, and ends: it may wait for them. */
void pipe_tick(struct weir_self *self, struct pipe *state)
{
    if (state->revision > 1 && state->settings->tick > 0 && !state->ticks &&
        weir_every(self, state->settings->tick, on_tick, NULL, &state->ticks) != 0)
        pipe_stop(self, state, "no memory for a timer");
}

void pipe_set_deadline(struct weir_self *self, struct pipe *state, uint64_t after_ms)
{
    state->deadline = after_ms ? weir_now_ms(self) + after_ms : 0;
}

int pipe_start(struct weir_self *self, struct pipe *state)
{
    int error = pipe_take_nothing(self, state) == 0 ? 0 : ENOMEM;

    if (error == 0)
        error = peer_start(self, &state->peer, &state->program.plan, state->program.command.words,
                           &calls);
    if (error != 0)
        return error;
    state->phase = PIPE_STARTING;
    state->lacks = false;
    state->cause = NULL;
    state->has_ended = state->was_ready = state->worked = false;
    state->pace = (struct pipe_pace){ .is_leased = state->pace.is_leased };
    state->revision = 0;
    state->label[0] = state->items[0] = '\0';
    state->to = state->unbound = 0;
    state->gathered = state->unframed = 0;
    pipe_set_deadline(self, state, state->settings->start_timeout);
    pipe_arm(self, state);
    return 0;
}

/* --- ending the child ------------------------------------------------------------------------- */

/* The child ends by itself within `grace`; otherwise it is killed. */
void pipe_expect_end(struct weir_self *self, struct pipe *state, const char *cause, bool failed)
{
    bool has_grace = state->phase == PIPE_CLOSING;

    state->phase = PIPE_LEAVING;
    state->cause = cause;
    state->failed = failed;
    state->blocked = false;
    (void)pipe_take_nothing(self, state);
    if (failed)
        pipe_be_careful(self, state);
    pipe_put_back(self, state);
    if (!has_grace)
        pipe_set_deadline(self, state, state->settings->grace);
    outbox_close(self, &state->peer.outbox);
    pipe_arm(self, state);
}

/* A process that is stopped (SIGSTOP) gets the signal when it continues. */
void pipe_stop(struct weir_self *self, struct pipe *state, const char *cause)
{
    pipe_expect_end(self, state, cause, true);
    child_signal(&state->peer.child, SIGTERM);
    child_signal(&state->peer.child, SIGCONT);
}

static bool is_over(struct weir_self *self, const struct pipe *state)
{
    return state->deadline && weir_now_ms(self) >= state->deadline;
}

static void look_at_messages(struct weir_self *self, struct pipe *state)
{
    if (pipe_cancel(self, state)) {
        pipe_stop(self, state, "the result is not wanted any more");
        state->failed = false;
    } else if (state->phase == PIPE_BUSY && !state->full && is_over(self, state)) {
        pipe_stop(self, state, "time-out");
    }
}

static void end_grace(struct weir_self *self, struct pipe *state)
{
    weir_log(self, WEIR_LOG_WARNING, "child is killed: it does not end within grace",
             weir_int("process", state->peer.child.process));
    kill_child(state);
}

static void look(struct weir_self *self, void *memory, void *context)
{
    struct pipe *state = memory;

    (void)context;
    state->timer = 0;
    if (state->phase == PIPE_BUSY || state->phase == PIPE_READY)
        look_at_messages(self, state);
    else if (state->phase == PIPE_STARTING && is_over(self, state))
        pipe_stop(self, state, "not ready in time");
    else if ((state->phase == PIPE_LEAVING || (state->phase == PIPE_CLOSING && !state->full)) &&
             is_over(self, state))
        end_grace(self, state);
    if (state->blocked || state->has_ended)
        pipe_pump(self, state);
    else
        pipe_arm(self, state);
}

/* --- the end of the child --------------------------------------------------------------------- */

/* 0 stands for an end that something else in the program has taken note of. */
static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);

    return name ? name : "?";
}

/* Names the message that the child had in hand. */
static void blame(struct weir_self *self, struct pipe *state, long long process, const char *reason)
{
    const struct weir_message *blamed = window_blamed(&state->window)->message;
    char sample[PIPE_SAMPLE_SIZE];
    size_t size;
    const char *payload = files_text(blamed, state->line, &size);
    size_t shown = size < state->settings->log_payload ? size : state->settings->log_payload;

    if (shown > 0)
        memcpy(sample, payload, shown);
    sample[shown] = '\0';
    weir_printable_replace(sample, shown);
    weir_log(self, WEIR_LOG_ERROR, "child ended with a message in hand",
             weir_int("process", process), weir_str("reason", reason),
             weir_str("tag", blamed->tag ? blamed->tag->name : ""), weir_uint("key", blamed->key),
             weir_uint("attempt", blamed->attempt), weir_uint("bytes", size),
             weir_str("payload", sample), words_said(&state->peer.words));
}

/* A child that ends with 0 between two messages has chosen to. It may have been handed the next one
 * before its end was seen. */
static bool is_failure(struct pipe *state)
{
    bool chosen = !state->end.by_signal && state->end.number == 0 && state->worked;

    if (state->cause)
        return state->failed;
    return !chosen || (window_in_hand(&state->window) && state->answered);
}

static void write_reason(const struct pipe *state, char *to, size_t size)
{
    const char *when = state->was_ready ? "" : " before it was ready";

    if (state->cause)
        (void)snprintf(to, size, "%s", state->cause);
    else if (state->end.by_signal)
        (void)snprintf(to, size, "signal %d (%s)%s", state->end.number,
                       signal_name(state->end.number), when);
    else
        (void)snprintf(to, size, "exit code %d%s", state->end.number, when);
}

/* The host gives the message in hand to the next incarnation, or it is dead as `crashed`. */
static void fail(struct weir_self *self, struct pipe *state, const char *reason)
{
    state->phase = PIPE_ENDED;
    (void)pipe_take_nothing(self, state);
    weir_reason(self, "%s", reason);
    (void)weir_exit(self, weir_pid_of(self), WEIR_END_CRASH);
}

static void forget_child(struct weir_self *self, struct pipe *state)
{
    pipe_drop_frame(self, state);
    cancel_timer(self, state);
    if (state->flush)
        (void)weir_cancel_timer(self, state->flush);
    if (state->more)
        (void)weir_cancel_timer(self, state->more);
    state->flush = state->more = 0;
    (void)peer_finish(self, &state->peer);
}

/* The end was no failure: the message for which the child answers comes again, or is refused. */
static void give_again(struct weir_self *self, struct pipe *state, const char *reason)
{
    const struct weir_message *message = window_take_blamed(&state->window);

    weir_reason(self, "%s", reason);
    weir_retry_after(self, 0);
    pipe_settle(self, state, message, state->cause ? WEIR_REJECT : WEIR_RETRY);
}

void pipe_end(struct weir_self *self, struct pipe *state)
{
    bool failed = is_failure(state), is_blamed;
    long long process = state->peer.child.process;
    char reason[REASON_SIZE], text[REASON_SIZE];
    int error = 0;

    write_reason(state, reason, sizeof reason);
    forget_child(self, state);
    if (state->leaves) {
        state->phase = PIPE_ENDED;
        return;
    }
    if (failed)
        pipe_be_careful(self, state);
    if (failed && !state->was_ready)
        atomic_store(&((struct pipe_settings *)(uintptr_t)state->settings)->tried, 0);
    pipe_put_back(self, state);
    is_blamed = window_count(&state->window) > 0;
    if (is_blamed && !failed)
        give_again(self, state, reason);
    if (!failed)
        error = pipe_start(self, state);
    if (pipe_start_later(self, state, error))
        error = 0;
    if (error != 0)
        (void)snprintf(reason, sizeof reason, "%s", strerror_r(error, text, sizeof text));
    if (is_blamed && failed)
        blame(self, state, process, reason);
    else if (failed)
        weir_log(self, WEIR_LOG_ERROR, "child ended", weir_int("process", process),
                 weir_str("reason", reason), words_said(&state->peer.words));
    if (failed || error != 0)
        fail(self, state, reason);
}

/* True: the process has ended. */
static bool ends_before_it_is_ready(struct weir_self *self, struct pipe *state)
{
    const struct pipe_settings *settings = state->settings;
    uint64_t left = settings->open_wait < settings->start_timeout ? settings->open_wait
                                                                  : settings->start_timeout;
    bool has_ended = false;

    while (state->phase == PIPE_STARTING && left > 0 && !has_ended) {
        has_ended = peer_ends_early(self, &state->peer, &left, &state->end);
        while (state->phase == PIPE_STARTING && pipe_read(self, state))
            continue;
    }
    return has_ended;
}

bool pipe_fails_early(struct weir_self *self, struct pipe *state)
{
    bool has_ended = ends_before_it_is_ready(self, state);
    long long process = state->peer.child.process;
    char reason[REASON_SIZE];

    if (!has_ended && (state->phase == PIPE_STARTING || state->was_ready)) {
        if (state->peer.inbox.begin < state->peer.inbox.end) /* more came with `ready` */
            pipe_go_on_later(self, state, 0);
        return false;
    }
    forget_child(self, state);
    write_reason(state, reason, sizeof reason);
    weir_log(self, WEIR_LOG_ERROR, "child ended", weir_int("process", process),
             weir_str("reason", reason), words_said(&state->peer.words));
    weir_reason(self, "%s", reason);
    return true;
}

static void start_again(struct weir_self *self, void *memory, void *context)
{
    struct pipe *state = memory;
    int error;

    (void)context;
    if (state->phase != PIPE_WAITING)
        return;
    error = pipe_start(self, state);
    if (error != 0 && !pipe_start_later(self, state, error))
        fail(self, state, "child cannot be started");
}

bool pipe_start_later(struct weir_self *self, struct pipe *state, int error)
{
    char text[REASON_SIZE];

    if (!weir_is_short(error) || weir_after(self, START_AGAIN_MS, start_again, NULL, NULL) != 0)
        return false;
    state->phase = PIPE_WAITING;
    if (!state->lacks)
        weir_log(self, WEIR_LOG_WARNING, "child cannot be started; tried again",
                 weir_str("reason", strerror_r(error, text, sizeof text)));
    state->lacks = true;
    return true;
}

/* --- watches ---------------------------------------------------------------------------------- */

/* The child reads no more: it has ended, or is about to. What it wrote before counts. */
static void hear_out(struct weir_self *self, struct pipe *state)
{
    state->phase = PIPE_CLOSING;
    (void)pipe_take_nothing(self, state);
    pipe_set_deadline(self, state, state->settings->grace);
    outbox_close(self, &state->peer.outbox);
    pipe_arm(self, state);
}

void pipe_send(struct weir_self *self, struct pipe *state)
{
    int error;

    pipe_frame_all(state);
    state->gathered = 0;
    error = outbox_write(self, &state->peer.outbox, on_room);
    if (error == EPIPE || error == ECONNRESET)
        hear_out(self, state);
    else if (error != 0)
        pipe_stop(self, state, "no memory for a watch");
}

/* The end of file comes behind `close`. */
static void send_close(struct weir_self *self, struct pipe *state)
{
    int error = outbox_write(self, &state->peer.outbox, on_room);

    if (error != 0 || outbox_waiting(&state->peer.outbox) == 0)
        outbox_close(self, &state->peer.outbox);
}

void pipe_say_close(struct weir_self *self, struct pipe *state)
{
    state->phase = PIPE_CLOSING;
    (void)pipe_take_nothing(self, state);
    pipe_set_deadline(self, state, state->settings->grace);
    (void)outbox_say(&state->peer.outbox, "close", 0);
    send_close(self, state);
}

static void on_room(struct weir_self *self, void *memory, void *context, int descriptor,
                    int readiness)
{
    struct pipe *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    outbox_fired(&state->peer.outbox);
    if (state->phase == PIPE_CLOSING)
        send_close(self, state);
    else if (pipe_listens(state))
        pipe_send(self, state);
}

static void on_prints(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness)
{
    struct pipe *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    peer_on_prints(self, &state->peer, &calls);
}

/* Frames that the child wrote before its end count. */
static void on_ended(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness)
{
    struct pipe *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    if (!peer_has_ended(self, &state->peer, &calls, &state->end))
        return;
    state->has_ended = true;
    if (!state->blocked)
        pipe_pump(self, state);
}
