/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_ahead.h - messages that the host gave ahead, in the process of an isolated
 * worker.
 */
#ifndef HOST_ISOLATION_WORKER_AHEAD_H
#define HOST_ISOLATION_WORKER_AHEAD_H

#include "host/isolation/worker_state.h"

/* Takes the message of a frame of DIALOGUE_HANDLE. */
void worker_queue(struct worker *worker, struct channel_frame *frame);
/* Carries out `handle` for the first one, unless the host must decide before, and answers. There is
 * one. */
int worker_run_ahead(struct worker *worker);

#endif
