/* SPDX-License-Identifier: MIT */
/*
 * weir/message.h - what actors send each other.
 *
 * A message is a tag (what the bytes mean), a size and the bytes. It has exactly one owner at any
 * time. Whoever made it owns it; a call that *takes* it owns it from its success on and leaves it
 * to the caller, unchanged, when it answers anything but 0. `handle` *borrows* its message until
 * it returns; the verdict says what becomes of it.
 */
#ifndef WEIR_MESSAGE_H
#define WEIR_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* Address of an actor. Never reused for another actor in one run. 0 is nobody. */
typedef uint64_t weir_pid;

/*
 * What the bytes of a message mean, such as "integrity.file/1". Made by weir_tag(); two tags of
 * one name are one pointer, so they are compared with ==. Lives as long as the runtime.
 */
struct weir_tag {
    const char *name;
};

enum weir_kind {
    WEIR_MESSAGE = 1, /* an ordinary message */
    WEIR_REQUEST = 2, /* expects exactly one reply: weir_reply, or a verdict that answers */
    WEIR_EVENT = 3,   /* published to subscribers */
    WEIR_EXIT = 4,    /* a linked actor ended, and this one traps exits; data: weir_end */
    WEIR_DOWN = 5,    /* a monitored actor's incarnation ended; data: weir_end */
};

/* The lanes of a mailbox, in the order in which they are looked at after control. */
enum weir_lane {
    WEIR_NORMAL = 0, /* work; bounded by the configured limit; a pool routes it to a member */
    WEIR_HIGH = 1,   /* management; a pool's own manager gets it, never a member */
    WEIR_URGENT = 2, /* likewise, looked at before high */
};

/* Why an actor's incarnation ended. */
enum weir_end_reason {
    WEIR_END_NORMAL = 0,   /* STOP, or nothing left to do */
    WEIR_END_SHUTDOWN = 1, /* the host shuts down, or its pool removed it */
    WEIR_END_KILL = 2,     /* ended at once from outside */
    WEIR_END_CRASH = 3,    /* FAIL, or an unknown verdict */
    WEIR_END_REPLACED = 4, /* a reload put a new worker beside it */
};

/* Payload of WEIR_EXIT and WEIR_DOWN. */
struct weir_end {
    weir_pid pid;    /* who ended */
    int32_t reason;  /* enum weir_end_reason */
    int32_t status;  /* WEIR_E... of a failed open, else 0 */
    char detail[48]; /* what the worker said of it; ends with NUL; may be empty */
};

/* The public part of a message. These fields are frozen; what lies behind them is the host's. */
struct weir_message {
    void *data;                 /* the payload: aligned to 16, in line; NULL when size is 0 */
    size_t size;                /* bytes of payload */
    const struct weir_tag *tag; /* may be NULL */
    uint64_t key;               /* for `route: hash`; 0 = none */
    weir_pid from;              /* the first sender, also behind a pool or a forward; 0 = outside */
    uint8_t kind;               /* enum weir_kind */
    uint8_t lane;               /* enum weir_lane */
    uint16_t attempt;           /* 1 = given for the first time */
    uint32_t reserved;
};

/*
 * A key for `route: hash` from any bytes (FNV-1a, 64 bits). Never 0. Equal bytes give equal keys,
 * today and in later versions.
 */
static inline uint64_t weir_key(const void *bytes, size_t size)
{
    const unsigned char *p = (const unsigned char *)bytes;
    uint64_t hash = 14695981039346656037u;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * 1099511628211u;
    return hash ? hash : 1;
}

#endif
