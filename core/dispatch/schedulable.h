/*
 * dispatch/schedulable.h - what a dispatcher runs: anything with a turn. It knows no actors.
 */
#ifndef DISPATCH_SCHEDULABLE_H
#define DISPATCH_SCHEDULABLE_H

struct executor;
struct schedulable;

/* What a turn answers. */
enum turn {
    TURN_IDLE,  /* it sleeps: touch it no more, somebody else may own it */
    TURN_AGAIN, /* there is more: give it another turn, behind the others */
};

struct schedulable {
    /* One turn, on the executor's thread. */
    enum turn (*run)(struct schedulable *schedulable, struct executor *executor); /* const */
    struct schedulable *next; /* lock: the global queue that it is in */
};

#endif
