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

struct source_options {
    const char *path; /* its name in YAML; borrowed until return */
    struct dispatcher *dispatcher;
    struct dispatcher *opener;                      /* where it opens; NULL = where it runs */
    struct spec *spec;                              /* takes a reference */
    weir_pid target;                                /* the pool it feeds by output 0 */
    enum weir_when_full when_full;                  /* what finds no room there after all */
    uint32_t output_count;                          /* at least 1 */
    bool registered;                                /* its path can be looked up */
    bool held;                                      /* opens, but produces only after source_go */
    const struct dead_letters_bounds *dead_letters; /* borrowed until return; NULL = the usual */
};

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

/* Opens in its first turn. WEIR_EINVALID, WEIR_ENOMEM, WEIR_EEXISTS (the name). */
int source_create(struct runtime *runtime, struct executor *executor,
                  const struct source_options *options, struct source **out);

/*
 * `heir`, which is held, goes on where `source` ends, as soon as it has; the caller closes `source`
 * then. When that one still waits for its own predecessor, the heir waits for that instead.
 */
void source_succeed(struct source *source, struct source *heir, struct executor *executor);

/* `to`, which is held, shall go on where `from` was, which has ended. */
void source_inherit(struct source *to, struct source *from);

/* Lets a held source produce. Any thread; cannot fail. */
void source_go(struct source *source, struct executor *executor);

/* Feeds another pool from now on. Takes the wiring, whose output 0 says which. */
void source_set_wiring(struct source *source, struct wiring *wiring, struct executor *executor);

/* Takes on a spec that differs in live options only. Takes the reference. */
void source_respec(struct source *source, struct spec *spec, struct executor *executor);

/* How far it is: by unit; also after it has ended. Returns how many; at most `max`. */
uint32_t source_progress(struct source *source, struct pool_progress *out, uint32_t max);

/* Its own turn: whether what it calls itself in `open` is found when that has succeeded; otherwise
 * that is seen to once it goes, or is to go on where another ends. */
bool source_is_admitted(struct actor *actor);

/* Whether it is open: 0; 1 not yet; or the negative status of an open that failed. */
int source_opening(struct source *source);
/* What it said when its open failed, cut at `size`; "" when it said nothing. */
void source_opening_reason(struct source *source, char *text, size_t size);

/* Messages that the pool it feeds has accepted, and that wait in its outbox. */
uint64_t source_emitted(struct source *source);

/* What became of the messages that were sent to it. */
void source_ledger(struct source *source, struct ledger_reading *out);

/* Produces nothing more, and ends when its outbox is empty. Any thread. */
void source_close(struct source *source, struct executor *executor);

/* Ends behind the callback that runs now; what is in its outbox is dead. Any thread. */
void source_stop_now(struct source *source, struct executor *executor);

/* Frees an ended source. */
void source_destroy(struct source *source, struct executor *executor);

/* --- in its own turn ------------------------------------------------------------------------- */

/* Asks for messages if there is room. False: nothing can be done now. */
bool source_step(struct actor *actor);

#endif
