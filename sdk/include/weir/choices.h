/*
 * weir/choices.h - the choices of a pool. A file names them in words, a program by these numbers.
 *
 * <weir/runtime.h> includes this header. A number never changes its meaning; new ones come at the
 * end.
 */
#ifndef WEIR_CHOICES_H
#define WEIR_CHOICES_H

#include <stdint.h>

/* Instead of the number of messages that may wait in a mailbox. */
#define WEIR_UNLIMITED UINT32_MAX /* no limit; weir_spawn takes 0 for it, too */
/* None waits: a worker accepts a message only while it is idle and may take one more. */
#define WEIR_UNBUFFERED (UINT32_MAX - 1)
/* Instead of milliseconds: no time-out. */
#define WEIR_FOR_EVER UINT64_MAX

/* Which member of a pool gets a message. */
enum weir_route {
    WEIR_ROUTE_ROUND_ROBIN = 0,
    WEIR_ROUTE_LEAST_LOADED = 1,
    WEIR_ROUTE_RANDOM = 2,    /* the less loaded of two */
    WEIR_ROUTE_HASH = 3,      /* by the message's key */
    WEIR_ROUTE_PULL = 4,      /* one queue of workers x limit; idle workers take from it. Not for
                               * pools of pools */
    WEIR_ROUTE_BROADCAST = 5, /* a copy to each that has room; a request is WEIR_EINVALID */
};

/* What happens to a worker that fails more often than its pool allows. */
enum weir_restart_then {
    WEIR_RESTART_USUAL = 0,       /* as in a file: keep trying; a pool of pools escalates */
    WEIR_RESTART_STOP = 1,        /* its place stays closed */
    WEIR_RESTART_ESCALATE = 2,    /* its place stays closed, and the pool above opens all workers of
                                   * that member again, or does what its own `restart_then` says; a
                                   * pool at the top sets `escalated` in weir_runtime_figures */
    WEIR_RESTART_KEEP_TRYING = 3, /* the host opens it again after the longest backoff */
};

/* What happens to the mailbox of a removed worker. */
enum weir_remove {
    WEIR_REMOVE_DRAIN = 0, /* it finishes what it accepted */
    WEIR_REMOVE_REROUTE = 1,
    WEIR_REMOVE_DISCARD = 2, /* its messages become dead letters, `removed` */
};

/* What weir_emit does when the target of an output is full. */
enum weir_when_full {
    WEIR_FULL_WAIT = 0, /* the message waits, the worker gets nothing new, no thread waits */
    WEIR_FULL_REJECT = 1,
    WEIR_FULL_DROP_NEWEST = 2,
    WEIR_FULL_DEAD_LETTER = 3,
};

#endif
