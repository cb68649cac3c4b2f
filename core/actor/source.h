/* SPDX-License-Identifier: MIT */
/*
 * actor/source.h - an actor that produces on demand; producing.h is its turn.
 *
 * A source can replace another one. The new source opens beside the old one and waits. When the old
 * one has ended, the new source gets its last position and produces. The owner of both makes one
 * call at a time; the end of the old source runs on its own thread.
 */
#ifndef ACTOR_SOURCE_H
#define ACTOR_SOURCE_H

#include "actor/misuse.h"
#include "actor/position.h"
#include "actor/progress.h"
#include "base/lock.h"
#include "face/source.h"

/* Owned by its creator; the actor in it ends by itself. */
struct source {
    char path[PLACE_PATH_MAX]; /* const */
    struct runtime *runtime;   /* const */
    struct actor *actor;       /* const */
    struct owner owner;        /* of the actor */
    weir_pid pid;              /* const */
    struct wiring_slot wiring;
    struct dead_letters dead;
    struct misuses misuses;
    struct place *place; /* valid until `ended` */
    _Atomic bool going;  /* it may produce */
    /* it is permanent, so its names are found; written by the thread that lets it produce */
    _Atomic bool admitted;
    bool shown;             /* its turn: its names were published */
    _Atomic bool exhausted; /* it said WEIR_END */
    _Atomic bool ended;     /* its actor is gone */
    struct lock lock;
    struct progress_sum last; /* lock: its last reports and emitted messages, once it has ended */
    struct ledger_reading ledger;     /* lock: likewise */
    struct source *waiting_successor; /* lock: produces when this one has ended */
    struct position left;             /* its turn: by the present incarnation */
    struct position from; /* its turn: where this incarnation, or the next one, starts */
    /* Before `going`: the thread that sets it. After: its own turn. After `ended`: its owner. */
    struct position position;
    struct source *predecessor; /* owner: the source that this one replaces, while that lives */
    struct source *successor;   /* owner: the source that replaces this one */
    /* Former sources in its place: their figures count as its own until it has them itself. */
    struct source *former;    /* lock; written by the owner */
    struct source *latter;    /* owner: the source whose figures include those of this one */
    uint64_t emitted_before;  /* lock: by former sources that are freed */
    struct source *next_gone; /* owner: in its list of sources that have not ended */
};

/* It, or one of its children, waits for a token. */
bool source_is_throttled(struct source *source);
/* True when it, or a child of it, waits for room in the pool that it feeds. */
bool source_is_waiting(struct source *source);

/* Messages that the pool it feeds has accepted, and that wait in its outbox. */
uint64_t source_emitted(struct source *source);

/* --- in its own turn ------------------------------------------------------------------------- */

/* The source that owns the place of its actor. */
static inline struct source *source_of(const struct place *place)
{
    return (struct source *)(void *)((char *)place->owner - offsetof(struct source, owner));
}

/* Whether its names are found once `open` has succeeded. Otherwise they are published when it may
 * produce, or is to follow another source. */
bool source_is_admitted(const struct actor *actor);

#endif
