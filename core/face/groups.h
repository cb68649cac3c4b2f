/*
 * face/groups.h - messages of threads outside that have a common end, and waits for idle pools.
 *
 * A part of weir_core.h, through which libweir includes it.
 */
#ifndef FACE_GROUPS_H
#define FACE_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weir/message.h>

struct group;
struct pool;
struct runtime;

/* What became of the messages of a group. */
struct group_figures {
    uint64_t done;
    uint64_t failed;
    uint64_t cancelled; /* had not begun when the group was cancelled */
    uint64_t open;
    int first_error; /* of the first that failed; 0 = none */
};

/* With `stops_at_error` the first failure cancels it. WEIR_ENOMEM. Returns owned. */
int group_create(struct runtime *runtime, bool stops_at_error, struct group **out);

/* Takes the group; its messages stay what they are. Before runtime_destroy; NULL is allowed. */
void group_destroy(struct group *group);

/* Messages that have not begun become dead, `cancelled`; later ones are refused. Any thread. */
void group_cancel(struct group *group);

/* Waits until no message of the group is open. False: the time is over. Not on a thread of a
 * dispatcher. */
bool group_wait(struct group *group, uint64_t timeout_ms);

void group_look(struct group *group, struct group_figures *out);

/* Before a handler rejects a message: a group, if it belongs to one, gets `error` as its first
 * error. */
void group_note_error(const struct weir_message *message, int error);

/* A message that is sent from outside. */
struct submission {
    weir_pid to;
    const struct weir_tag *tag;
    const void *payload; /* copied */
    size_t size;
    struct group *group; /* NULL = none */
};

/*
 * Makes a message and sends it; with a `timeout_ms` other than 0 waits for room. As runtime_send
 * and runtime_send_wait; WEIR_ECANCELLED: so is the group.
 */
int runtime_submit(struct runtime *runtime, const struct submission *submission,
                   uint64_t timeout_ms);

/*
 * The same for `count` payloads of `size` bytes, one behind the other. Returns a status, and in
 * `out_count` how many were taken, from the front.
 */
int runtime_submit_many(struct runtime *runtime, const struct submission *submission,
                        uint32_t count, uint64_t timeout_ms, uint32_t *out_count);

/*
 * Waits until a pool has no message waiting, in hand or held; false: the time is over. Not on a
 * thread of a dispatcher.
 */
bool pool_wait_idle(struct runtime *runtime, struct pool *pool, uint64_t timeout_ms);

/* Sends the message of a group; takes it on 0. As runtime_submit. */
int runtime_send_grouped(struct runtime *runtime, struct group *group, weir_pid to,
                         struct weir_message *message, uint64_t timeout_ms);

#endif
