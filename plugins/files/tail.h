/* SPDX-License-Identifier: MIT */
/*
 * tail.h - the behaviour files.tail: the lines of files that grow, as they come.
 *
 * files.lines with a position is files.tail that ends: it calls the callbacks of `files_tail` with
 * a state and a `tail_settings` of its own.
 */
#ifndef TAIL_H
#define TAIL_H

#include <weir/plugin.h>

struct tail_settings {
    struct weir_list paths;
    struct weir_list exclude;
    const char *position; /* NULL: none */
    uint32_t from;        /* enum tail_from */
    uint64_t poll;
    uint64_t save_every;
    uint64_t rotate_wait;
    uint32_t unsettled;
    uint64_t unsettled_bytes;
    uint32_t on_change; /* no option of tail: enum on_change */
    bool ends; /* no option: it ends when all is read and settled; the last line needs no end */
};

enum tail_from {
    TAIL_FROM_BEGIN,
    TAIL_FROM_END,
};

extern const struct weir_behaviour files_tail;

#endif
