/* SPDX-License-Identifier: MIT */
/*
 * kit_port_tasks.h - tasks, groups and waits through a port of the worker under test.
 *
 * A task that the plugin submits is recorded as a sent message with the tag `weir.task` and does
 * not run. Nobody can answer here: a wait for an answer, or for a group with open messages, times
 * out at once.
 */
#ifndef SDK_TESTKIT_KIT_PORT_TASKS_H
#define SDK_TESTKIT_KIT_PORT_TASKS_H

#include "kit.h"

#include <weir/port_tasks.h>

/* The host call of weir_task_handle: runs the function. */
int kit_task_run(struct weir_self *self, const struct weir_message *message);

int kit_port_send_wait(struct weir_port *group, weir_pid to, struct weir_message *message,
                       uint64_t timeout_ms);
int kit_port_begin(struct weir_port *group, weir_pid to, struct weir_message *message,
                   bool waits_for_room, uint64_t timeout_ms, uint64_t *out_reference);
int kit_port_await(struct weir_port *group, uint64_t reference, struct weir_answer *out);
int kit_port_await_any(struct weir_port *group, const uint64_t *references, uint32_t count,
                       uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out);
int kit_port_cancel(struct weir_port *group, uint64_t reference);
int kit_port_wait_idle(struct weir_port *group, weir_pid pool, uint64_t timeout_ms);
int kit_port_submit(struct weir_port *group, weir_pid pool, const struct weir_task_call *calls,
                    uint32_t count, uint64_t timeout_ms, uint32_t *out_count);
int kit_port_submit_request(struct weir_port *group, weir_pid pool,
                            const struct weir_task_call *call, uint64_t timeout_ms,
                            uint64_t *out_reference);
int kit_port_submit_wait(struct weir_port *group, weir_pid pool, const struct weir_task_call *call,
                         uint64_t timeout_ms, int *out_result);
int kit_port_group_create(struct weir_port *group, uint32_t flags,
                          struct weir_port_group **out_group);
int kit_port_group_submit(struct weir_port_group *group, weir_pid pool,
                          const struct weir_task_call *calls, uint32_t count, uint64_t timeout_ms,
                          uint32_t *out_count);
int kit_port_group_send(struct weir_port_group *group, weir_pid to, struct weir_message *message,
                        uint64_t timeout_ms);
int kit_port_group_wait(struct weir_port_group *group, uint64_t timeout_ms,
                        struct weir_group_ended *out);
void kit_port_group_cancel(struct weir_port_group *group);
void kit_port_group_destroy(struct weir_port_group *group);

#endif
