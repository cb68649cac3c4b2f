/* SPDX-License-Identifier: MIT */
/*
 * marks_world.h - a pool of two workers, and one message, the victim, that is addressed in one of
 * the ways of MARKS. What becomes of it is told in one line.
 *
 * The pool is `pool`; with leases it has one worker. `helper` gets what is forwarded. A worker of
 * `origin` is the origin of messages, one of `feeder` sends those of workers. The clock stands
 * still until the test moves it. All calls come from the thread of the test.
 */
#ifndef TESTS_UNIT_POOL_MARKS_WORLD_H
#define TESTS_UNIT_POOL_MARKS_WORLD_H

#include <stdio.h>

#include <weir/task.h>

#include "unit/support/rig.h"

/* Ways to address a message: name, word. */
#define MARKS(X)                                                                                   \
    X(POOL, "to the pool")                                                                         \
    X(DIRECT, "to a worker's PID")                                                                 \
    X(COPY, "a copy of a broadcast")                                                               \
    X(EVENT, "an event of the worker's own subscription")                                          \
    X(EVENT_ALL, "an event for each worker of the pool")                                           \
    X(REQUEST, "a request to a worker's PID")                                                      \
    X(LEASED, "a request under a lease")                                                           \
    X(ORIGIN, "to the pool, with an origin")                                                       \
    X(JOINED, "to the pool, joined to an origin")                                                  \
    X(TASK, "a task of a group, to the pool")                                                      \
    X(TAKE, "a take")                                                                              \
    X(GROUPED, "a take of a group of pools")

enum mark {
#define MARK_NUMBER(name, word) name,
    MARKS(MARK_NUMBER)
#undef MARK_NUMBER
        MARK_COUNT
};

/* What a worker does with the victim until `accepts`; then it is done. */
enum first {
    FIRST_DONE,
    FIRST_FORWARD,
    FIRST_REJECT,
    FIRST_STASH,
    FIRST_RETRY,
    FIRST_FAIL,
    FIRST_KEEP,
    FIRST_PUT_BACK, /* and fails with `pauses` */
};

/* What its sender does with it. Only a worker's own messages: ORIGIN, JOINED, POOL, DIRECT. */
enum sending {
    SENDING_NOW, /* and frees it when it is refused */
    SENDING_LATER,
    SENDING_CANCELLED,  /* SENDING_LATER, and cancels the timer */
    SENDING_FREED,      /* by a thread of its own, instead of being sent */
    SENDING_FREED_LATE, /* likewise, by world_free */
};

static inline bool marks_is_take(enum mark mark)
{
    return mark == TAKE || mark == GROUPED;
}

static inline bool marks_has_leases(enum mark mark)
{
    return mark == LEASED || marks_is_take(mark);
}

/* Each worker gets one. */
static inline bool marks_is_for_all(enum mark mark)
{
    return mark == COPY || mark == EVENT_ALL;
}

static inline bool marks_is_event(enum mark mark)
{
    return mark == EVENT || mark == EVENT_ALL;
}

static inline bool marks_is_answered(enum mark mark)
{
    return mark == REQUEST || mark == LEASED;
}

static inline bool marks_has_origin(enum mark mark)
{
    return mark == ORIGIN || mark == JOINED;
}

struct freeing {
    struct weir_port *port;
    struct weir_message *message;
};

struct setup {
    enum mark mark;
    enum first first;
    enum sending sending;
    struct removal remove;
    uint32_t redeliver;
    bool tells_record; /* what the store of dead letters has got is told, too */
    bool pauses;       /* a worker that fails waits before it opens again */
};

#define VICTIM 7u
#define FILLER 8u
#define LAST 9u
#define LIMIT 4u /* of each mailbox */
#define WORKERS_MAX 8u
#define PAUSE_MS 1000u

struct world {
    struct setup setup;
    struct rig rig;
    struct probe *workers, *helpers, *feeders, *origins;
    struct pool *pool, *helper, *feeder, *origin, *group;
    uint32_t count;   /* victims */
    _Atomic int home; /* index of the worker that has it first; -1: not known yet */
    _Atomic bool accepts;
    _Atomic uint32_t handled[WORKERS_MAX];
    _Atomic uint32_t helped;
    _Atomic uint32_t heard; /* answers, outcomes */
    char what[32];          /* the last one of them; written before `heard` */
    uint64_t event;
    struct weir_lease lease;
    bool is_returned;
    struct freeing to_free;
    struct group *tasks;
    char kept_for[40]; /* the receiver in the record of a dead letter; "": it cannot be sent */
    _Atomic uint32_t stored;
    uint32_t unable;
};

void world_begin(struct world *w, const struct setup *setup);
/* Ends everything, and writes what has become of the victims. */
void world_end(struct world *w, char *out, size_t size);
/* Likewise; ends one more pool, too. */
void world_end_with(struct world *w, struct pool *other, char *out, size_t size);
/* What has become of the victims so far. */
void world_tell(struct world *w, char *out, size_t size);

/* Holds all workers at the gate, the last of them with `last`, and then sends the victim, which
 * waits in the mailbox of the last one. */
bool world_send_behind(struct world *w, probe_act *last);
/* Lets all workers but the last one go on, and waits until they have nothing to do. */
bool world_free_others(struct world *w);

/* Fills all workers, which wait at the gate. */
bool world_fill(struct world *w);
/* Waits until the victim's worker waits in back-off, until the victim is to be retried or has come
 * back to its origin, and until a worker has the victim in hand. */
bool world_paused(struct world *w);
bool world_delayed(struct world *w);
bool world_in_hand(struct world *w);

/* Acts of the victim, a message and a task. */
probe_act marks_victim;
int marks_task(struct weir_task *task, void *argument);

/* Its sender learns of its outcome. */
void world_hear(struct world *w, const char *what);

/* An act: keeps the message. */
probe_act keep;
/* An act: the stash of the victim's worker is delivered again. */
probe_act bring_back;

weir_pid world_home(struct world *w);
void world_return(struct world *w);
/* Waits until the victims are handled. */
bool world_handled(struct world *w);
bool world_heard(struct world *w);
bool world_quiet(struct world *w);
/* Sends the dead letters of the pool again. */
bool world_replay(struct world *w);

#endif
