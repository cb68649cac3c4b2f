/* SPDX-License-Identifier: MIT */
/*
 * actor/standalone.h - the handle of an actor without a pool, for its creator.
 *
 * The actor ends when it fails, stops, or is closed; its figures stay here.
 *
 * Life: create, close, wait until `ended`, destroy. Any thread.
 */
#ifndef ACTOR_STANDALONE_H
#define ACTOR_STANDALONE_H

#include "actor/place.h"
#include "base/lock.h"
#include "face/standalone.h"
#include "stats/dead_letters.h"

/* Owned by its creator; its actor ends by itself. */
struct standalone {
    char name[PLACE_PATH_MAX]; /* const */
    struct runtime *runtime;   /* const */
    struct actor *actor;       /* const */
    struct owner owner;        /* of the actor */
    weir_pid pid;              /* const */
    struct wiring_slot wiring;
    struct dead_letters dead;
    struct lock lock;
    struct spec *spec;            /* const; counted */
    struct place *place;          /* lock; NULL once it has ended */
    struct ledger_reading ledger; /* lock: from then on */
    _Atomic bool ended;           /* its actor has ended */
};

#endif
