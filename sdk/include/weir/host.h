/*
 * weir/host.h - the calls that a behaviour may make into its host.
 *
 * Every call goes through a table in `self`, so a plugin links nothing, and a test can take the
 * place of the host. Use the inline functions. Include <weir/plugin.h>, not this file.
 *
 * `self` is valid only inside a callback of its actor. No call blocks, and no call runs a callback
 * before it returns. A plugin's own threads must not make these calls; they use weir_port. Words
 * used: *takes*: the callee owns the argument when the result is 0; *borrows*: until the call
 * returns; *returns owned*: the caller owns the result.
 */
#ifndef WEIR_HOST_H
#define WEIR_HOST_H

#include <stdarg.h>
#include <stdio.h>

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

enum weir_log_level {
    WEIR_LOG_ERROR = 0,
    WEIR_LOG_WARNING = 1,
    WEIR_LOG_INFO = 2,
    WEIR_LOG_DEBUG = 3,
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

/* The answer to a request. Borrowed until the continuation returns. */
struct weir_reply {
    uint64_t reference;                 /* of the request */
    int status;                         /* 0, or the reason why there is no message:
                                         * WEIR_ETIMEOUT, ... */
    const struct weir_message *message; /* NULL when status is not 0 */
    const char *detail;                 /* text that the rejecting worker set by weir_reason; may
                                         * be "" */
};

/* Called in a turn of the actor that sent the request, after the callback that sent it has
 * returned. */
typedef void weir_then(struct weir_self *self, void *state, void *context,
                       const struct weir_reply *reply);
/* Called in a turn of the actor that armed the timer. */
typedef void weir_tick(struct weir_self *self, void *state, void *context);

/* Events of a descriptor. Bits. */
enum weir_readiness {
    WEIR_READABLE = 1u << 0,
    WEIR_WRITABLE = 1u << 1,
};

/*
 * Called in a turn of the actor that watches `descriptor`. `readiness` has bits of enum
 * weir_readiness, or is WEIR_EINVALID when the descriptor was closed.
 */
typedef void weir_ready(struct weir_self *self, void *state, void *context, int descriptor,
                        int readiness);

/*
 * The table. Append-only. A plugin need not look at `size`: a host whose minor is older than the
 * plugin's does not load it, so whatever its headers name is there. Each prototype says
 * what it does in a worker that is a process of its own (`isolation: process`, a later version):
 * (same) or (round trip).
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

    /* the verdict's details (same) */
    void (*retry_after)(struct weir_self *, uint64_t delay_ms);
    void (*reason)(struct weir_self *, const char *text);

    /* time (same) */
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

    /* about oneself (same) */
    weir_pid (*pid)(struct weir_self *);
    const char *(*path)(struct weir_self *);
    uint32_t (*index)(struct weir_self *);
    weir_pid (*pool)(struct weir_self *);

    /* pools (round trip) */
    int (*pool_resize)(struct weir_self *, weir_pid pool, uint32_t target,
                       struct weir_resized *out);
    int (*pool_add)(struct weir_self *, weir_pid pool, int32_t count, struct weir_resized *out);
    int (*pool_stats)(struct weir_self *, weir_pid pool, struct weir_pool_stats *out);

    /* telling people (same) */
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

    /* origins (same) */
    int (*set_origin)(struct weir_self *, struct weir_message *, uint64_t token);
    struct weir_port *(*port)(struct weir_self *); /* ports (unsupported) */

    /* chains (round trip), the stash (same), names (round trip) */
    int (*send_chain)(struct weir_self *, weir_pid to, struct weir_message *const *messages,
                      uint32_t count);
    int (*stash)(struct weir_self *, struct weir_message *);
    uint32_t (*unstash)(struct weir_self *, uint32_t count);
    int (*rename)(struct weir_self *, const char *from, const char *to);
    /* pools (round trip) */
    int (*pool_tell)(struct weir_self *, weir_pid pool, uint64_t epoch);
    /* sources (same) */
    int (*leave_position)(struct weir_self *, const void *data, size_t size);

    /* requests (same), blobs (same) */
    uint64_t (*time_left)(struct weir_self *, const struct weir_message *);
    struct weir_blob *(*blob_new)(struct weir_self *, size_t size);
    struct weir_message *(*message_with_blob)(struct weir_self *, const struct weir_tag *,
                                              struct weir_blob *);
    struct weir_blob *(*message_blob)(struct weir_self *, const struct weir_message *);

    /* events (round trip) */
    int (*event)(struct weir_self *, const char *name, uint64_t *out_event);
    int (*subscribe)(struct weir_self *, const char *name);
    int (*unsubscribe)(struct weir_self *, const char *name);
    int (*publish)(struct weir_self *, uint64_t event, struct weir_message *, uint32_t *out_taken,
                   uint32_t *out_refused);
    /* inspecting (round trip) */
    int (*inspect)(struct weir_self *, weir_pid other, const char *const *items,
                   uint64_t timeout_ms, weir_then *, void *context, uint64_t *out_reference);
    /* descriptors (unsupported) */
    int (*watch)(struct weir_self *, int descriptor, uint32_t events, weir_ready *, void *context,
                 uint64_t *out_watch);
    int (*unwatch)(struct weir_self *, uint64_t watch);
    /* children (round trip) */
    int (*spawn)(struct weir_self *, const struct weir_spawn_options *, weir_pid *out_child);
    int (*stop)(struct weir_self *, weir_pid child, bool now);
    weir_pid (*parent)(struct weir_self *);
    /* demand (same) */
    int (*set_demand)(struct weir_self *, uint32_t count);
};

/*
 * The tag of a name, such as "integrity.file/1" (name.noun/version by custom). Equal names give the
 * same pointer. NULL when memory is out. Borrows the name. Call it in `open` and keep the tag.
 */
static inline const struct weir_tag *weir_tag(struct weir_self *self, const char *name)
{
    return self->host->tag(self, name);
}

/*
 * A new message with `size` bytes of zeroed payload, owned by the caller; NULL when memory is out
 * or `host.memory` is reached (try again later). Set `key` for a pool that routes by hash.
 */
static inline struct weir_message *weir_message_new(struct weir_self *self,
                                                    const struct weir_tag *tag, size_t size)
{
    return self->host->message_new(self, tag, size);
}

/* Takes a message that was made and not sent. NULL is allowed. */
static inline void weir_message_free(struct weir_self *self, struct weir_message *message)
{
    self->host->message_free(self, message);
}

/*
 * Sends a message to an actor or, through its routing, to one worker of a pool. Takes it on 0.
 * WEIR_EFULL: no eligible worker has room, or none is open yet. WEIR_EUNKNOWN, WEIR_ETERMINATED: no
 * such actor, or it has ended. WEIR_ECLOSED: the receiver drains. WEIR_EINVALID: no key for a pool
 * that routes by hash, or the payload is larger than `mailbox_bytes`. Messages of one sender to one
 * receiver in one lane are handled in the order of sending.
 */
static inline int weir_send(struct weir_self *self, weir_pid to, struct weir_message *message)
{
    return self->host->send(self, to, WEIR_NORMAL, message);
}

/* As weir_send, in a lane: messages in high and urgent reach a pool's manager, never its
 * workers. */
static inline int weir_send_lane(struct weir_self *self, weir_pid to, enum weir_lane lane,
                                 struct weir_message *message)
{
    return self->host->send(self, to, lane, message);
}

/* The PID of a registered name or of a pool's path (`images/fast`). WEIR_EUNKNOWN. */
static inline int weir_lookup(struct weir_self *self, const char *name, weir_pid *out_pid)
{
    return self->host->lookup(self, name, out_pid);
}

/*
 * Sends a message to output number `output` of the behaviour's table. Takes it on 0. The operator
 * chooses by `when_full` what happens when the target is full: `wait` keeps the message, in order,
 * and this worker gets no new message until there is room (WEIR_EFULL only when 256 wait); `reject`
 * answers WEIR_EFULL; `drop_newest` and `dead_letter` answer 0 and make it a dead letter. An output
 * that YAML leaves unbound takes the message, frees it and counts it (`unbound` in `weir status
 * POOL`). WEIR_EINVALID: no such output.
 */
static inline int weir_emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    return self->host->emit(self, output, message);
}

/*
 * Sends a request. Takes the message on 0, and then calls `then` exactly once: with the reply, or
 * with the reason why there is none; after `timeout_ms` with WEIR_ETIMEOUT, never earlier. A
 * request that cannot be sent is refused at once, with the statuses of weir_send. `out_reference`
 * may be NULL.
 */
static inline int weir_request(struct weir_self *self, weir_pid to, struct weir_message *message,
                               uint64_t timeout_ms, weir_then *then, void *context,
                               uint64_t *out_reference)
{
    return self->host->request(self, to, WEIR_NORMAL, message, timeout_ms, then, context,
                               out_reference);
}

/* As weir_request, in a lane. */
static inline int weir_request_lane(struct weir_self *self, weir_pid to, enum weir_lane lane,
                                    struct weir_message *message, uint64_t timeout_ms,
                                    weir_then *then, void *context, uint64_t *out_reference)
{
    return self->host->request(self, to, lane, message, timeout_ms, then, context, out_reference);
}

/* Cancels a request: `then` gets WEIR_ECANCELLED. WEIR_EUNKNOWN: the request has ended. */
static inline int weir_cancel(struct weir_self *self, uint64_t reference)
{
    return self->host->cancel(self, reference);
}

/*
 * Replies to a request in hand or kept. Takes the reply on 0; the request stays and is settled by
 * the verdict. Otherwise the caller keeps the reply. WEIR_EINVALID: not a request.
 * WEIR_ENOTALLOWED: it has a reply already. WEIR_ETIMEOUT: its time is over. WEIR_ECANCELLED: the
 * requester cancelled it or failed. WEIR_ETERMINATED: the requester has ended.
 */
static inline int weir_reply(struct weir_self *self, const struct weir_message *request,
                             struct weir_message *reply)
{
    return self->host->reply(self, (struct weir_message *)(uintptr_t)request, reply);
}

/*
 * Forwards the message in hand with its sender, reference, origin and payload. On 0 the message is
 * not the worker's any more: return WEIR_DONE and do not touch it. Answers as weir_send.
 */
static inline int weir_forward(struct weir_self *self, weir_pid to,
                               const struct weir_message *message)
{
    return self->host->forward(self, to, WEIR_NORMAL, (struct weir_message *)(uintptr_t)message);
}

/* As weir_forward, in a lane. */
static inline int weir_forward_lane(struct weir_self *self, weir_pid to, enum weir_lane lane,
                                    const struct weir_message *message)
{
    return self->host->forward(self, to, lane, (struct weir_message *)(uintptr_t)message);
}

/* Settles a message that `handle` kept, with WEIR_DONE, WEIR_REJECT or WEIR_RETRY. Takes it. */
static inline int weir_settle(struct weir_self *self, const struct weir_message *kept, int verdict)
{
    return self->host->settle(self, (struct weir_message *)(uintptr_t)kept, verdict);
}

/*
 * From now on the worker gets a new message only while it has fewer than `count` unsettled ones: 0
 * up to the `in_hand` of its behaviour, with which each incarnation begins. 0: it gets nothing new.
 * Replies, timers and descriptors still reach it. Messages that it has accepted wait, and its full
 * mailbox refuses more; with `route: pull`, and in an unbuffered pool, other workers get them.
 * WEIR_EINVALID: more than `in_hand`; WEIR_ENOTALLOWED: a source; WEIR_ENOMEM.
 */
static inline int weir_set_demand(struct weir_self *self, uint32_t count)
{
    return self->host->set_demand(self, count);
}

/* Sets how long WEIR_RETRY waits; call it before `handle` returns or before weir_settle. */
static inline void weir_retry_after(struct weir_self *self, uint64_t delay_ms)
{
    self->host->retry_after(self, delay_ms);
}

/* Sets the reason (at most 47 bytes, as printf) of REJECT, FAIL, STOP or a failed open. */
WEIR_PRINTF(2, 3)
static inline void weir_reason(struct weir_self *self, const char *format, ...)
{
    char text[48];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    self->host->reason(self, text);
}

/* Monotonic milliseconds, not a date. May be some milliseconds old. */
static inline uint64_t weir_now_ms(struct weir_self *self)
{
    return self->host->now_ms(self);
}

/*
 * Sends a message once, `delay_ms` from now. Takes it on 0. A message that is refused when it is
 * due becomes a dead letter, and `undelivered` is called. Cancelled when this incarnation ends.
 * `out_timer` may be NULL.
 */
static inline int weir_send_after(struct weir_self *self, weir_pid to, struct weir_message *message,
                                  uint64_t delay_ms, uint64_t *out_timer)
{
    return self->host->send_after(self, to, WEIR_NORMAL, message, delay_ms, out_timer);
}

/* Calls `tick` once, `delay_ms` from now, never earlier. Cancelled when this incarnation ends. */
static inline int weir_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick,
                             void *context, uint64_t *out_timer)
{
    return self->host->after(self, delay_ms, tick, context, out_timer);
}

/* Calls `tick` every `period_ms` (at least 1). Missed periods are skipped. */
static inline int weir_every(struct weir_self *self, uint64_t period_ms, weir_tick *tick,
                             void *context, uint64_t *out_timer)
{
    return self->host->every(self, period_ms, tick, context, out_timer);
}

/* Cancels a timer; its message, if any, is freed. WEIR_EUNKNOWN: it has fired, or there is no
 * such timer. */
static inline int weir_cancel_timer(struct weir_self *self, uint64_t timer)
{
    return self->host->cancel_timer(self, timer);
}

/* Links two actors: when one ends other than normally, the other ends too, unless it traps
 * exits. */
static inline int weir_link(struct weir_self *self, weir_pid other)
{
    return self->host->link(self, other);
}

/* Removes the link. 0 also when there was none. */
static inline int weir_unlink(struct weir_self *self, weir_pid other)
{
    return self->host->unlink(self, other);
}

/* Asks for one WEIR_DOWN message when the incarnation of `other` ends; at once if it has ended. */
static inline int weir_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor)
{
    return self->host->monitor(self, other, out_monitor);
}

/* Removes a monitor. WEIR_EUNKNOWN: no such monitor. */
static inline int weir_demonitor(struct weir_self *self, uint64_t monitor)
{
    return self->host->demonitor(self, monitor);
}

/* With `on`, the end of a linked actor arrives as a WEIR_EXIT message and does not end this
 * actor. */
static inline int weir_trap_exits(struct weir_self *self, bool on)
{
    return self->host->trap_exits(self, on);
}

/*
 * Asks an actor to end. WEIR_END_KILL cannot be trapped. In the place of a pool's worker a new
 * incarnation opens. A pool closes; with WEIR_END_KILL it ends after the messages in hand, and
 * waiting messages become dead letters.
 */
static inline int weir_exit(struct weir_self *self, weir_pid other, enum weir_end_reason reason)
{
    return self->host->exit(self, other, reason);
}

/* Registers a name for this actor until its incarnation ends. A name registered in `open` is
 * reserved at once, and can be looked up after the open has succeeded. WEIR_EEXISTS. */
static inline int weir_name(struct weir_self *self, const char *name)
{
    return self->host->name(self, name);
}

/* The PID of this actor. */
static inline weir_pid weir_pid_of(struct weir_self *self)
{
    return self->host->pid(self);
}

/* The path of this actor, such as `images/small#3`. Borrowed until `close` returns. */
static inline const char *weir_path(struct weir_self *self)
{
    return self->host->path(self);
}

/* The number of this worker in its pool: the lowest free number when it was added; 0 for a
 * source. */
static inline uint32_t weir_index(struct weir_self *self)
{
    return self->host->index(self);
}

/* The pool of this worker, or the pool that this manager manages; 0 for a source. */
static inline weir_pid weir_pool(struct weir_self *self)
{
    return self->host->pool(self);
}

/*
 * Sets how many members a pool has. Returns at once: the target is set, and workers open and leave
 * later. `out` may be NULL. WEIR_EINVALID: outside the bounds, nothing changes; with `clamp: true`
 * in the file the nearest bound is used, and `out` has the result. WEIR_ECLOSED: the pool is
 * closing.
 */
static inline int weir_pool_resize(struct weir_self *self, weir_pid pool, uint32_t target,
                                   struct weir_resized *out)
{
    return self->host->pool_resize(self, pool, target, out);
}

/* As weir_pool_resize, to `count` more. WEIR_EINVALID also when `count` is negative. */
static inline int weir_pool_add(struct weir_self *self, weir_pid pool, int32_t count,
                                struct weir_resized *out)
{
    return count < 0 ? WEIR_EINVALID : self->host->pool_add(self, pool, count, out);
}

/* As weir_pool_resize, to `count` fewer. WEIR_EINVALID also when there are not so many. */
static inline int weir_pool_remove(struct weir_self *self, weir_pid pool, uint32_t count,
                                   struct weir_resized *out)
{
    return count > INT32_MAX ? WEIR_EINVALID
                             : self->host->pool_add(self, pool, -(int32_t)count, out);
}

/*
 * Pauses a pool: after the return it refuses every message with WEIR_EFULL. Its workers go on with
 * the messages that they have. 0 also when the pool was paused already.
 */
static inline int weir_pool_pause(struct weir_self *self, weir_pid pool)
{
    return self->host->pool_pause(self, pool, true);
}

/* Ends the pause, and wakes senders that wait for room. 0 also when the pool was not paused. */
static inline int weir_pool_resume(struct weir_self *self, weir_pid pool)
{
    return self->host->pool_pause(self, pool, false);
}

/*
 * Lists a pool's members, also those that are leaving: fills up to `max` elements of `out`, which
 * may be NULL when `max` is 0. `out_count` is the number of members, also when it is larger than
 * `max`.
 */
static inline int weir_pool_members(struct weir_self *self, weir_pid pool, struct weir_member *out,
                                    uint32_t max, uint32_t *out_count)
{
    return self->host->pool_members(self, pool, out, sizeof *out, max, out_count);
}

/*
 * Asks for one message WEIR_POOL_RESIZED in the lane high, with the result of the opens of the
 * change with this epoch, when they have ended. WEIR_EINVALID: there was no such epoch;
 * WEIR_ECLOSED, WEIR_ENOMEM.
 */
static inline int weir_pool_tell(struct weir_self *self, weir_pid pool, uint64_t epoch)
{
    return self->host->pool_tell(self, pool, epoch);
}

/* The target size of this worker's or manager's pool; 0 for a source. */
static inline uint32_t weir_pool_size(struct weir_self *self)
{
    return self->host->pool_size(self);
}

/* Reads a pool's figures. Set out->size to sizeof *out first. Never blocks. WEIR_EINVALID:
 * out->size is too small; WEIR_EUNKNOWN, WEIR_ETERMINATED. */
static inline int weir_pool_stats(struct weir_self *self, weir_pid pool,
                                  struct weir_pool_stats *out)
{
    return self->host->pool_stats(self, pool, out);
}

/*
 * Reports the progress of this actor: `done` and, if known, `total` (else 0) of a unit such as
 * "files" or "bytes". The figures of all workers of a pool are added up for each unit. Borrows the
 * unit, which must be a constant.
 */
static inline void weir_progress(struct weir_self *self, const char *unit, uint64_t done,
                                 uint64_t total)
{
    self->host->progress(self, unit, done, total);
}

/* Asks `weir run` to exit with this status, 0..63; the largest one that any actor asks for
 * counts. */
static inline void weir_exit_status(struct weir_self *self, int status)
{
    self->host->exit_status(self, status);
}

/*
 * Writes text to the host's standard output: whole, in order, never mixed with a progress line.
 * Borrows. The call never waits for the reader of the output: while too much text waits to be read,
 * this actor gets no more messages, as when an output has no room. So return from the callback from
 * time to time.
 */
static inline void weir_print(struct weir_self *self, const char *text, size_t size)
{
    self->host->print(self, text, size);
}

#include "log.h"
#include "source.h"

#endif
