/* SPDX-License-Identifier: MIT */
/*
 * kit_event.h - events that the worker under test owns, or has subscribed.
 */
#ifndef SDK_TESTKIT_KIT_EVENT_H
#define SDK_TESTKIT_KIT_EVENT_H

#include "kit.h"

/* The host calls weir_event, weir_subscribe and weir_unsubscribe. */
int kit_event_own(struct weir_self *self, const char *name, uint64_t *out_event);
int kit_event_subscribe(struct weir_self *self, const char *name);
int kit_event_unsubscribe(struct weir_self *self, const char *name);
/* The event of a token of weir_publish; NULL: the worker owns no such event. */
const struct kit_event *kit_event_find(const struct weir_kit *kit, uint64_t token);

/* At the end of the incarnation: drops its events and subscriptions. */
void kit_event_close(struct weir_kit *kit);
void kit_event_finish(struct weir_kit *kit);

#endif
