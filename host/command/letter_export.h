/*
 * command/letter_export.h - the payloads of dead letters, as files or to standard output.
 *
 * A file is called POOL-NUMBER.payload, with `.` for each `/` of the pool's path. It is made with
 * mode 0600, and never over something that is there.
 */
#ifndef HOST_COMMAND_LETTER_EXPORT_H
#define HOST_COMMAND_LETTER_EXPORT_H

#include "host/command/control_client.h"

/* The letters to export. Borrowed. */
struct letter_export {
    const struct control_client *client;
    const char *pool;
    const char *folder;      /* made if it is not there; `-`: standard output, of one letter */
    const uint64_t *numbers; /* of letters */
    uint32_t count;          /* of these; 0: all that the host keeps */
};

/* Answers an exit code, after it has told what is wrong and how many were exported. */
int letter_export_run(const struct letter_export *export);

#endif
