/* SPDX-License-Identifier: MIT */
/*
 * face/groups.h - tasks and groups of threads outside, and waits for idle pools.
 *
 * A part of weir_core.h, through which libweir includes it.
 */
#ifndef FACE_GROUPS_H
#define FACE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/task.h>

struct group;
struct runtime;

/* `flags` has bits of enum weir_group_flags. WEIR_EINVALID, WEIR_ENOMEM. Returns owned. */
int group_create(struct runtime *runtime, uint32_t flags, struct group **out);

/* Takes the group; its messages go on. Before runtime_destroy; NULL is allowed. */
void group_destroy(struct group *group);

/* Messages that have not begun become dead, `cancelled`; later ones are refused. Any thread. */
void group_cancel(struct group *group);

/* Waits until no message of the group is open. Fills `out`, which may be NULL, also after
 * WEIR_ETIMEOUT. WEIR_EINVALID: out->size; WEIR_EDEADLK on a thread of a dispatcher. */
int group_wait(struct group *group, uint64_t timeout_ms, struct weir_group_ended *out);

/* Before a handler rejects a message: a group, if it belongs to one, gets `error` as its first
 * error. */
void group_note_error(const struct weir_message *message, int error);

/* Tasks that a thread submits. */
struct submission {
    weir_pid to;
    const struct weir_task_call *calls;
    uint32_t count;
    struct group *group; /* NULL = none */
};

/*
 * Makes a message for each task and sends them in order; with a `timeout_ms` other than 0 waits for
 * room, for all together. `out_count` is how many were taken, from the front, also after an error.
 * As runtime_send and runtime_send_wait; WEIR_EINVALID: no function; WEIR_ECANCELLED: the group was
 * cancelled.
 */
int runtime_submit(struct runtime *runtime, const struct submission *submission,
                   uint64_t timeout_ms, uint32_t *out_count);

/* Submits a task as a request; the message of the answer has the result. As runtime_request; as
 * runtime_request_wait with `waits_for_room`. */
int runtime_submit_request(struct runtime *runtime, weir_pid pool,
                           const struct weir_task_call *call, bool waits_for_room,
                           uint64_t timeout_ms, uint64_t *out_reference);

/* Likewise, waits for room, and for the result. */
int runtime_submit_wait(struct runtime *runtime, weir_pid pool, const struct weir_task_call *call,
                        uint64_t timeout_ms, int *out_result);

/* Waits until a pool has no message waiting, in hand or held. WEIR_ETIMEOUT; WEIR_EUNKNOWN: there
 * is no such pool; WEIR_EDEADLK on a thread of a dispatcher. */
int runtime_wait_idle(struct runtime *runtime, weir_pid pool, uint64_t timeout_ms);

/* Sends the message of a group, with the sender that it has; takes it on 0. As runtime_submit. */
int runtime_send_grouped(struct runtime *runtime, struct group *group, weir_pid to,
                         struct weir_message *message, uint64_t timeout_ms);

#endif
