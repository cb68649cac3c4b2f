/*
 * run/poll_set.h - the runtime's poller (face/runtime.h) in the program: one epoll set, which
 * the I/O thread's loop looks at.
 *
 * The set is changed on the thread of whoever watches, so a wrong descriptor is told at once, and
 * after `end` it may be closed. libuv sees the set alone: uv_poll_t would make each descriptor
 * non-blocking, which is not ours to do with one that others share (docs/decisions/040).
 *
 * Life: create, options of the runtime, runtime_create, attach once the loop is there, ...; the
 * loop runs no more; runtime_destroy, detach, the loop ends, destroy. What is ready before attach
 * is told then.
 *
 * begin and end of the poller: any thread, under a lock. The rest: the I/O thread.
 */
#ifndef HOST_RUN_POLL_SET_H
#define HOST_RUN_POLL_SET_H

#include "weir_core.h"

struct poll_set;
struct runtime;
struct uv_loop_s;

/* WEIR_ENOMEM: also when there is no descriptor left. Returns owned. */
int poll_set_create(struct poll_set **out);
/* NULL is allowed. */
void poll_set_destroy(struct poll_set *set);

/* For the options of the runtime. Borrows the set until the runtime is destroyed. */
struct poller poll_set_poller(struct poll_set *set);

/* From now on the loop tells the runtime. 0 or libuv's error. */
int poll_set_attach(struct poll_set *set, struct uv_loop_s *loop, struct runtime *runtime);
/* Takes that back; the loop must run once more before it is closed. NULL is allowed. */
void poll_set_detach(struct poll_set *set);

/* Tells those whose descriptor was closed under them. At most once a second, by `now_ms`. */
void poll_set_tick(struct poll_set *set, uint64_t now_ms);

#endif
