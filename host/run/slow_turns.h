/* SPDX-License-Identifier: MIT */
/*
 * run/slow_turns.h - the turns that last longer than `host.turn_warning`, each with its callback,
 * thread and stack, for answers and pages.
 *
 * A turn is added once, when the log reports it (turn_watch.h). It is found for its worker until it
 * ends: a turn that another thread finds over is not found any more. There is one record for each
 * thread at most.
 *
 *             | create destroy | add | find
 *   add       |       X        |  X  |  -      X = one thread at a time
 *   find      |       X        |  -  |  -      - = any threads at once
 */
#ifndef HOST_RUN_SLOW_TURNS_H
#define HOST_RUN_SLOW_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "weir_core.h"

#define SLOW_TURN_WORD 128
#define SLOW_TURN_STACK 1024
#define SLOW_TURN_TEXT (SLOW_TURN_STACK + 2 * SLOW_TURN_WORD + 128) /* of slow_turn_describe */

struct slow_turn {
    uint64_t ms;                     /* how long it has lasted: a lower bound */
    int64_t thread;                  /* its number in the kernel; 0: not known */
    char dispatcher[SLOW_TURN_WORD]; /* its name */
    char callback[SLOW_TURN_WORD];   /* such as `handle`; "": not known */
    char message[SLOW_TURN_WORD];    /* the tag of the message in hand; "": none, or not known */
    char stack[SLOW_TURN_STACK];
};

struct slow_turns;
struct json;

/* WEIR_ENOMEM. Returns owned. */
int slow_turns_create(struct slow_turns **out);
/* NULL is allowed. */
void slow_turns_destroy(struct slow_turns *turns);

/* Records a turn; `turn->ms` is its duration at `now_ns`. Without memory it is not found. */
void slow_turns_add(struct slow_turns *turns, const struct turn_at *at,
                    const struct slow_turn *turn, uint64_t now_ns);

/* Finds the present turn of a worker, as pool_find_turn. False: it is in no callback that was
 * reported. */
bool slow_turns_find(struct slow_turns *turns, struct pool *pool, uint32_t index, weir_pid pid,
                     struct slow_turn *out);

/* One line without a full stop: `in handle for 12.3s with page, in thread 4711 of default: ...`.
 * Truncated; SLOW_TURN_TEXT bytes are enough. */
void slow_turn_describe(const struct slow_turn *turn, char *out, size_t size);

/* Writes the object `stuck` into the open object. */
void slow_turn_write(const struct slow_turn *turn, struct json *json);

#endif
