/* SPDX-License-Identifier: MIT */
/*
 * command.h - the program and the arguments of a command: a template that a payload fills.
 *
 * Each `{}` in an argument stands for the payload. Life: command_init .. command_finish. Not
 * synchronised.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/option.h>

#include "user.h"

/* Limits of the resources of a process, as setrlimit(2) has them; 0 = none. */
struct command_limits {
    uint64_t cpu_ms;    /* rounded up to seconds */
    uint64_t memory;    /* bytes of address space */
    uint64_t file_size; /* bytes of a file that it writes */
    uint32_t files;     /* open descriptors */
    uint32_t processes; /* of its user */
};

/* The words in front of the program that the file names. */
struct command_setting {
    struct command_limits limits;
    const struct user *user; /* borrowed; NULL: that of the host */
};

struct command {
    char *program;      /* owned: absolute path */
    char **words;       /* owned, with its texts: the template; ends with NULL */
    size_t count;       /* of words */
    bool takes_payload; /* a word has `{}` */
};

/* True when an argument has the mark `{}`. */
bool command_has_mark(const char *word);

/*
 * Looks for the program (`words->items[0]`), in PATH if it has no slash, and makes the template:
 *
 *  - with `shell`: /bin/sh -c TEXT sh WORD..., where TEXT is the first word;
 *  - with a user: setpriv(1) before all that;
 *  - with limits: prlimit(1) before all that, since another user may not raise them.
 *
 * Returns 0 or an errno: ENOENT or EACCES when a program is missing (`out_missing` is its name,
 * borrowed from `words`, or static), ENOMEM. Borrows.
 */
int command_init(struct command *command, const struct weir_list *words, bool shell,
                 const struct command_setting *setting, const char **out_missing);
/* Legal after a failed init, and twice. */
void command_finish(struct command *command);

/* The arguments for one payload: returns owned, one block of memory; NULL when memory is out. The
 * payload has no NUL if the command takes it. Borrows. */
char **command_fill(const struct command *command, const char *payload, size_t size);

#endif
