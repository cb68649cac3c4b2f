/* SPDX-License-Identifier: MIT */
/*
 * isolation/callbacks.h - callbacks of an isolated worker, carried out by its process, and the end
 * of the process.
 */
#ifndef HOST_ISOLATION_CALLBACKS_H
#define HOST_ISOLATION_CALLBACKS_H

#include "host/isolation/dialogue.h"
#include "host/isolation/isolated_options.h"
#include "host/isolation/proxy.h"

#define CALLBACKS_HOW_SIZE 64u /* of a reason: "killed by SIGSEGV" */

/* Gives a callback, whose arguments are in `proxy->out`, and carries out the calls of the process
 * until it returns. */
int callbacks_converse(struct weir_self *self, struct proxy *proxy, int callback, int *out_result);
/* The same for a callback without a verdict: returns its result. When the process ends, the worker
 * fails, and it is 0. */
int callbacks_tell(struct weir_self *self, struct proxy *proxy, int callback);
/* From now on the callback may take the time of its time-out. */
void callbacks_set_due(struct proxy *proxy, int callback);
/* Carries out the calls of the process until a frame that is none: DIALOGUE_RETURN, or
 * DIALOGUE_UNTOUCHED. */
int callbacks_await(struct weir_self *self, struct proxy *proxy, struct channel_frame *out);

/* Kills the process. Writes to `how` how it ended. What it wrote before can still be read. */
void callbacks_kill(struct weir_self *self, struct proxy *proxy, char *how);
/* After callbacks_kill: forgets the channel. */
void callbacks_forget(struct proxy *proxy);
/* After callbacks_kill: says that the process has ended in this callback, 0 = none, with this
 * status, and sets the reason of the failure. */
void callbacks_say_why(struct weir_self *self, struct proxy *proxy, int callback, int status,
                       char *how);
/* All three. */
void callbacks_bury(struct weir_self *self, struct proxy *proxy, int callback, int status);
/* Outside of `handle`, `flush` and `open` there is no verdict to return: buries the process, and
 * the worker fails. */
void callbacks_fail(struct weir_self *self, struct proxy *proxy, int callback, int status);

#endif
