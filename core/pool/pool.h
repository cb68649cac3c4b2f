/*
 * pool/pool.h - an actor that routes to its members; members are workers or pools.
 *
 * Senders read the published members without a lock, inside a read section. Membership is changed
 * under `lock`, from any thread, also from inside a worker; the lock is never held while plugin
 * code runs, or while anything is waited for.
 *
 *                 | route room | resize close | stats
 *   route room    |     -      |      -       |   -       any threads at once; resize and close
 *   resize close  |     -      |      -       |   -       are one after the other by the lock
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "actor/place.h"
#include "actor/progress.h"
#include "actor/router.h"
#include "actor/waiters.h"
#include "pool/members.h"
#include "pool/outlet.h"
#include "pool/pulling.h"
#include "stats/age.h"
#include "stats/dead_letters.h"

struct runtime;

#define POOL_SIZE_MAX 65536

struct pool_options {
    const char *path;    /* `images/small`; borrowed until return */
    struct pool *parent; /* NULL at the top */
    /* For a reload: the parent's senders see the pool only after pool_join. Until then, or until
     * pool_end_trial, its failures do not escalate. */
    bool apart;
    struct dispatcher *dispatcher;         /* of its workers */
    struct dispatcher *manager_dispatcher; /* of its own turns; NULL = that of the workers */
    /* the pool and its first workers open there; NULL = where they run */
    struct dispatcher *opener;
    struct spec *spec;           /* of its workers; takes a reference; NULL: members are pools */
    struct spec *manager;        /* takes a reference; NULL: the built-in one, see manager.h */
    uint32_t size;               /* workers at first */
    uint32_t size_min, size_max; /* bounds of a run-time resize; both 0 = 0..POOL_SIZE_MAX */
    bool clamps;                 /* a resize past the bounds is reduced to them, without an error */
    uint32_t limit;              /* of each mailbox; 0 = unlimited */
    uint64_t bytes_limit;        /* of the payload that waits in each; 0 = unlimited */
    enum weir_route route;
    enum weir_remove remove;
    uint64_t remove_timeout_ms; /* for leaving workers, and for all at the end; 0 = no time-out */
    const struct restart *restart; /* of its member pools; borrowed until return; NULL = usual */
    const struct dead_letters_bounds *dead_letters; /* borrowed until return; NULL = the defaults */
    const struct weir_list *subscribe; /* to events; borrowed until return; NULL = to none */
    bool fan_out;                      /* each event goes to every member */
    uint32_t output_count;
    const struct binding *outputs; /* borrowed until return; NULL = all unbound */
};

/* The policy for member pools that escalate: see escalation.h. */
struct escalation {
    struct restart restart;
    struct backoff backoff; /* of members that escalate */
    uint64_t reopened;      /* members so far, including those of pools that have left */
};

struct pool {
    struct runtime *runtime;       /* const */
    struct actor *actor;           /* const */
    struct router router;          /* the actor's routing, for senders */
    struct owner owner;            /* of the workers */
    struct owner managing;         /* of the actor itself, whose place is the manager's */
    weir_pid pid;                  /* const */
    uint32_t number;               /* const: selects one of the executors' positions */
    char path[PLACE_PATH_MAX];     /* const */
    const char *label;             /* const: the path, for a crash line */
    struct pool *parent;           /* const */
    uint32_t depth;                /* const: of nesting; 0 at the top */
    struct dispatcher *dispatcher; /* lock: for new workers */

    _Atomic(struct members *) members; /* published under lock, read by senders */
    _Atomic uint32_t route;            /* enum weir_route */
    _Atomic bool closing;
    _Atomic bool paused;   /* written under lock, read by senders */
    _Atomic bool on_trial; /* written by its maker; read by its workers when they fail */
    struct outlets outlets;
    struct waiters waiters;
    struct pull_queue pull;
    struct dead_letters dead;
    struct misuses misuses;
    _Atomic uint64_t refused;        /* on another cache line than the fields that senders read */
    _Atomic weir_pid keyless_sender; /* the last one logged by keyless.h; 0 = none */

    pthread_mutex_t lock;
    struct list places;                /* lock: members that stay */
    struct list leavers;               /* lock: removed, may still be called back */
    struct list closers;               /* lock: past the point of return */
    struct list prepared;              /* lock: opened by a reload, not let in yet */
    struct pool **children;            /* lock: nested pools */
    uint32_t child_count;              /* lock */
    uint32_t child_room;               /* lock: of `children` */
    struct spec *spec;                 /* lock: of new workers */
    struct place *manager;             /* lock: of its own actor; NULL: that has ended */
    bool has_manager;                  /* lock: a behaviour manages it, not the built-in manager */
    bool manager_is_new;               /* lock: manager->respec is new, also when NULL */
    uint32_t limit;                    /* lock */
    uint64_t bytes_limit;              /* lock */
    uint32_t target;                   /* lock */
    uint32_t size_min, size_max;       /* lock */
    bool clamps;                       /* lock */
    enum weir_remove remove;           /* lock */
    uint64_t remove_timeout_ms;        /* lock */
    uint64_t epoch;                    /* lock */
    struct escalation escalation;      /* lock */
    struct age age;                    /* lock: of what waits in its queue */
    struct message_list outcomes;      /* lock: requested and not sent yet; see outcome.h */
    struct ledger_reading gone;        /* lock: of places that have ended */
    uint64_t gone_restarts;            /* lock */
    uint64_t gone_retried;             /* lock */
    struct progress_sum gone_progress; /* lock: of places that have ended */
    bool killed;                       /* lock: it ends with KILL */
    uint32_t order;                    /* the parent's lock: its number among its siblings */
    _Atomic bool removed;              /* lock writes, its workers read: see pool_remove */
    bool joined;                       /* its maker, then the parent's lock */
    struct members *join_members;      /* lock: room for those that join; NULL = none will */
    _Atomic bool has_subscribed;       /* to events; forgotten at its end */
    bool ending;                       /* lock: its own actor is to end */
    bool ended;                        /* lock: and has */
    struct members *nobody;            /* lock: published when it closes; NULL = it is published */
    _Atomic uint32_t holders;          /* its maker, and its parent while that still shows it */
    struct pool *lost;                 /* lock: ended nested pools that are still shown */
    struct pool *next_lost;            /* the parent's lock */
    struct retired retired;
};

static inline struct pool *pool_of_router(struct router *router)
{
    return (struct pool *)(void *)((char *)router - offsetof(struct pool, router));
}

static inline struct pool *pool_of_owner(struct owner *owner)
{
    return (struct pool *)(void *)((char *)owner - offsetof(struct pool, owner));
}

/* The pool of a worker's place. */
static inline struct pool *pool_of_place(const struct place *place)
{
    return pool_of_owner(place->owner);
}

/* The pool that an actor is a worker of; NULL: none. */
static inline struct pool *pool_of_worker(const struct actor *actor)
{
    struct owner *owner = place_member_of(actor);

    return owner ? pool_of_owner(owner) : NULL;
}

/* The pool of a PID; NULL: it has ended, or is no pool. Any thread, in a read section, inside which
 * alone it may be used. */
struct pool *pool_find(struct runtime *runtime, weir_pid pid);

/*
 * Makes a pool with its workers, which open in their first turns. Returns borrowed: it lives until
 * pool_destroy. WEIR_EINVALID, WEIR_EEXISTS (the path), WEIR_ECLOSED (the parent), WEIR_ENOMEM.
 */
int pool_create(struct runtime *runtime, struct executor *executor,
                const struct pool_options *options, struct pool **out);

/*
 * Makes room below a pool for `count` more, which pool_show_joined will show together: pools made
 * below it from now on, and pools made apart that join. Not again before they are shown or
 * forgotten. WEIR_ENOMEM.
 */
int pool_prepare_join(struct pool *parent, uint32_t count);

/* For a pool that was made apart, after its parent has made room: it belongs to its parent from now
 * on, and closes with it. Cannot fail. */
void pool_join(struct pool *pool, struct executor *executor);

/* Shows all pools that have joined to the parent's senders. Cannot fail. */
void pool_show_joined(struct pool *parent, struct executor *executor);

/* Undoes pool_prepare_join: no pool has joined. */
void pool_forget_join(struct pool *parent);

/* For a pool that was made apart at the top: it stays. Any thread. */
void pool_end_trial(struct pool *pool);

/* The pool accepts no new message; members drain and end, nested ones first. Any thread. */
void pool_close(struct pool *pool, struct executor *executor);

/* As pool_close, for a pool that is removed while others stay: each worker treats its mailbox as
 * the pool's `remove` says, as if it left alone. Messages that are handed over go to the pool
 * above. Any thread. */
void pool_remove(struct pool *pool, struct executor *executor);

/* Releases its path: lookups do not find it any more, and another pool may take the name. Any
 * thread. */
void pool_give_up_name(struct pool *pool, struct executor *executor);

/* As pool_close, but each member ends after its present message: waiting messages are dead. Also
 * for a closing pool. Any thread. */
void pool_stop_now(struct pool *pool, struct executor *executor);

/* As pool_stop_now, with the reason KILL for its members' `close` and for watchers. */
void pool_kill(struct pool *pool, struct executor *executor);

/* True once every member has ended after pool_close. */
bool pool_has_ended(struct pool *pool);

/* Frees an ended pool, after a grace period. */
void pool_destroy(struct pool *pool, struct executor *executor);

/* Change the full mailboxes, the routes and the outputs from now on; see change.h for reloads. */
void pool_set_limit(struct pool *pool, uint32_t limit, struct executor *executor);
/* As pool_set_limit; pool->lock is held, and the caller wakes the pool's waiters. */
void pool_set_limit_locked(struct pool *pool, uint32_t limit, struct executor *executor);
void pool_set_bytes_limit_locked(struct pool *pool, uint64_t limit, struct executor *executor);
void pool_set_route(struct pool *pool, enum weir_route route);
/* The workers look at the present targets of their outputs; pool->lock is held. */
void pool_look_again_locked(struct pool *pool, struct executor *executor);
/* Takes the wiring. */
void pool_set_wiring_locked(struct pool *pool, struct wiring *wiring, struct executor *executor);
void pool_set_wiring(struct pool *pool, struct wiring *wiring, struct executor *executor);

/* A paused pool refuses every message with WEIR_EFULL; the members go on. Any thread. */
void pool_pause(struct pool *pool, bool paused, struct executor *executor);

/* There may be free places: all waiters of this pool and those above look again. */
void pool_wake_waiters(struct pool *pool, struct executor *executor);

/* --- for nesting.c, places.c ----------------------------------------------------------------- */

/* Ends the pool's own actor if nothing else of the pool is left. The caller holds no lock. */
void pool_end_if_empty(struct pool *pool, struct executor *executor);

#endif
