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

/* Exports and prints how many; prints the first failure. Returns an exit code. */
int dead_letter_export_run(const struct dead_letter_export *export);

#endif
