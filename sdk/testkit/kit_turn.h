/* SPDX-License-Identifier: MIT */
/*
 * kit_turn.h - the code around each call of a callback.
 *
 * Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_TURN_H
#define SDK_TESTKIT_KIT_TURN_H

#include "kit.h"

/* False, and a problem of the test, when the worker is not open or there is no such callback. */
bool kit_turn_can_run(struct weir_kit *kit, bool has_callback, const char *callback);

void kit_turn_begin(struct weir_kit *kit);
/* Answers the requests that were cancelled in the turn. */
void kit_turn_end(struct weir_kit *kit);

/* A turn of `handle` with this message, which is settled by the verdict. Returns the verdict. */
int kit_turn_handle(struct weir_kit *kit, struct kit_message *message);

/* Inside a turn: frees `due`, then calls its continuation. Borrows the message; NULL: none. */
void kit_turn_answer(struct weir_kit *kit, struct kit_due *due, int status,
                     const struct weir_message *message);

#endif
