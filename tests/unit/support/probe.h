/* SPDX-License-Identifier: MIT */
/*
 * probe.h - a behaviour whose workers do what each message says, and note it.
 *
 * An order is a message whose payload names the function that handles it. A probe is the settings
 * of all workers of one kind: it counts their callbacks and keeps the numbers of the handled
 * orders, in order. Notes are taken under a lock; any thread.
 */
#ifndef TESTS_UNIT_SUPPORT_PROBE_H
#define TESTS_UNIT_SUPPORT_PROBE_H

#include <pthread.h>
#include <stdatomic.h>

#include "unit/support/gate.h"

#include <weir/plugin.h>

#define PROBE_NOTES_MAX 65536

struct probe;

/* An act of a worker for an order; returns a verdict. */
typedef int probe_act(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message);

struct order {
    probe_act *act; /* NULL: the probe's own */
    uint64_t id;
    uint64_t argument;
};

struct probe {
    struct weir_behaviour behaviour; /* change it before the first pool */
    probe_act *act;                  /* of orders without one; NULL: WEIR_DONE */
    probe_act *tied;                 /* of WEIR_EXIT and WEIR_DOWN; NULL: WEIR_DONE */
    int (*opens)(struct weir_self *self, struct probe *probe);   /* NULL: 0 */
    void (*closes)(struct weir_self *self, struct probe *probe); /* NULL: nothing */
    int (*takes)(struct weir_self *self, struct probe *probe);   /* of `taken`; NULL: 0 */
    int (*returns)(struct weir_self *self, struct probe *probe); /* of `returned`; NULL: 0 */
    struct gate gate;
    void *context; /* the test's own */

    _Atomic uint32_t opened;  /* successful opens */
    _Atomic uint32_t refused; /* opens that failed */
    _Atomic uint32_t closed;
    _Atomic int last_reason; /* of close */
    _Atomic uint32_t taken;
    _Atomic uint32_t returned;

    pthread_mutex_t lock;
    uint32_t count;                  /* lock: notes */
    uint64_t notes[PROBE_NOTES_MAX]; /* lock */
};

/* Owned by the caller; NULL never: ends the program without memory. */
struct probe *probe_create(void);
void probe_destroy(struct probe *probe);

/* Adds a note; every order that is begun adds its id by itself. */
void probe_note(struct probe *probe, uint64_t note);

uint32_t probe_count(struct probe *probe);
/* Note number `index`; UINT64_MAX: there is none. */
uint64_t probe_get(struct probe *probe, uint32_t index);
/* How often a note was taken. */
uint32_t probe_times(struct probe *probe, uint64_t note);

/* The order in a message. */
const struct order *probe_order(const struct weir_message *message);

/* A new message with an order, owned by the caller. */
struct weir_message *probe_message(struct weir_self *self, struct order order);

/* --- acts ------------------------------------------------------------------------------------ */

probe_act probe_done;
probe_act probe_fail;
/* Waits at the gate until it opens. */
probe_act probe_wait;
/* Comes to the gate, then fails. */
probe_act probe_wait_and_fail;
/* Answers a request with an order of id = its own + 1000. */
probe_act probe_reply;

#endif
