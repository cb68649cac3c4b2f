/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "consumer.h"

static void begin_delivery(struct consumer *state, const amqp_basic_deliver_t *deliver)
{
    const char *tag = deliver->consumer_tag.bytes;

    state->incoming = (struct incoming){
        .is_begun = true,
        .number = deliver->delivery_tag,
        .index = DELIVERY_NONE,
        .queue = deliver->consumer_tag.len == 1 ? (uint32_t)(tag[0] - '0') : 0,
    };
    state->received++;
    state->redelivered += deliver->redelivered ? 1 : 0;
}

const struct weir_tag *consumer_tag(struct weir_self *self, struct consumer *state,
                                    const char *name)
{
    const struct weir_tag *tag = NULL;

    for (uint32_t i = 0; i < state->tag_count; i++)
        if (strcmp(state->tags[i]->name, name) == 0)
            return state->tags[i];
    if (state->tag_count < TAGS_MAX)
        tag = weir_tag(self, name);
    if (tag)
        state->tags[state->tag_count++] = tag;
    return tag;
}

static bool end_delivery(struct weir_self *self, struct consumer *state)
{
    struct incoming *incoming = &state->incoming;
    struct delivery *delivery = &state->deliveries.items[incoming->index];
    char reason[200];

    incoming->is_begun = false;
    if (envelope_mismatch(&delivery->envelope, state->settings->tags.items,
                          state->settings->tags.count, reason, sizeof reason))
        return consumer_bury(self, state, incoming->index, "mismatch", reason);
    delivery->tag = consumer_tag(self, state, delivery->envelope.tag);
    if (!delivery->tag && state->tag_count == TAGS_MAX)
        return consumer_bury(self, state, incoming->index, "mismatch",
                             "more than 1000 tags; name those of the workers in `tags`");
    delivery_line_append(&state->deliveries, &state->queues[incoming->queue].waiting,
                         incoming->index);
    return true;
}

/* Without memory the connection is dropped: the server keeps the piece. */
static bool take_header(struct weir_self *self, struct consumer *state, const amqp_frame_t *frame)
{
    const amqp_bytes_t *raw = &frame->payload.properties.raw;
    struct incoming *incoming = &state->incoming;
    struct delivery *delivery;

    incoming->index = deliveries_add(&state->deliveries, incoming->number, raw->len,
                                     (size_t)frame->payload.properties.body_size);
    if (incoming->index == DELIVERY_NONE) {
        (void)link_fail(&state->session.link, "out of memory");
        return false;
    }
    delivery = &state->deliveries.items[incoming->index];
    delivery->queue = incoming->queue;
    memcpy(delivery->bytes, raw->bytes, raw->len);
    envelope_read(frame->payload.properties.decoded, &delivery->envelope);
    return delivery->size > 0 || end_delivery(self, state);
}

static bool take_body(struct weir_self *self, struct consumer *state, const amqp_bytes_t *part)
{
    struct incoming *incoming = &state->incoming;
    struct delivery *delivery = &state->deliveries.items[incoming->index];

    if (part->len > delivery->size - incoming->received) {
        (void)link_fail(&state->session.link, "a piece is longer than its header says");
        return false;
    }
    memcpy(delivery->bytes + delivery->properties_size + incoming->received, part->bytes,
           part->len);
    incoming->received += part->len;
    return incoming->received < delivery->size || end_delivery(self, state);
}

static void note_length(struct consumer *state, const amqp_queue_declare_ok_t *answer)
{
    for (uint32_t i = 0; i < state->queue_count; i++)
        if (answer->queue.len == strlen(state->queues[i].name) &&
            memcmp(answer->queue.bytes, state->queues[i].name, answer->queue.len) == 0)
            state->queues[i].length = answer->message_count;
}

/* Of LINK_PUTS. The content of a piece that comes back is not looked at. */
static bool on_put_method(struct weir_self *self, struct consumer *state,
                          const amqp_method_t *method)
{
    const amqp_basic_ack_t *ack = method->decoded;
    const amqp_basic_nack_t *nack = method->decoded;

    if (method->id == AMQP_BASIC_ACK_METHOD)
        return consumer_on_confirm(self, state, ack->delivery_tag, ack->multiple, true);
    if (method->id == AMQP_BASIC_NACK_METHOD)
        return consumer_on_confirm(self, state, nack->delivery_tag, nack->multiple, false);
    if (method->id == AMQP_BASIC_RETURN_METHOD)
        return consumer_on_return(self, state, method->decoded);
    if (method->id == AMQP_QUEUE_DECLARE_OK_METHOD)
        consumer_on_declared(self, state);
    return true;
}

static void on_method(struct consumer *state, const amqp_method_t *method)
{
    if (method->id == AMQP_BASIC_DELIVER_METHOD)
        begin_delivery(state, method->decoded);
    else if (method->id == AMQP_QUEUE_DECLARE_OK_METHOD)
        note_length(state, method->decoded);
    else if (method->id == AMQP_BASIC_CANCEL_OK_METHOD && state->cancels > 0)
        state->cancels--;
}

bool consumer_take(struct weir_self *self, void *user, const amqp_frame_t *frame)
{
    struct consumer *state = user;

    if (frame->channel == LINK_PUTS)
        return frame->frame_type != AMQP_FRAME_METHOD ||
               on_put_method(self, state, &frame->payload.method);
    if (frame->frame_type == AMQP_FRAME_METHOD) {
        on_method(state, &frame->payload.method);
        return true;
    }
    if (!state->incoming.is_begun)
        return true;
    if (frame->frame_type == AMQP_FRAME_HEADER)
        return take_header(self, state, frame);
    if (state->incoming.index == DELIVERY_NONE)
        return true;
    return frame->frame_type != AMQP_FRAME_BODY ||
           take_body(self, state, &frame->payload.body_fragment);
}
