/* SPDX-License-Identifier: MIT */
/*
 * run/files_reopen.h - lets workers and sources reopen the files that they write, after logrotate
 * or a person has renamed these.
 */
#ifndef HOST_RUN_FILES_REOPEN_H
#define HOST_RUN_FILES_REOPEN_H

#include "host/run/assembly.h"

/* Notifies all workers and sources. Does not wait for them. The I/O thread. */
void files_reopen(struct assembly *assembly);

/* The same for sources alone: a reload that finds nothing to do leaves workers as they are. But a
 * source may have files, such as a certificate, that changed under one name. The I/O thread. */
void files_reopen_sources(struct assembly *assembly);

#endif
