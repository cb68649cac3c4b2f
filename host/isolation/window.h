/* SPDX-License-Identifier: MIT */
/*
 * isolation/window.h - the messages of an isolated worker: several ahead, a verdict each.
 *
 * The worker gathers: `handle` gives a message to the process and keeps it, `flush` stays with the
 * process until each of them has its verdict. So between two other callbacks the process has none.
 * Decision 448.
 *
 *   gathered --give--> ahead --DIALOGUE_RETURN--> settled, or kept by the plugin
 *       |                |----DIALOGUE_UNTOUCHED--> put back
 *       |                '----the process ends----> the one that was begun: blamed; else put back
 *       '------------------the window is over-----> put back
 */
#ifndef HOST_ISOLATION_WINDOW_H
#define HOST_ISOLATION_WINDOW_H

#include "host/isolation/proxy.h"

/* Of a process that was started. */
void window_open(struct weir_self *self, struct proxy *proxy);
bool window_is_empty(const struct proxy *proxy);
/* Makes the window no larger than the options let it be. */
void window_bound(struct weir_self *self, struct proxy *proxy);

/* The callbacks of the behaviour that stands in; `state` is the proxy. */
int window_handle(struct weir_self *self, void *state, const struct weir_message *message);
int window_flush(struct weir_self *self, void *state);

#endif
