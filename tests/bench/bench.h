/*
 * bench.h - one harness for all rows: a runtime, actors to spawn, a finish to wait for.
 *
 * Definitions and goals are those of docs/benchmarks.md. Every row checks its own result; a row
 * that is wrong is printed as BAD and makes the program fail.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "actor/place.h"
#include "actor/send.h"
#include "pool/figures.h"
#include "runtime.h"

#define BENCH_WORK_STEPS 900 /* dependent multiply-adds: about 1 us */

struct bench {
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    uint32_t threads;
    uint32_t budget;          /* of the dispatcher; 0 = as in life */
    uint64_t divisor;         /* of message counts, for a quick look */
    _Atomic uint32_t running; /* finishers that have not finished */
    _Atomic uint64_t sum;     /* whatever a row adds up */
};

struct bench_result {
    uint64_t messages;
    uint64_t ns;
    bool ok;
    double figure; /* of a row that has its own: bytes, a ratio, a difference */
};

/* Which composite a row is bound by: its messages come one an activation, or many. */
enum bench_floor { BENCH_FLOOR_NONE, BENCH_FLOOR_ONE, BENCH_FLOOR_MANY, BENCH_FLOORS };

struct bench_row {
    const char *name;
    double goal_one, goal_two; /* ns a message with one and two threads, or its own */
    struct bench_result (*run)(struct bench *bench);
    bool own_figure;        /* not nanoseconds a message */
    enum bench_floor floor; /* NONE: its figure is bound by something else */
};

extern const struct bench_row bench_chain_rows[];
extern const struct bench_row bench_stream_rows[];
extern const struct bench_row bench_pool_rows[];
extern const struct bench_row bench_tree_rows[];
extern const struct bench_row bench_scale_rows[];
extern const struct bench_row bench_budget_rows[];

uint64_t bench_now_ns(void);
/* The resident memory of this process. */
uint64_t bench_resident_bytes(void);
uint64_t bench_scaled(const struct bench *bench, uint64_t count);

/* The bench of the actor that runs. */
struct bench *bench_of(struct weir_self *self);

/* Spawns a plain actor and waits until it is open. `wiring` is where its outputs lead; or NULL. */
struct actor *bench_spawn(struct bench *bench, const struct weir_behaviour *behaviour,
                          const void *settings, struct wiring_slot *wiring);
/* As bench_spawn, from inside an actor, without waiting. */
struct actor *bench_spawn_here(struct weir_self *self, struct spec *spec);

/* A pool whose workers are open; and its end: true when its ledger balances at `expected` done. */
struct pool *bench_make_pool(struct bench *bench, const struct pool_options *options);
bool bench_end_pool(struct bench *bench, struct pool *pool, uint64_t expected);

/* Sends a number from outside. */
void bench_send(struct bench *bench, weir_pid to, uint64_t number);
/* Sends a number from an actor; false when there is no room. */
bool bench_pass(struct weir_self *self, weir_pid to, uint64_t number);

static inline uint64_t bench_number(const struct weir_message *message)
{
    return *(const uint64_t *)message->data;
}

/* One finisher has finished; the last one ends bench_wait. */
void bench_finish(struct bench *bench);
void bench_wait(struct bench *bench);

/* Ends plain actors and waits for them. */
void bench_end(struct bench *bench, struct actor *const *actors, uint32_t count);

/*
 * Times the composite of a message on one CPU, with `each` messages an activation: what cannot be
 * undercut here and now.
 */
double bench_floor_ns(uint32_t each);

#endif
