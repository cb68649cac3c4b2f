/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_ask.h - a call of the process of an isolated worker into its host.
 *
 * Life: worker_begin, the arguments into the parcel, one of the others. When there is no host any
 * more the process ends.
 */
#ifndef HOST_ISOLATION_WORKER_ASK_H
#define HOST_ISOLATION_WORKER_ASK_H

#include "host/isolation/worker_state.h"

/* The empty parcel of the arguments. */
struct parcel *worker_begin(struct weir_self *self);
/* Makes the call of dialogue.h. Returns its status; `*from` is the rest of the answer, until the
 * next call. */
int worker_ask(struct weir_self *self, int call, struct unparcel *from);
/* Without the rest of the answer. */
int worker_ask_status(struct weir_self *self, int call);
/* Writes the number of the answer on success; `out` may be NULL. */
int worker_ask_number(struct weir_self *self, int call, uint64_t *out);
/* With one number as the argument. */
int worker_ask_with(struct weir_self *self, int call, uint64_t first);

#endif
