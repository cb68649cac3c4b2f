/* SPDX-License-Identifier: MIT */
/*
 * call.h - one call of weir-queue, the program behind `weir queue`: what is asked of which file.
 *
 * `weir queue` checks its options and starts the program beside queue.so with
 *
 *     weir-queue ACTION FILE FORMAT STATE QUEUE ALL ARGUMENT...
 *
 * where `-` stands for what was not given. So only this program and the plugin link SQLite.
 */
#ifndef CALL_H
#define CALL_H

#include <stdbool.h>
#include <stdio.h>

#include "../order.h"

struct call {
    const char *action;
    const char *file;
    bool is_json;
    int state;         /* enum store_state; -1 = any */
    const char *queue; /* NULL = any */
    bool is_all;
    char **arguments; /* ends with NULL */
    int count;
};

/* Each prints its answer to standard output, mistakes to standard error, and returns an exit code.
 * list.c */
int call_list(const struct call *call);
int call_dead(const struct call *call);
int call_show(const struct call *call);
int call_export(const struct call *call);
/* stats.c */
int call_stats(const struct call *call);
/* change.c */
int call_replay(const struct call *call);
int call_delete(const struct call *call);
/* keep.c */
int call_backup(const struct call *call);
int call_check(const struct call *call);

/* The exit code for a negative errno of place.h or store.h. */
int call_exit_code(int error);
/* Prints `weir queue: `, the file and the sentence, to standard error; returns `code`. */
__attribute__((format(printf, 3, 4))) int call_fail(const struct call *call, int code,
                                                    const char *format, ...);
/* The numbers of pieces among the arguments, at most ORDER_IDS_MAX. Returns 0, or an exit code
 * after the mistake was printed. */
int call_numbers(const struct call *call, int64_t ids[ORDER_IDS_MAX]);
/* EX_OK, or EX_IOERR after the mistake was printed: all that was printed is written. */
int call_flush(const struct call *call);

#endif
