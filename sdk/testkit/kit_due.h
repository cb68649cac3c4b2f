/*
 * kit_due.h - the list of future events: timers, delayed messages, time-outs of requests.
 *
 * Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_DUE_H
#define SDK_TESTKIT_KIT_DUE_H

#include "kit.h"

/* Adds a copy behind those of the same time. Gives it a number, and returns that. */
uint64_t kit_due_add(struct weir_kit *kit, const struct kit_due *due);
/* Takes the timer, or the request, of this number out of the list. Returns owned; NULL: none. */
struct kit_due *kit_due_take(struct weir_kit *kit, uint64_t number, bool is_request);
/* The request of this number, which nobody has cancelled; NULL: none. Stays in the list. */
struct kit_due *kit_due_find_request(struct weir_kit *kit, uint64_t number);
/* The first request that was cancelled, taken out of the list. Returns owned; NULL: none. */
struct kit_due *kit_due_take_cancelled(struct weir_kit *kit);
/* The earliest that is due at `until_ms` or before; NULL: none. Stays in the list. */
struct kit_due *kit_due_find_next(struct weir_kit *kit, uint64_t until_ms);

/* The incarnation ends: frees all of them, without a callback. */
void kit_due_finish(struct weir_kit *kit);

#endif
