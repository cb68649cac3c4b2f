/*
 * pages/readiness.h - which pools serve nobody, and why, and whether a dispatcher has no thread
 * left that works: the host is not ready then.
 *
 * A pool serves nobody when it is paused, or when none of its workers is open. A pool whose range
 * of sizes begins at 0 may be empty. Any thread.
 */
#ifndef HOST_PAGES_READINESS_H
#define HOST_PAGES_READINESS_H

#include "host/pages/overview.h"

/* A line for each such pool, behind `prefix`. True when there is none. assembly->lock is held. */
bool readiness_tell_locked(const struct overview *overview, const char *prefix, FILE *stream);

/* The page /readyz; true: the host is ready. */
bool readiness_write(const struct overview *overview, FILE *stream);

#endif
