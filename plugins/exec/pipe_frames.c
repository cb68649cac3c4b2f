/* SPDX-License-Identifier: MIT */
#include "pipe_state.h"

#include <stdio.h>
#include <string.h>

/* Frames of one child before others have their turn. */
#define FRAMES_MAX 4096u
/* While a child that rings has more than one message, its frames are read so often. */
#define FRAMES_MS 1u
/* A receiver that handles messages has room soon. Tries that fail come more seldom, up to
 * PIPE_AGAIN_MS. */
#define FIRST_AGAIN_MS 1u
/* Bytes of a reason that are dropped at a time. */
#define REST_SIZE 512u
/* A message that waits holds back the position of its source. A child that counts wrongly, to -1
 * say, asks for ages. */
#define RETRY_MAX_MS (24u * 60 * 60 * 1000)

void pipe_drop_frame(struct weir_self *self, struct pipe *state)
{
    weir_message_free(self, state->output);
    state->output = NULL;
    state->has_frame = state->blocked = false;
}

static bool is_output(const struct frame *frame)
{
    return frame->kind == FRAME_OUT || frame->kind == FRAME_REPLY || frame->kind == FRAME_RESULT;
}

/* The message to which the frame belongs; NULL: none. */
static struct given *target_of(struct pipe *state)
{
    if (!frame_has(&state->frame, FRAME_ID))
        return window_in_hand(&state->window);
    return window_find(&state->window, state->frame.fields[FRAME_ID]);
}

/* --- what is out of place --------------------------------------------------------------------- */

static bool is_written(const struct pipe *state, const struct given *row)
{
    return row->mark <= state->peer.outbox.written;
}

static const char *wrong_ready(const struct pipe *state)
{
    const struct frame *frame = &state->frame;
    uint64_t revision = frame_has(frame, FRAME_REVISION) ? frame->fields[FRAME_REVISION] : 1;
    uint64_t batch = frame_has(frame, FRAME_BATCH_SIZE) ? frame->fields[FRAME_BATCH_SIZE] : 1;

    if (state->phase != PIPE_STARTING)
        return "ready came twice";
    if (revision < 1 || revision > FRAME_REVISION_MAX)
        return "a revision that this host does not know";
    return batch < 1 || batch > WINDOW_MAX || (batch > 1 && revision < 2)
               ? "a batch that is not possible"
               : NULL;
}

/* A verdict comes after the whole message. */
static const char *wrong_verdict(struct pipe *state)
{
    const struct given *in_hand = window_in_hand(&state->window);

    if (!in_hand)
        return "a verdict for no message";
    return is_written(state, in_hand) ? NULL : "a verdict before its message was written";
}

static const char *wrong_output(struct pipe *state)
{
    const struct frame *frame = &state->frame;
    bool of_none = frame_has(frame, FRAME_ID) && frame->fields[FRAME_ID] == 0;
    const struct given *target = target_of(state);

    if (frame->size > state->settings->frame_max)
        return "a frame is larger than frame_max";
    if (frame->kind == FRAME_OUT)
        return of_none || target ? NULL : "an output of no message";
    if (frame->kind == FRAME_RESULT)
        return wrong_verdict(state);
    return target && target->message->kind == WEIR_REQUEST ? NULL : "a reply to no request";
}

/* A child that has settled no message would be replaced for ever. */
static const char *wrong_stop(struct pipe *state)
{
    if (state->revision < 2)
        return wrong_verdict(state);
    return state->worked || state->phase == PIPE_CLOSING ? NULL
                                                         : "stop before a message is settled";
}

static const char *wrong_batch(const struct pipe *state)
{
    const struct given_list *ahead = &state->window.ahead;
    uint64_t count = state->frame.fields[FRAME_COUNT];

    if (count < 1 || count > given_count(ahead))
        return "a verdict for no message";
    return is_written(state, &ahead->rows[ahead->begin + count - 1])
               ? NULL
               : "a verdict before its message was written";
}

/* NULL: the frame is in place. */
static const char *what_is_wrong(struct pipe *state)
{
    const struct frame *frame = &state->frame;
    const struct given *target = target_of(state);

    if (frame->kind == FRAME_READY)
        return wrong_ready(state);
    if (state->phase == PIPE_STARTING)
        return "a frame before ready";
    if (state->revision < 2 && (frame->kind >= FRAME_FIRST_OF_2 || frame_has(frame, FRAME_ID)))
        return "a frame of revision 2";
    if (state->revision < 3 && frame->kind == FRAME_RESULT)
        return "a frame of revision 3";
    switch (frame->kind) {
    case FRAME_OUT:
    case FRAME_RESULT:
    case FRAME_REPLY:
        return wrong_output(state);
    case FRAME_BATCH:
        return wrong_batch(state);
    case FRAME_KEEP:
        return target && is_written(state, target) &&
                       !window_is_kept(&state->window, frame->fields[FRAME_ID])
                   ? NULL
                   : "keep of a message that it does not have";
    case FRAME_SETTLE:
        return window_is_kept(&state->window, frame->fields[FRAME_ID])
                   ? NULL
                   : "settle of a message that it does not keep";
    case FRAME_LOG:
    case FRAME_LABEL:
    case FRAME_TO:
    case FRAME_INSPECT:
        return frame->size > state->settings->frame_max ? "a frame is larger than frame_max" : NULL;
    case FRAME_STOP:
        return wrong_stop(state);
    case FRAME_FAIL:
        return NULL;
    default:
        return wrong_verdict(state);
    }
}

/* --- obeying ---------------------------------------------------------------------------------- */

/* 0 also when the request has ended. */
static int send_output(struct weir_self *self, struct pipe *state)
{
    bool is_reply = state->frame.kind == FRAME_REPLY;
    const struct given *target = target_of(state);
    uint64_t key = state->frame.fields[FRAME_KEY];
    int status;

    state->output->key = key || !target ? key : target->message->key;
    if (!is_reply)
        status = weir_emit(self, state->to, state->output);
    else
        status = target ? weir_reply(self, target->message, state->output) : WEIR_EINVALID;
    if (status != 0 && is_reply && status != WEIR_ENOMEM) {
        weir_message_free(self, state->output);
        status = 0;
    }
    if (status != 0)
        return status;
    state->output = NULL;
    if (!is_reply) {
        state->label[0] = '\0';
        state->to = 0;
    }
    return status;
}

/* What a child emits where the file has no pool is freed. The log says so once for each output. */
static void say_unbound(struct weir_self *self, struct pipe *state)
{
    weir_pid pool;

    if ((state->unbound & (1u << state->to)) || weir_target(self, state->to, &pool) == 0)
        return;
    state->unbound |= 1u << state->to;
    weir_log(self, WEIR_LOG_INFO, "output leads nowhere, what the child emits there is dropped",
             weir_str("output", pipe_outputs[state->to].name));
}

static void choose_output(struct weir_self *self, struct pipe *state)
{
    char name[PIPE_SAMPLE_SIZE];
    uint32_t at = 0;

    while (pipe_outputs[at].name && strcmp(pipe_outputs[at].name, state->text) != 0)
        at++;
    if (pipe_outputs[at].name) {
        state->to = at;
        say_unbound(self, state);
        return;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, state->text);
    (void)snprintf(state->text, sizeof state->text, "no such output: %s", name);
    pipe_stop(self, state, state->text);
}

/* With the delay of the frame, and its bytes as the reason. */
static void explain(struct weir_self *self, struct pipe *state, int verdict)
{
    uint64_t delay = state->frame.fields[FRAME_MS];

    weir_reason(self, "%s", state->text);
    state->is_explained = state->text[0] != '\0';
    if (verdict == WEIR_RETRY)
        weir_retry_after(self, delay < RETRY_MAX_MS ? delay : RETRY_MAX_MS);
}

static void end_refused(struct weir_self *self, struct pipe *state, int verdict)
{
    explain(self, state, verdict);
    pipe_end_message(self, state, verdict);
}

/* The reason of a message before this one is none of this one. */
static void end_done(struct weir_self *self, struct pipe *state)
{
    if (state->is_explained)
        weir_reason(self, "%s", "");
    state->is_explained = false;
    pipe_end_message(self, state, WEIR_DONE);
}

static void on_bell(struct weir_self *self, void *memory, void *context, int descriptor,
                    int readiness)
{
    struct pipe *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    if (peer_take_bell(self, &state->peer, on_bell) != 0 && pipe_listens(state))
        pipe_stop(self, state, "no memory for a watch");
    if (!state->blocked)
        pipe_pump(self, state);
}

static void get_ready(struct weir_self *self, struct pipe *state)
{
    state->phase = PIPE_READY;
    state->was_ready = true;
    pipe_set_deadline(self, state, 0);
    pipe_open_window(self, state);
    /* A child with a batch need not ring, and one that does would wait for a reader. */
    if (state->revision > 2 && peer_hear_bell(self, &state->peer, on_bell) != 0)
        pipe_stop(self, state, "no memory for a watch");
    else
        pipe_tick(self, state);
}

static void settle_kept(struct weir_self *self, struct pipe *state)
{
    int verdict = (int)state->frame.fields[FRAME_VERDICT];
    const struct weir_message *message = window_take_kept(&state->window,
                                                          state->frame.fields[FRAME_ID]);

    explain(self, state, verdict);
    pipe_settle(self, state, message, verdict);
}

/* In revision 2 it settles nothing: a child that stops between two messages does not know whether
 * another one is on its way. */
static void stop(struct weir_self *self, struct pipe *state)
{
    if (state->revision < 2)
        end_done(self, state);
    pipe_put_all_back(self, state);
    pipe_expect_end(self, state, "stop", false);
}

/* Of no message: none is blamed. */
static void fail(struct weir_self *self, struct pipe *state)
{
    if (frame_has(&state->frame, FRAME_ID) && state->frame.fields[FRAME_ID] == 0)
        pipe_put_all_back(self, state);
    pipe_stop(self, state, state->text);
}

static void obey(struct weir_self *self, struct pipe *state)
{
    switch (state->frame.kind) {
    case FRAME_READY:
        get_ready(self, state);
        break;
    case FRAME_DONE:
    case FRAME_RESULT:
        end_done(self, state);
        break;
    case FRAME_RETRY:
        end_refused(self, state, WEIR_RETRY);
        break;
    case FRAME_REJECT:
        end_refused(self, state, WEIR_REJECT);
        break;
    case FRAME_BATCH:
        for (uint64_t count = state->frame.fields[FRAME_COUNT]; count > 0; count--)
            end_done(self, state);
        break;
    case FRAME_STOP:
        stop(self, state);
        break;
    case FRAME_FAIL:
        fail(self, state);
        break;
    case FRAME_KEEP:
        pipe_keep(self, state, state->frame.fields[FRAME_ID]);
        break;
    case FRAME_SETTLE:
        settle_kept(self, state);
        break;
    case FRAME_LOG:
        weir_log(self, (enum weir_log_level)state->frame.fields[FRAME_LEVEL], "child says",
                 weir_int("process", state->peer.child.process), weir_str("text", state->text));
        break;
    case FRAME_LABEL:
        (void)snprintf(state->label, sizeof state->label, "%.*s", WEIR_LABEL_SIZE - 1, state->text);
        break;
    case FRAME_INSPECT:
        memcpy(state->items, state->text, sizeof state->items);
        break;
    case FRAME_TO:
        choose_output(self, state);
        break;
    case FRAME_OUT:
    case FRAME_REPLY:
        break;
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

/* False: it waits for more bytes. */
static bool read_more(struct pipe *state, char *to, size_t size)
{
    size_t got = inbox_bytes(&state->peer.inbox, to, size);

    state->got += got;
    return got > 0;
}

/* The origin of the message to which the output belongs waits for it, too. NULL: memory is out. */
static struct weir_message *make_output(struct weir_self *self, struct pipe *state)
{
    const struct given *target = target_of(state);
    const char *label = state->frame.kind == FRAME_REPLY ? "" : state->label;
    struct weir_message *output = label[0] ? weir_message_new_labelled(self, state->tag,
                                                                       state->frame.size, label)
                                           : weir_message_new(self, state->tag, state->frame.size);

    if (!output || !target || weir_join(self, output, target->message) == 0)
        return output;
    weir_message_free(self, output);
    return NULL;
}

/* False: it waits for more bytes, or for memory (`blocked`). */
static bool read_output(struct weir_self *self, struct pipe *state)
{
    if (!state->output)
        state->output = make_output(self, state);
    if (!state->output) {
        state->blocked = true;
        return false;
    }
    while (state->got < state->frame.size) {
        if (!read_more(state, (char *)state->output->data + state->got,
                       state->frame.size - state->got))
            return false;
    }
    return true;
}

/* Reads the whole reason, and keeps what fits. False: it waits for more bytes. */
static bool read_reason(struct pipe *state)
{
    size_t kept = state->frame.size < PIPE_TEXT_SIZE ? state->frame.size : PIPE_TEXT_SIZE - 1;
    char rest[REST_SIZE];

    while (state->got < kept) {
        if (!read_more(state, state->text + state->got, kept - state->got))
            return false;
    }
    while (state->got < state->frame.size) {
        size_t left = state->frame.size - state->got;

        if (!read_more(state, rest, left < REST_SIZE ? left : REST_SIZE))
            return false;
    }
    state->text[kept] = '\0';
    return true;
}

static bool read_bytes(struct weir_self *self, struct pipe *state)
{
    return is_output(&state->frame) ? read_output(self, state) : read_reason(state);
}

/* False: `pump` ends for now. */
static bool end_frame(struct weir_self *self, struct pipe *state)
{
    int status;

    if (!read_bytes(self, state))
        return false;
    status = state->output ? send_output(self, state) : 0;
    if (status == WEIR_EFULL || status == WEIR_ENOMEM) {
        state->blocked = true;
        state->full = status == WEIR_EFULL;
        return false;
    }
    pipe_drop_frame(self, state);
    if (status != 0)
        pipe_stop(self, state, weir_status_text(status));
    else
        obey(self, state);
    return true;
}

/* Whether the frame is about the message in hand: the child has begun it. */
static bool answers(struct pipe *state)
{
    if (state->frame.kind >= FRAME_FIRST_OF_2 && state->frame.kind != FRAME_RESULT)
        return false;
    return !is_output(&state->frame) || target_of(state) == window_in_hand(&state->window);
}

static bool begin_frame(struct weir_self *self, struct pipe *state)
{
    const char *wrong;

    switch (inbox_line(&state->peer.inbox, &state->frame)) {
    case INBOX_NOTHING:
    case INBOX_END:
        return false;
    case INBOX_WRONG:
        pipe_stop(self, state, "the child wrote no frame");
        return false;
    case INBOX_MEMORY:
        pipe_stop(self, state, "no memory for a frame");
        return false;
    case INBOX_FRAME:
        break;
    }
    state->has_frame = true;
    state->got = 0;
    state->answered |= answers(state);
    wrong = what_is_wrong(state);
    if (!wrong)
        return true;
    pipe_drop_frame(self, state);
    pipe_stop(self, state, wrong);
    return false;
}

/* A child that rings writes more verdicts before it has nothing to do. If it does not write for
 * FRAMES_MS, it has a long message. */
static bool is_about_to_ring(const struct pipe *state, uint32_t frames)
{
    return frames > 0 && state->pace.batch == 0 && state->peer.bell.watched &&
           state->phase == PIPE_BUSY && given_count(&state->window.ahead) > 1;
}

static void wait_for_frames(struct weir_self *self, struct pipe *state, uint32_t frames)
{
    struct stream *stream = &state->peer.inbox.stream;

    if (state->peer.inbox.at_end) /* it has ended, or is about to */
        pipe_expect_end(self, state, NULL, true);
    else if (!stream->watched && is_about_to_ring(state, frames))
        pipe_go_on_later(self, state, FRAMES_MS);
    else if (!stream->watched && stream_watch(self, stream, pipe_on_frames) != 0)
        pipe_stop(self, state, "no memory for a watch");
}

bool pipe_read(struct weir_self *self, struct pipe *state)
{
    state->blocked = state->full = false;
    return pipe_listens(state) && (state->has_frame || begin_frame(self, state)) &&
           end_frame(self, state);
}

static void on_more(struct weir_self *self, void *memory, void *context)
{
    struct pipe *state = memory;

    (void)context;
    state->more = 0;
    if (!state->blocked)
        pipe_pump(self, state);
}

void pipe_go_on_later(struct weir_self *self, struct pipe *state, uint32_t after_ms)
{
    if (!state->more && weir_after(self, after_ms, on_more, NULL, &state->more) != 0)
        pipe_stop(self, state, "no memory for a timer");
}

static uint32_t next_try_ms(const struct pipe *state, bool fails_again)
{
    if (!fails_again)
        return FIRST_AGAIN_MS;
    return 2 * state->again_ms < PIPE_AGAIN_MS ? 2 * state->again_ms : PIPE_AGAIN_MS;
}

void pipe_pump(struct weir_self *self, struct pipe *state)
{
    bool was_blocked = state->blocked, was_full = state->full;
    uint64_t done = state->count_done;
    uint32_t frames = 0;

    while (frames < FRAMES_MAX && pipe_read(self, state))
        frames++;
    if (state->count_done != done)
        weir_progress(self, "messages", state->count_done, 0);
    pipe_keep_pace(self, state);
    /* The time that an output waits for room is not that of the child. */
    if (was_full && !state->full && (state->phase == PIPE_BUSY || state->phase == PIPE_CLOSING))
        pipe_set_deadline(self, state,
                          state->phase == PIPE_BUSY ? state->settings->timeout
                                                    : state->settings->grace);
    state->again_ms = next_try_ms(state, was_blocked && state->blocked && frames == 0);
    if (state->blocked || was_blocked)
        pipe_arm(self, state);
    if (state->blocked)
        return;
    if (frames == FRAMES_MAX)
        pipe_go_on_later(self, state, 0);
    else if (state->has_ended)
        pipe_end(self, state);
    else if (pipe_listens(state))
        wait_for_frames(self, state, frames);
}

void pipe_on_frames(struct weir_self *self, void *memory, void *context, int descriptor,
                    int readiness)
{
    struct pipe *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    stream_fired(&state->peer.inbox.stream);
    if (!state->blocked)
        pipe_pump(self, state);
}
