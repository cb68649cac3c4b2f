/* SPDX-License-Identifier: MIT */
#include "hub_parts.h"

/* The queues are the thread's, and the list of them grows only with the lock. */
static bool is_in_work(void *context, int64_t id)
{
    struct hub *hub = context;
    bool is = false;

    (void)pthread_mutex_lock(&hub->lock);
    for (const struct hub_queue *queue = hub->queues; queue && !is; queue = queue->next)
        is = feed_has(queue, id);
    (void)pthread_mutex_unlock(&hub->lock);
    return is;
}

static void answer_locked(struct hub *hub)
{
    hub->order = NULL;
    (void)pthread_cond_broadcast(&hub->quiet);
}

/* Replayed pieces lie before the cursor, and the figures are others. Locked. */
static void look_again_locked(struct hub *hub)
{
    for (struct hub_queue *queue = hub->queues; queue; queue = queue->next) {
        if (queue->store)
            queue->shown = queue->store->committed;
        feed_rewind(queue);
    }
}

enum store_result orders_step(struct hub *hub)
{
    const struct order *order;
    struct order_answer *answer;
    enum store_result result;
    int asker;

    (void)pthread_mutex_lock(&hub->lock);
    order = hub->order;
    answer = hub->answer;
    asker = hub->asker;
    (void)pthread_mutex_unlock(&hub->lock);
    if (!order)
        return STORE_OK;
    /* Whoever asked and went on may mean other pieces by now. */
    if (!door_is_waited_for(asker, order)) {
        orders_refuse(hub, ORDER_REFUSED, "nothing was done in time");
        return STORE_OK;
    }
    result = order_carry_out(&hub->store, order, is_in_work, hub, answer);
    if (result == STORE_OK && order->verb != ORDER_NOTHING) {
        hub->is_tidy = false;
        hub_read_times(hub);
    }
    (void)pthread_mutex_lock(&hub->lock);
    if (result == STORE_OK && order->verb != ORDER_NOTHING)
        look_again_locked(hub);
    answer_locked(hub);
    (void)pthread_mutex_unlock(&hub->lock);
    return result;
}

void orders_refuse(struct hub *hub, enum order_status status, const char *error)
{
    (void)pthread_mutex_lock(&hub->lock);
    if (hub->order) {
        order_fail(hub->answer, status, error);
        answer_locked(hub);
    }
    (void)pthread_mutex_unlock(&hub->lock);
}

/* The door serves one order at a time. */
void orders_serve(void *context, int asker, const struct order *order, struct order_answer *out)
{
    struct hub *hub = context;

    (void)pthread_mutex_lock(&hub->lock);
    if (hub->is_closed) {
        order_fail(out, ORDER_REFUSED, "the host ends");
    } else {
        hub->order = order;
        hub->answer = out;
        hub->asker = asker;
        hub_wake_locked(hub);
        while (hub->order)
            (void)pthread_cond_wait(&hub->quiet, &hub->lock);
    }
    (void)pthread_mutex_unlock(&hub->lock);
}
