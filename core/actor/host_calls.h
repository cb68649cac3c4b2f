/* SPDX-License-Identifier: MIT */
/*
 * actor/host_calls.h - rows of the host table: messages, time, links and monitors, and the
 * figures of the calling actor. See <weir/host.h>; core/host_table.c puts all rows together.
 */
#ifndef ACTOR_HOST_CALLS_H
#define ACTOR_HOST_CALLS_H

#include <weir/host.h>

const struct weir_tag *host_tag(struct weir_self *self, const char *name);
void host_message_free(struct weir_self *self, struct weir_message *message);
int host_send(struct weir_self *self, weir_pid to, enum weir_lane lane,
              struct weir_message *message);
int host_lookup(struct weir_self *self, const char *name, weir_pid *out_pid);
int host_emit(struct weir_self *self, uint32_t output, struct weir_message *message);
int host_request(struct weir_self *self, weir_pid to, enum weir_lane lane,
                 struct weir_message *message, uint64_t timeout_ms, weir_then *then, void *context,
                 uint64_t *out_reference);
struct weir_port *host_port(struct weir_self *self);
int host_cancel(struct weir_self *self, uint64_t reference);
int host_reply(struct weir_self *self, struct weir_message *request, struct weir_message *reply);
int host_forward(struct weir_self *self, weir_pid to, enum weir_lane lane,
                 struct weir_message *message);
int host_settle(struct weir_self *self, struct weir_message *kept, int verdict);
void host_retry_after(struct weir_self *self, uint64_t delay_ms);
void host_reason(struct weir_self *self, const char *text);
uint64_t host_now_ms(struct weir_self *self);
int host_send_after(struct weir_self *self, weir_pid to, enum weir_lane lane,
                    struct weir_message *message, uint64_t delay_ms, uint64_t *out_timer);
int host_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick, void *context,
               uint64_t *out_timer);
int host_every(struct weir_self *self, uint64_t period_ms, weir_tick *tick, void *context,
               uint64_t *out_timer);
int host_cancel_timer(struct weir_self *self, uint64_t timer);
int host_link(struct weir_self *self, weir_pid other);
int host_unlink(struct weir_self *self, weir_pid other);
int host_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor);
int host_demonitor(struct weir_self *self, uint64_t monitor);
int host_trap_exits(struct weir_self *self, bool on);
int host_exit(struct weir_self *self, weir_pid other, enum weir_end_reason reason);
int host_name(struct weir_self *self, const char *name);
weir_pid host_pid(struct weir_self *self);
const char *host_path(struct weir_self *self);
uint32_t host_index(struct weir_self *self);
void host_child_process(struct weir_self *self, int64_t process);
void host_log(struct weir_self *self, enum weir_log_level level, const char *event,
              const struct weir_field *fields);
void host_progress(struct weir_self *self, const char *unit, uint64_t done, uint64_t total);
void host_progress_text(struct weir_self *self, const char *unit, const char *text);
void host_exit_status(struct weir_self *self, int wanted);
void host_print(struct weir_self *self, const char *text, size_t size);

#endif
