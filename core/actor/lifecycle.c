/* SPDX-License-Identifier: MIT */
#include "actor/lifecycle.h"

#include "actor/place.h"
#include "actor/runtime.h"

static_assert(ACTOR_STATES * LIFE_EVENTS <= 64, "each edge has a bit");

struct edge {
    bool is_legal;
    enum actor_state next;
    void (*action)(struct actor *actor); /* may be NULL */
};

static void count_restart(struct actor *actor)
{
    ledger_count(&actor->place->restarts);
}

#define TO(state)                                                                                  \
    {                                                                                              \
        true, ACTOR_##state, NULL                                                                  \
    }
#define TO_WITH(state, action)                                                                     \
    {                                                                                              \
        true, ACTOR_##state, action                                                                \
    }

static const struct edge edges[ACTOR_STATES][LIFE_EVENTS] = {
    [ACTOR_STARTING] = { [LIFE_OPENED] = TO(OPEN),
                         [LIFE_AGAIN] = TO(STARTING),
                         [LIFE_PAUSED] = TO(WAITING),
                         [LIFE_GIVEN_UP] = TO(STOPPED),
                         [LIFE_CLOSED] = TO(CLOSED),
                         [LIFE_ENDED] = TO(ENDED) },
    [ACTOR_OPEN] = { [LIFE_FAILED] = TO_WITH(STARTING, count_restart),
                     [LIFE_AGAIN] = TO(STARTING),
                     [LIFE_CLOSED] = TO(CLOSED),
                     [LIFE_ENDED] = TO(ENDED) },
    [ACTOR_WAITING] = { [LIFE_AGAIN] = TO(STARTING),
                        [LIFE_PAUSED] = TO(WAITING),
                        [LIFE_DUE] = TO(STARTING),
                        [LIFE_CLOSED] = TO(CLOSED),
                        [LIFE_ENDED] = TO(ENDED) },
    [ACTOR_STOPPED] = { [LIFE_AGAIN] = TO(STARTING),
                        [LIFE_PAUSED] = TO(WAITING),
                        [LIFE_CLOSED] = TO(CLOSED),
                        [LIFE_ENDED] = TO(ENDED) },
    [ACTOR_CLOSED] = { [LIFE_CLOSED] = TO(CLOSED), [LIFE_ENDED] = TO(ENDED) },
};

bool lifecycle_is_legal(enum actor_state state, enum life_event event)
{
    return edges[state][event].is_legal;
}

/* Records the edges for tests: one load for each edge, and a store for its first use only. */
static void note_edge(struct actor *actor, enum actor_state state, enum life_event event)
{
    _Atomic uint64_t *taken = &actor->runtime->edges;
    uint64_t edge = lifecycle_edge(state, event);

    /* Relaxed: it orders nothing. */
    if (!(atomic_load_explicit(taken, memory_order_relaxed) & edge))
        atomic_fetch_or_explicit(taken, edge, memory_order_relaxed);
}

void lifecycle_apply(struct actor *actor, enum life_event event)
{
    enum actor_state state = actor_state(actor);
    const struct edge *edge = &edges[state][event];

    assert(edge->is_legal);
    note_edge(actor, state, event);
    actor_disturb(actor);
    if (edge->action)
        edge->action(actor);
    /* Release: a reader of the new state sees earlier stores. */
    atomic_store_explicit(&actor->state, (uint8_t)edge->next, memory_order_release);
}

const char *lifecycle_state_name(enum actor_state state)
{
    static const char *const names[ACTOR_STATES] = {
        [ACTOR_STARTING] = "STARTING", [ACTOR_OPEN] = "OPEN",     [ACTOR_WAITING] = "WAITING",
        [ACTOR_STOPPED] = "STOPPED",   [ACTOR_CLOSED] = "CLOSED", [ACTOR_ENDED] = "ENDED",
    };

    return names[state];
}

const char *lifecycle_event_name(enum life_event event)
{
    static const char *const names[LIFE_EVENTS] = {
        [LIFE_OPENED] = "OPENED", [LIFE_FAILED] = "FAILED", [LIFE_AGAIN] = "AGAIN",
        [LIFE_PAUSED] = "PAUSED", [LIFE_DUE] = "DUE",       [LIFE_GIVEN_UP] = "GIVEN_UP",
        [LIFE_CLOSED] = "CLOSED", [LIFE_ENDED] = "ENDED",
    };

    return names[event];
}
