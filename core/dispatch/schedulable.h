/* SPDX-License-Identifier: MIT */
/*
 * dispatch/schedulable.h - the objects that a dispatcher runs: anything with a turn. It does not
 * know actors.
 */
#ifndef DISPATCH_SCHEDULABLE_H
#define DISPATCH_SCHEDULABLE_H

struct executor;
struct schedulable;

/* The result of a turn. */
enum turn {
    TURN_IDLE,  /* it sleeps: do not touch it, another thread may own it */
    TURN_AGAIN, /* it wants another turn, after the others */
};

struct schedulable {
    /* One turn, on the executor's thread. */
    enum turn (*run)(struct schedulable *schedulable, struct executor *executor); /* const */
    struct schedulable *next; /* lock: the global queue that it is in */
};

#endif
