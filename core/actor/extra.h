/*
 * actor/extra.h - what an actor needs only once it asks, waits, links, watches or gives a reason.
 *
 * Owner only, but for the timer, which the dispatcher fires as SIGNAL_TIME.
 */
#ifndef ACTOR_EXTRA_H
#define ACTOR_EXTRA_H

#include "actor/actor.h"
#include "actor/deadlines.h"

struct pending {
    uint64_t reference; /* 0 = free */
    weir_then *then;
    void *context;
    int status;     /* what is told when it is due: TIMEOUT or CANCELLED */
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

struct watch {
    struct table_node node; /* by its number */
    weir_pid subject;
};

/* A descriptor that is waited for; see watched.h. */
struct watched {
    struct table_node node; /* by its token */
    weir_ready *ready;
    void *context;
    int descriptor;
};

struct port;

struct extra {
    struct timer timer;
    struct actor *actor;
    uint64_t armed_ns; /* what the timer is armed for; TIMER_NEVER */

    struct pending *pending;
    uint32_t pending_count; /* of the array */
    uint32_t pending_free;  /* index + 1 */
    uint64_t next_reference;

    struct alarm *alarms;
    uint32_t alarm_count; /* of the array */
    uint32_t alarm_free;  /* index + 1 */
    uint64_t next_alarm;

    struct deadlines deadlines; /* of both */

    struct table watches; /* the monitors that this actor holds */
    uint64_t next_watch;

    struct table watched; /* descriptors */
    bool has_names;
    struct port *port; /* of this incarnation, counted; NULL until it is asked for */
    bool has_events;   /* owns or has subscribed some */

    char *detail;          /* set by weir_reason; NULL until the first time */
    uint32_t life;         /* grows with each end of an incarnation: who is meant by a token */
    uint32_t origins_open; /* messages whose origin this life is, and that are not settled */
};

/* The actor's extra, made at the first call; NULL when memory is out. */
struct extra *extra_get(struct actor *actor);

/* Sees to it that SIGNAL_TIME comes at `due_ns` or before. */
void extra_arm(struct actor *actor, uint64_t due_ns);

/* After SIGNAL_TIME: runs what is due and arms for the rest; how many callbacks that were. When too
 * much is due for one step, the rest is due at the next one. */
uint32_t extra_time(struct actor *actor);

/* Ends everything that belongs to the incarnation: requests, alarms, names, watches,
 * watched descriptors, its port. */
void extra_end_incarnation(struct actor *actor);

/* With the actor. */
void extra_destroy(struct actor *actor);

/* Keeps a copy of what weir_reason said, cut to fit; without memory nothing is said. */
void extra_set_detail(struct actor *actor, const char *text);

/* What was said last; "" when nothing. */
static inline const char *extra_detail(const struct actor *actor)
{
    return actor->extra && actor->extra->detail ? actor->extra->detail : "";
}

static inline void extra_clear_detail(struct actor *actor)
{
    if (actor->extra && actor->extra->detail)
        actor->extra->detail[0] = '\0';
}

#endif
