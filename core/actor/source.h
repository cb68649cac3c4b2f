/*
 * actor/source.h - an actor that produces on demand.
 *
 * It is asked for as many messages as the pool that it feeds has places; what does not fit waits
 * in its outbox, and it is not asked again until that is empty.
 *
 * One source can take over from another: it opens beside it, held; when the other has ended, it is
 * given the position that was left, and goes. Who owns the two calls one at a time; the end of the
 * other comes from its own thread.
 */
#ifndef ACTOR_SOURCE_H
#define ACTOR_SOURCE_H

#include "actor/progress.h"
#include "face/source.h"

/* Owned by whoever created it; the actor in it ends by itself. */
struct source {
    char path[PLACE_PATH_MAX]; /* const */
    struct runtime *runtime;   /* const */
    struct actor *actor;       /* const */
    struct owner owner;        /* of the actor */
    weir_pid pid;              /* const */
    struct wiring_slot wiring;
    struct dead_letters dead;
    struct misuses misuses;
    struct place *place;    /* valid until `ended` */
    _Atomic bool going;     /* may produce */
    _Atomic bool admitted;  /* it stays: what it calls itself is found; by who makes it go */
    bool shown;             /* its turn: and has been made to be */
    _Atomic bool exhausted; /* it said WEIR_END */
    _Atomic bool ended;     /* its actor is gone */
    pthread_mutex_t lock;
    struct progress_sum last;     /* lock: what it told last and emitted, once it has ended */
    struct ledger_reading ledger; /* lock: likewise */
    struct source *heir;          /* lock: goes when this one has ended */
    /* Before `going`: whoever makes it go. After: its own turn. After `ended`: its owner. */
    struct position position;
    struct source *predecessor; /* owner: whose heir this is, while that one lives */
    struct source *successor;   /* owner: the other way round */
    /* Those that were here before it, whose figures count as its own until it has them itself. */
    struct source *former;    /* lock; written by the owner */
    struct source *latter;    /* owner: the other way round */
    uint64_t emitted_before;  /* lock: by those that are freed */
    struct source *next_gone; /* owner: in its list of those that do not end */
};

/* Its own turn: whether what it calls itself in `open` is found when that has succeeded; otherwise
 * that is seen to once it goes, or is to go on where another ends. */
bool source_is_admitted(struct actor *actor);

/* Messages that the pool it feeds has accepted, and that wait in its outbox. */
uint64_t source_emitted(struct source *source);

/* --- in its own turn ------------------------------------------------------------------------- */

/* Asks for messages if there is room. False: nothing can be done now. */
bool source_step(struct actor *actor);

#endif
