/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker.h - the process of one isolated worker: it loads the plugin, and carries out the
 * callbacks that the host gives.
 */
#ifndef HOST_ISOLATION_WORKER_H
#define HOST_ISOLATION_WORKER_H

/* WEIR_ENOTALLOWED: no host has started this process, or it has ended. Otherwise returns after
 * `close`, or when the host has gone: the caller ends the process by _exit. */
int worker_run(void);

#endif
