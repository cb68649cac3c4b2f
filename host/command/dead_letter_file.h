/* SPDX-License-Identifier: MIT */
/*
 * command/dead_letter_file.h - the file of dead letters of a host, for `weir dead --file`: lists
 * it, exports payloads, and sends letters to a running host again.
 *
 * The host may append to the file at the same time.
 */
#ifndef HOST_COMMAND_DEAD_LETTER_FILE_H
#define HOST_COMMAND_DEAD_LETTER_FILE_H

#include "host/command/control_client.h"

/* A request: the dead letters of the file, and the action for them. Borrowed. */
struct dead_letter_file {
    const struct control_client *client; /* for a replay; its `file` is not used */
    const char *path;
    const char *pool;        /* NULL: of all pools */
    const uint64_t *numbers; /* in the file */
    uint32_t count;          /* of `numbers`; 0: all */
    const char *folder;      /* of an export; `-`: standard output; NULL: no export */
    uint64_t timeout_ms; /* of a replay: to wait for room; the first time that it is over ends it */
    bool replay;
    bool verbose; /* lists payloads, too */
};

/* True when the file begins as a file of dead letters does. */
bool dead_letter_file_is_one(const char *path);

/* Returns an exit code. */
int dead_letter_file_run(const struct dead_letter_file *request);

#endif
