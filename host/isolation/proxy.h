/* SPDX-License-Identifier: MIT */
/*
 * isolation/proxy.h - the state of an isolated worker in the host, and the calls of its process.
 *
 * Each call is checked: a number that the host has not given is refused by WEIR_EINVALID, and a
 * frame that is no call ends the process.
 */
#ifndef HOST_ISOLATION_PROXY_H
#define HOST_ISOLATION_PROXY_H

#include <weir/plugin.h>

#include "host/isolation/channel.h"
#include "host/isolation/life.h"

/* A message that the process has. */
struct proxy_message {
    uint64_t number;
    const struct weir_message *message; /* borrowed; NULL: the worker has it no more */
};

struct proxy {
    const struct isolated *isolated; /* changes with live options */
    struct channel channel;
    struct life life;
    bool is_too_large; /* the process has more memory than it may */
    bool lacks_memory; /* the process had used up its memory when it crashed */
    bool runs;         /* the process was started, and is not known to have ended */
    bool flushes;      /* the process runs `flush` */
    bool has_spoken;   /* the process, since it was given the present callback */
    uint64_t watch;    /* of its end; 0 = none */
    uint64_t last_number;
    struct proxy_message in_hand; /* number 0 = none */
    int early; /* of the message in hand, settled in `flush`; WEIR_KEEP = it is not */
    struct proxy_message *kept; /* owned */
    uint32_t kept_count;
    uint32_t kept_room;
    const struct weir_tag **tags; /* owned: the tags of the process's messages */
    uint32_t tag_count;
    struct weir_inspection *inspection; /* of the present inspect; else NULL */
    struct parcel out;
};

/* Frees the tables. */
void proxy_finish(struct proxy *proxy);

/* Adds a message to a callback; it gets a new number. */
uint64_t proxy_pack_message(struct proxy *proxy, const struct weir_message *message,
                            struct parcel *out);

/* The callbacks of timers and requests, whose context is a number of the process. */
struct proxy_callbacks {
    weir_tick *tick;
    weir_then *then;
};

/*
 * Carries out the call of a frame, and puts the answer into `proxy->out`. WEIR_EINVALID: it is
 * nonsense, and the process must end.
 */
int proxy_serve(struct weir_self *self, struct proxy *proxy,
                const struct proxy_callbacks *callbacks, struct channel_frame *frame);

#endif
