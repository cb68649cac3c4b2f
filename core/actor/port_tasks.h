/* SPDX-License-Identifier: MIT */
/*
 * actor/port_tasks.h - rows of the table of a port: waits, tasks and groups. See
 * <weir/port_tasks.h>.
 *
 * They call the face that libweir calls (face/groups.h, face/messages.h). A thread holds the
 * runtime while it may wait (runtime_hold). A thread that awaits an answer does not: the table of
 * requests is reference-counted.
 */
#ifndef ACTOR_PORT_TASKS_H
#define ACTOR_PORT_TASKS_H

#include <weir/port_tasks.h>

int port_send_wait(struct weir_port *public, weir_pid to, struct weir_message *message,
                   uint64_t timeout_ms);
int port_begin(struct weir_port *public, weir_pid to, struct weir_message *message,
               bool waits_for_room, uint64_t timeout_ms, uint64_t *out_reference);
int port_await(struct weir_port *public, uint64_t reference, struct weir_answer *out);
int port_await_any(struct weir_port *public, const uint64_t *references, uint32_t count,
                   uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out);
int port_cancel(struct weir_port *public, uint64_t reference);
int port_wait_idle(struct weir_port *public, weir_pid pool, uint64_t timeout_ms);
int port_submit(struct weir_port *public, weir_pid pool, const struct weir_task_call *calls,
                uint32_t count, uint64_t timeout_ms, uint32_t *out_count);
int port_submit_request(struct weir_port *public, weir_pid pool, const struct weir_task_call *call,
                        uint64_t timeout_ms, uint64_t *out_reference);
int port_submit_wait(struct weir_port *public, weir_pid pool, const struct weir_task_call *call,
                     uint64_t timeout_ms, int *out_result);
int port_group_create(struct weir_port *public, uint32_t flags, struct weir_port_group **out_group);
int port_group_submit(struct weir_port_group *public, weir_pid pool,
                      const struct weir_task_call *calls, uint32_t count, uint64_t timeout_ms,
                      uint32_t *out_count);
int port_group_send(struct weir_port_group *public, weir_pid to, struct weir_message *message,
                    uint64_t timeout_ms);
int port_group_wait(struct weir_port_group *public, uint64_t timeout_ms,
                    struct weir_group_ended *out);
void port_group_cancel(struct weir_port_group *public);
void port_group_destroy(struct weir_port_group *public);

#endif
