/* SPDX-License-Identifier: MIT */
/*
 * pairs.h - a small world for a pair of features, and the account of every message in it.
 *
 *      senders, source, actors of the features -> main -> sink
 *
 * `main` is a pool, or a pool of two pools; their workers are of one behaviour. A message says
 * which of the two features decides what its worker does with it: its deed. Threads outside act:
 * two send messages, one reads figures, and each feature has one that does what the feature is
 * about, such as a resize. A feature is a row of the table in features.c, and is in no other place.
 *
 * The threads are those of the machine, or fibers (storm/fiber_threads.h). The program is one for
 * libweir; it uses more of core for reloads alone.
 */
#ifndef TESTS_PAIRS_PAIRS_H
#define TESTS_PAIRS_PAIRS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <weir/runtime.h>

#define TICKETS 8192u
#define LEAVES_MAX 2u
#define SIZE_MAX_HERE 4u /* workers of a pool */
#define LONG_MS 60000u   /* a wait that a world without a mistake never needs */
#define PLAIN 2u         /* the deed of a message that no feature handles */
#define NO_TICKET UINT32_MAX
#define PARCEL_MAGIC 0x70616972u

struct world;
struct worker;
struct agent;

/* What becomes of one message: of each of its copies, if it has some. */
struct ticket {
    _Atomic uint32_t accepted; /* copies; of a broadcast 1 */
    _Atomic uint32_t begun;
    _Atomic uint32_t done;
    _Atomic uint32_t back;  /* given back to its origin, which did not send it again */
    _Atomic uint32_t quiet; /* ends that leave no trace, such as a timer of a worker that ended */
    _Atomic uint32_t told;  /* outcomes that its origin got, less those that it expects */
    _Atomic bool told_done;
    uint32_t parent; /* the message whose origin it has joined; NO_TICKET: none */
    uint32_t dead;   /* counted at the end */
    bool has_origin; /* it, or one that it has joined, is of the source */
    bool is_shared;  /* it has copies, their number is not known: a broadcast */
};

/* The payload of a message; it fits into the part of a dead letter that can be read. */
struct parcel {
    uint32_t magic;
    uint32_t ticket;
    uint32_t deed; /* 0, 1: a feature of the pair; PLAIN */
    uint32_t use;  /* of a lease; 0: none */
    weir_pid to;   /* the worker that it was sent to; 0: any */
};

/* --- features --------------------------------------------------------------------------------- */

/* How a world is made. */
struct plan {
    struct weir_pool_options leaf;   /* of main, or of the pools in it */
    struct weir_pool_options parent; /* of main, if it has pools in it */
    struct weir_pool_options sink;
    uint32_t routes[2]; /* that the features ask for */
    uint32_t route_count;
    bool is_nested;
    bool has_leases;
    bool leases_last; /* their time-out never ends them, and all are returned */
    bool is_elastic;
    bool has_source;
    bool source_fails;
    bool may_stop; /* workers may stop for ever */
    bool has_events;
    bool has_names;
    bool one_never_opens; /* the worker with the number 1, beside others */
};

/* One feature. Each of the functions may be NULL. */
struct feature {
    const char *name;
    /* Its part in the options of the pools. */
    void (*shape)(struct plan *plan);
    /* One act of its thread. */
    void (*act)(struct agent *agent);
    /* Undoes what its acts have left behind. */
    void (*calm)(struct agent *agent);
    /* What a worker of main does with a message of it. Returns a verdict. */
    int (*handle)(struct weir_self *self, struct worker *worker,
                  const struct weir_message *message);
};

extern const struct feature features[];
extern const uint32_t feature_count;

/* --- the world -------------------------------------------------------------------------------- */

/* What workers keep and a thread of the program settles. */
struct kept {
    struct weir_port *port;
    const struct weir_message *message;
    struct weir_message *joined; /* has joined its origin; may be NULL */
    uint32_t ticket;
    uint32_t joined_ticket;
    bool is_request;
};

#define KEPT_MAX 256u

struct role {
    struct world *world;
    uint32_t leaf; /* LEAVES_MAX: the sink */
};

struct world {
    uint64_t seed;
    uint32_t acts; /* of each thread */
    const struct feature *pair[2];
    uint32_t row[2];
    struct plan plan;
    struct weir_runtime *runtime;
    weir_pid main, sink, source;
    weir_pid leaves[LEAVES_MAX];
    uint32_t leaf_count;
    struct role roles[LEAVES_MAX + 1];
    struct weir_behaviour workers, sinks, produces;

    struct ticket *tickets;
    _Atomic uint32_t issued;
    _Atomic uint32_t uses;       /* of leases */
    _Atomic uint64_t counts[2];  /* how often each feature was exercised */
    _Atomic uint64_t deliveries; /* messages that main has handled */
    _Atomic uint64_t asked;      /* by workers */
    _Atomic uint64_t answered;   /* or dropped with the worker */
    _Atomic uint64_t opened, closed;
    _Atomic uint32_t open_tries;
    _Atomic uint64_t event;
    _Atomic uint32_t pauses[LEAVES_MAX]; /* odd: the pool is paused */
    _Atomic uint64_t tasks_run;
    _Atomic uint64_t tasks_accepted;
    _Atomic uint64_t replayed[LEAVES_MAX];
    _Atomic uint64_t position; /* that the source has left */
    _Atomic uint32_t wrong;

    pthread_mutex_t pausing; /* one at a time */
    pthread_mutex_t changing;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t change;
    struct kept kept[KEPT_MAX];
    uint32_t kept_first, kept_count;
    bool is_ending;
};

/* The state of a worker of main, of the sink, or of a child. */
struct worker {
    struct world *world;
    const struct role *role;
    bool is_inside; /* a callback runs */
    bool is_leased;
    bool has_passed; /* the message in hand goes on elsewhere */
    bool has_timer;  /* that brings back the stash */
    uint32_t use;    /* of the lease; 0: none yet */
    uint32_t open_requests;
};

struct agent {
    struct world *world;
    uint32_t index; /* of the feature; 2 and more: others */
    uint64_t random;
    pthread_t thread;
    void (*act)(struct agent *agent);
    void (*calm)(struct agent *agent);
};

/* Builds, runs and examines a world; false: something is wrong, and printed. The features are rows
 * of the table. Adds the number of times that both were exercised to `out_count`. */
bool world_try(uint32_t first, uint32_t second, uint64_t seed, uint32_t acts, uint64_t *out_count);

void world_expect(struct world *world, bool holds, const char *what, int64_t figure);
/* A number that depends on the seed, `a` and `b` alone. */
uint32_t world_dice(const struct world *world, uint64_t a, uint64_t b);
uint32_t agent_draw(struct agent *agent, uint32_t bound);

/* A member of some pool; 0: it has none. */
weir_pid agent_draw_member(struct agent *agent);
/* Lets other threads run. */
void world_yield(void);
/* The feature whose agent or whose message this is was exercised. */
void world_count(struct world *world, uint32_t index);

/* --- messages: tickets.c ---------------------------------------------------------------------- */

/* NO_TICKET: there are no more. */
uint32_t ticket_new(struct world *world, uint32_t parent);
/* A message of the program. */
struct weir_message *parcel_outside(struct world *world, const struct parcel *parcel);
/* A message of a worker; NULL: there are no more tickets. Joins no origin by itself. */
struct weir_message *parcel_inside(struct weir_self *self, struct worker *worker, uint32_t parent,
                                   struct parcel *parcel);
/* The parcel of a message; NULL: it has none. */
const struct parcel *parcel_of(const struct weir_message *message);
struct ticket *ticket_of(struct world *world, const struct weir_message *message);
/* Before it is sent, and after a refusal. */
void ticket_send(struct world *world, uint32_t ticket, weir_pid to);
void ticket_refuse(struct world *world, uint32_t ticket);
/* The deed of a message that an agent or a worker makes. */
uint32_t deed_any(struct world *world, uint32_t drawn);
/* All ends of all messages are known: everything has ended. */
void tickets_examine(struct world *world);
/* True when the pool gets copies of a message. */
bool world_is_shared(const struct world *world, weir_pid pool);
/* A pool that can answer: it does not broadcast; 0: there is none. */
weir_pid world_single(const struct world *world);

/* --- workers.c -------------------------------------------------------------------------------- */

void workers_init(struct world *world);
struct world *worker_enter(struct worker *worker);
void worker_leave(struct worker *worker);
/* Replies, if it is a request, and notes the end. */
int worker_done(struct weir_self *self, struct worker *worker, const struct weir_message *message);
/* Settles what workers keep, until the world ends: a thread. */
void *workers_settle(void *world);
/* False: there is no room. */
bool workers_keep(struct world *world, const struct kept *kept);
extern const struct weir_behaviour workers_child;

#endif
