/* SPDX-License-Identifier: MIT */
/*
 * exec_child.h - a worker of exec.pipe in the test kit, whose child is a program of the shell.
 */
#ifndef EXEC_CHILD_H
#define EXEC_CHILD_H

#include <stdbool.h>
#include <stddef.h>

#include "exec_wait.h"

/* A child that runs BODY for each message: $kind $size $attempt $key $tag, and $data. */
#define CHILD(body)                                                                                \
    "shell: true\n"                                                                                \
    "command:\n"                                                                                   \
    "  - |\n"                                                                                      \
    "    say() { printf '%s %s%s\\n%s' \"$1\" \"$(printf %s \"$2\" | wc -c)\" \"$3\" \"$2\" >&4; " \
    "}\n"                                                                                          \
    "    say ready\n"                                                                              \
    "    while read -r kind size attempt key tag <&3; do\n"                                        \
    "      data=$(head -c \"$size\" <&3)\n"                                                        \
    "      " body "\n"                                                                             \
    "    done\n"

bool is_ready(struct weir_kit *kit);
bool has_ended(struct weir_kit *kit);

/* A worker that is open; its child may not be ready yet. */
struct weir_kit *opened(const char *args);
/* A worker with a child that is ready. */
struct weir_kit *worker(const char *args);
/* Destroys the worker, which must leave nothing and no process. */
void finish(struct weir_kit *kit);

/* Gives a text that the child gets with the next flush. */
void gather(struct weir_kit *kit, const char *text);
void flush(struct weir_kit *kit);
void begin(struct weir_kit *kit, const char *text);
/* Gives a text, and waits until it is settled. */
void give(struct weir_kit *kit, const char *text);
void expect_output(struct weir_kit *kit, size_t index, const char *text);

#endif
