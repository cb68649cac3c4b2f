/* SPDX-License-Identifier: MIT */
#include "linear/lease_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

#define PAST_MAX 65536u

/* --- states ----------------------------------------------------------------------------------- */

static void keep(struct lease_states *states, const struct lease_state *state)
{
    for (uint32_t i = 0; i < states->count; i++)
        if (memcmp(&states->states[i], state, sizeof *state) == 0)
            return;
    if (states->count == LEASE_STATES_MAX)
        abort();
    states->states[states->count++] = *state;
}

static void stop_waiting(struct lease_state *state, uint8_t slot)
{
    uint8_t count = 0;

    for (uint8_t i = 0; i < state->waiting_count; i++)
        if (state->waiting[i] != slot)
            state->waiting[count++] = state->waiting[i];
    if (count < state->waiting_count)
        state->waiting[count] = 0;
    state->waiting_count = count;
    state->slots[slot] = (struct lease_slot){ LEASE_IDLE, 0, 0 };
}

static bool may_serve(const struct lease_state *state, uint8_t slot, uint8_t pool)
{
    uint8_t target = state->slots[slot].pool;

    return state->free[pool] > 0 && (target == pool || target == LEASE_GROUP);
}

/* Adds the states after the next lease begins: free workers serve the takers that have waited
 * longest, and any pool serves a taker of the group. */
static void serve_one(struct lease_states *out, const struct lease_state *state)
{
    for (uint8_t i = 0; i < state->waiting_count && out->count == 0; i++)
        for (uint8_t pool = 0; pool < LEASE_POOLS; pool++) {
            uint8_t slot = state->waiting[i];
            struct lease_state next = *state;

            if (!may_serve(state, slot, pool))
                continue;
            stop_waiting(&next, slot);
            next.slots[slot] = (struct lease_slot){ LEASE_HOLDS, pool, 0 };
            next.free[pool]--;
            keep(out, &next);
        }
}

/* --- acts ------------------------------------------------------------------------------------- */

static uint32_t count_waiting(const struct lease_state *state, uint8_t target)
{
    uint32_t count = 0;

    for (uint8_t i = 0; i < state->waiting_count; i++)
        count += state->slots[state->waiting[i]].pool == target;
    return count;
}

/* Workers of the pool that stay. */
static uint32_t count_leased(const struct lease_state *state, uint8_t pool)
{
    uint32_t count = 0;

    for (uint8_t i = 0; i < LEASE_SLOTS; i++)
        count += state->slots[i].state == LEASE_HOLDS && state->slots[i].pool == pool &&
                 !state->slots[i].leaves;
    return count;
}

static bool may_ask(uint8_t target, uint8_t pool)
{
    return target == pool || target == LEASE_GROUP;
}

/* The takers that wait for one of the workers of which a taker of the target may get one. */
static uint32_t count_rivals(const struct lease_state *state, uint8_t target)
{
    uint32_t count = 0;

    for (uint8_t i = 0; i < state->waiting_count; i++) {
        uint8_t other = state->slots[state->waiting[i]].pool;

        count += may_ask(target, other) || other == LEASE_GROUP;
    }
    return count;
}

/* Free workers have room for a taker each, beside the queue. A taker may be refused when all of
 * them have been called for others, who are still in the queues, or are awake otherwise. */
static bool is_possible(const struct lease_round *round, const struct lease_state *state,
                        const struct lease_act *act)
{
    uint32_t queue = round->queue;
    uint8_t target = act->pool;
    uint32_t free = 0, leased = 0;

    for (uint8_t pool = 0; pool < LEASE_POOLS; pool++) {
        free += may_ask(target, pool) ? state->free[pool] : 0;
        leased += may_ask(target, pool) ? count_leased(state, pool) : 0;
    }
    if (free + leased == 0)
        queue = 0; /* a pool of the size 0 has no queue, nor has a group of such pools */
    if (act->status == 0)
        return count_waiting(state, target) < queue + free;
    return count_waiting(state, target) >= queue &&
           (count_rivals(state, target) >= free || round->wakes_free);
}

static void take(const struct lease_round *round, const struct lease_act *act,
                 struct lease_state *state, struct lease_states *out)
{
    if (!is_possible(round, state, act))
        return;
    if (act->status == 0) {
        state->slots[act->slot] = (struct lease_slot){ LEASE_WAITS, act->pool, 0 };
        state->waiting[state->waiting_count++] = act->slot;
    }
    keep(out, state);
}

static void release(struct lease_state *state, uint8_t slot)
{
    if (!state->slots[slot].leaves)
        state->free[state->slots[slot].pool]++;
    state->slots[slot] = (struct lease_slot){ LEASE_IDLE, 0, 0 };
}

static void give_up(struct lease_state *state, uint8_t slot)
{
    if (state->slots[slot].state == LEASE_WAITS)
        stop_waiting(state, slot);
    else if (state->slots[slot].state == LEASE_HOLDS)
        release(state, slot);
}

static bool holds(const struct lease_state *state, const struct lease_act *act)
{
    return state->slots[act->slot].state == LEASE_HOLDS;
}

/* Whether the result fits a lease that is open or over. */
static bool is_right(const struct lease_state *state, const struct lease_act *act)
{
    return holds(state, act) ? act->status == 0
                             : act->status == WEIR_EUNKNOWN || act->status == WEIR_ENOTALLOWED;
}

/* Chooses `count` leased workers of the pool from `slot` on, which leave or stay from now on. */
static void mark(const struct lease_state *state, const struct lease_act *act, uint8_t slot,
                 uint32_t count, bool leave, struct lease_states *out)
{
    if (count == 0)
        keep(out, state);
    for (; count > 0 && slot < LEASE_SLOTS; slot++) {
        struct lease_state next = *state;

        if (state->slots[slot].state != LEASE_HOLDS || state->slots[slot].pool != act->pool ||
            state->slots[slot].leaves == leave)
            continue;
        next.slots[slot].leaves = leave;
        mark(&next, act, (uint8_t)(slot + 1), count - 1, leave, out);
    }
}

static uint32_t count_leaving(const struct lease_state *state, uint8_t pool)
{
    uint32_t count = 0;

    for (uint8_t i = 0; i < LEASE_SLOTS; i++)
        count += state->slots[i].state == LEASE_HOLDS && state->slots[i].pool == pool &&
                 state->slots[i].leaves;
    return count;
}

/* Free workers leave first, but one that begins to serve a taker at the same time may be taken for
 * free. */
static void shrink(const struct lease_round *round, const struct lease_state *state,
                   const struct lease_act *act, uint32_t change, struct lease_states *out)
{
    uint32_t free = state->free[act->pool];
    uint32_t leased = change > free ? change - free : 0;
    uint32_t most = round->count > 1 ? count_leased(state, act->pool) : leased;

    for (; leased <= most && leased <= change; leased++) {
        struct lease_state next = *state;

        next.free[act->pool] = (uint8_t)(free - (change - leased));
        mark(&next, act, 0, leased, true, out);
    }
}

/* The leaving are recalled before others come. */
static void resize(const struct lease_round *round, struct lease_state *state,
                   const struct lease_act *act, struct lease_states *out)
{
    uint32_t size = state->free[act->pool] + count_leased(state, act->pool);
    uint32_t change = act->size > size ? act->size - size : size - act->size;
    uint32_t leaving = count_leaving(state, act->pool);
    uint32_t recalled = change < leaving ? change : leaving;

    if (act->size < size) {
        shrink(round, state, act, change, out);
        return;
    }
    state->free[act->pool] = (uint8_t)(state->free[act->pool] + change - recalled);
    mark(state, act, 0, recalled, false, out);
}

/* Adds the states to which the act leads. */
static void apply(const struct lease_round *round, const struct lease_act *act,
                  const struct lease_state *before, struct lease_states *out)
{
    struct lease_state state = *before;

    switch (act->kind) {
    case LEASE_TAKE:
        take(round, act, &state, out);
        return;
    case LEASE_RESIZE:
        resize(round, &state, act, out);
        return;
    case LEASE_EXPIRE:
        keep(out, &state);
        if (holds(&state, act) || act->size > 0)
            give_up(&state, act->slot);
        break;
    case LEASE_GIVE_UP:
        if (act->status == 0)
            give_up(&state, act->slot);
        else if (state.slots[act->slot].state == LEASE_WAITS)
            return; /* it is too late only for one that was served */
        break;
    case LEASE_GONE:
        give_up(&state, act->slot);
        break;
    case LEASE_END:
        if (!is_right(&state, act))
            return;
        if (act->status == 0)
            release(&state, act->slot);
        break;
    case LEASE_RENEW:
        if (!is_right(&state, act))
            return;
        break;
    }
    keep(out, &state);
}

/* --- the search ------------------------------------------------------------------------------- */

struct past {
    uint32_t done; /* bits: acts */
    struct lease_state state;
};

struct search {
    const struct lease_round *round;
    const struct lease_state *seen;
    struct lease_states *out;
    struct past *past;
    uint32_t past_count;
};

static bool looks_like(const struct lease_state *state, const struct lease_state *seen)
{
    return memcmp(state->slots, seen->slots, sizeof state->slots) == 0 &&
           memcmp(state->free, seen->free, sizeof state->free) == 0;
}

static bool is_new(struct search *search, uint32_t done, const struct lease_state *state)
{
    for (uint32_t i = search->past_count; i > 0; i--)
        if (search->past[i - 1].done == done &&
            memcmp(&search->past[i - 1].state, state, sizeof *state) == 0)
            return false;
    if (search->past_count == PAST_MAX)
        abort();
    search->past[search->past_count].done = done;
    search->past[search->past_count++].state = *state;
    return true;
}

static void go_on_from(struct search *search, uint32_t done, const struct lease_states *states);

/* Between two acts leases may begin; at rest none may. Recursion depth: the number of acts and of
 * takers. */
static void go_on(struct search *search, uint32_t done, const struct lease_state *state)
{
    const struct lease_round *round = search->round;
    struct lease_states next = { 0 };

    if (!is_new(search, done, state))
        return;
    serve_one(&next, state);
    if (done == (UINT32_C(1) << round->count) - 1 && next.count == 0 &&
        looks_like(state, search->seen))
        keep(search->out, state);
    go_on_from(search, done, &next);
    for (uint32_t i = 0; i < round->count; i++) {
        if (done >> i & 1)
            continue;
        next.count = 0;
        apply(round, &round->acts[i], state, &next);
        go_on_from(search, done | UINT32_C(1) << i, &next);
    }
}

static void go_on_from(struct search *search, uint32_t done, const struct lease_states *states)
{
    for (uint32_t i = 0; i < states->count; i++)
        go_on(search, done, &states->states[i]);
}

bool lease_round_explain(const struct lease_round *round, const struct lease_states *before,
                         const struct lease_state *seen, struct lease_states *out)
{
    struct lease_states after = { 0 };
    struct search search = { .round = round, .seen = seen, .out = &after };

    search.past = malloc(PAST_MAX * sizeof *search.past);
    if (!search.past)
        abort();
    for (uint32_t i = 0; i < before->count; i++)
        go_on(&search, 0, &before->states[i]);
    free(search.past);
    if (after.count > 0)
        *out = after;
    return after.count > 0;
}

/* --- printing --------------------------------------------------------------------------------- */

void lease_round_print(const struct lease_round *round)
{
    static const char *const names[] = { "takes from", "ends its lease", "is gone", "gives up",
                                         "renews",     "may expire",     "resize" };

    for (uint32_t i = 0; i < round->count; i++) {
        const struct lease_act *act = &round->acts[i];

        if (act->kind == LEASE_RESIZE)
            (void)fprintf(stderr, "  pool %u: resize to %u\n", act->pool, act->size);
        else
            (void)fprintf(stderr, "  taker %u %s %u: %s\n", act->slot, names[act->kind], act->pool,
                          act->status == 0 ? "ok" : weir_status_name(act->status));
    }
}

void lease_state_print(const struct lease_state *state)
{
    static const char *const names[] = { "idle", "waits for", "holds one of" };

    (void)fprintf(stderr, " ");
    for (uint32_t i = 0; i < LEASE_SLOTS; i++)
        (void)fprintf(stderr, " %s %u%s,", names[state->slots[i].state], state->slots[i].pool,
                      state->slots[i].leaves ? " that leaves" : "");
    (void)fprintf(stderr, " free %u and %u\n", state->free[0], state->free[1]);
}
