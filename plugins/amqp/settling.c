#include <inttypes.h>
#include <string.h>

#include "consumer.h"
#include "queue.h"

#define AGAIN_MS 1000u /* before a piece that no queue took is put there again */
#define ACKS_MS 1u     /* at most, between a final outcome and the acknowledgement */
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

static bool find_target(struct consumer *state, const struct delivery *delivery, struct target *out)
{
    const char *queue = state->queues[delivery->queue].name;

    out->exchange[0] = '\0';
    if (delivery->put == DELIVERY_RETRIED)
        return queue_declare_retry(&state->session.link, queue,
                                   queue_retry_step(delivery->delay_ms), out->key,
                                   sizeof out->key) == 0;
    (void)snprintf(out->key, sizeof out->key, "%s", queue);
    return delivery->put == DELIVERY_RETURNED ||
           settings_dead_name(state->settings, queue, out->exchange, sizeof out->exchange) >= 0;
}

/* A queue for retries rests after the first declaration on this connection: see queue.h. */
static bool rests(struct weir_self *self, struct consumer *state, const struct delivery *delivery)
{
    uint64_t now = weir_now_ms(self);
    uint64_t *ready = &state->queues[delivery->queue]
                           .retry_ready[queue_retry_step(delivery->delay_ms)];

    if (delivery->put != DELIVERY_RETRIED)
        return false;
    if (*ready == 0)
        *ready = now + state->settings->new_queue;
    return now < *ready;
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

    confirms_add(&state->confirms, index);
    return consumer_is_written(
        state, amqp_basic_publish(state->session.link.connection, LINK_CHANNEL,
                                  amqp_cstring_bytes(target->exchange),
                                  amqp_cstring_bytes(target->key), 1, 0, properties, body));
}

static void put_later(struct consumer *state, uint32_t index)
{
    deliveries_move(&state->deliveries, index, DELIVERY_PUT_LATER);
}

/* The acknowledgement follows when the server has confirmed that the other queue has the piece. */
static bool put(struct weir_self *self, struct consumer *state, uint32_t index)
{
    struct delivery *delivery = &state->deliveries.items[index];
    amqp_basic_properties_t *properties;
    struct target target;
    char expiration[24];
    amqp_pool_t pool;
    bool is_up = true;

    if (state->session.link.is_blocked || !confirms_has_room(&state->confirms)) {
        put_later(state, index);
        return true;
    }
    if (!find_target(state, delivery, &target))
        return false;
    if (rests(self, state, delivery)) {
        put_later(state, index);
        return true;
    }
    (void)snprintf(expiration, sizeof expiration, "%" PRIu64, delivery->delay_ms);
    init_amqp_pool(&pool, 1024);
    if (change_properties(state, delivery, expiration, &pool, &properties)) {
        deliveries_move(&state->deliveries, index, DELIVERY_PUTTING);
        is_up = publish(state, index, &target, properties);
    } else {
        put_later(state, index);
    }
    empty_amqp_pool(&pool);
    return is_up;
}

static void put_again(struct weir_self *self, void *memory, void *context)
{
    struct consumer *state = memory;

    (void)context;
    state->puts_later = false;
    for (uint32_t i = 0; i < state->deliveries.capacity && session_is_up(&state->session); i++)
        if (state->deliveries.items[i].state == DELIVERY_PUT_LATER && !put(self, state, i))
            session_lose(self, &state->session);
    consumer_watch_puts(self, state);
}

void consumer_watch_puts(struct weir_self *self, struct consumer *state)
{
    if (!state->puts_later && state->deliveries.counts[DELIVERY_PUT_LATER] > 0)
        state->puts_later = weir_after(self, AGAIN_MS, put_again, NULL, NULL) == 0;
}

bool consumer_bury(struct weir_self *self, struct consumer *state, uint32_t index,
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
    return put(self, state, index);
}

bool consumer_return(struct weir_self *self, struct consumer *state, uint32_t index)
{
    struct delivery *delivery = &state->deliveries.items[index];

    if (state->session.link.is_blocked || !confirms_has_room(&state->confirms))
        return consumer_give_back(state, index);
    delivery->put = DELIVERY_RETURNED;
    delivery->attempt = delivery->envelope.attempt;
    return put(self, state, index);
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
    return put(self, state, index);
}

bool consumer_on_confirm(struct weir_self *self, struct consumer *state, uint64_t number,
                         bool multiple, bool is_taken)
{
    uint32_t index;

    while (confirms_take(&state->confirms, number, multiple, &index)) {
        bool is_up = true;

        if (is_taken)
            is_up = consumer_acknowledge(self, state, index);
        else if (state->deliveries.items[index].put == DELIVERY_RETURNED)
            is_up = consumer_give_back(state, index);
        else
            put_later(state, index);
        if (!is_up)
            return false;
    }
    return true;
}
