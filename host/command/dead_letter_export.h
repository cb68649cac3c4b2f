/* SPDX-License-Identifier: MIT */
/*
 * command/dead_letter_export.h - writes the payloads of dead letters to files or to
 * standard output.
 *
 * A file is named POOL-NUMBER.payload, with `.` for each `/` of the pool's path. It gets mode 0600
 * and never replaces an existing file.
 */
#ifndef HOST_COMMAND_DEAD_LETTER_EXPORT_H
#define HOST_COMMAND_DEAD_LETTER_EXPORT_H

#include "host/command/control_client.h"

/* The dead letters to export. Borrowed. */
struct dead_letter_export {
    const struct control_client *client;
    const char *pool;
    const char *folder; /* created if missing; `-`: standard output, for a single dead letter */
    const uint64_t *numbers; /* of letters */
    uint32_t count;          /* of `numbers`; 0: all dead letters of the pool */
};

#define DEAD_LETTER_EXPORT_NAME 256 /* a path of at most 128 bytes and a number */

/* Writes a payload to a new file of an open folder; `out_name` gets the file's name. 0 or an errno:
 * then there is no such file. */
int dead_letter_export_write(int folder, const char *pool, uint64_t number, const char *bytes,
                             size_t size, char out_name[DEAD_LETTER_EXPORT_NAME]);

/* Exports and prints how many; prints the first failure. Returns an exit code. */
int dead_letter_export_run(const struct dead_letter_export *export);

#endif
