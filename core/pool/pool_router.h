/* SPDX-License-Identifier: MIT */
/*
 * pool/pool_router.h - the pool's table of actor/router.h.
 */
#ifndef POOL_POOL_ROUTER_H
#define POOL_POOL_ROUTER_H

#include "actor/router.h"

extern const struct router_ops pool_router_ops;

#endif
