/* SPDX-License-Identifier: MIT */
/*
 * isolation/worker_state.h - what the process of an isolated worker has in memory.
 */
#ifndef HOST_ISOLATION_WORKER_STATE_H
#define HOST_ISOLATION_WORKER_STATE_H

#include <weir/plugin.h>

#include "host/isolation/channel.h"
#include "host/isolation/dialogue.h"
#include "host/isolation/sandbox.h"

#define WORKER_LABEL_SIZE 190u /* as <weir/host.h> has it, with its NUL */

/* A message: one that the host gave, or one that the plugin has made. */
struct worker_message {
    struct weir_message public;            /* first: the plugin has its address */
    struct worker_message *before, *after; /* of those that `flush` may end */
    bool is_gathered;                      /* it is one of them */
    uint64_t number;                       /* of the host; 0 = made here */
    uint64_t joins;                        /* the number of the message whose origin it joins */
    bool is_joined;
    bool is_detached;
    bool is_left;           /* the host has it no more: stashed, forwarded or put back */
    struct weir_blob *blob; /* held; NULL: the payload is owned */
    char label[WORKER_LABEL_SIZE];
};

/* A message that came while the plugin made a call. */
struct worker_ahead {
    uint64_t number;
    char *bytes; /* owned: the content of its frame; NULL: memory is out */
    size_t size;
};

struct worker_tag {
    struct worker_tag *next;
    struct weir_tag tag;
};

/* A timer or a request of the plugin. */
struct worker_pending {
    struct worker_pending *next;
    uint64_t cookie;
    uint64_t number; /* of the host */
    bool again;
    weir_tick *tick;
    weir_then *then;
    void *context;
};

struct worker {
    struct weir_self self; /* first */
    struct weir_host host;
    struct channel channel;
    const struct weir_behaviour *behaviour;
    void *settings;
    void *state;
    weir_pid pid;
    weir_pid pool;
    uint32_t index;
    char *path;
    struct worker_message *gathered; /* the last one */
    struct worker_tag *tags;
    struct worker_pending *pending;
    uint64_t last_cookie;
    struct worker_ahead ahead[DIALOGUE_WINDOW_MAX];
    uint32_t ahead_first;
    uint32_t ahead_count;
    bool stops; /* the host must decide before the next message of this window */
    struct sandbox sandbox;
    struct parcel out;
};

#endif
