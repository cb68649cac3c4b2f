/*
 * tail.h - the behaviour files.tail: the lines of files that grow, as they come.
 */
#ifndef TAIL_H
#define TAIL_H

#include <weir/plugin.h>

extern const struct weir_behaviour files_tail;

#endif
