/* SPDX-License-Identifier: MIT */
/*
 * weir/message.h - messages.
 *
 * A message is a tag (the meaning of the bytes), a size and the bytes. A message has exactly one
 * owner at any time; the first owner is its maker. A call that *takes* a message owns it if the
 * call returns 0. If the call returns any other value, the caller still owns the message,
 * unchanged. `handle` *borrows* its message until it returns; the verdict decides what happens to
 * the message then.
 */
#ifndef WEIR_MESSAGE_H
#define WEIR_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "inline.h"

/* Address of an actor. Never reused for another actor in one run. 0 is no actor. */
typedef uint64_t weir_pid;

/*
 * The meaning of the bytes of a message, such as "integrity.file/1". weir_tag makes tags. Equal
 * names give the same pointer, so tags are compared with ==. A tag lives as long as the runtime.
 */
struct weir_tag {
    const char *name;
};

enum weir_kind {
    WEIR_MESSAGE = 1, /* an ordinary message */
    WEIR_REQUEST = 2, /* expects exactly one reply: by weir_reply, or by a verdict */
    WEIR_EVENT = 3,   /* published to subscribers */
    WEIR_EXIT = 4,    /* a linked actor has ended, and this actor traps exits; payload: weir_end */
    WEIR_DOWN = 5,    /* the incarnation of a monitored actor has ended; payload: weir_end */
};

/* The lanes of a mailbox. An actor handles control messages first, then urgent, high and normal
 * ones. */
enum weir_lane {
    WEIR_NORMAL = 0, /* work; bounded by the configured limit; a pool routes it to a member */
    WEIR_HIGH = 1,   /* management; a pool's manager gets the message, never a member */
    WEIR_URGENT = 2, /* management, handled before high */
};

/* Why an actor's incarnation ended. */
enum weir_end_reason {
    WEIR_END_NORMAL = 0,   /* WEIR_STOP, the end of a source, or weir_exit */
    WEIR_END_SHUTDOWN = 1, /* the actor was stopped, drained, removed or restarted */
    WEIR_END_KILL = 2,     /* killed by weir_exit or by a kill of a linked actor */
    WEIR_END_CRASH = 3,    /* WEIR_FAIL or an unknown verdict */
    WEIR_END_REPLACED = 4, /* a reload replaced it with a new worker */
};

/* Payload of WEIR_EXIT and WEIR_DOWN. */
struct weir_end {
    weir_pid pid;    /* the actor that ended */
    int32_t reason;  /* enum weir_end_reason */
    int32_t status;  /* a negative status: of a failed `open`, or WEIR_ETERMINATED if the actor had
                      * ended before; else 0 */
    char detail[48]; /* the text of weir_reason; ends with NUL; may be empty */
};

/* The right to use one worker of a pool alone: weir/lease.h. Plain data: it may be copied, and
 * passed to others. */
struct weir_lease {
    weir_pid pool;
    weir_pid member; /* the leased worker; weir_monitor reports its failure */
    uint64_t token;
};

/* The public part of a message. These fields are frozen; the memory after them belongs to the
 * host. */
struct weir_message {
    void *data;                 /* the payload: aligned to 16; NULL when size is 0 */
    size_t size;                /* bytes of payload */
    const struct weir_tag *tag; /* may be NULL */
    uint64_t key;               /* for `route: hash`; 0 = none */
    weir_pid from;              /* the first sender, also after a pool or a forward; 0 = not an
                                 * actor */
    uint8_t kind;               /* enum weir_kind */
    uint8_t lane;               /* enum weir_lane */
    uint16_t attempt;           /* 1 = first delivery */
    uint32_t reserved;
};

/*
 * A key for `route: hash` from `size` bytes (FNV-1a, 64 bits). Never 0. Equal bytes give equal keys
 * in every version of Weir.
 */
WEIR_INLINE uint64_t weir_key(const void *bytes, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 1099511628211u;
    return hash ? hash : 1;
}

#endif
