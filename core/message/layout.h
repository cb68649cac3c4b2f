/*
 * message/layout.h - what a message consists of: the public prefix and what lies behind it.
 *
 * One allocation, payload in line, 128 bytes for up to 32 bytes of payload. The first line holds
 * what every hop touches; the second is touched only when a flag says that it counts.
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
    MESSAGE_REPLY = 16,       /* answers a request; `status` says how */
    MESSAGE_LINK = 17,        /* "tell me by WEIR_EXIT when you end" */
    MESSAGE_UNLINK = 18,      /* takes that back */
    MESSAGE_MONITOR = 19,     /* "tell me by WEIR_DOWN when you end" */
    MESSAGE_DEMONITOR = 20,   /* takes that back */
    MESSAGE_SETTLED = 21,     /* tells an origin what became of its message; see origin.h */
    MESSAGE_PORT_REPLY = 22,  /* from a thread of the plugin's: answer a kept request with this */
    MESSAGE_PORT_SETTLE = 23, /* likewise: settle a kept message */
    MESSAGE_INSPECT = 24,     /* "tell me of yourself"; data: names of items, each with its NUL */
    MESSAGE_READY = 25,       /* a watched descriptor is ready; `status` says for what */
};

/* Bits of `public.reserved`, which the SDK leaves to us. */
enum message_flags {
    MESSAGE_ANSWERED = 1u << 0, /* a request that has had its reply */
    MESSAGE_KEPT = 1u << 1,     /* with a worker that settles it later */
    MESSAGE_ASIDE = 1u << 2,    /* outside the ledger: urgent, high or control */
    MESSAGE_EXPIRES = 1u << 3,  /* `deadline_ns` counts */
    MESSAGE_ORIGIN = 1u << 4,   /* `origin` is told how it ends; never a request */
    MESSAGE_BOUND = 1u << 6,    /* broadcast: its worker's siblings have had their own */
    MESSAGE_WEIGHED = 1u << 7,  /* its bytes count in the mailbox where it waits */
    MESSAGE_BLOB = 1u << 5,     /* the payload is a blob's, which it holds */
    MESSAGE_CLASS_SHIFT = 8,    /* eight bits: the cache's size class */
    MESSAGE_COUNTED = 1u << 16, /* taken out of the cap on memory */
    MESSAGE_GIVEN = 1u << 17,   /* a plugin has given it to the host: actor/giving.h */
    MESSAGE_HOLDS = MESSAGE_BLOB | MESSAGE_COUNTED, /* freeing it gives something else back, too */
    MESSAGE_FAILURE = 1u << 24, /* eight bits: how often it was given again after a failure */
};

#define MESSAGE_FAILURES_MAX 255u

/* How many of its attempts were given after a failure, and not because a worker asked for it. */
static inline uint32_t message_failures(const struct weir_message *message)
{
    return message->reserved / MESSAGE_FAILURE;
}

struct message {
    struct weir_message public;
    _Atomic(struct message *) next; /* see mailbox.h and owner-private lists */
    struct cache *home;             /* const: where the memory belongs; NULL = malloc */

    union {
        uint64_t reference; /* a request's, repeated in its reply; 0 = none */
        uint64_t token;     /* with MESSAGE_ORIGIN: which of its messages it is */
    };
    union {
        uint64_t deadline_ns; /* with MESSAGE_EXPIRES: worthless after it */
        weir_pid origin;      /* with MESSAGE_ORIGIN */
    };
    union {
        weir_pid to;       /* while it waits in a timer */
        uint64_t again_ns; /* while it waits for a retry */
        uint64_t kept_ns;  /* while a worker keeps it: since when; TIMER_NEVER: it was told */
    };
    union {
        int32_t status;       /* of a reply: 0 or why there is no payload; of a MESSAGE_READY */
        uint32_t origin_life; /* with MESSAGE_ORIGIN: which life of it */
    };
    union {
        uint32_t output; /* while it waits in an outbox */
        uint32_t reason; /* of a MESSAGE_SETTLED that is dead: enum dead_reason */
    };
};

#define MESSAGE_HEADER_SIZE 96 /* payload starts here, aligned to 16 */

static_assert(sizeof(struct message) <= MESSAGE_HEADER_SIZE, "the payload must not overlap");
static_assert(offsetof(struct message, reference) == 64, "the first line holds the hot fields");

/* Of its tag; "" without one. Lives as long as the runtime. */
static inline const char *message_tag_name(const struct message *message)
{
    return message->public.tag ? message->public.tag->name : "";
}

static inline struct message *message_of(const struct weir_message *public_part)
{
    return (struct message *)(uintptr_t)public_part;
}

#endif
