/* SPDX-License-Identifier: MIT */
/*
 * actor/alarm.h - timers and delayed messages of an actor. Owner's turn only.
 */
#ifndef ACTOR_ALARM_H
#define ACTOR_ALARM_H

#include "actor/actor.h"

/* As weir_after and weir_every (`period_ms` > 0). */
int alarm_tick(struct actor *actor, uint64_t delay_ms, uint64_t period_ms, weir_tick *tick,
               void *context, uint64_t *out_alarm);

/* As weir_send_after. Takes the message on 0. */
int alarm_send(struct actor *actor, weir_pid to, enum weir_lane lane, struct message *message,
               uint64_t delay_ms, uint64_t *out_alarm);

/* As weir_cancel_timer. */
int alarm_cancel(struct actor *actor, uint64_t id);

/* Entry `index` is due. */
void alarm_time(struct actor *actor, uint32_t index, uint64_t now_ns);

/* The incarnation has ended: ends all of them. A message that has joined an origin is dead. */
void alarm_end_all(struct actor *actor);

/* The runtime has ended: frees all of them. */
void alarm_free_all(struct actor *actor);

#endif
