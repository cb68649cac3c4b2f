/* SPDX-License-Identifier: MIT */
/*
 * weir/host.h - the calls that a behaviour may make into its host.
 *
 * Include <weir/plugin.h>, not this file. Call the inline functions below. Each function calls
 * through the table in `self`, so a plugin links no library, and a test can replace the host.
 *
 * `self` is valid only inside a callback of its actor. No call blocks, and no call runs a callback
 * before it returns. A plugin's own threads must not make these calls; they use a port
 * (weir/port.h).
 *
 * Ownership words: *takes*: the callee owns the argument if the call returns 0; *borrows*: the
 * callee uses the argument until the call returns; *returns owned*: the caller owns the result. A
 * result in an `out_...` argument is written only on success. Such an argument may be NULL only if
 * the comment of the function says so.
 */
#ifndef WEIR_HOST_H
#define WEIR_HOST_H

#include <stdarg.h>
#include <stdio.h>

#include "inline.h"
#include "message.h"
#include "option.h"
#include "pool.h"
#include "status.h"

#if defined(__GNUC__)
#define WEIR_PRINTF(format_index, first_index)                                                     \
    __attribute__((format(printf, format_index, first_index)))
#else
#define WEIR_PRINTF(format_index, first_index)
#endif

struct weir_host;
struct weir_blob;
struct weir_spawn_options;

/* The actor that a callback runs for. */
struct weir_self {
    const struct weir_host *host; /* const */
};

/* name, number, word in a file and in a line of the log */
#define WEIR_LOG_LEVEL_LIST(X)                                                                     \
    X(ERROR, 0, "error")                                                                           \
    X(WARNING, 1, "warning")                                                                       \
    X(INFO, 2, "info")                                                                             \
    X(DEBUG, 3, "debug")
enum weir_log_level {
#define WEIR_LOG_LEVEL_NUMBER(name, number, word) WEIR_LOG_##name = (number),
    WEIR_LOG_LEVEL_LIST(WEIR_LOG_LEVEL_NUMBER)
#undef WEIR_LOG_LEVEL_NUMBER
};

/* One key=value pair of a log line; made by weir_str, weir_int, weir_uint, weir_real. */
struct weir_field {
    const char *key; /* NULL ends the list */
    uint32_t kind;   /* WEIR_STRING, WEIR_I64, WEIR_U64, WEIR_F64 */
    uint32_t reserved;
    union {
        const char *string;
        int64_t integer;
        uint64_t natural;
        double real;
    } value;
};

/* The answer to a request. Borrowed until the continuation (weir_then) returns. */
struct weir_reply {
    uint64_t reference;                 /* of the request */
    int status;                         /* 0, or the reason why there is no message: WEIR_ETIMEOUT,
                                         * ... */
    const struct weir_message *message; /* NULL when status is not 0 */
    const char *detail;                 /* the text that the rejecting worker set with weir_reason;
                                         * may be "" */
};

/* The continuation of a request. Called in a turn of the actor that sent the request, after the
 * callback that sent the request has returned. */
typedef void weir_then(struct weir_self *self, void *state, void *context,
                       const struct weir_reply *reply);
/* The callback of a timer. Called in a turn of the actor that armed the timer. */
typedef void weir_tick(struct weir_self *self, void *state, void *context);

/* Readiness of a descriptor, as bits. */
enum weir_readiness {
    WEIR_READABLE = 1u << 0,
    WEIR_WRITABLE = 1u << 1,
};

/*
 * The callback of a watch. Called in a turn of the actor that watches `descriptor`. `readiness` has
 * bits of enum weir_readiness, or is WEIR_EINVALID when the descriptor was closed.
 */
typedef void weir_ready(struct weir_self *self, void *state, void *context, int descriptor,
                        int readiness);

/*
 * The table of calls. Append-only. A plugin need not check `size`: a host refuses to load a plugin
 * whose minor version is newer than its own, so every entry that the plugin's headers declare is
 * present. The remark at each group states how the call works in a worker that is a process of its
 * own (`isolation: process`): (same) inside the process, (round trip) to the host, or
 * (unsupported): it answers WEIR_EUNSUPPORTED.
 */
struct weir_host {
    uint32_t size;
    uint32_t minor;

    /* messages (same) */
    const struct weir_tag *(*tag)(struct weir_self *, const char *name);
    struct weir_message *(*message_new)(struct weir_self *, const struct weir_tag *, size_t size);
    void (*message_free)(struct weir_self *, struct weir_message *);

    /* sending (round trip) */
    int (*send)(struct weir_self *, weir_pid to, enum weir_lane, struct weir_message *);
    int (*lookup)(struct weir_self *, const char *name, weir_pid *out_pid);
    int (*emit)(struct weir_self *, uint32_t output, struct weir_message *);
    int (*request)(struct weir_self *, weir_pid to, enum weir_lane, struct weir_message *,
                   uint64_t timeout_ms, weir_then *, void *context, uint64_t *out_reference);
    int (*cancel)(struct weir_self *, uint64_t reference);
    int (*reply)(struct weir_self *, struct weir_message *request, struct weir_message *reply);
    int (*forward)(struct weir_self *, weir_pid to, enum weir_lane, struct weir_message *);
    int (*settle)(struct weir_self *, struct weir_message *kept, int verdict);

    /* the verdict's details (round trip) */
    void (*retry_after)(struct weir_self *, uint64_t delay_ms);
    void (*reason)(struct weir_self *, const char *text);

    /* time (round trip; now_ms: same) */
    uint64_t (*now_ms)(struct weir_self *);
    int (*send_after)(struct weir_self *, weir_pid to, enum weir_lane, struct weir_message *,
                      uint64_t delay_ms, uint64_t *out_timer);
    int (*after)(struct weir_self *, uint64_t delay_ms, weir_tick *, void *context,
                 uint64_t *out_timer);
    int (*every)(struct weir_self *, uint64_t period_ms, weir_tick *, void *context,
                 uint64_t *out_timer);
    int (*cancel_timer)(struct weir_self *, uint64_t timer);

    /* other actors (round trip) */
    int (*link)(struct weir_self *, weir_pid);
    int (*unlink)(struct weir_self *, weir_pid);
    int (*monitor)(struct weir_self *, weir_pid, uint64_t *out_monitor);
    int (*demonitor)(struct weir_self *, uint64_t monitor);
    int (*trap_exits)(struct weir_self *, bool on);
    int (*exit)(struct weir_self *, weir_pid, enum weir_end_reason);
    int (*name)(struct weir_self *, const char *name);

    /* the calling actor (same) */
    weir_pid (*pid)(struct weir_self *);
    const char *(*path)(struct weir_self *);
    uint32_t (*index)(struct weir_self *);
    weir_pid (*pool)(struct weir_self *);

    /* pools (round trip) */
    int (*pool_resize)(struct weir_self *, weir_pid pool, uint32_t target,
                       struct weir_resized *out);
    int (*pool_add)(struct weir_self *, weir_pid pool, int32_t count, struct weir_resized *out);
    int (*pool_stats)(struct weir_self *, weir_pid pool, struct weir_pool_stats *out);

    /* output for people (round trip) */
    void (*log)(struct weir_self *, enum weir_log_level, const char *event,
                const struct weir_field *fields);
    void (*progress)(struct weir_self *, const char *unit, uint64_t done, uint64_t total);
    void (*exit_status)(struct weir_self *, int status);
    void (*print)(struct weir_self *, const char *text, size_t size);

    /* --- since ABI 1.1 --- */

    /* pools (round trip) */
    int (*pool_members)(struct weir_self *, weir_pid pool, struct weir_member *out,
                        uint32_t member_size, uint32_t max, uint32_t *out_count);
    int (*pool_pause)(struct weir_self *, weir_pid pool, bool paused);
    uint32_t (*pool_size)(struct weir_self *);

    /* origins (unsupported) */
    int (*set_origin)(struct weir_self *, struct weir_message *, uint64_t token);
    struct weir_port *(*port)(struct weir_self *); /* ports (unsupported) */

    /* chains (unsupported), the stash (round trip), names (round trip) */
    int (*send_chain)(struct weir_self *, weir_pid to, struct weir_message *const *messages,
                      uint32_t count);
    int (*stash)(struct weir_self *, struct weir_message *);
    uint32_t (*unstash)(struct weir_self *, uint32_t count);
    int (*rename)(struct weir_self *, const char *from, const char *to);
    /* pools (unsupported) */
    int (*pool_tell)(struct weir_self *, weir_pid pool, uint64_t epoch);
    /* sources (unsupported) */
    int (*leave_position)(struct weir_self *, const void *data, size_t size);

    /* requests (round trip), blobs (same) */
    uint64_t (*time_left)(struct weir_self *, const struct weir_message *);
    struct weir_blob *(*blob_new)(struct weir_self *, size_t size);
    struct weir_message *(*message_with_blob)(struct weir_self *, const struct weir_tag *,
                                              struct weir_blob *);
    struct weir_blob *(*message_blob)(struct weir_self *, const struct weir_message *);

    /* events (unsupported) */
    int (*event)(struct weir_self *, const char *name, uint64_t *out_event);
    int (*subscribe)(struct weir_self *, const char *name);
    int (*unsubscribe)(struct weir_self *, const char *name);
    int (*publish)(struct weir_self *, uint64_t event, struct weir_message *, uint32_t *out_taken,
                   uint32_t *out_refused);
    /* inspecting (unsupported) */
    int (*inspect)(struct weir_self *, weir_pid other, const char *const *items,
                   uint64_t timeout_ms, weir_then *, void *context, uint64_t *out_reference);
    /* descriptors (unsupported) */
    int (*watch)(struct weir_self *, int descriptor, uint32_t events, weir_ready *, void *context,
                 uint64_t *out_watch);
    int (*unwatch)(struct weir_self *, uint64_t watch);
    /* children (unsupported; parent: round trip) */
    int (*spawn)(struct weir_self *, const struct weir_spawn_options *, weir_pid *out_child);
    int (*stop)(struct weir_self *, weir_pid child, bool now);
    weir_pid (*parent)(struct weir_self *);
    /* demand (round trip) */
    int (*set_demand)(struct weir_self *, uint32_t count);
    /* tasks (unsupported) */
    int (*task)(struct weir_self *, const struct weir_message *);

    /* leases (unsupported): weir/lease.h */
    int (*take)(struct weir_self *, weir_pid pool, uint64_t timeout_ms, weir_then *, void *context,
                uint64_t *out_reference);
    int (*lease_send)(struct weir_self *, const struct weir_lease *, struct weir_message *);
    int (*lease_request)(struct weir_self *, const struct weir_lease *, struct weir_message *,
                         uint64_t timeout_ms, weir_then *, void *context, uint64_t *out_reference);
    int (*lease_return)(struct weir_self *, const struct weir_lease *, int how);
    int (*lease_renew)(struct weir_self *, const struct weir_lease *);

    /* joining origins (same): weir/delivery.h */
    int (*join)(struct weir_self *, struct weir_message *, struct weir_message *with);
    int (*detach)(struct weir_self *, struct weir_message *);
    /* outputs (round trip) */
    int (*target)(struct weir_self *, uint32_t output, weir_pid *out_pid);
    /* output for people (round trip) */
    void (*progress_text)(struct weir_self *, const char *unit, const char *text);
    /* messages (same) */
    struct weir_message *(*message_labelled)(struct weir_self *, const struct weir_tag *,
                                             size_t size, const char *label);
    /* descriptors (no effect: the process has its own) */
    int (*set_descriptors)(struct weir_self *, uint32_t count);
    /* the process that works for the worker (no effect: it is this one): weir/process.h */
    void (*child_process)(struct weir_self *, int64_t process);
    /* putting back (round trip): weir/delivery.h */
    int (*put_back)(struct weir_self *, struct weir_message *);
    /* memory (round trip) */
    int (*message_fits)(struct weir_self *, size_t size);
    /* identities (unsupported) */
    int (*set_identity)(struct weir_self *, struct weir_message *, const void *bytes, size_t size);
};

/* The tag of a name, such as "integrity.file/1" (by convention name.noun/version). Equal names give
 * the same pointer. Borrows the name: 1 to 128 bytes. NULL: the name is empty or too long, or
 * memory is out. Call it in `open` and keep the tag. */
WEIR_INLINE const struct weir_tag *weir_tag(struct weir_self *self, const char *name)
{
    return self->host->tag(self, name);
}

/* A new message with `size` bytes of zeroed payload. Returns owned. NULL: memory is out or
 * `host.memory` is reached; try again later. Set `key` for a pool that routes by hash. */
WEIR_INLINE struct weir_message *weir_message_new(struct weir_self *self,
                                                  const struct weir_tag *tag, size_t size)
{
    return self->host->message_new(self, tag, size);
}

/* As weir_message_new, with a text for people that names the piece of work: at most 189 bytes, the
 * rest is cut off. The dead letter of the message has the label behind its detail, and so have the
 * dead letters of messages without a label that join its origin. The receiver does not see the
 * label. Borrows the label. Since 1.1. */
WEIR_INLINE struct weir_message *weir_message_new_labelled(struct weir_self *self,
                                                           const struct weir_tag *tag, size_t size,
                                                           const char *label)
{
    return self->host->message_labelled(self, tag, size, label);
}

/* False: `host.memory` is too small for a message of this size and its label, also when it has
 * nothing else in it, so none will be made until a reload raises it. True: when weir_message_new
 * returned NULL, others have the memory now. Since 1.1. */
WEIR_INLINE bool weir_message_fits(struct weir_self *self, size_t size)
{
    return self->host->message_fits(self, size) != WEIR_EINVALID;
}

/*
 * Names the piece of work that a message of weir_message_new_labelled is: equal bytes name the same
 * piece, also after a restart of the host. A source whose pieces come again after a crash calls it,
 * with the place of the piece and its content, so that another piece at the same place has another
 * name. `quarantine` of a pool counts by it how often a piece has crashed the host. What a worker
 * emits for a message with an origin has its identity, too. Borrows the bytes; without
 * `host.crash_file` they are not read. WEIR_EINVALID: the message has no label, or `size` is 0.
 * Since 1.1.
 */
WEIR_INLINE int weir_set_identity(struct weir_self *self, struct weir_message *message,
                                  const void *bytes, size_t size)
{
    return self->host->set_identity(self, message, bytes, size);
}

/* Frees a message that was made and not sent. Takes the message. NULL is allowed. */
WEIR_INLINE void weir_message_free(struct weir_self *self, struct weir_message *message)
{
    self->host->message_free(self, message);
}

/*
 * Sends a message to an actor, or to one worker of a pool, which the pool's route selects. Takes
 * the message on 0. Messages from one sender to one receiver in one lane are handled in the order
 * of sending.
 *
 * WEIR_EFULL: no eligible worker has room, or no worker is open yet. A worker that made room during
 * the call may count as full. WEIR_EUNKNOWN: no such actor. WEIR_ETERMINATED: the actor has ended.
 * WEIR_ECLOSED: the receiver drains. WEIR_EINVALID: the message has no key and the pool routes by
 * hash, the payload is larger than `mailbox_bytes`, or the caller does not own the message.
 */
WEIR_INLINE int weir_send(struct weir_self *self, weir_pid to, struct weir_message *message)
{
    return self->host->send(self, to, WEIR_NORMAL, message);
}

/* As weir_send, in a lane. Messages in high and urgent reach a pool's manager, never its
 * workers. */
WEIR_INLINE int weir_send_lane(struct weir_self *self, weir_pid to, enum weir_lane lane,
                               struct weir_message *message)
{
    return self->host->send(self, to, lane, message);
}

/* Looks up the PID of a registered name or of a pool's path (`images/fast`). WEIR_EUNKNOWN: no such
 * name. A new pool of a file is found when the whole file is in force, so not yet in the `open` of
 * the other new pools: look it up when you need it. */
WEIR_INLINE int weir_lookup(struct weir_self *self, const char *name, weir_pid *out_pid)
{
    return self->host->lookup(self, name, out_pid);
}

/*
 * Sends a message to output number `output` of the behaviour's table. Takes the message on 0.
 *
 * When the target is full, the output's `when_full` in the YAML file decides:
 *  - `wait` holds the message, in order, and returns 0. The worker gets no new message until the
 *    target has room. WEIR_EFULL only when 256 messages are held; WEIR_ENOMEM only when memory is
 *    out.
 *  - `reject` returns WEIR_EFULL.
 *  - `drop_newest` and `dead_letter` return 0, and the message becomes a dead letter.
 *
 * If the YAML file does not bind the output, the call returns 0, and the message is freed and
 * counted (`unbound` in `weir status POOL`). WEIR_EINVALID: no such output.
 */
WEIR_INLINE int weir_emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    return self->host->emit(self, output, message);
}

/*
 * Reads the PID of the pool that the file binds to an output, for weir_request and weir_send. A
 * reload may bind another pool: read it for each message. A message that is sent there does not
 * pass the output: `when_full` and `rate` of the output do not apply. WEIR_EUNKNOWN: the output is
 * not bound. WEIR_EINVALID: no such output. Since 1.1.
 */
WEIR_INLINE int weir_target(struct weir_self *self, uint32_t output, weir_pid *out_pid)
{
    return self->host->target(self, output, out_pid);
}

/*
 * Sends a request. Takes the message on 0. After 0, `then` is called exactly once: with the reply,
 * or with the reason why there is none. The status after `timeout_ms` is WEIR_ETIMEOUT, never
 * earlier; neither it nor WEIR_ECANCELLED says whether the receiver had begun. If this incarnation
 * ends first, `then` is not called. A request that cannot be sent is refused at once, with a status
 * of weir_send; WEIR_EINVALID also for a message with an origin; WEIR_ENOMEM. `out_reference` may
 * be NULL.
 */
WEIR_INLINE int weir_request(struct weir_self *self, weir_pid to, struct weir_message *message,
                             uint64_t timeout_ms, weir_then *then, void *context,
                             uint64_t *out_reference)
{
    return self->host->request(self, to, WEIR_NORMAL, message, timeout_ms, then, context,
                               out_reference);
}

/* As weir_request, in a lane. */
WEIR_INLINE int weir_request_lane(struct weir_self *self, weir_pid to, enum weir_lane lane,
                                  struct weir_message *message, uint64_t timeout_ms,
                                  weir_then *then, void *context, uint64_t *out_reference)
{
    return self->host->request(self, to, lane, message, timeout_ms, then, context, out_reference);
}

/* Cancels a request: `then` gets WEIR_ECANCELLED. WEIR_EUNKNOWN: the request has ended already. */
WEIR_INLINE int weir_cancel(struct weir_self *self, uint64_t reference)
{
    return self->host->cancel(self, reference);
}

/* Replies to a request in hand or kept. Takes the reply on 0; on any other status the caller keeps
 * it. The verdict still settles the request. WEIR_EINVALID: `request` is not a request, or the
 * reply has an origin. WEIR_ENOTALLOWED: the request has a reply already. WEIR_ETIMEOUT: the
 * request's time-out is over. WEIR_ECANCELLED: the requester cancelled the request or failed.
 * WEIR_ETERMINATED: the requester has ended. */
WEIR_INLINE int weir_reply(struct weir_self *self, const struct weir_message *request,
                           struct weir_message *reply)
{
    return self->host->reply(self, (struct weir_message *)(uintptr_t)request, reply);
}

/* Forwards the message in hand, or since 1.1 a kept one, with its sender, reference, origin and
 * payload. On 0 the worker no longer has the message: do not access it, and return WEIR_DONE if it
 * was in hand. Otherwise the worker still has it. WEIR_EINVALID also for any other message and for
 * WEIR_EXIT and WEIR_DOWN; other statuses as weir_send. */
WEIR_INLINE int weir_forward(struct weir_self *self, weir_pid to,
                             const struct weir_message *message)
{
    return self->host->forward(self, to, WEIR_NORMAL, (struct weir_message *)(uintptr_t)message);
}

/* As weir_forward, in a lane. */
WEIR_INLINE int weir_forward_lane(struct weir_self *self, weir_pid to, enum weir_lane lane,
                                  const struct weir_message *message)
{
    return self->host->forward(self, to, lane, (struct weir_message *)(uintptr_t)message);
}

/* Settles a message that `handle` kept. Takes the message on 0. With WEIR_FAIL, since 1.1, this
 * incarnation ends after the present callback, as when `handle` returns WEIR_FAIL. WEIR_EINVALID:
 * the verdict is WEIR_KEEP, WEIR_STOP or none, or the message is not kept; the host logs this
 * mistake. */
WEIR_INLINE int weir_settle(struct weir_self *self, const struct weir_message *kept, int verdict)
{
    return self->host->settle(self, (struct weir_message *)(uintptr_t)kept, verdict);
}

/*
 * Sets the worker's demand: the worker gets a new message only while it has fewer than `count`
 * unsettled messages. `count` is 0 up to the `in_hand` of the behaviour; each incarnation starts
 * with `in_hand`. With 0 the worker gets no new message.
 *
 * Replies, timers and descriptors still reach the worker. Accepted messages wait in its mailbox,
 * and a full mailbox refuses more. With `route: pull`, and in an unbuffered pool, the other workers
 * get the messages. WEIR_EINVALID: `count` is more than `in_hand`. WEIR_ENOTALLOWED: the actor is a
 * source. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_set_demand(struct weir_self *self, uint32_t count)
{
    return self->host->set_demand(self, count);
}

/* Sets how many milliseconds WEIR_RETRY or WEIR_POSTPONE waits, up to UINT32_MAX. Call it before
 * `handle` returns or before weir_settle. Without this call in `handle` the delay is 0. `retry`
 * of the pool may make the pause of WEIR_RETRY longer. */
WEIR_INLINE void weir_retry_after(struct weir_self *self, uint64_t delay_ms)
{
    self->host->retry_after(self, delay_ms);
}

/* Sets the reason of WEIR_REJECT, WEIR_FAIL, WEIR_STOP or a failed `open`. The text is formatted as
 * by printf and cut to 47 bytes, at a whole character of UTF-8. */
WEIR_PRINTF(2, 3)
WEIR_INLINE void weir_reason(struct weir_self *self, const char *format, ...)
{
    char text[256]; /* longer than what is shown: a secret in it is hidden before the cut */
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->host->reason(self, text);
}

/* Registers a name (1 to 127 bytes) for this actor until its incarnation ends. A name that is
 * registered in `open` is reserved at once; a look-up finds it after `open` has succeeded. Borrows
 * the name. WEIR_EEXISTS: the name is in use. WEIR_EINVALID: the name is empty or too long.
 * WEIR_ENOMEM. */
WEIR_INLINE int weir_name(struct weir_self *self, const char *name)
{
    return self->host->name(self, name);
}

/* The PID of this actor. */
WEIR_INLINE weir_pid weir_pid_of(struct weir_self *self)
{
    return self->host->pid(self);
}

/* The path of this actor, such as `images/small#3`. Borrowed until `close` returns. */
WEIR_INLINE const char *weir_path(struct weir_self *self)
{
    return self->host->path(self);
}

/* The number of this worker in its pool: the lowest number that was not in use when the worker was
 * added. 0 for a source. */
WEIR_INLINE uint32_t weir_index(struct weir_self *self)
{
    return self->host->index(self);
}

/* The PID of the pool of this worker, or of the pool that this manager manages; 0 for a source. */
WEIR_INLINE weir_pid weir_pool(struct weir_self *self)
{
    return self->host->pool(self);
}

/* The total of a gauge: weir_progress(self, "queue_length", length, WEIR_GAUGE). */
#define WEIR_GAUGE UINT64_MAX

/* Reports the progress of this actor: `done` and, if known, `total` (else 0) of a unit such as
 * "files" or "bytes". With the total WEIR_GAUGE, `done` is the present value of a figure that may
 * fall; it is no progress, and an actor that has ended has none. The host adds up the figures of
 * all workers of a pool for each unit, and shows them in `weir status` and the metrics. Borrows the
 * unit. An actor may report up to 16 units; further units are ignored. */
WEIR_INLINE void weir_progress(struct weir_self *self, const char *unit, uint64_t done,
                               uint64_t total)
{
    self->host->progress(self, unit, done, total);
}

/* Reports a text as the present value of a unit, such as the name of the server in use: a gauge
 * that is no number. `weir status` shows it; when the workers of a pool report different ones, it
 * shows `several`. A unit has texts or numbers, not both. Borrows the unit and the text, 1 to 512
 * bytes each; others are ignored. The host keeps each different text until it ends, so report few.
 * Since 1.1. */
WEIR_INLINE void weir_progress_text(struct weir_self *self, const char *unit, const char *text)
{
    self->host->progress_text(self, unit, text);
}

/* Sets the status with which `weir run` exits: 0 to 63, or 74 (EX_IOERR), when something could not
 * be written that the next start needs. Other values are ignored. The largest status of all actors
 * is used. */
WEIR_INLINE void weir_exit_status(struct weir_self *self, int status)
{
    self->host->exit_status(self, status);
}

/* Writes text to the host's standard output: whole, in order, never mixed with a progress line.
 * Borrows the text. The call never waits for the reader of the output. While too much text waits
 * for the reader, this actor gets no new message, as when an output has no room. So a callback that
 * prints much should return from time to time. */
WEIR_INLINE void weir_print(struct weir_self *self, const char *text, size_t size)
{
    self->host->print(self, text, size);
}

#endif
