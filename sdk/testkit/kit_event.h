/*
 * kit_event.h - events that the worker under test owns, or has subscribed.
 */
#ifndef SDK_TESTKIT_KIT_EVENT_H
#define SDK_TESTKIT_KIT_EVENT_H

#include "kit.h"

/* What weir_event, weir_subscribe, weir_unsubscribe and the number of weir_publish do. */
int kit_event_own(struct weir_self *self, const char *name, uint64_t *out_event);
int kit_event_subscribe(struct weir_self *self, const char *name);
int kit_event_unsubscribe(struct weir_self *self, const char *name);
/* NULL: it owns no such event. */
const struct kit_event *kit_event_find(const struct weir_kit *kit, uint64_t token);

/* The incarnation has ended. */
/* The incarnation has ended: it owns and hears none any more. */
void kit_event_close(struct weir_kit *kit);
void kit_event_finish(struct weir_kit *kit);

#endif
