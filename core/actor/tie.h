/*
 * actor/tie.h - links and monitors.
 *
 * Whoever wants to be told of an end sends the other a message, made beforehand, that stays there
 * and comes back as the news. So telling needs no memory and cannot fail. Owner's turn only, but
 * for tie_bounce.
 */
#ifndef ACTOR_TIE_H
#define ACTOR_TIE_H

#include "actor/actor.h"

int tie_link(struct actor *actor, weir_pid other);
/* Between an actor and one that it has made and not begun. */
int tie_link_child(struct actor *actor, struct actor *child);
int tie_unlink(struct actor *actor, weir_pid other);
int tie_monitor(struct actor *actor, weir_pid other, uint64_t *out_monitor);
int tie_demonitor(struct actor *actor, uint64_t monitor);

/* A LINK, UNLINK, MONITOR or DEMONITOR came. Takes it. */
void tie_arrived(struct actor *actor, struct message *message);

/*
 * A WEIR_EXIT or WEIR_DOWN came: true when it still counts. An exit's link is gone after this.
 */
bool tie_is_current(struct actor *actor, const struct message *message);

/* The incarnation ends: tells everybody who asked. */
void tie_tell_all(struct actor *actor, enum weir_end_reason reason, int status);

/* The incarnation ends: those it watched may forget it. */
void tie_forget_watches(struct actor *actor);

/* How many links (MESSAGE_LINK) or watchers (MESSAGE_MONITOR) it has. */
uint32_t tie_count(const struct actor *actor, enum message_kind kind);

/* With a runtime that ends: tells nobody. */
void tie_free_all(struct actor *actor, struct executor *executor);

/* A request to be told reached somebody who has ended: that is the news. Takes it. Any thread. */
void tie_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                struct message *message);

#endif
