/* SPDX-License-Identifier: MIT */
/*
 * amqp.consume - a source whose messages are the pieces of queues of a server.
 *
 * The server sends at most `window` unsettled pieces. Pieces without room in the pool wait here. A
 * piece is acknowledged only when its message is settled, so the server gives the pieces of a host
 * that dies to another host.
 */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <weir/printable.h>

#include "consumer.h"
#include "queue.h"

#define OUTPUT_OUT 0u
#define LENGTH_MS 5000u   /* between two questions for the lengths of the queues */
#define REST_MS 100u      /* after a piece that no worker had; doubles */
#define REST_DOUBLINGS 6u /* to 6.4 s */
#define LOOK_MS 250u      /* between two tries to get memory */
#define LABEL_MAX 1024u   /* the host keeps less of it */

/* --- the session ------------------------------------------------------------------------------ */

/* The queues in the order in which their pieces go. */
static uint32_t name_queues(const struct amqp_settings *settings, const char *out[QUEUES_MAX])
{
    uint32_t count = 0;

    for (size_t i = 0; i < settings->before.count; i++)
        out[count++] = settings->before.items[i];
    out[count++] = settings->queue;
    return count;
}

static int begin_to_consume(struct link *link, const char *name, uint32_t queue)
{
    const char tag[] = { (char)('0' + queue), '\0' };

    (void)amqp_basic_consume(link->connection, LINK_CHANNEL, amqp_cstring_bytes(name),
                             amqp_cstring_bytes(tag), 0, 0, 0, amqp_empty_table);
    return link_check(link, name);
}

static int begin(struct link *link)
{
    const char *names[QUEUES_MAX];
    uint32_t count = name_queues(link->settings, names);
    int status = queue_declare_all(link, names, count);

    for (uint32_t i = 0; status == 0 && !link->settings->declare && i < count; i++)
        status = queue_check_dead_letters(link, names[i]);
    if (status != 0)
        return status;
    (void)amqp_basic_qos(link->connection, LINK_CHANNEL, 0, (uint16_t)link->settings->window, 0);
    status = link_check(link, "window");
    for (uint32_t i = 0; status == 0 && i < count; i++)
        status = begin_to_consume(link, names[i], i);
    return status;
}

static void on_up(void *user)
{
    struct consumer *state = user;

    consumer_reset_puts(state);
    state->incoming.is_begun = false;
}

static uint64_t length_of(const struct consumer *state)
{
    uint64_t length = 0;

    for (uint32_t i = 0; i < state->queue_count; i++)
        length += state->queues[i].length;
    return length;
}

static uint32_t unacknowledged(const struct consumer *state)
{
    return deliveries_unsettled(&state->deliveries) + state->acks.count;
}

static void report(struct weir_self *self, const struct consumer *state)
{
    session_report(self, &state->session, length_of(state));
    weir_progress(self, "unacknowledged", unacknowledged(state), WEIR_GAUGE);
    weir_progress(self, "received", state->received, 0);
    weir_progress(self, "redelivered", state->redelivered, 0);
    weir_progress(self, "acknowledged", state->acknowledged, 0);
}

static void on_ready(struct weir_self *self, void *user)
{
    struct consumer *state = user;

    consumer_watch_puts(self, state);
    report(self, state);
}

static void on_lost(struct weir_self *self, void *user)
{
    struct consumer *state = user;

    deliveries_orphan(&state->deliveries);
    consumer_reset_puts(state);
    state->puts.first = DELIVERY_NONE;
    acks_reset(&state->acks);
    for (uint32_t i = 0; i < state->queue_count; i++) {
        state->queues[i].waiting.first = DELIVERY_NONE;
        memset(state->queues[i].retry_ready, 0, sizeof state->queues[i].retry_ready);
    }
    state->incoming.is_begun = false;
    state->cancels = 0;
    report(self, state);
}

static const struct session_calls calls = {
    begin, on_up, consumer_take, on_ready, consumer_on_refused, on_lost
};

static void ask_length(struct weir_self *self, void *memory, void *context)
{
    struct consumer *state = memory;

    (void)context;
    state->asked = (state->asked + 1) % state->queue_count;
    if (session_is_up(&state->session) &&
        queue_ask_length(&state->session.link, state->queues[state->asked].name) != 0)
        session_lose(self, &state->session);
}

/* --- opening and closing ---------------------------------------------------------------------- */

static void release(struct consumer *state)
{
    session_finish(&state->session);
    confirms_finish(&state->confirms);
    acks_finish(&state->acks);
    deliveries_finish(&state->deliveries);
}

static void add_queue(struct consumer *state, const char *name)
{
    state->queues[state->queue_count++] = (struct source_queue){
        .name = name,
        .waiting = { DELIVERY_NONE, DELIVERY_NONE },
    };
}

static int init(struct consumer *state, const struct amqp_settings *settings)
{
    const char *names[QUEUES_MAX];
    uint32_t count, most;

    state->settings = settings;
    state->puts = (struct delivery_line){ DELIVERY_NONE, DELIVERY_NONE };
    session_init(&state->session, settings, &calls, state);
    count = name_queues(settings, names);
    for (uint32_t i = 0; i < count; i++)
        add_queue(state, names[i]);
    if (gethostname(state->host, sizeof state->host - 1) != 0)
        state->host[0] = '\0';
    /* The server sends `window` for each queue; as many more may be orphans. */
    most = settings->window * (state->queue_count + 1);
    if (confirms_init(&state->confirms, 2 * most) != 0 ||
        acks_init(&state->acks, (settings->window + 3) / 4) != 0)
        return WEIR_ENOMEM;
    return deliveries_init(&state->deliveries, most);
}

static int consume_open(struct weir_self *self, const void *settings, void *memory)
{
    struct consumer *state = memory;
    int status = init(state, settings);

    if (status == 0 && weir_every(self, LENGTH_MS, ask_length, NULL, NULL) != 0)
        status = WEIR_ENOMEM;
    if (status == 0)
        status = session_start(self, &state->session);
    if (status != 0)
        release(state);
    return status;
}

static void consume_close(struct weir_self *self, void *memory, int reason)
{
    struct consumer *state = memory;

    (void)self;
    (void)reason;
    if (session_is_up(&state->session))
        (void)consumer_write_acks(state);
    release(state);
}

/* --- emitting --------------------------------------------------------------------------------- */

/* The next delivery, of the first queue that has one. */
static uint32_t take_next(struct consumer *state, uint32_t *out_queue)
{
    for (uint32_t i = 0; i < state->queue_count; i++) {
        uint32_t index = delivery_line_take(&state->deliveries, &state->queues[i].waiting);

        if (index != DELIVERY_NONE) {
            *out_queue = i;
            return index;
        }
    }
    return DELIVERY_NONE;
}

static uint64_t key_of(const struct consumer *state, const struct delivery *delivery)
{
    const char *id = delivery->envelope.id;

    return state->settings->message_key == AMQP_KEY_OF_ID && id[0] ? weir_key(id, strlen(id))
                                                                   : delivery->envelope.key;
}

/* The label says where the piece is: a dead letter of this host has it. */
static struct weir_message *make_message(struct weir_self *self, const struct consumer *state,
                                         const struct delivery *delivery)
{
    const char *id = delivery->envelope.id;
    char server[ADDRESS_MAX], label[LABEL_MAX];

    link_name_server(&state->session.link, server, sizeof server);
    (void)snprintf(label, sizeof label, "piece %s%sof queue %s at %s", id, id[0] ? " " : "",
                   state->queues[delivery->queue].name, server);
    weir_printable_replace(label, strlen(label));
    return weir_message_new_labelled(self, delivery->tag, delivery->size, label);
}

/* By its queue, type, id and body. Not by all of its properties, of which some change with each
 * delivery. */
static void identify(struct weir_self *self, const struct consumer *state,
                     const struct delivery *delivery, struct weir_message *message)
{
    const char *texts[] = { state->queues[delivery->queue].name, delivery->envelope.tag,
                            delivery->envelope.id };
    const uint64_t body = weir_key(delivery->size ? message->data : "", delivery->size);
    uint64_t parts[4] = { 0, 0, 0, body };

    for (int i = 0; i < 3; i++)
        parts[i] = weir_key(texts[i], strlen(texts[i]));
    (void)weir_set_identity(self, message, parts, sizeof parts);
}

static int emit(struct weir_self *self, struct consumer *state, uint32_t index)
{
    struct delivery *delivery = &state->deliveries.items[index];
    struct weir_message *message;
    int status;

    if (!delivery->tag)
        delivery->tag = consumer_tag(self, state, delivery->envelope.tag);
    message = delivery->tag ? make_message(self, state, delivery) : NULL;
    status = message ? 0 : WEIR_ENOMEM;

    if (status == 0) {
        message->key = key_of(state, delivery);
        message->attempt = (uint16_t)delivery->envelope.attempt;
        if (delivery->size > 0)
            memcpy(message->data, delivery->bytes + delivery->properties_size, delivery->size);
        identify(self, state, delivery, message);
        status = weir_set_origin(self, message, index);
    }
    if (status == 0)
        status = weir_emit(self, OUTPUT_OUT, message);
    if (status != 0)
        weir_message_free(self, message);
    return status;
}

/* Puts the piece back in front of its line, or makes a dead letter of one that never fits. That
 * others have the memory says nothing about the piece. */
static void keep(struct weir_self *self, struct consumer *state, uint32_t index, int status)
{
    const struct delivery *delivery = &state->deliveries.items[index];
    char detail[64];

    if (status != WEIR_ENOMEM || weir_message_fits(self, delivery->size)) {
        delivery_line_prepend(&state->deliveries, &state->queues[delivery->queue].waiting, index);
        return;
    }
    (void)snprintf(detail, sizeof detail, "larger than host.memory: %zu bytes", delivery->size);
    weir_log(self, WEIR_LOG_ERROR, "piece is too large", weir_str("id", delivery->envelope.id),
             weir_uint("bytes", delivery->size), weir_str("detail", detail));
    if (!consumer_bury(self, state, index, "too_large", detail))
        session_lose(self, &state->session);
    consumer_watch_puts(self, state);
}

static void look_again(struct weir_self *self, void *memory, void *context)
{
    struct consumer *state = memory;

    (void)self;
    (void)context;
    state->looks_again = false; /* after a timer the host calls `produce` */
}

static void wait_for_memory(struct weir_self *self, struct consumer *state)
{
    if (!state->looks_again)
        state->looks_again = weir_after(self, LOOK_MS, look_again, NULL, NULL) == 0;
}

static int consume_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct consumer *state = memory;
    uint32_t queue = 0;

    if (weir_now_ms(self) < state->rests_until)
        return WEIR_WAIT;
    while (credit > 0 && state->deliveries.counts[DELIVERY_SENT] < state->settings->window) {
        uint32_t index = take_next(state, &queue);
        int status = index == DELIVERY_NONE ? 1 : emit(self, state, index);

        if (status == 1)
            return WEIR_WAIT;
        if (status != 0) {
            keep(self, state, index, status);
            if (status == WEIR_ENOMEM)
                wait_for_memory(self, state);
            return status == WEIR_EFULL || status == WEIR_ENOMEM ? WEIR_WAIT : status;
        }
        deliveries_move(&state->deliveries, index, DELIVERY_SENT);
        credit--;
    }
    return credit == 0 ? WEIR_MORE : WEIR_WAIT;
}

/* --- outcomes --------------------------------------------------------------------------------- */

static bool is_returned(const struct weir_outcome *outcome)
{
    return outcome->result == WEIR_OUTCOME_DEAD && !weir_outcome_is_final(outcome);
}

static void end_rest(struct weir_self *self, void *memory, void *context);

/* A piece has come back that no worker had, since the pool is stopped or has no target. While that
 * lasts, a source without a rest would take its pieces in a loop. */
static void rest(struct weir_self *self, struct consumer *state, const char *reason)
{
    uint32_t doublings = state->rests < REST_DOUBLINGS ? state->rests : REST_DOUBLINGS;
    uint64_t wait = (uint64_t)REST_MS << doublings, now = weir_now_ms(self);

    if (state->session.is_leaving || now < state->rests_until ||
        weir_after(self, wait, end_rest, NULL, NULL) != 0)
        return;
    if (state->rests == 1)
        weir_log(self, WEIR_LOG_WARNING, "pieces come back; the source rests between them",
                 weir_str("reason", reason));
    state->rests++;
    state->rests_until = now + wait;
}

static void end_rest(struct weir_self *self, void *memory, void *context)
{
    struct consumer *state = memory;

    (void)self;
    (void)context;
    state->rests_until = 0; /* after a timer the host calls `produce` */
}

static bool settle(struct weir_self *self, struct consumer *state, uint32_t index,
                   const struct weir_outcome *outcome)
{
    if (!is_returned(outcome))
        state->rests = 0;
    if (outcome->result == WEIR_OUTCOME_DONE)
        return consumer_acknowledge(self, state, index);
    if (outcome->result == WEIR_OUTCOME_RETRY)
        return consumer_put_off(self, state, index, outcome);
    if (weir_outcome_is_final(outcome))
        return consumer_bury(self, state, index, outcome->reason, outcome->detail);
    rest(self, state, outcome->reason);
    return consumer_return(self, state, index);
}

static void consume_settled(struct weir_self *self, void *memory,
                            const struct weir_outcome *outcome)
{
    struct consumer *state = memory;
    uint32_t index = (uint32_t)outcome->token;

    if (state->deliveries.items[index].number == 0) {
        deliveries_remove(&state->deliveries, index);
        state->orphans++;
    } else if (!settle(self, state, index, outcome)) {
        session_lose(self, &state->session);
    }
    consumer_watch_puts(self, state);
}

/* --- the end ---------------------------------------------------------------------------------- */

static bool stop_consuming(struct consumer *state)
{
    for (uint32_t i = 0; i < state->queue_count; i++) {
        const char tag[] = { (char)('0' + i), '\0' };
        amqp_basic_cancel_t method = { .consumer_tag = amqp_cstring_bytes(tag) };

        if (!consumer_is_written(state,
                                 amqp_send_method(state->session.link.connection, LINK_CHANNEL,
                                                  AMQP_BASIC_CANCEL_METHOD, &method)))
            return false;
        state->cancels++;
    }
    return true;
}

/* When the server has stopped: before, it would deliver what is put into the queue again. */
static bool return_waiting(struct weir_self *self, struct consumer *state)
{
    uint32_t queue, index;

    while (state->cancels == 0 && (index = take_next(state, &queue)) != DELIVERY_NONE)
        if (!consumer_return(self, state, index))
            return false;
    return true;
}

/* A server that is blocked, or says nothing, takes no piece, and neither does a queue that refuses:
 * the server keeps what is not acknowledged. A retry may wait for its new queue. */
static bool has_to_return(struct weir_self *self, const struct consumer *state)
{
    bool is_owed = state->cancels > 0 || consumer_is_putting(state);
    bool rests = state->deliveries.counts[DELIVERY_PUT_LATER] > 0 && state->put_failures == 0;

    if (!session_is_up(&state->session) || state->session.link.is_blocked)
        return false;
    return rests || (is_owed && session_is_heard(self, &state->session));
}

/* Takes nothing new: gives waiting pieces back at once, and settles the others as they end. */
static int consume_leave(struct weir_self *self, void *memory)
{
    struct consumer *state = memory;
    bool is_first = !state->session.is_leaving;

    if (is_first)
        session_leave(self, &state->session);
    if (session_is_up(&state->session) &&
        ((is_first && !stop_consuming(state)) || !return_waiting(self, state)))
        session_lose(self, &state->session);
    return has_to_return(self, state) ? WEIR_WAIT : WEIR_END;
}

static void consume_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct consumer *state = memory;

    (void)self;
    session_inspect(&state->session, out);
    weir_inspect_add(out, "queue_length", "%" PRIu64, length_of(state));
    weir_inspect_add(out, "unacknowledged", "%" PRIu32, unacknowledged(state));
    weir_inspect_add(out, "waiting", "%" PRIu32, state->deliveries.counts[DELIVERY_WAITING]);
    weir_inspect_add(out, "put_later", "%" PRIu32, state->deliveries.counts[DELIVERY_PUT_LATER]);
    weir_inspect_add(out, "received", "%" PRIu64, state->received);
    weir_inspect_add(out, "redelivered", "%" PRIu64, state->redelivered);
    weir_inspect_add(out, "acknowledged", "%" PRIu64, state->acknowledged);
    weir_inspect_add(out, "retried", "%" PRIu64, state->retried);
    weir_inspect_add(out, "buried", "%" PRIu64, state->buried);
    weir_inspect_add(out, "orphans", "%" PRIu64, state->orphans);
    weir_inspect_add(out, "consumer_timeout_ms", "%" PRIu64, state->session.link.server_timeout_ms);
}

/* --- tables ----------------------------------------------------------------------------------- */

static void consume_check(const void *memory, struct weir_report *report)
{
    const struct amqp_settings *settings = memory;

    settings_check(settings, report);
    for (size_t i = 0; i < settings->before.count; i++) {
        if (!queue_is_name(settings->before.items[i]))
            weir_report_error(report, "before", "number %zu is no name of a queue", i + 1);
        else if (strcmp(settings->before.items[i], settings->queue) == 0)
            weir_report_error(report, "before", "%s is the option `queue`", settings->queue);
    }
}

/* In the order of enum amqp_message_key. */
static const char *const message_keys[] = { "piece", "id", NULL };

static const struct weir_option options[] = {
    SETTINGS_OF_BOTH,
    WEIR_OPTION_U32(struct amqp_settings, window, .fallback = "100", .min = 1, .max = WINDOW_MAX,
                    .help = "pieces of a queue that the server sends and that are not settled"),
    WEIR_OPTION_LIST(struct amqp_settings, before, .min = 0, .max = QUEUES_MAX - 1,
                     .help = "queues whose pieces go before those of `queue`, in this order"),
    WEIR_OPTION_LIST(struct amqp_settings, tags, .min = 0, .max = 1000,
                     .help = "tags that the workers know; others are dead; default: all"),
    WEIR_OPTION_ENUM(struct amqp_settings, message_key, .fallback = "piece",
                     .choices = message_keys,
                     .help = "of a message: the key of the piece, or a hash of its id"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each piece, with the tag of its publisher or as amqp.bytes/1" },
    { 0 },
};

const struct weir_behaviour amqp_consume = {
    .name = "consume",
    .summary = "the pieces of queues of RabbitMQ, as the pool has room for them",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct amqp_settings),
    .state_size = sizeof(struct consumer),
    .flags = WEIR_BLOCKING | WEIR_ENDLESS | WEIR_ORIGINS,
    .check = consume_check,
    .open = consume_open,
    .produce = consume_produce,
    .close = consume_close,
    .settled = consume_settled,
    .leave = consume_leave,
    .inspect = consume_inspect,
};
