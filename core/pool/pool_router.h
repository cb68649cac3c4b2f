/*
 * pool/pool_router.h - a pool as its actor stands for it: the table of actor/router.h.
 */
#ifndef POOL_POOL_ROUTER_H
#define POOL_POOL_ROUTER_H

#include "actor/router.h"

extern const struct router_ops pool_router_ops;

#endif
