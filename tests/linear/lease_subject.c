/* SPDX-License-Identifier: MIT */
#include "linear/lease_subject.h"

#include <stdlib.h>
#include <string.h>

#include "actor/send.h"
#include "face/leases.h"
#include "face/messages.h"
#include "linear/lease_workers.h"
#include "pool/creation.h"
#include "pool/ending.h"
#include "pool/figures.h"
#include "pool/resize.h"

#define LEASE_MS 1000u
#define SIZE_MAX_OF_POOL 3u
#define SIZE_AT_FIRST 2u
#define QUEUE_MAX 2u

static uint32_t draw(struct lease_subject *subject, uint32_t below)
{
    subject->random = subject->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(subject->random >> 33) % below;
}

static struct executor *enter(struct lease_subject *subject)
{
    struct executor *executor = runtime_enter(subject->options.runtime);

    if (!executor)
        abort();
    return executor;
}

/* --- life ------------------------------------------------------------------------------------- */

static struct pool *make(struct lease_subject *subject, const struct pool_options *options)
{
    struct pool_options filled = *options;
    struct executor *executor = enter(subject);
    struct pool *pool;

    filled.dispatcher = subject->options.dispatcher;
    if (pool_create(subject->options.runtime, executor, &filled, &pool) != 0)
        abort();
    runtime_leave(executor);
    return pool;
}

static struct spec *make_spec(struct lease_subject *subject, const struct weir_behaviour *behaviour)
{
    struct spec *spec = spec_create(behaviour, subject);

    if (!spec)
        abort();
    spec->restart = (struct restart){ .max = UINT32_MAX, .within_ms = 1 };
    return spec;
}

static void make_group(struct lease_subject *subject)
{
    static const enum weir_route routes[] = { WEIR_ROUTE_ROUND_ROBIN, WEIR_ROUTE_LEAST_LOADED };
    struct pool_options options = { .path = "group" };

    options.settings.route = routes[draw(subject, 2)];
    options.settings.mailbox = 4;
    options.settings.remove.timeout_ms = LEASE_MS;
    options.settings.lease = (struct lease_settings){ true, LEASE_MS, subject->wishes.queue };
    subject->pools[LEASE_GROUP] = make(subject, &options);
    options.parent = subject->pools[LEASE_GROUP];
    options.spec = subject->member_spec;
    options.size = SIZE_AT_FIRST;
    options.settings.route = WEIR_ROUTE_PULL;
    options.path = "group/a";
    subject->pools[0] = make(subject, &options);
    options.path = "group/b";
    subject->pools[1] = make(subject, &options);
}

static weir_pid worker_of(struct pool *pool, uint32_t index)
{
    struct weir_member members[LEASE_WORKERS];
    uint32_t count = pool_members(pool, members, sizeof members[0], LEASE_WORKERS);

    for (uint32_t i = 0; i < count; i++)
        if (members[i].index == index)
            return members[i].pid;
    abort();
}

static void make_takers(struct lease_subject *subject)
{
    const struct pool_options options = {
        .path = "users", .spec = subject->user_spec, .size = LEASE_WORKERS, .settings.mailbox = 8
    };

    subject->users = make(subject, &options);
    for (uint32_t slot = 0; slot < LEASE_SLOTS; slot++) {
        atomic_init(&subject->takers[slot].answer, WEIR_ECANCELLED);
        subject->takers[slot].opens = slot < LEASE_WORKERS;
        if (slot < LEASE_WORKERS)
            subject->takers[slot].worker = worker_of(subject->users, slot);
    }
}

void lease_subject_init(struct lease_subject *subject, const struct lease_subject_options *options)
{
    memset(subject, 0, sizeof *subject);
    subject->options = *options;
    subject->random = options->seed;
    subject->wishes.queue = draw(subject, QUEUE_MAX + 1);
    subject->member_spec = make_spec(subject, options->seed & 1 ? &lease_plain_member_behaviour
                                                                : &lease_member_behaviour);
    subject->user_spec = make_spec(subject, &lease_user_behaviour);
    make_group(subject);
    make_takers(subject);
    subject->possible.count = 1;
    for (uint32_t i = 0; i < LEASE_POOLS; i++)
        subject->possible.states[0].free[i] = SIZE_AT_FIRST;
}

static bool stands_still(struct pool *pool)
{
    struct weir_pool_stats stats = { .size = sizeof stats };

    pool_stats(pool, &stats);
    return stats.live == stats.target && stats.starting == 0;
}

bool lease_takers_are_open(struct lease_subject *subject)
{
    for (uint32_t slot = 0; slot < LEASE_SLOTS; slot++)
        if (atomic_load(&subject->takers[slot].opened) != subject->takers[slot].opens)
            return false;
    return stands_still(subject->users);
}

bool lease_subject_is_ready(struct lease_subject *subject)
{
    for (uint32_t i = 0; i < LEASE_POOLS; i++)
        if (!stands_still(subject->pools[i]) ||
            lease_count_free(subject->pools[i]) != SIZE_AT_FIRST)
            return false;
    return lease_takers_are_open(subject);
}

void lease_subject_close(struct lease_subject *subject)
{
    struct executor *executor = enter(subject);

    pool_close(subject->users, executor);
    for (uint32_t slot = LEASE_WORKERS; slot < LEASE_SLOTS; slot++) {
        struct lease_taker_slot *taker = &subject->takers[slot];

        if (atomic_load(&taker->answer) == LEASE_NO_ANSWER)
            (void)runtime_cancel(subject->options.runtime, taker->reference);
        else if (atomic_load(&taker->answer) == 0)
            (void)runtime_lease_return(subject->options.runtime, LEASE_OF_PROGRAM, &taker->lease,
                                       WEIR_DONE);
    }
    pool_close(subject->pools[LEASE_GROUP], executor);
    runtime_leave(executor);
}

bool lease_subject_has_ended(struct lease_subject *subject)
{
    return pool_has_ended(subject->users) && pool_has_ended(subject->pools[LEASE_GROUP]);
}

void lease_subject_finish(struct lease_subject *subject)
{
    struct executor *executor = enter(subject);

    pool_destroy(subject->users, executor);
    for (uint32_t i = 0; i <= LEASE_GROUP; i++)
        pool_destroy(subject->pools[i], executor);
    spec_unref(subject->member_spec);
    spec_unref(subject->user_spec);
    runtime_leave(executor);
}

/* --- acts ------------------------------------------------------------------------------------- */

static enum lease_act_kind draw_kind(struct lease_subject *subject, uint32_t slot, uint8_t state)
{
    bool is_worker = subject->takers[slot].worker != 0;

    if (state == LEASE_IDLE)
        return LEASE_TAKE;
    if (is_worker && draw(subject, 4) == 0)
        return LEASE_GONE;
    if (state == LEASE_WAITS)
        return LEASE_GIVE_UP;
    /* A lease that is renewed while time passes is over, or is not. */
    return !subject->lets_expire && draw(subject, 6) == 0 ? LEASE_RENEW : LEASE_END;
}

/* A take has a time-out, as its `size` says, only in a round in which no time passes: it is due in
 * a later one. The program would have to wait for its own time-outs. */
static void draw_take(struct lease_subject *subject, uint8_t slot, struct lease_act *out)
{
    out->pool = (uint8_t)draw(subject, LEASE_POOLS + 1);
    out->size = !subject->lets_expire && slot < LEASE_WORKERS && draw(subject, 2) == 0;
}

/* False: nothing is to do for this taker. */
static bool draw_act_of(struct lease_subject *subject, uint8_t slot, struct lease_act *out)
{
    static const enum lease_way ways[] = { LEASE_WAY_DONE, LEASE_WAY_DONE, LEASE_WAY_DONE,
                                           LEASE_WAY_FAILED, LEASE_WAY_BREAK };
    uint8_t state = subject->seen.slots[slot].state;

    if (state == LEASE_WAITS && draw(subject, 2) == 0)
        return false;
    *out = (struct lease_act){ .kind = draw_kind(subject, slot, state), .slot = slot };
    if (out->kind == LEASE_TAKE)
        draw_take(subject, slot, out);
    if (out->kind == LEASE_END || out->kind == LEASE_GONE)
        out->size = (uint8_t)ways[draw(subject, sizeof ways / sizeof ways[0])];
    subject->takers[slot].opens += out->kind == LEASE_GONE;
    return true;
}

/* One change of size in a round: a pool that grows again may recall free workers that have not left
 * yet, which the model does not know. */
static bool draw_act(struct lease_subject *subject, uint32_t *used, struct lease_act *out)
{
    uint8_t slot = (uint8_t)draw(subject, LEASE_SLOTS);

    if (draw(subject, 10) == 0)
        slot = LEASE_SLOTS;
    if (*used >> slot & 1)
        return false;
    *used |= UINT32_C(1) << slot;
    if (slot < LEASE_SLOTS)
        return draw_act_of(subject, slot, out);
    *out = (struct lease_act){ .kind = LEASE_RESIZE,
                               .pool = (uint8_t)draw(subject, LEASE_POOLS),
                               .size = (uint8_t)draw(subject, SIZE_MAX_OF_POOL + 1) };
    return true;
}

void lease_subject_draw(struct lease_subject *subject)
{
    struct lease_round *wishes = &subject->wishes;
    uint32_t used = 0;

    subject->options.advance(subject->options.context, 1); /* takers of two rounds differ in time */
    atomic_store(&subject->done, 0);
    wishes->count = 0;
    subject->lets_expire = draw(subject, 16) == 0;
    if (subject->lets_expire)
        wishes->acts[wishes->count++] = (struct lease_act){ .kind = LEASE_EXPIRE };
    while (wishes->count < LEASE_CALLERS && draw(subject, 8) > 0)
        if (draw_act(subject, &used, &wishes->acts[wishes->count]))
            wishes->count++;
}

static int send_act(struct lease_subject *subject, const struct lease_act *act)
{
    struct executor *executor = enter(subject);
    struct message *message = message_create(&executor->cache, NULL, sizeof *act);
    int status;

    if (!message)
        abort();
    memcpy(message->public.data, act, sizeof *act);
    status = send_message(subject->options.runtime, executor, subject->takers[act->slot].worker,
                          WEIR_NORMAL, message);
    runtime_leave(executor);
    return status;
}

static void resize(struct lease_subject *subject, const struct lease_act *act)
{
    struct executor *executor = enter(subject);

    if (pool_resize(subject->pools[act->pool], executor, act->size, NULL) != 0)
        abort();
    runtime_leave(executor);
    atomic_fetch_add(&subject->done, 1);
}

void lease_subject_act(struct lease_subject *subject, uint32_t caller)
{
    const struct lease_act *act = &subject->wishes.acts[caller];

    if (caller >= subject->wishes.count)
        return;
    if (act->kind == LEASE_EXPIRE) {
        subject->options.advance(subject->options.context, LEASE_MS);
        atomic_fetch_add(&subject->done, 1);
    } else if (act->kind == LEASE_RESIZE) {
        resize(subject, act);
    } else if (!subject->takers[act->slot].worker) {
        lease_taker_act(subject, NULL, act);
    } else if (send_act(subject, act) != 0) {
        abort();
    }
}
