/* SPDX-License-Identifier: MIT */
/*
 * amqp.publish - puts each message into a queue of a server, and is done when the server has it.
 *
 * A message is kept until the server confirms it. A message that a full queue refuses, or that was
 * not confirmed when the connection was lost, is published again with the same id. Until then the
 * worker takes no new message, so its mailbox fills and its senders find no room. A message that
 * the server refuses for good is dead.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "confirms.h"
#include "envelope.h"
#include "queue.h"
#include "session.h"

#define LENGTH_MS 5000u /* between two questions for the length of the queue */
#define RUN_SIZE 16u    /* bytes of the id of a run */
#define HOLD_MS 1u      /* at most, that a message waits for others */
#define NONE UINT32_MAX

/* A message that is kept. */
struct piece {
    const struct weir_message *message; /* NULL = free */
    uint64_t serial;
    uint32_t next; /* in its list */
};

struct list {
    uint32_t first, last; /* NONE = empty */
    uint32_t count;
};

struct publisher {
    const struct amqp_settings *settings; /* borrowed until close */
    struct session session;
    struct confirms confirms;
    struct piece *pieces; /* owned: `window` */
    struct list free;
    struct list unsent;   /* in the order in which they are to be published */
    struct list refused;  /* by the server; they wait for the timer */
    bool holds;           /* the timer of messages that wait for others runs */
    bool rests;           /* the timer of `refused` runs */
    bool probes;          /* one piece is sent, to see whether the queue has room again */
    uint32_t rests_count; /* rests since the last confirm */
    uint64_t proven_size; /* the largest that the channel has taken, and 1; 0 = none */
    char run[2 * RUN_SIZE + 1];
    uint64_t serial;
    bool is_leaving;
    uint64_t went_at; /* when it began to leave, or a server last took pieces since */

    uint64_t confirmed;
    uint64_t refusals;
    uint64_t rejected; /* refused for good */
    uint64_t again;    /* published once more after a lost connection */
    uint32_t length;
};

/* --- lists ------------------------------------------------------------------------------------ */

static void append(struct publisher *state, struct list *list, uint32_t index)
{
    state->pieces[index].next = NONE;
    if (list->first == NONE)
        list->first = index;
    else
        state->pieces[list->last].next = index;
    list->last = index;
    list->count++;
}

static uint32_t take_first(struct publisher *state, struct list *list)
{
    uint32_t index = list->first;

    if (index == NONE)
        return NONE;
    list->first = state->pieces[index].next;
    list->count--;
    return index;
}

/* Puts `front` before what `list` has; `front` is empty then. */
static void prepend_all(struct publisher *state, struct list *list, struct list *front)
{
    if (front->first == NONE)
        return;
    state->pieces[front->last].next = list->first;
    if (list->first == NONE)
        list->last = front->last;
    list->first = front->first;
    list->count += front->count;
    *front = (struct list){ NONE, NONE, 0 };
}

/* --- publishing ------------------------------------------------------------------------------- */

/* While the queue refuses or no server is there, the worker takes no new message. */
static void set_demand(struct weir_self *self, struct publisher *state)
{
    bool takes = session_is_up(&state->session) && !state->session.link.is_blocked &&
                 !state->rests && !state->probes;

    (void)weir_set_demand(self, takes ? state->settings->window : 0);
}

/* Two hashes of tag, key and payload: a message with a position, such as files.line, has one that
 * tells its source and its place there. */
static void write_content(const struct weir_message *message, char *out)
{
    const unsigned char *bytes = message->data;
    const char *tag = message->tag ? message->tag->name : "";
    uint64_t first = weir_key(message->data, message->size);
    uint64_t second = weir_key(tag, strlen(tag)) ^ message->key ^ message->size;

    for (size_t i = message->size; i-- > 0;)
        second = (second ^ bytes[i]) * UINT64_C(1099511628211);
    (void)snprintf(out, ENVELOPE_ID_MAX, "content:%016" PRIx64 "%016" PRIx64, first, second);
}

static void write_id(const struct publisher *state, const struct piece *piece, char *out)
{
    if (state->settings->id == AMQP_ID_OF_CONTENT)
        write_content(piece->message, out);
    else if (state->settings->id == AMQP_ID_OF_KEY && piece->message->key != 0)
        (void)snprintf(out, ENVELOPE_ID_MAX, "key:%016" PRIx64, piece->message->key);
    else
        (void)snprintf(out, ENVELOPE_ID_MAX, "%s:%" PRIu64, state->run, piece->serial);
}

/* A server refuses a message for its size, or all messages for want of a right. */
static bool is_proven(const struct publisher *state, uint32_t index)
{
    return state->pieces[index].message->size < state->proven_size;
}

/* False: the connection is lost. */
static bool publish(struct publisher *state, uint32_t index)
{
    const struct piece *piece = &state->pieces[index];
    const struct weir_message *message = piece->message;
    amqp_bytes_t body = { message->size, message->data };
    struct envelope_sent envelope;
    char id[ENVELOPE_ID_MAX];
    int status;

    write_id(state, piece, id);
    envelope_write(&envelope, message->tag ? message->tag->name : NULL, message->key, 1, id);
    confirms_add(&state->confirms, index, is_proven(state, index));
    status = amqp_basic_publish(state->session.link.connection, LINK_PUTS, amqp_empty_bytes,
                                amqp_cstring_bytes(state->settings->queue), 1, 0,
                                &envelope.properties, body);
    if (status == AMQP_STATUS_OK)
        return true;
    (void)link_fail(&state->session.link, "%s", amqp_error_string2(status));
    return false;
}

static bool may_publish(const struct publisher *state)
{
    return session_is_up(&state->session) && !state->session.link.is_blocked && !state->rests &&
           state->unsent.first != NONE &&
           confirms_has_room(&state->confirms,
                             !state->probes && is_proven(state, state->unsent.first));
}

static void publish_all(struct weir_self *self, struct publisher *state)
{
    bool is_batch = session_is_up(&state->session) && state->unsent.count > 1;

    if (is_batch)
        link_hold(&state->session.link);
    while (may_publish(state)) {
        if (!publish(state, take_first(state, &state->unsent)))
            session_lose(self, &state->session);
    }
    if (is_batch && session_is_up(&state->session))
        link_send_held(&state->session.link);
    set_demand(self, state);
}

static void on_held(struct weir_self *self, void *memory, void *context)
{
    struct publisher *state = memory;

    (void)context;
    state->holds = false;
    publish_all(self, state);
}

/* While others are unconfirmed, a message waits a little: several may go in one packet. */
static void publish_soon(struct weir_self *self, struct publisher *state)
{
    bool waits = !confirms_is_empty(&state->confirms) &&
                 state->unsent.count < (state->settings->window + 3) / 4;

    if (waits && !state->holds)
        state->holds = weir_after(self, HOLD_MS, on_held, NULL, NULL) == 0;
    if (!waits || !state->holds)
        publish_all(self, state);
}

/* --- what the server answers ------------------------------------------------------------------ */

static void on_rested(struct weir_self *self, void *memory, void *context)
{
    struct publisher *state = memory;

    (void)context;
    state->rests = false;
    prepend_all(state, &state->unsent, &state->refused);
    publish_all(self, state);
}

/* The queue is full, or cannot take the piece now. */
static void on_refused(struct weir_self *self, struct publisher *state, uint32_t index)
{
    uint32_t doublings = state->rests_count < 16 ? state->rests_count : 16;
    uint64_t wait = (uint64_t)10 << doublings;

    append(state, &state->refused, index);
    state->refusals++;
    if (state->rests)
        return;
    if (wait > state->settings->refused_wait)
        wait = state->settings->refused_wait;
    state->rests_count++;
    state->probes = true;
    state->rests = weir_after(self, wait, on_rested, NULL, NULL) == 0;
}

static void settle(struct weir_self *self, struct publisher *state, uint32_t index, int verdict)
{
    const struct weir_message *message = state->pieces[index].message;

    state->pieces[index].message = NULL;
    append(state, &state->free, index);
    (void)weir_settle(self, message, verdict);
}

static void on_confirmed(struct weir_self *self, struct publisher *state, uint32_t index)
{
    state->confirmed++;
    session_succeed(&state->session);
    if (!state->rests) {
        state->probes = false;
        state->rests_count = 0;
    }
    settle(self, state, index, WEIR_DONE);
}

/* Unconfirmed messages go first, in the order in which they were published. */
static void publish_again(struct publisher *state)
{
    struct list lost = { NONE, NONE, 0 };
    uint32_t index;

    while (confirms_take(&state->confirms, 0, true, &index)) {
        append(state, &lost, index);
        state->again++;
    }
    prepend_all(state, &state->unsent, &state->refused);
    prepend_all(state, &state->unsent, &lost);
}

/* The channel is closed. A message that was alone is the cause, and dead; otherwise each goes
 * alone. */
static void on_rejected(struct weir_self *self, void *user)
{
    struct publisher *state = user;
    uint32_t index;

    if (confirms_count(&state->confirms) == 1 && confirms_take(&state->confirms, 0, true, &index)) {
        state->rejected++;
        weir_reason(self, "%s", link_refusal(&state->session.link));
        settle(self, state, index, WEIR_REJECT);
    }
    confirms_suspect_all(&state->confirms);
    publish_again(state);
    confirms_reset(&state->confirms);
    state->proven_size = 0;
}

static void note_taken(struct publisher *state, uint32_t index)
{
    size_t size = state->pieces[index].message->size;

    if (size >= state->proven_size)
        state->proven_size = (uint64_t)size + 1;
}

static bool on_return(struct publisher *state, const amqp_basic_return_t *returned)
{
    (void)link_fail(&state->session.link, "no queue takes messages to \"%.*s\" with key \"%.*s\"",
                    (int)returned->exchange.len, (const char *)returned->exchange.bytes,
                    (int)returned->routing_key.len, (const char *)returned->routing_key.bytes);
    return false;
}

static bool on_frame(struct weir_self *self, void *user, const amqp_frame_t *frame)
{
    struct publisher *state = user;
    const amqp_method_t *method = &frame->payload.method;
    const amqp_basic_ack_t *ack = method->decoded;
    const amqp_basic_nack_t *nack = method->decoded;
    uint32_t index;

    if (frame->frame_type != AMQP_FRAME_METHOD)
        return true;
    if (method->id == AMQP_BASIC_ACK_METHOD) {
        while (confirms_take(&state->confirms, ack->delivery_tag, ack->multiple, &index)) {
            note_taken(state, index);
            on_confirmed(self, state, index);
        }
    } else if (method->id == AMQP_BASIC_NACK_METHOD) {
        while (confirms_take(&state->confirms, nack->delivery_tag, nack->multiple, &index)) {
            note_taken(state, index);
            on_refused(self, state, index);
        }
    } else if (method->id == AMQP_BASIC_RETURN_METHOD) {
        return on_return(state, method->decoded);
    } else if (method->id == AMQP_QUEUE_DECLARE_OK_METHOD) {
        state->length = ((const amqp_queue_declare_ok_t *)method->decoded)->message_count;
    }
    return true;
}

/* --- the session ------------------------------------------------------------------------------ */

static int begin(struct link *link)
{
    return queue_declare_all(link, &link->settings->queue, 1);
}

static void on_up(void *user)
{
    struct publisher *state = user;

    confirms_reset(&state->confirms);
    state->proven_size = 0;
}

static void report(struct weir_self *self, const struct publisher *state)
{
    session_report(self, &state->session, state->length);
    weir_progress(self, "unconfirmed", confirms_count(&state->confirms), WEIR_GAUGE);
    weir_progress(self, "published", state->confirmed, 0);
    weir_progress(self, "refused", state->refusals, 0);
    weir_progress(self, "rejected", state->rejected, 0);
    weir_progress(self, "published_again", state->again, 0);
}

/* Publishes what may be published now. */
static void go_on(struct weir_self *self, void *user)
{
    struct publisher *state = user;

    publish_all(self, state);
    report(self, state);
}

static void on_lost(struct weir_self *self, void *user)
{
    struct publisher *state = user;

    publish_again(state);
    set_demand(self, state);
    report(self, state);
}

static const struct session_calls calls = { begin, on_up, on_frame, go_on, on_rejected, on_lost };

static void ask_length(struct weir_self *self, void *memory, void *context)
{
    struct publisher *state = memory;

    (void)context;
    if (session_is_up(&state->session) && !state->session.link.is_blocked &&
        queue_ask_length(&state->session.link, state->settings->queue) != 0)
        session_lose(self, &state->session);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void release(struct publisher *state)
{
    session_finish(&state->session);
    confirms_finish(&state->confirms);
    free(state->pieces);
}

static int init(struct publisher *state, const struct amqp_settings *settings)
{
    unsigned char run[RUN_SIZE];
    int status;

    state->settings = settings;
    session_init(&state->session, settings, &calls, state);
    state->free = state->unsent = state->refused = (struct list){ NONE, NONE, 0 };
    state->pieces = calloc(settings->window, sizeof *state->pieces);
    status = confirms_init(&state->confirms, 4 * settings->window);
    if (!state->pieces || status != 0 || getrandom(run, sizeof run, 0) != (ssize_t)sizeof run)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < settings->window; i++)
        append(state, &state->free, i);
    for (size_t i = 0; i < RUN_SIZE; i++)
        (void)snprintf(state->run + 2 * i, 3, "%02x", run[i]);
    return 0;
}

static int publish_open(struct weir_self *self, const void *settings, void *memory)
{
    struct publisher *state = memory;
    int status = init(state, settings);

    if (status == 0 && weir_every(self, LENGTH_MS, ask_length, NULL, NULL) != 0)
        status = WEIR_ENOMEM;
    if (status == 0)
        status = session_start(self, &state->session);
    if (status != 0)
        release(state);
    return status;
}

static int publish_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct publisher *state = memory;
    uint32_t index = take_first(state, &state->free);

    if (index == NONE) { /* the demand is at most `window` */
        weir_retry_after(self, 10);
        return WEIR_RETRY;
    }
    state->pieces[index].message = message;
    state->pieces[index].serial = ++state->serial;
    append(state, &state->unsent, index);
    publish_soon(self, state);
    return WEIR_KEEP;
}

static void publish_close(struct weir_self *self, void *memory, int reason)
{
    (void)self;
    (void)reason;
    release(memory);
}

/* The question for the length makes a server that is well say something. */
static void look_while_leaving(struct weir_self *self, void *memory, void *context)
{
    ask_length(self, memory, context);
}

/* True when a server may confirm what is published: it is there, says something, and its queue does
 * not refuse. */
static bool is_taken(struct weir_self *self, const struct publisher *state)
{
    return session_is_up(&state->session) && !state->session.link.is_blocked && !state->probes &&
           weir_now_ms(self) - state->session.heard_at < LINK_END_MS;
}

/* A server that was away for a moment may be back; none is waited for longer. */
static int publish_leave(struct weir_self *self, void *memory)
{
    struct publisher *state = memory;
    uint64_t now = weir_now_ms(self);

    if (state->free.count == state->settings->window) /* it keeps none */
        return WEIR_END;
    if (!state->is_leaving)
        (void)weir_every(self, LINK_END_MS / 4, look_while_leaving, NULL, NULL);
    if (!state->is_leaving || is_taken(self, state))
        state->went_at = now;
    state->is_leaving = true;
    return now - state->went_at < LINK_END_MS ? WEIR_WAIT : WEIR_END;
}

static void publish_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct publisher *state = memory;

    (void)self;
    session_inspect(&state->session, out);
    weir_inspect_add(out, "queue_length", "%" PRIu32, state->length);
    weir_inspect_add(out, "unconfirmed", "%" PRIu64, confirms_count(&state->confirms));
    weir_inspect_add(out, "confirmed", "%" PRIu64, state->confirmed);
    weir_inspect_add(out, "refused", "%" PRIu64, state->refusals);
    weir_inspect_add(out, "rejected", "%" PRIu64, state->rejected);
    weir_inspect_add(out, "published_again", "%" PRIu64, state->again);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void publish_check(const void *memory, struct weir_report *report)
{
    settings_check(memory, report);
}

/* In the order of enum amqp_id. */
static const char *const ids[] = { "run", "key", "content", NULL };

static const struct weir_option options[] = {
    SETTINGS_OF_BOTH,
    WEIR_OPTION_U32(struct amqp_settings, window, .fallback = "100", .min = 1, .max = WINDOW_MAX,
                    .help = "messages that are published and not confirmed"),
    WEIR_OPTION_ENUM(struct amqp_settings, id, .fallback = "run", .choices = ids,
                     .help = "of a piece: run and number, the key, or a hash of the message"),
    WEIR_OPTION_DURATION(struct amqp_settings, refused_wait, .fallback = "250ms", .min = 10,
                         .max = 60000,
                         .help = "at most, before a full queue is tried again; it begins at 10ms"),
    { 0 },
};

const struct weir_behaviour amqp_publish = {
    .name = "publish",
    .summary = "puts messages into a queue of RabbitMQ, for workers of any host",
    .options = options,
    .settings_size = sizeof(struct amqp_settings),
    .state_size = sizeof(struct publisher),
    .flags = WEIR_BLOCKING | WEIR_GIVES_UP,
    .in_hand = WINDOW_MAX,
    .check = publish_check,
    .open = publish_open,
    .handle = publish_handle,
    .close = publish_close,
    .inspect = publish_inspect,
    .leave = publish_leave,
};
