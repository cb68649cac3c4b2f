/*
 * weir/choices.h - the choices of a pool. A file states them as words, a program as these numbers.
 *
 * <weir/runtime.h> includes this header. A number never changes its meaning. New numbers are added
 * at the end.
 */
#ifndef WEIR_CHOICES_H
#define WEIR_CHOICES_H

#include <stdint.h>

/* For a `limit`, the number of messages that may wait in a mailbox: */
#define WEIR_UNLIMITED UINT32_MAX /* no limit; for weir_spawn also 0 */
/* No message waits: a worker accepts a message only while it is idle and its demand allows one
 * more. */
#define WEIR_UNBUFFERED (UINT32_MAX - 1)
/* For a number of milliseconds: no time-out. */
#define WEIR_FOR_EVER UINT64_MAX
/* For `min_ready`: no worker has to open. */
#define WEIR_MIN_READY_NONE UINT32_MAX

/* Selects the member of a pool that gets a message. */
enum weir_route {
    WEIR_ROUTE_ROUND_ROBIN = 0,
    WEIR_ROUTE_LEAST_LOADED = 1,
    WEIR_ROUTE_RANDOM = 2,    /* two members at random; the less loaded one of them */
    WEIR_ROUTE_HASH = 3,      /* by the message's key */
    WEIR_ROUTE_PULL = 4,      /* one queue for all workers, which holds workers x limit messages;
                               * idle workers take from it. Not for pools of pools */
    WEIR_ROUTE_BROADCAST = 5, /* a copy to each member that has room; a request gets
                               * WEIR_EINVALID */
};

/* Selects what happens to a worker that fails more often than its pool allows. */
enum weir_restart_then {
    WEIR_RESTART_USUAL = 0,       /* the default of a file: WEIR_RESTART_KEEP_TRYING; in a pool of
                                   * pools WEIR_RESTART_ESCALATE */
    WEIR_RESTART_STOP = 1,        /* its place stays closed */
    WEIR_RESTART_ESCALATE = 2,    /* its place stays closed, and the pool above opens all workers of
                                   * that member again, or follows its own `restart_then`; without a
                                   * pool above, `escalated` in weir_runtime_figures is set */
    WEIR_RESTART_KEEP_TRYING = 3, /* the host opens it again after the longest back-off */
};

/* Selects whether a pool changes its number of workers by itself. */
enum weir_scale {
    WEIR_SCALE_NONE = 0,
    WEIR_SCALE_BY_WAIT = 1,   /* it grows when messages wait for too long */
    WEIR_SCALE_ON_DEMAND = 2, /* it grows when a message finds no idle worker; in a file `wait:
                               * 0ms` */
};

/* Selects what happens to the mailbox of a removed worker. */
enum weir_remove {
    WEIR_REMOVE_DRAIN = 0, /* the worker finishes the messages that it has accepted */
    WEIR_REMOVE_REROUTE = 1,
    WEIR_REMOVE_DISCARD = 2, /* its messages become dead letters with the reason `removed` */
};

/* Selects what weir_emit does when the target of an output is full. */
enum weir_when_full {
    WEIR_FULL_WAIT = 0, /* the message waits, and the worker gets no new message; no thread waits */
    WEIR_FULL_REJECT = 1,
    WEIR_FULL_DROP_NEWEST = 2,
    WEIR_FULL_DEAD_LETTER = 3,
};

#endif
