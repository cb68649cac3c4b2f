/* SPDX-License-Identifier: MIT */
/*
 * pages/dead_letter_routes.h - the handlers of requests about dead letters.
 *
 * Each writes its answer to the inquiry and returns the HTTP status. I/O thread.
 */
#ifndef HOST_PAGES_DEAD_LETTER_ROUTES_H
#define HOST_PAGES_DEAD_LETTER_ROUTES_H

#include "host/pages/inquiry.h"

/* GET /dead */
unsigned dead_letter_routes_summary(struct inquiry *inquiry);
/* GET /dead/PATH?after=N */
unsigned dead_letter_routes_list(struct inquiry *inquiry);
/* GET /letter/PATH?number=N, or ?after=N for the numbers alone */
unsigned dead_letter_routes_payload(struct inquiry *inquiry);
/* POST /dead/PATH/replay */
unsigned dead_letter_routes_replay(struct inquiry *inquiry);
/* POST /dead/PATH/delete?numbers=N,N */
unsigned dead_letter_routes_delete(struct inquiry *inquiry);

#endif
