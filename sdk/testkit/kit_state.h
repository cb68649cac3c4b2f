/* SPDX-License-Identifier: MIT */
/*
 * kit_state.h - the state of the behaviour under test.
 *
 * A behaviour that states no size gets memory all the same, which must stay zeroed. Not
 * synchronised.
 */
#ifndef SDK_TESTKIT_KIT_STATE_H
#define SDK_TESTKIT_KIT_STATE_H

#include "kit.h"

/* New zeroed state in place of the former one. */
void kit_state_make(struct weir_kit *kit);
/* At the end of the incarnation: adds a problem when the behaviour has written to a state of no
 * size. */
void kit_state_check(struct weir_kit *kit);

#endif
