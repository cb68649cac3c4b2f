/* SPDX-License-Identifier: MIT */
/*
 * dispatch/layout.h - the fields of a dispatcher and of its threads.
 *
 * Its threads read and write it in their loop (executor.c), the timekeeper with each beat. All
 * other code makes and changes a dispatcher by the functions of dispatcher.h.
 */
#ifndef DISPATCH_LAYOUT_H
#define DISPATCH_LAYOUT_H

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/dispatcher_policy.h"
#include "base/lock.h"
#include "dispatch/futility.h"
#include "dispatch/global_queue.h"
#include "dispatch/idle.h"
#include "dispatch/note.h"
#include "dispatch/pace.h"
#include "dispatch/reclaim.h"
#include "dispatch/ring.h"
#include "dispatch/share_list.h"
#include "dispatch/spawn_deque.h"
#include "dispatch/stock.h"
#include "dispatch/theft_note.h"
#include "dispatch/timer.h"
#include "face/runtime.h"
#include "message/cache.h"
#include "message/message.h"

struct dispatcher;
struct doze;
struct group;
struct memory;
struct schedulable;

#define DISPATCHER_BUDGET 32 /* seed 2: amortises a trip through the run queue */

#define EXECUTOR_ROUNDS 64 /* round-robin positions; pools share one when their indexes collide */

enum executor_place {
    EXECUTOR_IN_RUNTIME,
    EXECUTOR_IN_CALLBACK,
    EXECUTOR_IN_BLOCKING,    /* callback: the thread goes off-line and on-line by itself */
    EXECUTOR_CALLED_BLOCKING /* in the runtime, which such a callback has called */
};

struct executor {
    struct dispatcher *dispatcher; /* const; NULL for an outside thread */
    void *runtime;                 /* const: for the code that runs turns */
    struct clock clock;            /* const */
    uint32_t index;                /* const: among the dispatcher's threads */
    pthread_t thread;              /* dispatcher->lock */
    bool joinable;                 /* dispatcher->lock: `thread` was started and not joined */
    bool joining;                  /* dispatcher->lock: a thread waits for its end */
    bool left;                     /* dispatcher->lock: it takes no more work */
    _Atomic int32_t kernel_id;     /* of its thread; 0: not known. See callback_watch_begin */

    /* owner */
    struct reader reader;
    struct cache cache;
    struct stock slots;     /* for actor/slots.c */
    struct group *ended_of; /* for actor/group.c: a group, and its messages that have ended here */
    uint32_t ended_count;   /* and are not counted there yet */
    uint64_t now_ns;        /* coarse: the time that was read last; see executor_time */
    uint64_t random;        /* xorshift state */
    uint32_t takes;
    uint32_t looks;      /* searches for work between beats */
    uint32_t beat_seen;  /* of dispatcher->beat */
    uint32_t clock_beat; /* of dispatcher->beat, when the clock was read last */
    uint32_t spawned_runs;
    uint32_t lifo_runs;
    struct theft_note *notes; /* const; of the other threads, by index; NULL: outside thread */
    struct theft last_theft;
    uint64_t theft_ns; /* the mean time of its thefts, from the clock of the search on */
    uint64_t handled;  /* by its actors: messages, and other steps; each turn at least one */
    struct futility futility;
    bool gave_way;       /* the turn; see executor_give_way */
    bool stands_back;    /* left its work to the others: sleeps although it waits */
    bool blocking;       /* the turn may block: hand work to others at once */
    bool is_extra;       /* the turn is counted as one of an extra thread: see shares.h */
    struct share *share; /* in which the turn is counted; NULL: in none */
    uint32_t budget;     /* messages that a turn may handle; see executor_give_way */
    uint32_t rounds[EXECUTOR_ROUNDS];
    struct message_list copies; /* for actor/output.c: empty but during an emit */
    _Atomic(void *) current;    /* the running actor: read by its signal handler, the timekeeper */
    _Atomic uint64_t offers_ns; /* since when its callback has a message for others, too; 0: none */
    struct note *note;          /* describes it for the crash handler; never NULL */
    bool identifies;            /* const for the thread: each callback notes an identity */
    const void *noted;          /* the subject of the note; NULL: nothing of this turn yet */
    struct note own_note;       /* used unless the host provides another */

    /* written by the owner in each turn; read by the timekeeper, and for figures */
    alignas(64) _Atomic uint64_t turns; /* odd during a turn; each turn adds 2 */
    /* the next actor to run; also taken by the timekeeper when this turn is long: see theft.h */
    _Atomic(struct schedulable *) lifo;
    _Atomic bool raided;    /* by a raider, with offline_lock; stays true where no barrier works */
    bool can_be_raided;     /* const: barrier_everywhere works */
    _Atomic uint32_t where; /* enum executor_place */
    _Atomic bool put_offline; /* offline_lock, except for the owner's read */
    /* Actors of its own dispatcher; see dispatcher_users. */
    _Atomic uint64_t users_begun;
    _Atomic uint64_t users_ended;
    struct pace pace; /* of its turns */

    /* written once a beat or more seldom, by the owner or a thief; read by each thief in each
     * search */
    alignas(64) _Atomic uint32_t pressed_beat; /* of dispatcher->beat: see press.h */
    _Atomic uint32_t exempt_beat;              /* likewise */
    _Atomic uint64_t steals;
    _Atomic uint64_t parks;
    struct lock offline_lock;

    alignas(64) _Atomic uint32_t token; /* futex: WAKE_PICKED, WAKE_KICKED */
    struct ring ring;
    struct spawn_deque spawned;
};

struct dispatcher_options {
    const char *name; /* borrowed until return */
    uint32_t threads; /* 1..IDLE_THREADS_MAX */
    struct dispatcher_policy policy;
    uint32_t ring_capacity; /* 0 = RING_CAPACITY; small in tests */
    void *runtime;          /* given to every executor */
    struct reclaim *reclaim;
    struct clock clock;
    /* the cap of which its threads hold shares; NULL: no bytes are counted */
    struct memory *memory;
    void (*thread_start)(struct executor *executor); /* on each new thread, first; may be NULL */
    void (*thread_end)(struct executor *executor);   /* on each thread, last; may be NULL */
    struct doze *doze;           /* the timekeeper's; NULL: deadlines and long turns have none */
    void (*stir)(void *context); /* see dispatcher_rest; may be NULL when that is never called */
    void *stir_context;
    /* More threads are stuck than before (timekeeper.h). On the timekeeper's thread; or NULL. */
    void (*stuck)(void *context, const char *name, uint32_t threads);
    void *stuck_context;
    /* The party of a schedulable that is about to run, see shares.h: any pointer, which is only
     * compared. NULL: each is a party by itself. */
    const void *(*party)(const struct schedulable *schedulable);
};

struct dispatcher {
    char name[DISPATCHER_NAME_MAX];               /* const, except for dispatcher_rename */
    struct dispatcher_options options;            /* const */
    struct executor *executors[IDLE_THREADS_MAX]; /* each written once, before slot_count says so */

    /* Written seldom, read by all threads. */
    alignas(64) _Atomic uint32_t slot_count; /* number of executors; under lock, never decreases */
    _Atomic uint32_t thread_count;           /* regular, and extra ones; written under lock */
    _Atomic uint32_t regular;                /* wanted, and spares; written under lock */
    _Atomic uint32_t wanted;                 /* threads of the file; written under lock */
    _Atomic bool divides;                    /* its threads among parties: see shares.h; set once */
    _Atomic uint32_t running; /* threads that have not left; by starting and leaving threads */
    _Atomic uint32_t budget;  /* of the policy: see dispatcher_set_policy */
    _Atomic bool stopping;
    _Atomic bool rests; /* a waking thread calls `stir`; see dispatcher_rest */

    /* By threads from outside and of other dispatchers: actors that run here and began there. */
    alignas(64) _Atomic uint64_t users_begun;
    _Atomic uint64_t users_ended;

    /* By any thread, each on lines of its own. */
    alignas(64) struct global_queue global;
    alignas(64) struct timers timers;
    alignas(64) struct idle idle;
    alignas(64) struct share_list shares;

    /* By the timekeeper. */
    alignas(64) _Atomic uint32_t beat; /* grows each millisecond while a thread is awake */
    _Atomic uint32_t stuck;            /* threads whose turn takes too long; see timekeeper.h */
    _Atomic uint32_t spares;           /* threads that take the place of stuck ones */
    _Atomic bool crowded; /* at the last beat the threads of others in a turn were enough for all
                           * CPUs; written when it changes */

    alignas(64) struct lock lock;
    bool started; /* lock */
};

static inline struct executor *dispatcher_executor(struct dispatcher *dispatcher, uint32_t index)
{
    return dispatcher->executors[index];
}

/* True when more threads are awake than `own`. seq_cst: a thread is counted as awake before it can
 * have work; of two threads that park, the second one sees both counted. */
static inline bool dispatcher_others_run(struct dispatcher *dispatcher, uint32_t own)
{
    return idle_parked_count(&dispatcher->idle) + own <
           atomic_load_explicit(&dispatcher->running, memory_order_seq_cst);
}

/* Whether other dispatchers use the CPUs. Relaxed: a hint, as old as the last beat. */
static inline bool dispatcher_is_crowded(const struct dispatcher *dispatcher)
{
    return atomic_load_explicit(&dispatcher->crowded, memory_order_relaxed);
}

/* True when it divides its threads among parties. Relaxed: see shares_set_on. */
static inline bool dispatcher_divides(const struct dispatcher *dispatcher)
{
    return atomic_load_explicit(&dispatcher->divides, memory_order_relaxed);
}

/* Threads that serve parties which have no other one: see shares.h. By the threads that change the
 * number, or for figures. */
static inline uint32_t dispatcher_extras(const struct dispatcher *dispatcher)
{
    uint32_t threads = atomic_load_explicit(&dispatcher->thread_count, memory_order_relaxed);
    uint32_t regular = atomic_load_explicit(&dispatcher->regular, memory_order_relaxed);

    return threads > regular ? threads - regular : 0;
}

/* [E1] acquire pairs with the release in make_executor: the pointers below the count are set. */
static inline uint32_t dispatcher_slot_count(const struct dispatcher *dispatcher)
{
    return atomic_load_explicit(&dispatcher->slot_count, memory_order_acquire);
}

#endif
