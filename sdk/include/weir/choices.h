/* SPDX-License-Identifier: MIT */
/*
 * weir/choices.h - the choices of a pool. A file states them as words, a program as these numbers.
 *
 * <weir/runtime.h> includes this header. A number never changes its meaning. New numbers are added
 * at the end.
 *
 * A list such as WEIR_ROUTE_LIST(X) has a row X(NAME, number, "word in a file") for each choice.
 * The enum below it has these names: WEIR_ROUTE_PULL.
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

/* For `retry_max`: no message is retried. Since 1.1. */
#define WEIR_RETRY_NONE (UINT32_MAX - 1)

/* Selects the member of a pool that gets a message: WEIR_ROUTE_ROUND_ROBIN = 0, and so on.
 *
 *     round_robin    the next member with room
 *     least_loaded   the member with the least work
 *     random         two members at random; the less loaded one of them
 *     hash           by the message's key
 *     pull           one queue for all workers, which holds workers x limit messages; idle workers
 *                    take from it. Not for pools of pools
 *     broadcast      a copy to each member that has room; a request gets WEIR_EINVALID
 */
#define WEIR_ROUTE_LIST(X)                                                                         \
    X(ROUND_ROBIN, 0, "round_robin")                                                               \
    X(LEAST_LOADED, 1, "least_loaded")                                                             \
    X(RANDOM, 2, "random")                                                                         \
    X(HASH, 3, "hash")                                                                             \
    X(PULL, 4, "pull")                                                                             \
    X(BROADCAST, 5, "broadcast")
enum weir_route {
#define WEIR_ROUTE_NUMBER(name, number, word) WEIR_ROUTE_##name = (number),
    WEIR_ROUTE_LIST(WEIR_ROUTE_NUMBER)
#undef WEIR_ROUTE_NUMBER
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
#define WEIR_REMOVE_LIST(X)                                                                        \
    X(DRAIN, 0, "drain")     /* members that have room get them, and it handles the rest */        \
    X(REROUTE, 1, "reroute") /* other members of the pool get them, as soon as these have room */  \
    X(DISCARD, 2, "discard") /* they become dead letters with the reason `removed` */
enum weir_remove {
#define WEIR_REMOVE_NUMBER(name, number, word) WEIR_REMOVE_##name = (number),
    WEIR_REMOVE_LIST(WEIR_REMOVE_NUMBER)
#undef WEIR_REMOVE_NUMBER
};

/* Selects what weir_emit does when the target of an output is full. */
#define WEIR_FULL_LIST(X)                                                                          \
    X(WAIT, 0, "wait")     /* the message waits, the worker gets no new one; no thread waits */    \
    X(REJECT, 1, "reject") /* weir_emit answers WEIR_EFULL */                                      \
    X(DROP_NEWEST, 2, "drop_newest")                                                               \
    X(DEAD_LETTER, 3, "dead_letter")
enum weir_when_full {
#define WEIR_FULL_NUMBER(name, number, word) WEIR_FULL_##name = (number),
    WEIR_FULL_LIST(WEIR_FULL_NUMBER)
#undef WEIR_FULL_NUMBER
};

#endif
