/* SPDX-License-Identifier: MIT */
/*
 * reload/debounce.h - delays the action on something that changes in several steps until it rests.
 *
 * An editor truncates a file and writes it, or moves it away and puts another there; a rollout
 * replaces several files. After each hint of a change debounce_look asks for further checks until
 * two of them, DEBOUNCE_MS apart, have seen the same state; but for at most DEBOUNCE_MAX_MS from
 * the first change on, so that a file that never rests is reloaded, too.
 *
 * The caller supplies the times. Not synchronised.
 */
#ifndef HOST_RELOAD_DEBOUNCE_H
#define HOST_RELOAD_DEBOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#define DEBOUNCE_MS 150      /* longer than an editor takes between truncating and writing */
#define DEBOUNCE_MAX_MS 3000 /* a reload that comes too early is refused, and repeated */

struct debounce {
    uint64_t acted;    /* the state of the last action */
    uint64_t seen;     /* the state at the last check */
    uint64_t since_ms; /* since when the state is `seen` */
    uint64_t first_ms; /* the first check that saw a state other than `acted` */
    bool pending;      /* the state is not `acted` */
};

/* Sets the state of the last action to `acted`. */
void debounce_reset(struct debounce *debounce, uint64_t acted);

/* Takes the state of one check: true = act now. Else check again in *out_wait_ms, or at the next
 * hint when that is 0. */
bool debounce_look(struct debounce *debounce, uint64_t seen, uint64_t now_ms,
                   uint64_t *out_wait_ms);

#endif
