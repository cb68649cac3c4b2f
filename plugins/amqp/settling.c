/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "consumer.h"
#include "queue.h"

#define AGAIN_MS 1000u     /* before a piece that no queue took is put there again */
#define AGAIN_DOUBLINGS 5u /* of that time, while no queue takes any piece */
#define ACKS_MS 1u         /* at most, between a final outcome and the acknowledgement */
#define NAME_SIZE 256u

/* --- settling at the server ------------------------------------------------------------------- */

bool consumer_is_written(struct consumer *state, int status)
{
    if (status == AMQP_STATUS_OK)
        return true;
    (void)link_fail(&state->session.link, "%s", amqp_error_string2(status));
    return false;
}

/* One call for `count` pieces: that of the number, and all below it that are not acknowledged. */
static bool write_ack(struct consumer *state, uint64_t number, uint32_t count)
{
    if (!consumer_is_written(
            state, amqp_basic_ack(state->session.link.connection, LINK_CHANNEL, number, count > 1)))
        return false;
    state->acknowledged += count;
    return true;
}

bool consumer_write_acks(struct consumer *state)
{
    uint64_t number = 0;
    uint32_t below;
    bool is_up = true;

    below = acks_take_below(&state->acks, deliveries_lowest(&state->deliveries), &number);
    if (state->acks.count > 0)
        link_hold(&state->session.link);
    if (below > 0)
        is_up = write_ack(state, number, below);
    if (state->acks.count == 0)
        return is_up;
    while (is_up && acks_take(&state->acks, &number))
        is_up = write_ack(state, number, 1);
    link_send_held(&state->session.link);
    return is_up;
}

static void write_later(struct weir_self *self, void *memory, void *context)
{
    struct consumer *state = memory;

    (void)context;
    state->acks_later = false;
    if (session_is_up(&state->session) && !consumer_write_acks(state))
        session_lose(self, &state->session);
}

/* While other pieces are unsettled, waits for them a little: one call may do for all. */
bool consumer_acknowledge(struct weir_self *self, struct consumer *state, uint32_t index)
{
    uint64_t number = state->deliveries.items[index].number;

    deliveries_remove(&state->deliveries, index);
    acks_add(&state->acks, number);
    if (acks_is_full(&state->acks) || deliveries_unsettled(&state->deliveries) == 0)
        return consumer_write_acks(state);
    if (!state->acks_later)
        state->acks_later = weir_after(self, ACKS_MS, write_later, NULL, NULL) == 0;
    return state->acks_later || consumer_write_acks(state);
}

bool consumer_give_back(struct consumer *state, uint32_t index)
{
    uint64_t number = state->deliveries.items[index].number;

    deliveries_remove(&state->deliveries, index);
    return consumer_is_written(
        state, amqp_basic_reject(state->session.link.connection, LINK_CHANNEL, number, 1));
}

/* --- putting a piece into another queue ------------------------------------------------------- */

/* Where a piece goes: an exchange and a key. */
struct target {
    char exchange[NAME_SIZE];
    char key[NAME_SIZE];
};

static bool find_target(const struct consumer *state, const struct delivery *delivery,
                        struct target *out)
{
    const char *queue = state->queues[delivery->queue].name;

    out->exchange[0] = '\0';
    if (delivery->put == DELIVERY_RETRIED)
        queue_name_retry(queue, queue_retry_step(delivery->delay_ms), out->key, sizeof out->key);
    else
        (void)snprintf(out->key, sizeof out->key, "%s", queue);
    return delivery->put != DELIVERY_BURIED ||
           settings_dead_name(state->settings, queue, out->exchange, sizeof out->exchange) >= 0;
}

/* When the queue for a retry may be used; 0: it has not been declared on this connection. */
static uint64_t *retry_ready(struct consumer *state, const struct delivery *delivery)
{
    return &state->queues[delivery->queue].retry_ready[queue_retry_step(delivery->delay_ms)];
}

/* What LINK_PUTS has taken of the kind of this delivery. */
static uint64_t *proven_size(struct consumer *state, const struct delivery *delivery)
{
    struct source_queue *queue = &state->queues[delivery->queue];

    return delivery->put == DELIVERY_BURIED ? &queue->proven_dead : &queue->proven_default;
}

static bool change_properties(const struct consumer *state, const struct delivery *delivery,
                              const char *expiration, amqp_pool_t *pool,
                              amqp_basic_properties_t **out)
{
    amqp_bytes_t raw = { delivery->properties_size, delivery->bytes };
    struct envelope_change change = { .attempt = 0 };

    if (delivery->put == DELIVERY_BURIED) {
        change.reason = delivery->reason;
        change.detail = delivery->detail;
        change.host = state->host;
    } else {
        change.attempt = delivery->attempt;
        change.expiration = delivery->put == DELIVERY_RETRIED ? expiration : NULL;
    }
    return amqp_decode_properties(AMQP_BASIC_CLASS, pool, raw, (void **)out) >= 0 &&
           envelope_change(*out, &change, pool);
}

static bool publish(struct consumer *state, uint32_t index, const struct target *target,
                    amqp_basic_properties_t *properties)
{
    const struct delivery *delivery = &state->deliveries.items[index];
    amqp_bytes_t body = { delivery->size, delivery->bytes + delivery->properties_size };

    deliveries_move(&state->deliveries, index, DELIVERY_PUTTING);
    confirms_add(&state->confirms, index, delivery->size < *proven_size(state, delivery));
    return consumer_is_written(state, amqp_basic_publish(state->session.link.connection, LINK_PUTS,
                                                         amqp_cstring_bytes(target->exchange),
                                                         amqp_cstring_bytes(target->key), 1, 0,
                                                         properties, body));
}

static void put_later(struct consumer *state, uint32_t index)
{
    deliveries_move(&state->deliveries, index, DELIVERY_PUT_LATER);
}

/* The acknowledgement follows when the server has confirmed that the other queue has the piece. */
static bool put(struct consumer *state, uint32_t index)
{
    struct delivery *delivery = &state->deliveries.items[index];
    amqp_basic_properties_t *properties;
    struct target target;
    char expiration[24];
    amqp_pool_t pool;
    bool is_up = true;

    (void)snprintf(expiration, sizeof expiration, "%" PRIu64, delivery->delay_ms);
    init_amqp_pool(&pool, 1024);
    if (find_target(state, delivery, &target) &&
        change_properties(state, delivery, expiration, &pool, &properties))
        is_up = publish(state, index, &target, properties);
    else
        put_later(state, index);
    empty_amqp_pool(&pool);
    return is_up;
}

/* --- the turn of a piece ---------------------------------------------------------------------- */

static bool declare(struct consumer *state, const struct delivery *delivery)
{
    uint32_t step = queue_retry_step(delivery->delay_ms);

    state->declaration = (struct declaration){ true, delivery->queue, step };
    return queue_declare_retry(&state->session.link, state->queues[delivery->queue].name, step) ==
           0;
}

static bool has_turn(struct consumer *state, const struct delivery *delivery)
{
    return !state->session.link.is_blocked && !state->declaration.is_open &&
           confirms_has_room(&state->confirms, delivery->size < *proven_size(state, delivery));
}

static bool put_all(struct weir_self *self, struct consumer *state)
{
    bool is_up = true;

    while (is_up && state->puts.first != DELIVERY_NONE) {
        uint32_t index = state->puts.first;
        const struct delivery *delivery = &state->deliveries.items[index];
        bool is_retry = delivery->put == DELIVERY_RETRIED;

        if (!has_turn(state, delivery))
            return true;
        if (is_retry && *retry_ready(state, delivery) == 0)
            return !confirms_is_empty(&state->confirms) || declare(state, delivery);
        (void)delivery_line_take(&state->deliveries, &state->puts);
        if (is_retry && weir_now_ms(self) < *retry_ready(state, delivery))
            put_later(state, index);
        else
            is_up = put(state, index);
    }
    return is_up;
}

static bool put_soon(struct weir_self *self, struct consumer *state, uint32_t index)
{
    deliveries_move(&state->deliveries, index, DELIVERY_PUT_SOON);
    delivery_line_append(&state->deliveries, &state->puts, index);
    return put_all(self, state);
}

static void put_again(struct weir_self *self, void *memory, void *context)
{
    struct consumer *state = memory;

    (void)context;
    state->puts_later = false;
    for (uint32_t i = 0; i < state->deliveries.capacity; i++) {
        if (state->deliveries.items[i].state != DELIVERY_PUT_LATER)
            continue;
        deliveries_move(&state->deliveries, i, DELIVERY_PUT_SOON);
        delivery_line_append(&state->deliveries, &state->puts, i);
    }
    consumer_watch_puts(self, state);
}

void consumer_watch_puts(struct weir_self *self, struct consumer *state)
{
    uint32_t doublings = state->put_failures < AGAIN_DOUBLINGS ? state->put_failures
                                                               : AGAIN_DOUBLINGS;

    if (session_is_up(&state->session) && !put_all(self, state))
        session_lose(self, &state->session);
    if (!state->puts_later && state->deliveries.counts[DELIVERY_PUT_LATER] > 0)
        state->puts_later = weir_after(self, (uint64_t)AGAIN_MS << doublings, put_again, NULL,
                                       NULL) == 0;
}

bool consumer_is_putting(const struct consumer *state)
{
    const uint32_t *counts = state->deliveries.counts;

    return counts[DELIVERY_PUT_SOON] + counts[DELIVERY_PUTTING] > 0;
}

/* --- why a piece is put ----------------------------------------------------------------------- */

/* Borrows the texts. */
static void make_dead(struct weir_self *self, struct consumer *state, uint32_t index,
                      const char *reason, const char *detail)
{
    struct delivery *delivery = &state->deliveries.items[index];
    char name[NAME_SIZE] = "";

    delivery->put = DELIVERY_BURIED;
    (void)snprintf(delivery->reason, sizeof delivery->reason, "%s", reason);
    (void)snprintf(delivery->detail, sizeof delivery->detail, "%s", detail);
    (void)settings_dead_name(state->settings, state->queues[delivery->queue].name, name,
                             sizeof name);
    weir_log(self, WEIR_LOG_WARNING, "dead letter goes to the server", weir_str("queue", name),
             weir_str("id", delivery->envelope.id),
             weir_uint("attempt", delivery->envelope.attempt), weir_str("reason", reason),
             weir_str("detail", detail));
    state->buried++;
}

bool consumer_bury(struct weir_self *self, struct consumer *state, uint32_t index,
                   const char *reason, const char *detail)
{
    make_dead(self, state, index, reason, detail);
    return put_soon(self, state, index);
}

bool consumer_return(struct weir_self *self, struct consumer *state, uint32_t index)
{
    struct delivery *delivery = &state->deliveries.items[index];

    if (state->session.link.is_blocked)
        return consumer_give_back(state, index);
    delivery->put = DELIVERY_RETURNED;
    delivery->attempt = delivery->envelope.attempt;
    return put_soon(self, state, index);
}

bool consumer_put_off(struct weir_self *self, struct consumer *state, uint32_t index,
                      const struct weir_outcome *outcome)
{
    struct delivery *delivery = &state->deliveries.items[index];

    state->retried++;
    if (outcome->delay_ms == 0)
        return consumer_give_back(state, index);
    delivery->put = DELIVERY_RETRIED;
    delivery->attempt = outcome->attempt + 1;
    delivery->delay_ms = outcome->delay_ms < QUEUE_RETRY_MAX_MS ? outcome->delay_ms
                                                                : QUEUE_RETRY_MAX_MS;
    return put_soon(self, state, index);
}

/* --- what the server answers ------------------------------------------------------------------ */

static bool on_taken(struct weir_self *self, struct consumer *state, uint32_t index)
{
    const struct delivery *delivery = &state->deliveries.items[index];
    uint64_t *proven = proven_size(state, delivery);

    if (delivery->size >= *proven)
        *proven = (uint64_t)delivery->size + 1;
    state->put_failures = 0;
    session_succeed(&state->session);
    return consumer_acknowledge(self, state, index);
}

static bool on_not_taken(struct consumer *state, uint32_t index)
{
    if (state->deliveries.items[index].put == DELIVERY_RETURNED)
        return consumer_give_back(state, index);
    put_later(state, index);
    return true;
}

bool consumer_on_confirm(struct weir_self *self, struct consumer *state, uint64_t number,
                         bool multiple, bool is_taken)
{
    uint32_t index;

    if (state->is_returned || !is_taken)
        state->put_failures++;
    while (confirms_take(&state->confirms, number, multiple, &index)) {
        bool is_up = is_taken && !state->is_returned ? on_taken(self, state, index)
                                                     : on_not_taken(state, index);

        if (!is_up)
            return false;
    }
    state->is_returned = false;
    return true;
}

bool consumer_on_return(struct weir_self *self, struct consumer *state,
                        const amqp_basic_return_t *returned)
{
    struct link *link = &state->session.link;

    (void)link_fail(link, "no queue takes messages to \"%.*s\" with key \"%.*s\"",
                    (int)returned->exchange.len, (const char *)returned->exchange.bytes,
                    (int)returned->routing_key.len, (const char *)returned->routing_key.bytes);
    if (confirms_count(&state->confirms) != 1) /* which one is not known */
        return false;
    weir_log(self, WEIR_LOG_WARNING, "piece stays unacknowledged; trying again",
             weir_str("reason", link->error));
    for (uint32_t i = 0; i < state->queue_count; i++)
        memset(state->queues[i].retry_ready, 0, sizeof state->queues[i].retry_ready);
    state->is_returned = true;
    return true;
}

void consumer_on_declared(struct weir_self *self, struct consumer *state)
{
    struct declaration *declaration = &state->declaration;

    if (declaration->is_open)
        state->queues[declaration->queue]
            .retry_ready[declaration->step] = weir_now_ms(self) + state->settings->new_queue;
    declaration->is_open = false;
}

/* --- what the server refuses ------------------------------------------------------------------ */

/* A retry that cannot be put off is dead. Of a dead letter, the queue makes one by itself when it
 * has the arguments of a declaration; otherwise the piece stays unacknowledged, since the server
 * might drop it. */
static void refuse(struct weir_self *self, struct consumer *state, uint32_t index)
{
    struct delivery *delivery = &state->deliveries.items[index];
    uint64_t number = delivery->number;

    state->put_failures++;
    if (delivery->put == DELIVERY_RETRIED) {
        make_dead(self, state, index, "refused", link_refusal(&state->session.link));
        deliveries_move(&state->deliveries, index, DELIVERY_PUT_SOON);
        delivery_line_prepend(&state->deliveries, &state->puts, index);
    } else if (delivery->put == DELIVERY_RETURNED) {
        (void)consumer_give_back(state, index);
    } else if (state->settings->declare) {
        deliveries_remove(&state->deliveries, index);
        (void)amqp_basic_reject(state->session.link.connection, LINK_CHANNEL, number, 0);
    } else {
        put_later(state, index);
    }
}

static void refuse_declaration(struct weir_self *self, struct consumer *state)
{
    const struct declaration *declaration = &state->declaration;

    for (uint32_t i = 0; i < state->deliveries.capacity; i++) {
        const struct delivery *delivery = &state->deliveries.items[i];

        if (delivery->state == DELIVERY_PUT_SOON && delivery->put == DELIVERY_RETRIED &&
            delivery->queue == declaration->queue &&
            queue_retry_step(delivery->delay_ms) == declaration->step)
            make_dead(self, state, i, "refused", link_refusal(&state->session.link));
    }
}

void consumer_reset_puts(struct consumer *state)
{
    confirms_reset(&state->confirms);
    state->declaration.is_open = state->is_returned = false;
    for (uint32_t i = 0; i < state->queue_count; i++)
        state->queues[i].proven_dead = state->queues[i].proven_default = 0;
}

/* A piece that was alone is the cause; otherwise each goes alone. */
void consumer_on_refused(struct weir_self *self, void *user)
{
    struct consumer *state = user;
    uint32_t index;

    if (state->declaration.is_open)
        refuse_declaration(self, state);
    else if (confirms_count(&state->confirms) == 1 &&
             confirms_take(&state->confirms, 0, true, &index))
        refuse(self, state, index);
    confirms_suspect_all(&state->confirms);
    while (confirms_take(&state->confirms, 0, true, &index)) {
        deliveries_move(&state->deliveries, index, DELIVERY_PUT_SOON);
        delivery_line_prepend(&state->deliveries, &state->puts, index);
    }
    consumer_reset_puts(state);
}
