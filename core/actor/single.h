/*
 * actor/single.h - the handle of an actor without a pool, for its maker.
 *
 * The actor ends when it fails, stops, or is closed; its figures stay here.
 *
 * Life: create, close, wait until `ended`, destroy. Any thread.
 */
#ifndef ACTOR_SINGLE_H
#define ACTOR_SINGLE_H

#include <pthread.h>

#include "actor/place.h"
#include "stats/dead_letters.h"

struct single_options {
    const char *name; /* registered for look-ups; NULL or "" = none; borrowed until return */
    struct dispatcher *dispatcher;
    struct spec *spec;                              /* takes a reference */
    uint32_t limit;                                 /* of its mailbox; 0 = unlimited */
    struct wiring *wiring;                          /* takes it on 0; the targets of its outputs */
    const struct dead_letters_bounds *dead_letters; /* borrowed until return; NULL = the defaults */
};

/* Owned by its maker; the actor in it ends by itself. */
struct single {
    char name[PLACE_PATH_MAX]; /* const */
    struct runtime *runtime;   /* const */
    struct actor *actor;       /* const */
    struct owner owner;        /* of the actor */
    weir_pid pid;              /* const */
    struct wiring_slot wiring;
    struct dead_letters dead;
    pthread_mutex_t lock;
    struct place *place;          /* lock; NULL once it has ended */
    struct ledger_reading ledger; /* lock: from then on */
    _Atomic bool ended;           /* its actor has ended */
};

/* Opens in its first turn. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS (the name). */
int single_create(struct runtime *runtime, struct executor *executor,
                  const struct single_options *options, struct single **out);

/* Takes the wiring, the targets of its outputs from now on. */
void single_set_wiring(struct single *single, struct wiring *wiring, struct executor *executor);

/* 0: it is open; 1 not yet; WEIR_ECLOSED it has ended; or the status of an open that failed. */
int single_opening(struct single *single);

void single_ledger(struct single *single, struct ledger_reading *out);

/* Accepts no new message, and ends when it has finished the accepted ones. */
void single_close(struct single *single, struct executor *executor);

/* Ends after the present message; waiting messages are dead. */
void single_stop_now(struct single *single, struct executor *executor);

/* Frees it; its actor has ended, or no thread runs any more. NULL is allowed. */
void single_destroy(struct single *single);

#endif
