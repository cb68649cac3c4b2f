/* SPDX-License-Identifier: MIT */
/*
 * kit_time.h - timers, and the answers to requests.
 *
 * Time moves only in weir_kit_advance. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_TIME_H
#define SDK_TESTKIT_KIT_TIME_H

#include "kit.h"

/* The host calls weir_send_after, weir_after, weir_every, weir_cancel_timer and weir_cancel. A
 * cancelled request is answered at the end of the turn. */
int kit_time_send_after(struct weir_self *self, weir_pid to, enum weir_lane lane,
                        struct weir_message *message, uint64_t delay_ms, uint64_t *out_timer);
int kit_time_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick, void *context,
                   uint64_t *out_timer);
int kit_time_every(struct weir_self *self, uint64_t period_ms, weir_tick *tick, void *context,
                   uint64_t *out_timer);
int kit_time_cancel_timer(struct weir_self *self, uint64_t number);
int kit_time_cancel_request(struct weir_self *self, uint64_t number);

#endif
