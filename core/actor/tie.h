/*
 * actor/tie.h - links and monitors.
 *
 * The watching actor sends the other one a message, which stays there and comes back as the notice
 * of its end. So a notice needs no memory and cannot fail. Owner's turn only, except tie_bounce.
 */
#ifndef ACTOR_TIE_H
#define ACTOR_TIE_H

#include "actor/actor.h"

int tie_link(struct actor *actor, weir_pid other);
/* Links an actor with a child that has not begun. */
int tie_link_child(struct actor *actor, struct actor *child);
int tie_unlink(struct actor *actor, weir_pid other);
int tie_monitor(struct actor *actor, weir_pid other, uint64_t *out_monitor);
int tie_demonitor(struct actor *actor, uint64_t monitor);

/* Handles a LINK, UNLINK, MONITOR or DEMONITOR. Takes it. */
void tie_arrived(struct actor *actor, struct message *message);

/* True when the link or monitor of a WEIR_EXIT or WEIR_DOWN still exists. Removes the link of an
 * exit. */
bool tie_is_current(struct actor *actor, const struct message *message);

/* The incarnation ends: sends all notices. */
void tie_tell_all(struct actor *actor, enum weir_end_reason reason, int status);

/* The incarnation ends: withdraws its monitors. */
void tie_forget_watches(struct actor *actor);

/* The number of its links (MESSAGE_LINK) or watchers (MESSAGE_MONITOR). */
uint32_t tie_count(const struct actor *actor, enum message_kind kind);

/* At the end of a runtime: frees them without notices. */
void tie_free_all(struct actor *actor, struct executor *executor);

/* A link or monitor reached an actor that has ended: returns it as the notice. Takes it. Any
 * thread. */
void tie_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                struct message *message);

#endif
