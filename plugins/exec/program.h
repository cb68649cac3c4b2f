/* SPDX-License-Identifier: MIT */
/*
 * program.h - the program that the workers of a pool run: the options that exec.run and exec.pipe
 * share, and the command that a worker makes from them when it opens.
 *
 * Life: program_open .. program_close. Not synchronised.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <weir/plugin.h>

#include "child.h"
#include "command.h"
#include "variables.h"

/* The first member of the settings of a behaviour that has PROGRAM_OPTIONS. */
struct program_settings {
    struct weir_list command;
    bool shell;
    const char *directory;
    struct weir_map environment;
    struct weir_list inherit;
    const char *user;
    uint64_t cpu;
    uint64_t memory;
    uint64_t file_size;
    uint32_t files;
    uint32_t processes;
};

/* Rows for all fields but `command`. */
#define PROGRAM_OPTIONS                                                                            \
    WEIR_OPTION_BOOL(struct program_settings, shell, .fallback = "false",                          \
                     .help = "the first word of `command` is a text for /bin/sh, the others are "  \
                             "its $1, $2, ..."),                                                   \
        WEIR_OPTION_STRING(struct program_settings, directory,                                     \
                           .help = "working directory; default: that of the host"),                \
        WEIR_OPTION_MAP(struct program_settings, environment, .max = 1000,                         \
                        .help = "variables of the environment"),                                   \
        WEIR_OPTION_LIST(struct program_settings, inherit, .fallback = "true",                     \
                         .choices = variables_words,                                               \
                         .help = "pass on the variables of the host: all, none, or these"),        \
        WEIR_OPTION_STRING(struct program_settings, user,                                          \
                           .help = "run as this user; the host must be root"),                     \
        WEIR_OPTION_DURATION(struct program_settings, cpu, .fallback = "0s",                       \
                             .help = "limit of CPU time, rounded up to seconds; 0s: none"),        \
        WEIR_OPTION_SIZE(struct program_settings, memory, .fallback = "0",                         \
                         .help = "limit of address space; 0: none"),                               \
        WEIR_OPTION_SIZE(struct program_settings, file_size, .fallback = "0",                      \
                         .help = "limit of a file that it writes; 0: none"),                       \
        WEIR_OPTION_U32(struct program_settings, files, .fallback = "0",                           \
                        .help = "limit of open descriptors; 0: none"),                             \
        WEIR_OPTION_U32(struct program_settings, processes, .fallback = "0",                       \
                        .help = "limit of processes of its user; 0: none")

struct program {
    struct command command;
    struct variables variables;
    struct user user;
    struct child_plan plan; /* borrows from command and variables, and from the settings */
};

/* Reports the mistakes of the options; `user` is one when the host is not root. */
void program_check(const struct program_settings *settings, struct weir_report *report);

/* Finds the program. WEIR_ENOMEM; WEIR_EINVALID, logged and with a reason: the program, the
 * folder or the user is missing. Borrows the settings until program_close. */
int program_open(struct weir_self *self, const struct program_settings *settings,
                 struct program *program);
/* Legal after a failed program_open, and twice. */
void program_close(struct program *program);

#endif
