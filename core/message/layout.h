/* SPDX-License-Identifier: MIT */
/*
 * message/layout.h - the layout of a message: the public prefix and the fields after it.
 *
 * One allocation with the payload, 128 bytes for up to 32 bytes of payload. The first cache line
 * holds the fields of every hop; the second is used only when a flag says so.
 *
 * Not synchronised: a message has one owner. `next` is the exception; see mailbox.h.
 */
#ifndef MESSAGE_LAYOUT_H
#define MESSAGE_LAYOUT_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <weir/plugin.h>

struct cache;

/* Kinds beyond those of weir/message.h: they never reach a behaviour. */
enum message_kind {
    MESSAGE_REPLY = 16,       /* answers a request; `status` is the result */
    MESSAGE_LINK = 17,        /* adds a link: the end of either actor sends WEIR_EXIT */
    MESSAGE_UNLINK = 18,      /* removes the link */
    MESSAGE_MONITOR = 19,     /* adds a monitor: the receiver's end sends WEIR_DOWN */
    MESSAGE_DEMONITOR = 20,   /* removes the monitor */
    MESSAGE_SETTLED = 21,     /* notifies an origin of the outcome of its message; see origin.h */
    MESSAGE_PORT_REPLY = 22,  /* from a plugin's thread: the reply to a kept request */
    MESSAGE_PORT_SETTLE = 23, /* from a plugin's thread: settle a kept message */
    MESSAGE_INSPECT = 24,     /* a request for items; data: their names, each with its NUL */
    MESSAGE_READY = 25,       /* a watched descriptor is ready; `status` has its readiness */
};

/* Bits of `public.reserved`, which the SDK reserves for the runtime. */
enum message_flags {
    MESSAGE_ANSWERED = 1u << 0,       /* a request that has had its reply */
    MESSAGE_KEPT = 1u << 1,           /* with a worker that settles it later */
    MESSAGE_OUTSIDE_LEDGER = 1u << 2, /* outside the ledger: urgent, high or control */
    MESSAGE_EXPIRES = 1u << 3,        /* `deadline_ns` counts */
    MESSAGE_ORIGIN = 1u << 4,    /* `origin` is notified of the outcome; never set on a request */
    MESSAGE_BLOB = 1u << 5,      /* the payload belongs to a blob; holds a reference to it */
    MESSAGE_OWN = 1u << 6,       /* from a child or a thread of the receiver: actor/own.h */
    MESSAGE_WEIGHED = 1u << 7,   /* its bytes count in the mailbox where it waits */
    MESSAGE_CLASS_SHIFT = 8,     /* three bits: the cache's size class */
    MESSAGE_LABELLED = 1u << 11, /* the end of its block is a label: message.h */
    MESSAGE_TRIES = 1u << 12,    /* a TAKE that does not wait for a worker in use */
    MESSAGE_RETRIED = 1u << 13,  /* `tried_ms` counts; never set with MESSAGE_LEASED */
    MESSAGE_TASK = 1u << 14,     /* a submitted task, which may wait packed: packed.h */
    MESSAGE_PACKED = 1u << 15,   /* a packed task: only a mailbox has one */
    MESSAGE_COUNTED = 1u << 16,  /* counted in the cap on memory */
    MESSAGE_GIVEN = 1u << 17,    /* a plugin has passed it to the host: actor/giving.h */
    MESSAGE_DIRECT = 1u << 18,   /* for this worker alone: message_is_for_one */
    MESSAGE_TAKE = 1u << 19,     /* requests a lease, or answers that: actor/lease.h */
    MESSAGE_LEASED = 1u << 20,   /* sent under a lease, whose token is in `lease` */
    MESSAGE_GROUPED = 1u << 21,  /* a TAKE of any member of a group of pools: pool/lease_group.h */
    MESSAGE_JOINED = 1u << 22,   /* its origin is notified by the join `token`: message/join.h */
    MESSAGE_DETACHED = 1u << 23, /* when it is emitted it joins no origin: weir_detach */
    /* Somebody is notified of its outcome. */
    MESSAGE_TRACKED = MESSAGE_ORIGIN | MESSAGE_JOINED,
    /* Freeing it releases something else, too. */
    MESSAGE_HOLDS = MESSAGE_BLOB | MESSAGE_COUNTED | MESSAGE_JOINED,
    MESSAGE_FAILURE = 1u << 24, /* eight bits: the number of retries after a failure */
};

#define MESSAGE_FAILURES_MAX 255u
#define MESSAGE_CLASS_MASK (7u << MESSAGE_CLASS_SHIFT)

/* The number of retries after a failure, without retries that a worker requested. */
static inline uint32_t message_failures(const struct weir_message *message)
{
    return message->reserved / MESSAGE_FAILURE;
}

/* Counts a try. The number saturates. */
static inline void message_count_attempt(struct weir_message *message)
{
    if (message->attempt < UINT16_MAX)
        message->attempt++;
}

struct message {
    struct weir_message public;
    _Atomic(struct message *) next; /* see mailbox.h and owner-private lists */
    struct cache *home;             /* const: where the memory belongs; NULL = malloc */

    union {
        uint64_t reference; /* of a request and its reply; 0 = none */
        uint64_t token;     /* with MESSAGE_ORIGIN: the origin's name for the message;
                             * with MESSAGE_JOINED: the join */
    };
    union {
        uint64_t deadline_ns; /* with MESSAGE_EXPIRES: dead after that time */
        weir_pid origin;      /* with MESSAGE_ORIGIN; 0: `token` is a group (actor/group.h) */
    };
    union {
        weir_pid to;        /* while it waits in a timer; of a copy that waits in an outbox */
        uint64_t again_ns;  /* while it waits for a retry */
        uint64_t kept_ns;   /* while a worker keeps it: since when; TIMER_NEVER: reported already */
        uint64_t queued_ns; /* while it waits in the queue of a pool: since when */
        uint64_t record;    /* while its dead letter is being stored: actor/storing.h */
    };
    union {
        uint64_t lease; /* with MESSAGE_LEASED: the token */
        struct {
            union {
                /* of a reply: 0 or the reason why there is no payload; of a MESSAGE_READY */
                int32_t status;
                uint32_t origin_life; /* with MESSAGE_ORIGIN: the origin's incarnation */
                uint32_t seat;        /* of a copy that waits in an outbox: actor/fan_out.h */
            };
            union {
                uint32_t output;   /* while it waits in an outbox */
                uint32_t reason;   /* of a MESSAGE_SETTLED that is dead: enum dead_reason */
                uint32_t tried_ms; /* with MESSAGE_RETRIED: when its first try ended, modulo 2^32 */
            };
        };
    };
};

/*
 * True for a message that was sent to its worker itself: by PID, as a copy of a broadcast, as an
 * event that the worker or its pool has for each worker, or under a lease. No sibling handles it,
 * whatever becomes of it. False: it was sent to the pool, and any member may have it.
 */
static inline bool message_is_for_one(const struct message *message)
{
    return message->public.reserved & MESSAGE_DIRECT;
}

/* True for a message of core itself, in which no user has an interest: it is no dead letter. */
static inline bool message_is_of_core(const struct message *message)
{
    return message->public.reserved & MESSAGE_TAKE;
}

/* With its NUL, at most 255: "piece ID of queue NAME at SERVER" fits. */
#define MESSAGE_LABEL_MAX 190
#define MESSAGE_IDENTIFIED 0xFFu /* in place of the size of a label: message.c */
#define MESSAGE_HEADER_SIZE 96   /* payload starts here, aligned to 16 */

static_assert(sizeof(struct message) <= MESSAGE_HEADER_SIZE, "the payload must not overlap");
static_assert(offsetof(struct message, reference) == 64, "the first line holds the hot fields");

/* The name of its tag; "" without one. Lives as long as the runtime. */
static inline const char *message_tag_name(const struct message *message)
{
    return message->public.tag ? message->public.tag->name : "";
}

static inline struct message *message_of(const struct weir_message *public_part)
{
    return (struct message *)(uintptr_t)public_part;
}

#endif
