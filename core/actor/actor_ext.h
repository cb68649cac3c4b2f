/* SPDX-License-Identifier: MIT */
/*
 * actor/actor_ext.h - the optional state of an actor: requests, timers, retries, a stash, monitors,
 * watched descriptors, reasons.
 *
 * Owner only, except the timer, which the dispatcher fires as SIGNAL_TIME.
 */
#ifndef ACTOR_ACTOR_EXT_H
#define ACTOR_ACTOR_EXT_H

#include "actor/actor.h"

struct pending {
    uint64_t reference; /* 0 = free */
    weir_then *then;
    void *context;
    weir_pid pool;  /* of a take; 0: it is none */
    int status;     /* the status at its deadline: TIMEOUT or CANCELLED */
    uint32_t place; /* see deadlines.h */
    uint32_t next_free;
};

struct alarm {
    uint64_t id;        /* 0 = free */
    uint64_t period_ns; /* 0 = once */
    weir_tick *tick;    /* NULL: send `message` */
    void *context;
    struct message *message;
    uint32_t place; /* see deadlines.h */
    uint32_t next_free;
};

/* A monitor that the actor holds; see link.h. */
struct monitor {
    struct table_node node; /* by its number */
    weir_pid subject;
};

/* A watched descriptor; see watched.h. */
struct watched {
    struct table_node node; /* by its token */
    weir_ready *ready;
    void *context;
    int descriptor;
};

enum deadline_kind {
    DEADLINE_REQUEST, /* of ext->pending */
    DEADLINE_ALARM,   /* of ext->alarms */
};

struct deadline {
    uint64_t due_ns;
    uint32_t index; /* of the entry */
    enum deadline_kind kind;
};

/* The heap of deadlines; see deadlines.h. */
struct deadlines {
    struct deadline *heap;
    uint32_t count;
    uint32_t capacity;
};

struct message_index;
struct port;

enum waits {
    WAITS_POSTPONED, /* while there is one, the worker gets no other message */
    WAITS_RETRY,
    WAITS_COUNT,
};

struct actor_ext {
    struct timer timer;
    struct actor *actor;
    uint64_t armed_ns; /* the time of the timer; TIMER_NEVER */

    struct pending *pending;
    uint32_t pending_count; /* of the array */
    uint32_t pending_free;  /* index + 1 */
    uint64_t next_reference;
    weir_pid asked; /* the last receiver of a request: see askers.h; 0 = none */

    struct alarm *alarms;
    uint32_t alarm_count; /* of the array */
    uint32_t alarm_free;  /* index + 1 */
    uint64_t next_alarm;

    struct deadlines deadlines; /* of requests and alarms */

    struct message_list waits[WAITS_COUNT]; /* for redelivery, at their again_ns */
    struct message *row;              /* the last that was put back, see front.h; NULL: none */
    struct message_index *kept_index; /* of the kept messages: kept.h; NULL: none */
    struct message_list stash;        /* stashed by the worker: stash.h */
    struct message_list events;       /* of a leased worker, until the end of the lease: lease.h */

    struct table monitors; /* the monitors that this actor holds */
    uint64_t next_monitor;

    struct table watched;       /* descriptors */
    uint32_t descriptors;       /* the share of the incarnation; descriptor_share.h */
    const void *descriptors_of; /* the one that it counts for; an address alone */
    bool has_names;
    struct port *port; /* of this incarnation, counted; NULL until weir_port */
    bool has_events;   /* it has events or subscriptions */

    char *detail; /* set by weir_reason; NULL until the first call */
    /* grows with each end of an incarnation: identifies the incarnation of a token */
    uint32_t life;
    uint32_t origins_open; /* unsettled messages with this incarnation as origin */
};

/* The actor's optional state, created at the first call; NULL when memory is out. */
struct actor_ext *actor_ext_get(struct actor *actor);

/* Ensures a SIGNAL_TIME at `due_ns` or earlier. */
void actor_ext_arm(struct actor *actor, uint64_t due_ns);

/* Keeps a copy of the text of weir_reason, truncated; without memory there is no text. */
void actor_ext_set_detail(struct actor *actor, const char *text);

/* The last text; "" when there is none. */
static inline const char *actor_ext_detail(const struct actor *actor)
{
    return actor->ext && actor->ext->detail ? actor->ext->detail : "";
}

static inline void actor_ext_clear_detail(struct actor *actor)
{
    if (actor->ext && actor->ext->detail)
        actor->ext->detail[0] = '\0';
}

#endif
