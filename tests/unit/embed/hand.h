/* SPDX-License-Identifier: MIT */
/*
 * hand.h - a runtime of the embedding API under test, and workers that do as each message says.
 */
#ifndef TESTS_UNIT_EMBED_HAND_H
#define TESTS_UNIT_EMBED_HAND_H

#include <stdatomic.h>

#include "unit/support/gate.h"
#include "unit/support/wait_limit.h"

#include <weir/runtime.h>

struct hand;

/* An act of a worker for an order; returns a verdict. */
typedef int hand_act(struct weir_self *self, struct hand *hand, const struct weir_message *message);

struct hand_order {
    hand_act *act; /* NULL: WEIR_DONE */
    uint64_t id;
};

/* The settings of all workers of a test. */
struct hand {
    struct weir_runtime *runtime;
    struct weir_behaviour behaviour;
    struct gate gate;
    int open_status; /* the result of `open` */
    _Atomic uint32_t handled;
    _Atomic uint64_t sum; /* of the ids that were handled */
    _Atomic uint32_t closed;
    _Atomic uint32_t released; /* how often the settings were given back */
    _Atomic uint32_t lines;    /* of the log */
    _Atomic int noted;         /* by an act */
};

/* A runtime of `threads` threads. Ends the program without memory. */
void hand_begin(struct hand *hand, uint32_t threads);
/* As hand_begin, with other options; its threads and its log are filled in. */
void hand_begin_with(struct hand *hand, const struct weir_runtime_options *like, uint32_t threads);
/* Shuts down and destroys. */
void hand_finish(struct hand *hand);

/* A pool of workers that all are open. */
weir_pid hand_pool(struct hand *hand, const char *path, uint32_t workers, uint32_t limit);
/* Options of such a pool, to be changed. */
struct weir_pool_options hand_pool_options(struct hand *hand, const char *path);

struct weir_message *hand_message(struct hand *hand, struct hand_order order);
/* Sends an order; a refused one is freed. */
int hand_send(struct hand *hand, weir_pid to, struct hand_order order);

struct weir_ledger hand_ledger(struct hand *hand, weir_pid pid);
struct weir_pool_stats hand_stats(struct hand *hand, weir_pid pid);
/* Whether it balances, with nothing on its way. */
bool hand_ledger_is_settled(const struct weir_ledger *ledger);

/* --- acts ------------------------------------------------------------------------------------ */

hand_act hand_wait;   /* comes to the gate, and goes on when it opens */
hand_act hand_reply;  /* answers with the id + 1000 */
hand_act hand_reject; /* says `no such thing` */
hand_act hand_fail;
hand_act hand_emit; /* emits its order, without the act, at output 0 */

#endif
