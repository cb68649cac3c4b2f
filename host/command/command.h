/* SPDX-License-Identifier: MIT */
/*
 * command/command.h - the table of the commands of `weir`: names, options, help.
 *
 * Each command is one constant, in command_NAME.c; COMMAND_LIST names them. The parser and the help
 * both come from the tables.
 *
 * Exit codes are those of sysexits.h: 0; EX_USAGE 64 wrong arguments; EX_DATAERR 65 the pool
 * cannot do it, or a run has dead letters; EX_NOINPUT 66 no such file or pool; EX_UNAVAILABLE 69
 * no host answers, or a worker or source does not open at the start; EX_SOFTWARE 70 out of memory
 * (command_main says so), or a worker that escalated; EX_OSFILE 72 a file of the installation is
 * missing; EX_CANTCREAT 73 a file or folder cannot be made; EX_IOERR 74 output could not be
 * written; EX_TEMPFAIL 75 stopped before the end, or the host is busy; EX_NOPERM 77 the host of
 * another user; EX_CONFIG 78 a wrong file. Errors go to standard error.
 */
#ifndef HOST_COMMAND_COMMAND_H
#define HOST_COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include <weir/host.h>

#define COMMAND_OPTIONS_MAX 12

struct command_option {
    const char *name;     /* long: `from` for --from; NULL ends the table */
    char letter;          /* short; unique within the command */
    const char *argument; /* such as FILE; NULL = takes none */
    const char *help;
};

struct command;

/* One call of a command. Borrowed until it returns. */
struct invocation {
    const struct command *command;
    const char *program; /* loads new plugins first, see host/plugin/probe.h; NULL: no trial */
    FILE *out;
    FILE *err;
    bool colour; /* out is a terminal, and NO_COLOR is not set */
    int argc;    /* of argv, whose first is the command's name */
    char **argv;
};

struct command {
    const char *name;
    const char *arguments; /* for the usage line: `FILE` */
    const char *summary;   /* for the list */
    const char *details;   /* printed after the options in its help; may be NULL */
    const struct command_option *options;
    bool internal;      /* for weir itself: not listed */
    bool keeps_signals; /* it takes signals through host/run/io.h, so they stay blocked */
    /* Returns an exit code. */
    int (*run)(const struct invocation *invocation);
};

/* The commands, in the order of the help. */
#define COMMAND_LIST(X)                                                                            \
    X(run)                                                                                         \
    X(check)                                                                                       \
    X(plan)                                                                                        \
    X(reload)                                                                                      \
    X(status)                                                                                      \
    X(inspect)                                                                                     \
    X(scale)                                                                                       \
    X(restart)                                                                                     \
    X(pause)                                                                                       \
    X(resume)                                                                                      \
    X(send)                                                                                        \
    X(request)                                                                                     \
    X(dead)                                                                                        \
    X(queue)                                                                                       \
    X(describe)                                                                                    \
    X(schema)                                                                                      \
    X(new)                                                                                         \
    X(version)                                                                                     \
    X(probe)                                                                                       \
    X(worker)                                                                                      \
    X(complete)

#define COMMAND_DECLARATION(name) extern const struct command command_##name;
COMMAND_LIST(COMMAND_DECLARATION)
#undef COMMAND_DECLARATION

/* True when the stream is a terminal and NO_COLOR is not set. */
bool command_wants_colour(FILE *out);

/* Finds a command by its name, --version or -V; NULL: there is none. */
const struct command *command_find(const char *name);
/* The command at an index, internal ones included; NULL after the last. */
const struct command *command_at(size_t index);

/*
 * Runs the command of the arguments and returns its exit code. Borrows all. `program` is the path
 * of this program, which is started again to try a plugin in another process; NULL: no trial.
 */
int command_main(const char *program, int argc, char **argv, FILE *out, FILE *err);

/* No exit code: continue. */
#define COMMAND_GO_ON (-1)
/* EX_SOFTWARE; the reason has been printed. */
#define COMMAND_FAILED (-2)

/*
 * Parses the options by the command's table. Calls `take` for each option with its letter and
 * argument (NULL without one; borrowed from argv); `take` returns COMMAND_GO_ON or an exit code.
 * Returns COMMAND_GO_ON with the index of the first argument that is no option; or an exit code,
 * after it printed the help or the mistake.
 */
int command_parse(const struct invocation *invocation,
                  int (*take)(void *context, char letter, const char *argument), void *context,
                  int *out_first);

/* Prints `weir NAME: `, the sentence, and how to get help; returns EX_USAGE. */
WEIR_PRINTF(2, 3)
int command_usage_error(const struct invocation *invocation, const char *format, ...);

#endif
