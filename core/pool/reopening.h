/* SPDX-License-Identifier: MIT */
/*
 * pool/reopening.h - signals workers that their open files may have been renamed.
 *
 * It is a signal, so a full mailbox does not delay it, and several become one.
 */
#ifndef POOL_REOPENING_H
#define POOL_REOPENING_H

#include "face/pool.h"

struct executor;
struct pool;

#endif
