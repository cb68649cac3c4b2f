/*
 * run/files_reopen.h - files that were renamed, by logrotate or by hand, are opened again by those
 * who write them.
 */
#ifndef HOST_RUN_FILES_REOPEN_H
#define HOST_RUN_FILES_REOPEN_H

#include "host/run/assembly.h"

/* Tells all workers and sources. Does not wait for them. The I/O thread. */
void files_reopen(struct assembly *assembly);

#endif
