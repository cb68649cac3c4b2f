/* SPDX-License-Identifier: MIT */
/*
 * pages/pool_routes.h - the handlers of requests about pools and their members.
 *
 * Each writes its answer to the inquiry and returns the HTTP status. I/O thread.
 */
#ifndef HOST_PAGES_POOL_ROUTES_H
#define HOST_PAGES_POOL_ROUTES_H

#include "host/pages/inquiry.h"

/* GET /pools */
unsigned pool_routes_all(struct inquiry *inquiry);
/* GET /pools/PATH */
unsigned pool_routes_one(struct inquiry *inquiry);
/* GET /members, or /members/PATH */
unsigned pool_routes_members(struct inquiry *inquiry);
/* POST /pools/PATH/scale?size=N, or size=auto */
unsigned pool_routes_scale(struct inquiry *inquiry);
/* POST /pools/PATH/pause */
unsigned pool_routes_pause(struct inquiry *inquiry);
/* POST /pools/PATH/resume */
unsigned pool_routes_resume(struct inquiry *inquiry);

#endif
