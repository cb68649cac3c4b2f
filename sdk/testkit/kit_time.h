/*
 * kit_time.h - what shall happen later: timers, and the answers to requests.
 *
 * Time moves only in weir_kit_advance. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_TIME_H
#define SDK_TESTKIT_KIT_TIME_H

#include "kit.h"

/* Adds a due with all fields but its number, which it returns. Copies. */
uint64_t kit_time_add(struct weir_kit *kit, const struct kit_due *due);
/* WEIR_EUNKNOWN: no such timer. Frees its message. */
int kit_time_cancel_timer(struct weir_kit *kit, uint64_t number);
/* WEIR_EUNKNOWN: no such request is open. It is answered at the end of the turn. */
int kit_time_cancel_request(struct weir_kit *kit, uint64_t number);
/* Answers what was given up in this turn. */
void kit_time_answer_cancelled(struct weir_kit *kit);
/* With the end of the incarnation all ends silently. */
void kit_time_finish(struct weir_kit *kit);

#endif
