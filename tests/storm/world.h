/* SPDX-License-Identifier: MIT */
/*
 * world.h - a runtime in which everything happens at once, and the account of every message in it.
 *
 *      senders -> front (two nested pools) -> back                emitted with `wait`, forwarded
 *      source -'                           -> answer              asked, with the input kept
 *                                          -> whatever output 1 leads to: the guest, back, pull
 *                                          -> all              a copy to each member
 *      senders -> back, keyed, pull, line, guest
 *      requesters -> answer, front, back, keyed, pull, line       asked from outside
 *      takers -> lessors: two pools, which have no worker until a taker comes
 *
 * The guest is a pool that is replaced by another while it is fed; line has one worker, and what it
 * gets must come in order. A reader reads the figures of all pools, beside everything else. Workers
 * decide by the number of the message what they do with it. What acts from outside does so in
 * `agents`: threads, or fibers of the simulator.
 *
 * Each message has a ticket, by its number, in which everybody notes what became of it: what was
 * accepted is handled once, or dead once with its reason, or back with who sent it; what was
 * refused is neither. Each question has one answer: a reply to it, a reason, its time-out, or that
 * it was given up.
 */
#ifndef TESTS_STORM_WORLD_H
#define TESTS_STORM_WORLD_H

#include <pthread.h>
#include <stdatomic.h>

#include "actor/source.h"
#include "pool/figures.h"
#include "pool/resize.h"
#include "runtime.h"

#define WORLD_SENDERS 4u
#define WORLD_REQUESTERS 2u
#define WORLD_TAKERS 3u  /* one more than the lessors have workers */
#define WORLD_LESSORS 2u /* pools of the group of lessors */
#define WORLD_DISPATCHERS 2u
#define WORLD_RETRIES_MAX 3u
#define WORLD_SIZE_MAX 6u /* workers of one pool */

/* One message. */
struct ticket {
    _Atomic uint8_t accepted; /* else refused */
    _Atomic uint8_t begun;
    _Atomic uint8_t again; /* how often it may begin beyond the first time */
    _Atomic uint8_t retried;
    _Atomic uint8_t done;
    _Atomic uint8_t dead;
    _Atomic uint8_t returned; /* to its origin, which did not send it again */
    _Atomic uint8_t notified; /* its origin got the outcome */
    _Atomic uint8_t asked;
    _Atomic uint8_t answered; /* or dropped with its requester */
    uint8_t shared;           /* its copies end, each by itself; written before it is sent */
};

/* The payload of a message. */
struct parcel {
    uint64_t id;
    uint32_t sender;
    uint32_t number; /* among those of this sender to `line` */
};

enum hall_name {
    HALL_A,
    HALL_B,
    HALL_BACK,
    HALL_ANSWER,
    HALL_KEYED,
    HALL_PULL,
    HALL_ALL,
    HALL_LINE,
    HALLS,
};

struct world;

/* A pool, and the settings of its workers. */
struct hall {
    struct world *world;
    struct pool *pool;
    weir_pid pid;
    pthread_mutex_t lock;
    uint64_t epoch;          /* lock: the largest that a resize returned */
    uint32_t target;         /* lock: of that epoch */
    _Atomic uint64_t buried; /* dead letters that were taken out and counted */
    /* its workers leave before others come: the target is not the present number */
    _Atomic bool stopped;
};

struct world_options {
    uint64_t seed;
    uint64_t messages; /* number of tickets */
    struct clock clock;
    void (*step_aside)(void *context);          /* lets others run first; also inside handlers */
    void (*wait)(void *context);                /* until the next event */
    void (*note)(void *context, uint64_t what); /* may be NULL */
    uint32_t short_ms;                          /* a time-out that may end before the answer */
    bool blocks;                                /* an agent may block: it has a thread */
    bool rates;   /* outputs of the front pools have rates, other ones after each rewiring */
    bool elastic; /* pools scale themselves; their timers never rest while they are too large */
    void *context;
};

/* The result of an outside request. */
enum world_answer {
    WORLD_REPLIED,
    WORLD_FAILED, /* with a reason */
    WORLD_TIMED_OUT,
    WORLD_CANCELLED,
    WORLD_ANSWERS,
};

struct world {
    struct world_options options;
    struct runtime *runtime;
    struct dispatcher *dispatchers[WORLD_DISPATCHERS];
    struct ticket *tickets;
    _Atomic uint64_t issued;
    struct pool *top;
    struct hall halls[HALLS];
    struct pool *lessors;
    struct pool *lessor[WORLD_LESSORS];
    struct source *source;
    struct spec *source_spec;
    weir_pid front;

    pthread_mutex_t wiring; /* of the target of output 1 */
    struct hall guest[2];
    uint32_t guests;            /* lock wiring: number so far */
    _Atomic weir_pid guest_pid; /* the present one */

    _Atomic bool calm; /* agents make no more changes */
    _Atomic uint32_t last[WORLD_SENDERS];
    _Atomic uint64_t refused;
    _Atomic uint64_t opened, closed;
    _Atomic uint64_t tried; /* attempts to open */
    _Atomic uint64_t overlaps;
    _Atomic uint64_t changes;
    _Atomic uint64_t asked; /* from outside */
    _Atomic uint64_t answers[WORLD_ANSWERS];
    _Atomic uint64_t leases; /* that were returned */
    _Atomic uint64_t emitted_by_source;
    _Atomic uint64_t dead_by_reason[DEAD_REASONS];
    uint64_t restarts;
    _Atomic uint32_t wrong;
};

void world_init(struct world *world, const struct world_options *options);
/* After world_examine: frees everything. */
void world_finish(struct world *world);

/* Resumes paused pools and gives every pool workers, so that all waiting messages can go on. */
void world_calm(struct world *world);
/* True when no message waits, is in hand or held anywhere. A calm world must reach that. */
bool world_has_drained(struct world *world);
/* Closes everything, feeders first, with calls of `wait`. */
void world_close(struct world *world);
/* After world_close: compares all ledgers. */
void world_examine(struct world *world);

/* Prints a failure, and counts it. */
void world_expect(struct world *world, bool holds, const char *what, uint64_t figure);

/* A number that depends on the seed, `a` and `b` alone. */
uint64_t world_dice(const struct world *world, uint64_t a, uint64_t b);

/* A new ticket; UINT64_MAX: there are no more. */
uint64_t world_ticket(struct world *world);

/* Iterates over the pools that have workers, the present guest last; then NULL. */
struct pool *world_pool(struct world *world, uint32_t number);

void world_note(struct world *world, uint64_t what);

/* Takes the dead letters, and counts them into the tickets, so that they need not be kept. */
void world_collect(struct world *world, struct hall *hall);

/* Counts the dead letters of a hall's pool, which has ended, and checks its ledger. */
void world_bury(struct world *world, struct hall *hall);

/* --- workers.c ------------------------------------------------------------------------------- */

const struct weir_behaviour *workers_of(enum hall_name name);
const struct weir_behaviour *workers_source(void);

/* --- agents.c -------------------------------------------------------------------------------- */

enum agent_kind {
    AGENT_SENDER, /* WORLD_SENDERS of them, by their index */
    AGENT_RESIZER,
    AGENT_PAUSER,
    AGENT_LIMITER,
    AGENT_KILLER,
    AGENT_REROUTER,
    AGENT_RELOADER,  /* one: a pool has one change at a time */
    AGENT_HOST,      /* one: replaces the guest */
    AGENT_SEXTON,    /* one: takes dead letters */
    AGENT_LANDLORD,  /* one: changes the lessors, a pool at a time */
    AGENT_READER,    /* one: reads the figures of all pools */
    AGENT_REQUESTER, /* WORLD_REQUESTERS of them: send requests, and wait for the answers */
    AGENT_TAKER,     /* WORLD_TAKERS of them: take workers of the lessors, and return them */
    AGENT_KINDS,
};

struct agent {
    struct world *world;
    enum agent_kind kind;
    uint32_t index; /* among those of its kind */
    uint64_t random;
    uint64_t unsent; /* a ticket; UINT64_MAX: none */
    uint32_t number; /* of its messages to `line` */
};

void agent_init(struct agent *agent, struct world *world, enum agent_kind kind, uint32_t index);

/* Does one act. */
void agent_act(struct agent *agent);

/* Gives the settings of a hall the law of an elastic pool, on demand or not; halls whose route or
 * order leaves it without a meaning get none. */
void world_make_elastic(enum hall_name name, bool on_demand, struct pool_settings *settings);

/* --- lessors.c -------------------------------------------------------------------------------- */

void lessors_build(struct world *world, struct executor *executor);
void lessors_destroy(struct world *world, struct executor *executor);
/* An act of an AGENT_TAKER, an AGENT_LANDLORD, and an AGENT_READER. */
void lessors_take(struct agent *agent);
void lessors_change(struct agent *agent);
void lessors_read(struct agent *agent);

/* An act of an AGENT_REQUESTER; requesters.c. */
void agents_request(struct agent *agent);

/* Replaces the present guest pool, if any; for world.c and agents.c. */
void agents_invite(struct world *world);

#endif
