/* SPDX-License-Identifier: MIT */
#include "pipe_state.h"

#define OUTPUT_OUT 0u
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

static bool is_wrong(const struct pipe *state)
{
    const struct frame *frame = &state->frame;

    if (frame->kind == FRAME_READY)
        return state->phase != PIPE_STARTING;
    if (state->phase != PIPE_BUSY)
        return true;
    if (frame->kind == FRAME_OUT || frame->kind == FRAME_REPLY)
        return frame->size > state->settings->frame_max ||
               (frame->kind == FRAME_REPLY && state->kept->kind != WEIR_REQUEST);
    /* A verdict comes after the whole message. */
    return !outbox_is_empty(&state->peer.outbox);
}

/* 0 also when the request has ended. */
static int send_output(struct weir_self *self, struct pipe *state)
{
    bool is_reply = state->frame.kind == FRAME_REPLY;
    int status;

    state->output->key = state->frame.number ? state->frame.number : state->kept->key;
    status = is_reply ? weir_reply(self, state->kept, state->output)
                      : weir_emit(self, OUTPUT_OUT, state->output);
    if (status != 0 && is_reply && status != WEIR_ENOMEM) {
        weir_message_free(self, state->output);
        status = 0;
    }
    if (status == 0)
        state->output = NULL;
    return status;
}

/* The child waits for the verdict of its message no longer. */
static void finish_message(struct weir_self *self, struct pipe *state, int verdict)
{
    state->phase = PIPE_READY;
    weir_reason(self, "%s", state->text);
    if (verdict == WEIR_RETRY)
        weir_retry_after(self,
                         state->frame.number < RETRY_MAX_MS ? state->frame.number : RETRY_MAX_MS);
    pipe_settle(self, state, verdict);
    pipe_arm(self, state);
}

static void obey(struct weir_self *self, struct pipe *state)
{
    switch (state->frame.kind) {
    case FRAME_READY:
        state->phase = PIPE_READY;
        state->was_ready = true;
        pipe_arm(self, state);
        if (weir_set_demand(self, 1) != 0)
            pipe_stop(self, state, "no memory");
        break;
    case FRAME_DONE:
        finish_message(self, state, WEIR_DONE);
        break;
    case FRAME_RETRY:
        finish_message(self, state, WEIR_RETRY);
        break;
    case FRAME_REJECT:
        finish_message(self, state, WEIR_REJECT);
        break;
    case FRAME_STOP:
        finish_message(self, state, WEIR_DONE);
        pipe_expect_end(self, state, "stop", false);
        break;
    case FRAME_FAIL:
        pipe_stop(self, state, state->text);
        break;
    case FRAME_OUT:
    case FRAME_REPLY:
        break;
    }
}

/* False: it waits for more bytes. */
static bool read_more(struct pipe *state, char *to, size_t size)
{
    size_t got = inbox_bytes(&state->peer.inbox, to, size);

    state->got += got;
    return got > 0;
}

/* The origin of the message in hand waits for the output, too. NULL: memory is out. */
static struct weir_message *make_output(struct weir_self *self, const struct pipe *state)
{
    struct weir_message *output = weir_message_new(self, state->tag, state->frame.size);

    if (!output || weir_join(self, output, state->kept) == 0)
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
    bool is_output = state->frame.kind == FRAME_OUT || state->frame.kind == FRAME_REPLY;

    return is_output ? read_output(self, state) : read_reason(state);
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

static bool begin_frame(struct weir_self *self, struct pipe *state)
{
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
    state->has_frame = state->answered = true;
    state->got = 0;
    if (!is_wrong(state))
        return true;
    pipe_drop_frame(self, state);
    pipe_stop(self, state, "a frame of the child is out of place");
    return false;
}

static void wait_for_frames(struct weir_self *self, struct pipe *state)
{
    struct stream *stream = &state->peer.inbox.stream;

    if (state->peer.inbox.at_end) /* it has ended, or is about to */
        pipe_expect_end(self, state, NULL, true);
    else if (!stream->watched && stream_watch(self, stream, pipe_on_frames) != 0)
        pipe_stop(self, state, "no memory for a watch");
}

/* Reads frames until there are no more, or one of them has to wait. */
void pipe_pump(struct weir_self *self, struct pipe *state)
{
    bool was_blocked = state->blocked, was_full = state->full;

    state->blocked = state->full = false;
    while (pipe_listens(state) && (state->has_frame || begin_frame(self, state)) &&
           end_frame(self, state))
        continue;
    /* The time that an output waits for room is not that of the child. */
    if (was_full && !state->full && state->phase == PIPE_BUSY)
        pipe_set_deadline(self, state, state->settings->timeout);
    if (state->blocked || was_blocked)
        pipe_arm(self, state);
    if (state->blocked)
        return;
    if (state->has_ended)
        pipe_end(self, state);
    else if (pipe_listens(state))
        wait_for_frames(self, state);
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
