/* SPDX-License-Identifier: MIT */
/*
 * actor/place.h - the state of a pool's member or a source that stays when its incarnation is
 * replaced.
 *
 * Owner fields belong to the turn of the place's actor. `link` belongs to its pool.
 */
#ifndef ACTOR_PLACE_H
#define ACTOR_PLACE_H

#include "actor/actor.h"
#include "actor/backoff.h"
#include "actor/names.h"
#include "actor/outbox.h"
#include "actor/owner.h"
#include "actor/wiring.h"
#include "base/list.h"
#include "face/figures.h"
#include "face/parts.h"
#include "stats/dead_letters.h"

#define PLACE_NO_SEAT UINT32_MAX

struct age;
struct child;
struct children;
struct handover;
struct lease;
struct misuses;

struct progress {
    _Atomic(const char *) unit; /* written once by the owner */
    _Atomic uint64_t done;      /* owner writes, all read */
    _Atomic uint64_t total;
    _Atomic(const char *) text; /* owner writes: the present value; NULL: it is a number */
    uint64_t before;            /* owner: progress of the former incarnations */
};

/* What the queue of a pool says of a member: pool/lending.h. */
enum place_note {
    PLACE_NOT_NOTED,
    PLACE_FREE, /* it sleeps, since the queue is empty */
    PLACE_LENT, /* as free, but a thread outside has taken it, and no turn of it knows that yet */
};

/* The standing of a place in its pool. */
enum place_standing {
    PLACE_MEMBER,
    PLACE_PREPARED, /* opens, and becomes a member by a commit */
    PLACE_LEAVING,  /* is to end; may be recalled until it closes */
};

struct place {
    uint32_t index;             /* const */
    bool gives_notice;          /* const: its open and its end wake threads in runtime_wait */
    struct owner *owner;        /* const; NULL for a plain actor */
    const char *label;          /* const: its name in a crash line; may be NULL */
    struct dead_letters *dead;  /* const: where its dead letters are counted */
    struct misuses *misuses;    /* const: where its misuses are counted; may be NULL */
    struct wiring_slot *wiring; /* const: the targets of its outputs */
    struct actor *actor;        /* const */
    struct name_label name;     /* of its actor's PID: the path */

    /* owner */
    struct dispatcher *opener; /* runs the turns until it has opened; NULL: its own one does */
    struct backoff backoff;
    uint64_t reopen_ns;     /* when to open again, in state WAITING */
    uint64_t leave_due_ns;  /* when it must have finished; 0 = no time-out */
    uint64_t unsent_due_ns; /* until then its outbox may delay the next incarnation; 0 = no limit */
    uint64_t room_pause_ns; /* before it tries again to pass on its backlog; 0: it does not wait */
    /* counted: the spec that `open` got, when it is not the present one */
    struct spec *opened_with;
    uint32_t giver;  /* of the handover: those before it are done */
    uint32_t demand; /* with ACTOR_DEMANDS: unsettled messages at a time; demand.h */

    /* any thread */
    _Atomic uint32_t retrying;   /* owner writes: the number that wait */
    _Atomic int open_status;     /* owner writes: of the last open */
    _Atomic uint32_t opens;      /* owner writes: attempts so far */
    _Atomic uint32_t engaged;    /* owner writes: see place_engage */
    _Atomic uint32_t by_port;    /* the lock of its port writes: see place_engage_by_port */
    _Atomic uint64_t shut_ns;    /* owner writes: no incarnation is open since then; 0 = one is */
    _Atomic int32_t process;     /* owner writes: works for the incarnation; 0: none */
    _Atomic(char *) open_reason; /* owner writes once: the reason of the first failed open */
    _Atomic(struct progress *) progress; /* owner writes once: PLACE_UNITS of them, or NULL */
    _Atomic(struct handover *) handover; /* owner, after the pool's lock; NULL: none, or over */
    _Atomic(struct lease *) lease;       /* owner writes once: lease.h; NULL: never leased */
    _Atomic(struct outbox *) outbox;     /* owner writes once; NULL: nothing has waited yet */
    _Atomic uint64_t restarts;           /* owner writes */
    _Atomic uint64_t retried;            /* owner writes: messages that were retried */
    _Atomic uint64_t emitted;            /* owner writes: messages accepted by the pools it feeds */
    _Atomic uint64_t unbound;            /* owner writes: emitted at unbound outputs */

    /* pool->lock */
    struct list link;           /* in one of the pool's lists */
    uint64_t epoch;             /* of the change that made it */
    uint64_t ordered_due_ns;    /* when it must have left; 0 = no time-out */
    uint64_t pause_ms;          /* of an ordered restart: before it opens, if it is not open */
    const struct spec *made_of; /* the spec it was made of */
    bool names_pools;           /* the options of that spec name pools */
    struct spec *respec;        /* takes effect at SIGNAL_RESPEC */
    struct age *age;            /* of waiting messages; NULL: none was seen waiting */
    struct age *hand_age;       /* of messages in hand; NULL: none was seen in hand */
    uint64_t used;              /* messages settled by the last check of pool/scaler.h */
    uint64_t unused_ns;         /* it has been unused since; 0 = no check has found it so */
    uint32_t seat;              /* among the members; PLACE_NO_SEAT: it never was a member */
    uint8_t standing;           /* enum place_standing */
    bool opened;                /* its present incarnation is open */
    bool has_names;             /* the incarnation has names */
    _Atomic bool is_cut_short;  /* the host ends before its time to leave; its own turns read it */
    uint8_t fresh;              /* enum place_fresh */
    uint64_t wanted_look_ns;    /* of the mailbox's consumer: when unwanted_take_out looks again */
    struct list backed_up;      /* in the list of the pool; empty: it is not backed up */
    _Atomic uint32_t gives;     /* it must give messages to other members: rebalance.c; 0: not;
                                 * reset in its own turn */
    _Atomic uint8_t renewal;    /* enum renewal: see restart.h; its own turns read it, too */

    /* the lock of the shared queue */
    _Atomic uint8_t noted;        /* enum place_note; its own turns read it, too */
    bool lends;                   /* while it is noted as free: a thread outside may take it */
    uint64_t look_ns;             /* while it is noted: by then its turn begins; TIMER_NEVER */
    struct list pulling;          /* while it is noted as free */
    struct pull_queue *called_by; /* woken for a message there, or on its way back; NULL: not */
    /* written there: since when it is called by a queue of takers, also when it is late; 0: it is
     * not, or has come */
    _Atomic uint64_t called_ns;
    struct pull_queue *opens_for; /* opens, and has not come there yet; NULL: not */

    struct child *child;                 /* const: of another actor; NULL: no child */
    _Atomic(struct children *) children; /* owner writes, once: children.h; NULL: it had none */

    char path[]; /* const */
};

/*
 * The place of an actor. A plain actor gets one at the first call. Owner.
 * NULL when memory is out.
 */
struct place *place_get(struct actor *actor);

static inline struct owner *place_owner(const struct actor *actor)
{
    return actor->place ? actor->place->owner : NULL;
}

/* The owner of which the actor is a member; NULL: none. Valid to the end of the read section, even
 * if the actor ends during it. */
static inline struct owner *place_member_of(const struct actor *actor)
{
    struct owner *owner = place_owner(actor);

    return owner && owner->ops->members ? owner : NULL;
}

/* Whether its turns must check the shared queue of its owner's members. */
static inline bool place_shares_queue(const struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    return owner && owner_may_give(owner);
}

/* True when an incarnation that has failed or stopped is followed by another one. */
static inline bool place_is_renewed(const struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    return owner && owner->ops->replaces;
}

/* The path for people; "" for a plain actor. */
static inline const char *place_path(const struct actor *actor)
{
    return actor->place ? actor->place->path : "";
}

/* The subject of a log line: the owner of a member, else the actor. */
const char *place_subject(const struct actor *actor);

/* Removes the note that its actor sleeps because the shared queue is empty, or was lent meanwhile.
 * Owner. */
static inline void place_awake(struct place *place)
{
    /* Relaxed: only this actor's own turn begins to note it. A thread that removes the note sends a
     * signal, which began this turn or begins the next one; one that changes it leaves a note. */
    if (atomic_load_explicit(&place->noted, memory_order_relaxed) != PLACE_NOT_NOTED)
        place->owner->ops->awake(place);
}

/* As place_awake, of an actor that may have no place. Owner. */
static inline void place_awake_any(const struct actor *actor)
{
    if (actor->place)
        place_awake(actor->place);
}

/* True when the actor must finish the shared queue before it can leave. Owner. */
static inline bool place_keeps_queue(const struct actor *actor)
{
    const struct owner *owner = place_owner(actor);

    return owner && owner->ops->keeps && owner->ops->keeps(actor->place);
}

/* WEIR_ENOMEM, WEIR_EINVALID: the path is too long. Returns owned. */
int place_create(const char *path, uint32_t index, struct place **out);
/* Makes its path the label of its actor's PID, to the end of the actor. */
void place_label(struct place *place);
/* NULL is allowed. */
void place_destroy(struct place *place);

/* Notes that no incarnation of its actor is open from now on. Owner, or the creator. */
static inline void place_shut(struct place *place, uint64_t now_ns)
{
    /* Relaxed, as every use: it is compared with a time-out. `| 1`: 0 says that one is open. */
    atomic_store_explicit(&place->shut_ns, now_ns | 1, memory_order_relaxed);
}

/* Names the process that works for its incarnation; 0: none. Owner. */
static inline void place_name_process(struct place *place, int32_t process)
{
    /* Sequentially consistent: a thread that kills it reads the name again after it has got a
     * descriptor of the process (renewal_kill). The owner reaps it after this store only. */
    atomic_store(&place->process, process);
}

/* Counts what its actor waits for, so that the actor is in use without a message: requests without
 * an answer, timers and delayed messages that are due once, leases that it holds. A timer that
 * repeats and a descriptor that is watched are no such thing: many workers have one for their
 * whole life. `place` may be NULL. Owner. */
static inline void place_engage(struct place *place, int32_t by)
{
    /* Relaxed: a figure for the checks of an elastic pool. */
    if (place)
        atomic_store_explicit(&place->engaged,
                              atomic_load_explicit(&place->engaged, memory_order_relaxed) +
                                  (uint32_t)by,
                              memory_order_relaxed);
}

/* Counts its own threads that wait in calls of its port. The lock of its open port is held. */
static inline void place_engage_by_port(struct place *place, int32_t by)
{
    /* Relaxed: as above. */
    atomic_fetch_add_explicit(&place->by_port, (uint32_t)by, memory_order_relaxed);
}

/* The port closes. Its lock is held. */
static inline void place_disengage_ports(struct place *place)
{
    atomic_store_explicit(&place->by_port, 0, memory_order_relaxed);
}

/* Whether its actor waits for something, itself or by a thread. Any thread that keeps the place
 * alive. */
static inline bool place_is_engaged(const struct place *place)
{
    return atomic_load_explicit(&place->engaged, memory_order_relaxed) > 0 ||
           atomic_load_explicit(&place->by_port, memory_order_relaxed) > 0;
}

/* Its outbox, allocated at the first call. Owner. NULL when memory is out. */
struct outbox *place_make_outbox(struct place *place);
/* NULL: none of its messages has waited yet. Owner; `place` may be NULL. */
static inline struct outbox *place_outbox(const struct place *place)
{
    /* Relaxed: written by the owner only. */
    return place ? atomic_load_explicit(&place->outbox, memory_order_relaxed) : NULL;
}

/* The number of messages in its outbox. Owner; `place` may be NULL. */
static inline uint32_t place_unsent(const struct place *place)
{
    const struct outbox *outbox = place_outbox(place);

    return outbox ? outbox->waiting.count + outbox->copies.count : 0;
}

/* The number of its messages that wait for a token. Any thread that keeps the place alive. */
uint32_t place_throttled(const struct place *place);

/* 1 + the output at which its actor waits for room or for a token; 0: it does not. Any thread for
 * which the place lives. */
uint32_t place_waits_at(const struct place *place);

/* Its progress, allocated at the first call. Owner. NULL when memory is out. */
struct progress *place_make_progress(struct place *place);
/* Its progress; NULL: none was reported. Any thread; borrowed while the place lives. */
static inline struct progress *place_progress(const struct place *place)
{
    /* Acquire pairs with the release in place_make_progress: the fields are zero at first. */
    return atomic_load_explicit(&place->progress, memory_order_acquire);
}

/* Keeps the reason of the first open that failed. In a turn of its actor. */
void place_keep_open_reason(struct place *place, const char *text);
/* The reason of the first failed open; "" when none was given. Any thread; borrowed while the place
 * lives. */
const char *place_open_reason(const struct place *place);

#endif
