/* SPDX-License-Identifier: MIT */
#include "unit/embed/hand.h"

#include <stdlib.h>
#include <string.h>

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct hand *hand = (struct hand *)(uintptr_t)settings;

    (void)self;
    *(struct hand **)state = hand;
    return hand->open_status;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct hand *hand = *(struct hand **)state;
    const struct hand_order *order = message->data;

    atomic_fetch_add(&hand->handled, 1);
    atomic_fetch_add(&hand->sum, order->id);
    return order->act ? order->act(self, hand, message) : WEIR_DONE;
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    struct hand *hand = *(struct hand **)state;

    (void)self;
    (void)reason;
    atomic_fetch_add(&hand->closed, 1);
}

static void count_line(void *context, enum weir_log_level level, const char *component,
                       const char *event, const struct weir_field *fields)
{
    struct hand *hand = context;

    (void)level;
    (void)component;
    (void)event;
    (void)fields;
    atomic_fetch_add(&hand->lines, 1);
}

void hand_begin(struct hand *hand, uint32_t threads)
{
    const struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;

    hand_begin_with(hand, &options, threads);
}

void hand_begin_with(struct hand *hand, const struct weir_runtime_options *like, uint32_t threads)
{
    struct weir_runtime_options options = *like;

    *hand = (struct hand){ .behaviour = { .name = "hand",
                                          .state_size = sizeof(struct hand *),
                                          .open = open_worker,
                                          .handle = handle,
                                          .close = close_worker } };
    gate_init(&hand->gate);
    options.threads = threads;
    options.log = count_line;
    options.log_context = hand;
    if (weir_runtime_create(&options, &hand->runtime) != 0)
        abort();
}

void hand_finish(struct hand *hand)
{
    (void)weir_runtime_shutdown(hand->runtime, wait_limit_ms());
    weir_runtime_destroy(hand->runtime);
    gate_finish(&hand->gate);
}

struct weir_pool_options hand_pool_options(struct hand *hand, const char *path)
{
    struct weir_pool_options options = WEIR_POOL_OPTIONS;

    options.path = path;
    options.behaviour = &hand->behaviour;
    options.settings = hand;
    return options;
}

weir_pid hand_pool(struct hand *hand, const char *path, uint32_t workers, uint32_t limit)
{
    struct weir_pool_options options = hand_pool_options(hand, path);
    weir_pid pid;

    options.workers = workers;
    options.limit = limit ? limit : UINT32_MAX;
    if (weir_runtime_add_pool(hand->runtime, &options, &pid) != 0 ||
        weir_runtime_wait_open(hand->runtime, pid, wait_limit_ms()) != 0)
        abort();
    return pid;
}

struct weir_message *hand_message(struct hand *hand, struct hand_order order)
{
    struct weir_message *message = weir_runtime_message_new(hand->runtime, NULL, sizeof order);

    if (!message)
        abort();
    memcpy(message->data, &order, sizeof order);
    return message;
}

int hand_send(struct hand *hand, weir_pid to, struct hand_order order)
{
    struct weir_message *message = hand_message(hand, order);
    int status = weir_runtime_send(hand->runtime, to, WEIR_NORMAL, message);

    if (status != 0)
        weir_runtime_message_free(hand->runtime, message);
    return status;
}

struct weir_ledger hand_ledger(struct hand *hand, weir_pid pid)
{
    struct weir_ledger ledger = WEIR_LEDGER;

    if (weir_runtime_ledger(hand->runtime, pid, &ledger) != 0)
        abort();
    return ledger;
}

struct weir_pool_stats hand_stats(struct hand *hand, weir_pid pid)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    if (weir_runtime_pool_stats(hand->runtime, pid, &stats) != 0)
        abort();
    return stats;
}

bool hand_ledger_is_settled(const struct weir_ledger *ledger)
{
    return ledger->accepted == ledger->done + ledger->dead + ledger->moved &&
           ledger->queued + ledger->in_hand + ledger->held == 0;
}

/* --- acts ------------------------------------------------------------------------------------ */

int hand_wait(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    (void)self;
    (void)message;
    return gate_pass(&hand->gate) ? WEIR_DONE : WEIR_REJECT;
}

static struct weir_message *copy_order(struct weir_self *self, const struct weir_message *message,
                                       uint64_t more)
{
    struct weir_message *copy = weir_message_new(self, NULL, sizeof(struct hand_order));
    struct hand_order order = { .id = ((const struct hand_order *)message->data)->id + more };

    if (!copy)
        abort();
    memcpy(copy->data, &order, sizeof order);
    return copy;
}

int hand_reply(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    struct weir_message *reply = copy_order(self, message, 1000);
    int status = weir_reply(self, message, reply);

    if (status != 0)
        weir_message_free(self, reply);
    atomic_store(&hand->noted, status);
    return WEIR_DONE;
}

int hand_reject(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    (void)hand;
    (void)message;
    weir_reason(self, "no such thing");
    return WEIR_REJECT;
}

int hand_fail(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    (void)hand;
    (void)message;
    weir_reason(self, "broken");
    return WEIR_FAIL;
}

int hand_emit(struct weir_self *self, struct hand *hand, const struct weir_message *message)
{
    struct weir_message *copy = copy_order(self, message, 0);

    (void)hand;
    if (weir_emit(self, 0, copy) != 0)
        weir_message_free(self, copy);
    return WEIR_DONE;
}
