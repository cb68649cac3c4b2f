/* SPDX-License-Identifier: MIT */
/*
 * weir/port.h - a port: the handle by which a plugin's own threads reach its actor.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply. `self` is valid
 * only inside callbacks. An actor that has threads of its own, or that uses a library with
 * callbacks on the library's threads, makes a port with weir_port and gives it to these threads.
 * Any thread may make every call below except weir_port. Only weir_port_request blocks here; the
 * calls of weir/port_tasks.h that have a time-out block, too.
 *
 * A port belongs to one incarnation. After the `close` of that incarnation has returned, every call
 * returns WEIR_ECLOSED and has no other effect. The port may outlive the actor and the runtime, but
 * not the code that it calls: the program, or libweir. A thread that runs code of the plugin must
 * be joined in `close`.
 *
 * The actor owns a kept message, and the incarnation may end at any time. So give a thread a copy
 * of the payload. The pointer to a kept message only identifies it.
 */
#ifndef WEIR_PORT_H
#define WEIR_PORT_H

#include "host.h"

/* The result of a request. Initialise it with WEIR_ANSWER. */
struct weir_answer {
    uint32_t size; /* of this struct */
    uint32_t reserved;
    struct weir_message *message; /* owned by the caller; NULL when there is no reply */
    char detail[48];              /* the text that the rejecting or failing worker set with
                                   * weir_reason; may be empty */
};
#define WEIR_ANSWER                                                                                \
    {                                                                                              \
        sizeof(struct weir_answer), 0, NULL,                                                       \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }

struct weir_port;
struct weir_port_group;
struct weir_group_ended;
struct weir_task_call;

/* The calls of a port. Append-only. */
struct weir_port_calls {
    uint32_t size;
    uint32_t reserved;
    void (*ref)(struct weir_port *);
    void (*unref)(struct weir_port *);
    struct weir_message *(*message_new)(struct weir_port *, const struct weir_tag *, size_t size);
    void (*message_free)(struct weir_port *, struct weir_message *);
    int (*send)(struct weir_port *, weir_pid to, enum weir_lane, struct weir_message *);
    int (*request)(struct weir_port *, weir_pid to, enum weir_lane, struct weir_message *,
                   uint64_t timeout_ms, struct weir_answer *out);
    int (*reply)(struct weir_port *, const struct weir_message *kept, struct weir_message *reply);
    int (*settle)(struct weir_port *, const struct weir_message *kept, int verdict,
                  uint64_t retry_after_ms, const char *reason);

    /* weir/port_tasks.h */
    int (*send_wait)(struct weir_port *, weir_pid to, struct weir_message *, uint64_t timeout_ms);
    int (*begin)(struct weir_port *, weir_pid to, struct weir_message *, bool waits_for_room,
                 uint64_t timeout_ms, uint64_t *out_reference);
    int (*await)(struct weir_port *, uint64_t reference, struct weir_answer *out);
    int (*await_any)(struct weir_port *, const uint64_t *references, uint32_t count,
                     uint64_t timeout_ms, uint32_t *out_index, struct weir_answer *out);
    int (*cancel)(struct weir_port *, uint64_t reference);
    int (*wait_idle)(struct weir_port *, weir_pid pool, uint64_t timeout_ms);
    int (*submit)(struct weir_port *, weir_pid pool, const struct weir_task_call *, uint32_t count,
                  uint64_t timeout_ms, uint32_t *out_count);
    int (*submit_request)(struct weir_port *, weir_pid pool, const struct weir_task_call *,
                          uint64_t timeout_ms, uint64_t *out_reference);
    int (*submit_wait)(struct weir_port *, weir_pid pool, const struct weir_task_call *,
                       uint64_t timeout_ms, int *out_result);
    int (*group_create)(struct weir_port *, uint32_t flags, struct weir_port_group **out_group);
    int (*group_submit)(struct weir_port_group *, weir_pid pool, const struct weir_task_call *,
                        uint32_t count, uint64_t timeout_ms, uint32_t *out_count);
    int (*group_send)(struct weir_port_group *, weir_pid to, struct weir_message *,
                      uint64_t timeout_ms);
    int (*group_wait)(struct weir_port_group *, uint64_t timeout_ms, struct weir_group_ended *out);
    void (*group_cancel)(struct weir_port_group *);
    void (*group_destroy)(struct weir_port_group *);

    int (*lookup)(struct weir_port *, const char *name, weir_pid *out_pid);

    /* weir/port_leases.h */
    int (*take)(struct weir_port *, weir_pid pool, uint64_t timeout_ms, struct weir_lease *out);
    int (*take_begin)(struct weir_port *, weir_pid pool, uint64_t timeout_ms,
                      uint64_t *out_reference);
    int (*lease_send)(struct weir_port *, const struct weir_lease *, struct weir_message *);
    int (*lease_begin)(struct weir_port *, const struct weir_lease *, struct weir_message *,
                       uint64_t timeout_ms, uint64_t *out_reference);
    int (*lease_return)(struct weir_port *, const struct weir_lease *, int how);
    int (*lease_renew)(struct weir_port *, const struct weir_lease *);
};

struct weir_port {
    const struct weir_port_calls *calls; /* const */
};

/* The port of this incarnation. Call it inside a callback. Returns owned: a reference. NULL: memory
 * is out. */
WEIR_INLINE struct weir_port *weir_port(struct weir_self *self)
{
    return self->host->port(self);
}

/* Adds a reference and returns the port. Each reference needs a weir_port_unref. */
WEIR_INLINE struct weir_port *weir_port_ref(struct weir_port *port)
{
    port->calls->ref(port);
    return port;
}

/* Drops a reference; NULL is allowed. */
WEIR_INLINE void weir_port_unref(struct weir_port *port)
{
    if (port)
        port->calls->unref(port);
}

/* As weir_lookup, at any time: also finds pools that were added after `open`. WEIR_EUNKNOWN.
 * WEIR_ENOMEM. */
WEIR_INLINE int weir_port_lookup(struct weir_port *port, const char *name, weir_pid *out_pid)
{
    return port->calls->lookup(port, name, out_pid);
}

/* As weir_message_new, without the cap of `host.memory`. NULL also when the incarnation has
 * ended. */
WEIR_INLINE struct weir_message *weir_port_message_new(struct weir_port *port,
                                                       const struct weir_tag *tag, size_t size)
{
    return port->calls->message_new(port, tag, size);
}

/* Frees a message that was not sent, or an answer. Takes the message, also after the incarnation
 * has ended. A message that has joined an origin leaves it. NULL is allowed. */
WEIR_INLINE void weir_port_message_free(struct weir_port *port, struct weir_message *message)
{
    port->calls->message_free(port, message);
}

/*
 * Sends a message from the actor; `to` = 0 is the actor itself. Takes the message on 0. Statuses as
 * weir_send. WEIR_ECLOSED also when the incarnation has ended.
 */
WEIR_INLINE int weir_port_send(struct weir_port *port, weir_pid to, struct weir_message *message)
{
    return port->calls->send(port, to, WEIR_NORMAL, message);
}

/* As weir_port_send, in a lane. */
WEIR_INLINE int weir_port_send_lane(struct weir_port *port, weir_pid to, enum weir_lane lane,
                                    struct weir_message *message)
{
    return port->calls->send(port, to, lane, message);
}

/*
 * Sends a request and waits up to `timeout_ms` for the answer. Always takes the message: a refused
 * message is freed. Returns 0 with the reply in `out`. A request that cannot be sent fails at once,
 * with a status of weir_send. Without a reply: WEIR_ETIMEOUT: no worker has begun it, and none ever
 * will; WEIR_ERUNNING: the time is over, and a worker has begun it; WEIR_EREJECTED, WEIR_ECRASHED,
 * WEIR_ENOREPLY, ... WEIR_EDEADLK: the thread belongs to the runtime's dispatchers. WEIR_EINVALID:
 * out->size is too small.
 */
WEIR_INLINE int weir_port_request(struct weir_port *port, weir_pid to, struct weir_message *message,
                                  uint64_t timeout_ms, struct weir_answer *out)
{
    return port->calls->request(port, to, WEIR_NORMAL, message, timeout_ms, out);
}

/*
 * Replies to a kept request; the actor sends the reply in its next turn. Takes the reply on 0. The
 * reply is freed when the request has a reply already, is no longer kept, or was cancelled.
 */
WEIR_INLINE int weir_port_reply(struct weir_port *port, const struct weir_message *kept,
                                struct weir_message *reply)
{
    return port->calls->reply(port, kept, reply);
}

/*
 * Settles a kept message with WEIR_DONE, WEIR_REJECT, WEIR_RETRY or, since 1.1, WEIR_POSTPONE or
 * WEIR_FAIL, in the actor's next turn and in the order of calls. If the incarnation ends before
 * that turn, the message becomes a dead letter like any other kept message. `retry_after_ms` is the
 * delay of WEIR_RETRY and WEIR_POSTPONE. `reason` is copied, up to 47 bytes, and may be NULL.
 * WEIR_EINVALID: another verdict. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_port_settle(struct weir_port *port, const struct weir_message *kept,
                                 int verdict, uint64_t retry_after_ms, const char *reason)
{
    return port->calls->settle(port, kept, verdict, retry_after_ms, reason);
}

#endif
