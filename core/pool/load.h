/* SPDX-License-Identifier: MIT */
/*
 * pool/load.h - what a member of a pool has to do, for the routes that compare members.
 *
 * A worker, and a pool of some workers, is read each time. A larger pool has a counter: its members
 * are walked once for as many comparisons, and for as many microseconds, as it has members. Between
 * two walks each message that a comparing route gives the pool adds one. So a comparison costs the
 * same for any number of workers below. The counter is advisory. It lacks what came by other ways
 * and what was handled since the walk, and threads that write it at once may lose an addition. So a
 * message may go to a member that has more to do than another; that member has room for it.
 *
 * Any thread, in a read section.
 */
#ifndef POOL_LOAD_H
#define POOL_LOAD_H

#include "pool/pool.h"

/* The messages that wait at a member. A worker that handles or keeps one counts it, so that an idle
 * one is preferred. */
uint32_t load_read(const struct member *member, struct executor *executor);

/* A comparing route has given the pool a message. */
void load_add(struct pool *pool);

#endif
