/* SPDX-License-Identifier: MIT */
/*
 * bench.h - one harness for all rows: a runtime, actors to spawn, a finish to wait for.
 *
 * rows.py has the shape and the goals of each row. Every row checks its own result; a row that is
 * wrong makes the program fail.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "actor/place.h"
#include "actor/send.h"
#include "pool/figures.h"
#include "row.h"
#include "runtime.h"

struct bench {
    struct runtime *runtime;
    struct dispatcher *dispatcher;
    struct row row;           /* its shape */
    _Atomic uint32_t running; /* finishers that have not finished */
    _Atomic uint64_t sum;     /* whatever a row adds up */
};

struct bench_result {
    uint64_t messages;
    uint64_t ns;
    bool ok;
    bool has_figure;
    double figure;    /* of a row that has its own: bytes, a ratio, a difference */
    uint64_t *delays; /* NULL, or malloced: one for each message, in nanoseconds */
};

struct bench_row {
    const char *name;
    struct bench_result (*run)(struct bench *bench);
};

extern const struct bench_row bench_floor_rows[];
extern const struct bench_row bench_chain_rows[];
extern const struct bench_row bench_stream_rows[];
extern const struct bench_row bench_pool_rows[];
extern const struct bench_row bench_tree_rows[];
extern const struct bench_row bench_scale_rows[];
extern const struct bench_row bench_budget_rows[];
extern const struct bench_row bench_delay_rows[];
extern const struct bench_row bench_growth_rows[];
extern const struct bench_row bench_nested_rows[];

/* The resident memory of this process. */
uint64_t bench_resident_bytes(void);

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

#endif
