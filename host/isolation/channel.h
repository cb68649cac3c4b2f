/* SPDX-License-Identifier: MIT */
/*
 * isolation/channel.h - frames of any size between the host and the process of an isolated worker.
 *
 * A frame is one or more records of a segment. Only one side speaks at a time: the host gives a
 * callback, the process makes its calls one after the other, each with an answer, and returns. So
 * no side waits for room while the other does. What the host gives ahead of that is tried, and not
 * waited for. A bell, a pair of sockets, wakes a side that sleeps.
 *
 * Life: channel_begin .. channel_finish. One thread on each side.
 */
#ifndef HOST_ISOLATION_CHANNEL_H
#define HOST_ISOLATION_CHANNEL_H

#include "host/isolation/parcel.h"
#include "host/isolation/segment.h"

/* A frame must not use up the host's memory: a longer one is nonsense. */
#define CHANNEL_FRAME_MAX ((size_t)260 << 20)

/* A frame that was posted waits no longer for its bell while others follow. */
#define CHANNEL_UNRUNG_NS 100000u

/* WEIR_OK: goes on; else the wait ends with this status. */
typedef int channel_look(void *context);

struct channel {
    struct segment_end end;
    int bell;           /* owned; the own end */
    int life;           /* borrowed: readable when the other process has ended; -1 = none */
    uint64_t due_ns;    /* until when this side waits, on the monotonic clock; 0 = without end */
    channel_look *look; /* may be NULL; called at `look_ns`, while this side waits */
    void *context;      /* of `look` */
    uint64_t look_ns;   /* on the monotonic clock; `look` sets it again */
    uint64_t unrung_ns; /* when the oldest frame was posted for which no bell rang; 0 = none */
    bool lacks_memory;  /* the other process says that its memory was used up when it crashed */
    struct parcel in;   /* the frame that was received last */
    char *piece;        /* owned: SEGMENT_PIECE bytes */
};

struct channel_frame {
    uint32_t kind;
    uint64_t number;
    struct unparcel content; /* valid until the next frame */
};

/* Takes the segment and the bell. WEIR_ENOMEM: nothing is taken. */
int channel_begin(struct channel *channel, struct segment *segment, bool is_host, int bell);
/* Legal for zeroed memory. */
void channel_finish(struct channel *channel);

/* Both: WEIR_ETERMINATED the other process has ended; WEIR_ETIMEOUT; WEIR_EINVALID nonsense;
 * WEIR_ENOMEM. `kind` is below 2^31. */
int channel_send(struct channel *channel, uint32_t kind, uint64_t number,
                 const struct parcel *content);
int channel_receive(struct channel *channel, struct channel_frame *out);

/* As channel_send, without a wait: WEIR_EFULL when there is no room now, or when the frame needs
 * more than one record. */
int channel_try_send(struct channel *channel, uint32_t kind, uint64_t number,
                     const struct parcel *content);
/* As channel_send, but the bell may ring later: before this side sleeps, with the next frame that
 * is sent, or with one that is posted CHANNEL_UNRUNG_NS after the first. `time_ns`: now. */
int channel_post(struct channel *channel, uint32_t kind, uint64_t number,
                 const struct parcel *content, uint64_t time_ns);

/* Before what the other process asks for is done: WEIR_ETIMEOUT, or what `look` says. */
int channel_check(struct channel *channel);

/* The process: says that its memory is used up. For signal handlers, too. */
void channel_cry(int bell);
/* The host: hears what a process has cried before its end. */
void channel_hear(struct channel *channel);

#endif
