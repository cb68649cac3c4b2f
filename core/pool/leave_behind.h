/* SPDX-License-Identifier: MIT */
/*
 * pool/leave_behind.h - a worker whose thread does not come back from `handle` is left behind, and
 * another one takes its place: see actor/left_behind.h.
 *
 * The old worker is past the point of return, among the pool's closers, until its callback returns.
 */
#ifndef POOL_LEAVE_BEHIND_H
#define POOL_LEAVE_BEHIND_H

#include "face/turns.h"
#include "pool/pool.h"

#endif
