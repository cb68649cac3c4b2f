/*
 * run/files_reopen.h - lets workers and sources reopen the files that they write, after logrotate
 * or a person has renamed these.
 */
#ifndef HOST_RUN_FILES_REOPEN_H
#define HOST_RUN_FILES_REOPEN_H

#include "host/run/assembly.h"

/* Notifies all workers and sources. Does not wait for them. The I/O thread. */
void files_reopen(struct assembly *assembly);

#endif
