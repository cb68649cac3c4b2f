/* SPDX-License-Identifier: MIT */
#include "message/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

/* `open` counts down by release, and the last one acquires [J1]: it reads the others' writes. */
struct join {
    _Atomic uint32_t open;
    _Atomic bool is_dead; /* set by the first message that is dead */
    _Atomic bool is_lost; /* a dead letter is not stored */
    uint16_t attempt;     /* const, as are the next four: of the first message */
    uint32_t origin_life;
    weir_pid origin;
    uint64_t token;
    uint64_t identity;
    uint32_t reason; /* written by the thread that has set `is_dead` */
    char detail[JOIN_DETAIL_SIZE];
    char label[]; /* const: of the first message */
};

static struct join *join_of(const struct message *message)
{
    return (struct join *)(uintptr_t)message->token;
}

static void enter(struct message *message, struct join *join)
{
    message->public.reserved |= MESSAGE_JOINED;
    message->token = (uint64_t)(uintptr_t)join;
}

int join_begin(struct message *message, const char *label, uint64_t identity)
{
    size_t label_size = strlen(label) + sizeof "";
    struct join *join = calloc(1, sizeof *join + label_size);

    if (!join)
        return WEIR_ENOMEM;
    memcpy(join->label, label, label_size);
    atomic_init(&join->open, 1);
    join->attempt = message->public.attempt;
    join->origin = message->origin;
    join->origin_life = message->origin_life;
    join->token = message->token;
    join->identity = identity;
    message->public.reserved &= ~(uint32_t)MESSAGE_ORIGIN;
    enter(message, join);
    return 0;
}

void join_add(struct message *message, const struct message *joined)
{
    struct join *join = join_of(joined);

    /* Relaxed: `joined` holds the join. */
    atomic_fetch_add_explicit(&join->open, 1, memory_order_relaxed);
    enter(message, join);
}

const char *join_label(const struct message *message)
{
    return join_of(message)->label;
}

void join_fail(const struct message *message, uint32_t reason, const char *detail)
{
    struct join *join = join_of(message);

    /* Relaxed: published by [J1]. */
    if (atomic_exchange_explicit(&join->is_dead, true, memory_order_relaxed))
        return;
    join->reason = reason;
    (void)snprintf(join->detail, sizeof join->detail, "%s", detail);
}

void join_lose(const struct message *message)
{
    /* Relaxed: published by [J1]. */
    atomic_store_explicit(&join_of(message)->is_lost, true, memory_order_relaxed);
}

uint64_t join_identity(const struct message *message)
{
    return join_of(message)->identity;
}

/* Returns the join if the message was the last one, for the caller to free; else NULL. */
static struct join *leave(struct message *message)
{
    struct join *join = join_of(message);

    message->public.reserved &= ~(uint32_t)MESSAGE_JOINED;
    message->token = 0;
    /* [J1] */
    return atomic_fetch_sub_explicit(&join->open, 1, memory_order_acq_rel) == 1 ? join : NULL;
}

bool join_end(struct message *message, struct join_result *out)
{
    struct join *join = leave(message);

    if (!join)
        return false;
    message->public.reserved |= MESSAGE_ORIGIN;
    message->public.attempt = join->attempt;
    message->origin = join->origin;
    message->origin_life = join->origin_life;
    message->token = join->token;
    out->is_dead = atomic_load_explicit(&join->is_dead, memory_order_relaxed);
    out->is_stored = !atomic_load_explicit(&join->is_lost, memory_order_relaxed);
    out->reason = join->reason;
    memcpy(out->detail, join->detail, sizeof out->detail);
    free(join);
    return true;
}

void join_drop(struct message *message)
{
    free(leave(message));
}
