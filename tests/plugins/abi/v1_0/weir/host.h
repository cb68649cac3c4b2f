/* SPDX-License-Identifier: MIT */
/*
 * weir/host.h - what a behaviour may ask of its host.
 *
 * Every call goes through a table reached from `self`, so a plugin links nothing and a test can
 * stand in for the host. Use the inline functions; include <weir/plugin.h>, not this file.
 *
 * `self` is valid only inside a callback of its own actor. None of these calls blocks, none calls
 * back before it returns, and none may be made from a thread of the plugin's own. Words used:
 * *takes* - the callee owns it when the answer is 0; *borrows* - until the call returns; *returns
 * owned* - the caller owns it.
 */
#ifndef WEIR_HOST_H
#define WEIR_HOST_H

#include <stdarg.h>
#include <stdio.h>

#include "message.h"
#include "option.h"
#include "status.h"

#if defined(__GNUC__)
#define WEIR_PRINTF(format_index, first_index)                                                     \
    __attribute__((format(printf, format_index, first_index)))
#else
#define WEIR_PRINTF(format_index, first_index)
#endif

struct weir_host;

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
    int status;                         /* 0, or why there is no message: WEIR_ETIMEOUT, ... */
    const struct weir_message *message; /* NULL when status is not 0 */
    const char *detail;                 /* what a rejecting worker said; "" otherwise */
};

/* Called in a turn of the actor that asked, after the callback that asked has returned. */
typedef void weir_then(struct weir_self *self, void *state, void *context,
                       const struct weir_reply *reply);
/* Called in a turn of the actor that armed the timer. */
typedef void weir_tick(struct weir_self *self, void *state, void *context);

/* What weir_pool_resize and its kind answer. */
struct weir_resized {
    uint32_t changed; /* workers added or removed by this call */
    uint32_t size;    /* the new target */
    uint64_t epoch;   /* grows by one with each change of this pool's membership */
};

/* A consistent look at one pool: the sum of its leaves when it is nested. */
struct weir_pool_stats {
    uint32_t size;     /* of this struct; set it to sizeof before the call */
    uint32_t target;   /* members wanted */
    uint32_t live;     /* open and accepting */
    uint32_t busy;     /* with a message in hand */
    uint32_t starting; /* not open yet, or waiting to be opened again */
    uint32_t retiring; /* removed, finishing what they accepted */
    uint64_t epoch;
    uint64_t accepted;
    uint64_t done;
    uint64_t dead;  /* all reasons */
    uint64_t moved; /* handed to another member */
    uint64_t queued;
    uint64_t in_hand;
    uint64_t held;    /* settled when an outbox empties or a retry is due */
    uint64_t refused; /* at this pool, outside the ledger */
    uint64_t restarts;
};

/*
 * The table. Append-only: `size` tells a plugin how much of it this host has. Each prototype says
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
};

/*
 * The tag of a name, such as "integrity.file/1" (name.noun/version by custom). The same pointer
 * for the same name. NULL when memory is out. Borrows the name. Look it up in `open`, keep it.
 */
static inline const struct weir_tag *weir_tag(struct weir_self *self, const char *name)
{
    return self->host->tag(self, name);
}

/*
 * A new message with `size` bytes of zeroed payload, owned by the caller; NULL when memory is out
 * or the host's cap is reached. Set `key` when it goes to a pool that routes by hash.
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
 * WEIR_EFULL no room anywhere below; WEIR_EUNKNOWN, WEIR_ETERMINATED no such actor any more;
 * WEIR_ECLOSED it drains; WEIR_EINVALID a pool that routes by hash and no key. Order of sending is
 * order of handling, per sender, receiver and lane.
 */
static inline int weir_send(struct weir_self *self, weir_pid to, struct weir_message *message)
{
    return self->host->send(self, to, WEIR_NORMAL, message);
}

/* As weir_send, in a lane: high and urgent reach a pool's manager, never its workers. */
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
 * Sends a message out by output number `output` of the behaviour's table. Takes it on 0. What
 * happens when the pool behind it is full is the operator's choice: `wait` keeps it, in order, and
 * gives this worker nothing new until there is room (WEIR_EFULL only past 256 waiting); `reject`
 * answers WEIR_EFULL; `drop_newest` and `dead_letter` answer 0 and count it dead. An output that
 * YAML leaves unbound takes the message and frees it. WEIR_EINVALID: no such output.
 */
static inline int weir_emit(struct weir_self *self, uint32_t output, struct weir_message *message)
{
    return self->host->emit(self, output, message);
}

/*
 * Sends a request. Takes the message on 0, and then calls `then` exactly once: with the reply, or
 * with why there is none; after `timeout_ms` with WEIR_ETIMEOUT, never earlier. What is known to
 * be impossible is answered here and now, as for weir_send. `out_reference` may be NULL.
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

/* Gives a request up: `then` gets WEIR_ECANCELLED. WEIR_EUNKNOWN: it is not open any more. */
static inline int weir_cancel(struct weir_self *self, uint64_t reference)
{
    return self->host->cancel(self, reference);
}

/*
 * Answers a request in hand or kept. Takes the reply on 0; the request stays and is settled by
 * the verdict. WEIR_EINVALID: not a request. WEIR_ENOTALLOWED: answered before, or the requester
 * gave up; the caller keeps the reply.
 */
static inline int weir_reply(struct weir_self *self, const struct weir_message *request,
                             struct weir_message *reply)
{
    return self->host->reply(self, (struct weir_message *)request, reply);
}

/*
 * Passes the message in hand on, with sender, reference, origin and payload as they are. On 0 it
 * is gone: return WEIR_DONE and do not touch it. Answers as weir_send.
 */
static inline int weir_forward(struct weir_self *self, weir_pid to,
                               const struct weir_message *message)
{
    return self->host->forward(self, to, WEIR_NORMAL, (struct weir_message *)message);
}

/* Settles a message that `handle` kept, with WEIR_DONE, WEIR_REJECT or WEIR_RETRY. Takes it. */
static inline int weir_settle(struct weir_self *self, const struct weir_message *kept, int verdict)
{
    return self->host->settle(self, (struct weir_message *)kept, verdict);
}

/* How long WEIR_RETRY waits; before the return of `handle` or the call of weir_settle. */
static inline void weir_retry_after(struct weir_self *self, uint64_t delay_ms)
{
    self->host->retry_after(self, delay_ms);
}

/* Why: printf into the detail (at most 47 bytes) of REJECT, FAIL, STOP or a failed open. */
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

/* Monotonic milliseconds; of no use as a date. May be some milliseconds old. */
static inline uint64_t weir_now_ms(struct weir_self *self)
{
    return self->host->now_ms(self);
}

/*
 * Sends a message once, `delay_ms` from now. Takes it on 0. Refused when due = dead letter. Ends
 * with this incarnation. `out_timer` may be NULL.
 */
static inline int weir_send_after(struct weir_self *self, weir_pid to, struct weir_message *message,
                                  uint64_t delay_ms, uint64_t *out_timer)
{
    return self->host->send_after(self, to, WEIR_NORMAL, message, delay_ms, out_timer);
}

/* Calls `tick` once, `delay_ms` from now, never earlier. Ends with this incarnation. */
static inline int weir_after(struct weir_self *self, uint64_t delay_ms, weir_tick *tick,
                             void *context, uint64_t *out_timer)
{
    return self->host->after(self, delay_ms, tick, context, out_timer);
}

/* Calls `tick` every `period_ms` (at least 1). Missed beats are not made up for. */
static inline int weir_every(struct weir_self *self, uint64_t period_ms, weir_tick *tick,
                             void *context, uint64_t *out_timer)
{
    return self->host->every(self, period_ms, tick, context, out_timer);
}

/* Disarms a timer; its message, if any, is freed. WEIR_EUNKNOWN: it has fired or never was. */
static inline int weir_cancel_timer(struct weir_self *self, uint64_t timer)
{
    return self->host->cancel_timer(self, timer);
}

/* Ties two actors: when one ends other than normally, so does the other, unless it traps exits. */
static inline int weir_link(struct weir_self *self, weir_pid other)
{
    return self->host->link(self, other);
}

/* Unties. 0 also when they were not tied. */
static inline int weir_unlink(struct weir_self *self, weir_pid other)
{
    return self->host->unlink(self, other);
}

/* Asks for one WEIR_DOWN message when `other`'s incarnation ends; at once if it has ended. */
static inline int weir_monitor(struct weir_self *self, weir_pid other, uint64_t *out_monitor)
{
    return self->host->monitor(self, other, out_monitor);
}

/* Takes that back. WEIR_EUNKNOWN: no such monitor. */
static inline int weir_demonitor(struct weir_self *self, uint64_t monitor)
{
    return self->host->demonitor(self, monitor);
}

/* With `on`, the end of a linked actor comes as a WEIR_EXIT message instead of ending this one. */
static inline int weir_trap_exits(struct weir_self *self, bool on)
{
    return self->host->trap_exits(self, on);
}

/*
 * Asks an actor to end. WEIR_END_KILL cannot be trapped. The place of a pool's worker is opened
 * anew; a pool closes.
 */
static inline int weir_exit(struct weir_self *self, weir_pid other, enum weir_end_reason reason)
{
    return self->host->exit(self, other, reason);
}

/* Registers a name for this actor until its incarnation ends. WEIR_EEXISTS. */
static inline int weir_name(struct weir_self *self, const char *name)
{
    return self->host->name(self, name);
}

/* This actor. */
static inline weir_pid weir_pid_of(struct weir_self *self)
{
    return self->host->pid(self);
}

/* Its path, such as `images/small#3`. Borrowed until `close` returns. */
static inline const char *weir_path(struct weir_self *self)
{
    return self->host->path(self);
}

/* Its number within its pool: the lowest free one when it was added; 0 for a source. */
static inline uint32_t weir_index(struct weir_self *self)
{
    return self->host->index(self);
}

/* The pool it belongs to; 0 for a source. */
static inline weir_pid weir_pool(struct weir_self *self)
{
    return self->host->pool(self);
}

/*
 * Sets how many members a pool has. Returns at once: the target is set, workers open and leave as
 * they can. `out` may be NULL. WEIR_EINVALID over the bounds, no change. WEIR_ECLOSED at its end.
 */
static inline int weir_pool_resize(struct weir_self *self, weir_pid pool, uint32_t target,
                                   struct weir_resized *out)
{
    return self->host->pool_resize(self, pool, target, out);
}

/* As weir_pool_resize by `count` more, or fewer when it is negative. */
static inline int weir_pool_add(struct weir_self *self, weir_pid pool, int32_t count,
                                struct weir_resized *out)
{
    return self->host->pool_add(self, pool, count, out);
}

/* Reads a pool's figures. Set out->size to sizeof *out first. Never blocks. */
static inline int weir_pool_stats(struct weir_self *self, weir_pid pool,
                                  struct weir_pool_stats *out)
{
    return self->host->pool_stats(self, pool, out);
}

/*
 * Tells how far this actor is: `done` and, if known, `total` (else 0) of a unit such as "files" or
 * "bytes". Figures of one pool and unit are added up. Borrows the unit; it must be a constant.
 */
static inline void weir_progress(struct weir_self *self, const char *unit, uint64_t done,
                                 uint64_t total)
{
    self->host->progress(self, unit, done, total);
}

/* What `weir run` shall exit with, 0..63; the largest one that any actor asks for wins. */
static inline void weir_exit_status(struct weir_self *self, int status)
{
    self->host->exit_status(self, status);
}

/* Writes text to the host's standard output, whole; never mixed with a progress line. Borrows. */
static inline void weir_print(struct weir_self *self, const char *text, size_t size)
{
    self->host->print(self, text, size);
}

/* A text for a log line. Borrows it until the call of weir_log returns. */
static inline struct weir_field weir_str(const char *key, const char *value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_STRING;
    field.reserved = 0;
    field.value.string = value;
    return field;
}

/* A signed number for a log line. */
static inline struct weir_field weir_int(const char *key, int64_t value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_I64;
    field.reserved = 0;
    field.value.integer = value;
    return field;
}

/* A number for a log line. */
static inline struct weir_field weir_uint(const char *key, uint64_t value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_U64;
    field.reserved = 0;
    field.value.natural = value;
    return field;
}

/* A real number for a log line. */
static inline struct weir_field weir_real(const char *key, double value)
{
    struct weir_field field;

    field.key = key;
    field.kind = WEIR_F64;
    field.reserved = 0;
    field.value.real = value;
    return field;
}

/*
 * weir_log(self, level, event, field...): one line, `event key=value ...`; the host adds time,
 * level, pool and worker. At most 8 fields.
 *
 *     weir_log(self, WEIR_LOG_WARNING, "unreadable", weir_str("path", p), weir_int("errno", e));
 */
#define weir_log(self, level, ...) weir_log_fields(self, level, __VA_ARGS__, weir_str(NULL, NULL))

/* What weir_log calls; the last field has a NULL key. */
static inline void weir_log_fields(struct weir_self *self, enum weir_log_level level,
                                   const char *event, ...)
{
    struct weir_field fields[9];
    va_list arguments;
    size_t count = 0;

    va_start(arguments, event);
    while (count < 8) {
        fields[count] = va_arg(arguments, struct weir_field);
        if (!fields[count].key)
            break;
        count++;
    }
    fields[count].key = NULL;
    va_end(arguments);
    self->host->log(self, level, event, fields);
}

#endif
