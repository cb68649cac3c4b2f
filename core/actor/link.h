/* SPDX-License-Identifier: MIT */
/*
 * actor/link.h - links and monitors.
 *
 * The watching actor sends the other one a message, which stays there and comes back as the notice
 * of its end. So a notice needs no memory and cannot fail. Owner's turn only, except link_bounce.
 */
#ifndef ACTOR_LINK_H
#define ACTOR_LINK_H

#include "actor/actor.h"

int link_add(struct actor *actor, weir_pid other);
/* Links an actor with a child that has not begun. */
int link_add_child(struct actor *actor, struct actor *child);
int link_remove(struct actor *actor, weir_pid other);
int link_monitor(struct actor *actor, weir_pid other, uint64_t *out_monitor);
/* Of one incarnation (actor_ext.h): its notice comes at once when that has ended. */
int link_monitor_life(struct actor *actor, weir_pid other, uint32_t life, uint64_t *out_monitor);
int link_demonitor(struct actor *actor, uint64_t number);

/* Handles a LINK, UNLINK, MONITOR or DEMONITOR. Takes it. */
void link_arrived(struct actor *actor, struct message *message);

/* True when the link or monitor of a WEIR_EXIT or WEIR_DOWN still exists. Removes the link of an
 * exit. */
bool link_is_current(struct actor *actor, const struct message *message);

/* The incarnation ends: sends all notices. */
void link_notify_all(struct actor *actor, enum weir_end_reason reason, int status);

/* The incarnation ends: withdraws its monitors. */
void link_withdraw_monitors(struct actor *actor);

/* The number of its links (MESSAGE_LINK) or watchers (MESSAGE_MONITOR). */
uint32_t link_count(const struct actor *actor, enum message_kind kind);

/* At the end of a runtime: frees them without notices. */
void link_free_all(struct actor *actor, struct executor *executor);

/* A link or monitor reached an actor that has ended: returns it as the notice. Takes it. Any
 * thread. */
void link_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                 struct message *message);

#endif
