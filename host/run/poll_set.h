/* SPDX-License-Identifier: MIT */
/*
 * run/poll_set.h - the runtime's poller (face/runtime.h) in the program: one epoll set, which the
 * I/O thread's loop polls.
 *
 * `begin` and `end` change the set on the calling thread: so a wrong descriptor is reported at
 * once, and the descriptor may be closed after `end`. libuv polls only the set itself: uv_poll_t
 * would make each descriptor non-blocking, also for other processes that share it
 * (docs/decisions/040).
 *
 * Life: create, options of the runtime, runtime_create, attach once the loop is there, ...; the
 * loop stops; runtime_destroy, detach, the loop is closed, destroy. Descriptors that are ready
 * before attach are reported then.
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

/* From now on the loop passes ready descriptors to the runtime. 0 or libuv's error. */
int poll_set_attach(struct poll_set *set, struct uv_loop_s *loop, struct runtime *runtime);
/* Undoes attach; the loop must run once more before it is closed. NULL is allowed. */
void poll_set_detach(struct poll_set *set);

/* Reports descriptors that were closed while watched. Runs at most once a second, by `now_ms`. */
void poll_set_tick(struct poll_set *set, uint64_t now_ms);

#endif
