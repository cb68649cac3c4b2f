/*
 * reload/debounce.h - when to act on something that changes in several steps: once it rests.
 *
 * An editor truncates a file and writes it, or moves it away and puts another there; a rollout
 * replaces several. Who looks at each hint of a change is told to wait until two looks, DEBOUNCE_MS
 * apart, have seen the same; but no longer than DEBOUNCE_MAX_MS from the first change on, lest what
 * never rests is never taken on.
 *
 * Times are the caller's, so it needs no clock. Not synchronised.
 */
#ifndef HOST_RELOAD_DEBOUNCE_H
#define HOST_RELOAD_DEBOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#define DEBOUNCE_MS 150      /* longer than an editor takes between truncating and writing */
#define DEBOUNCE_MAX_MS 3000 /* a reload that comes too early is refused, and made again */

struct debounce {
    uint64_t acted;    /* what was acted on last */
    uint64_t seen;     /* what the last look saw */
    uint64_t since_ms; /* since when it has been so */
    uint64_t first_ms; /* when it first was not `acted` */
    bool pending;      /* it is not */
};

/* It is `now` that was acted on, whatever is seen from now on. */
void debounce_reset(struct debounce *debounce, uint64_t acted);

/* One look: true = act now. Else look again in *out_wait_ms, or at the next hint when that is 0. */
bool debounce_look(struct debounce *debounce, uint64_t seen, uint64_t now_ms,
                   uint64_t *out_wait_ms);

#endif
