/* SPDX-License-Identifier: MIT */
/*
 * kit_due.h - the list of future events: timers, delayed messages, time-outs of requests.
 *
 * Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_DUE_H
#define SDK_TESTKIT_KIT_DUE_H

#include "kit.h"

/* The time after `delay_ms`; UINT64_MAX = never. */
static inline uint64_t kit_due_after(uint64_t now_ms, uint64_t delay_ms)
{
    return delay_ms < UINT64_MAX - now_ms ? now_ms + delay_ms : UINT64_MAX;
}

/* Adds a copy after entries of the same time. Returns its new number. */
uint64_t kit_due_add(struct weir_kit *kit, const struct kit_due *due);
/* Takes the timer, or the request, of this number out of the list. Returns owned; NULL: none. */
struct kit_due *kit_due_take(struct weir_kit *kit, uint64_t number, bool is_request);
/* The request of this number, unless it is cancelled; NULL: none. Stays in the list. */
struct kit_due *kit_due_find_request(struct weir_kit *kit, uint64_t number);
/* Takes the first cancelled request out of the list. Returns owned; NULL: none. */
struct kit_due *kit_due_take_cancelled(struct weir_kit *kit);
/* The earliest entry that is due at `until_ms` or before; NULL: none. Stays in the list. */
struct kit_due *kit_due_find_next(struct weir_kit *kit, uint64_t until_ms);

/* At the end of the incarnation: frees all entries without a callback. */
void kit_due_finish(struct weir_kit *kit);

#endif
