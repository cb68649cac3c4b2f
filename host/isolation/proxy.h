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
#include "host/isolation/dialogue.h"
#include "host/isolation/life.h"

/* A message that the process has. */
struct proxy_message {
    uint64_t number;
    const struct weir_message *message; /* borrowed; NULL: the worker has it no more */
};

/* The messages that the worker has gathered, in order. The first one is in hand. */
struct proxy_window {
    struct proxy_message rows[DIALOGUE_WINDOW_MAX];
    uint32_t begin; /* the first one without a verdict */
    uint32_t given; /* those before it were given to the process */
    uint32_t end;
    uint32_t size;       /* how many there may be */
    uint32_t ended;      /* verdicts since it was empty */
    uint32_t demand;     /* that core has */
    int ending;          /* what `flush` returns when it is not WEIR_KEEP */
    bool is_alone;       /* the one that was given last has the process for itself */
    bool is_over;        /* no more is given before it is empty */
    bool is_recalled;    /* the process is to begin none of the others */
    bool is_single;      /* for this incarnation: the plugin stashes */
    bool has_idle;       /* the pool has an idle worker, or its mailboxes have no buffer */
    uint64_t worked_ns;  /* what the process says that it took */
    uint64_t started_ns; /* when the host has seen that it was begun; 0 = it has not */
    uint64_t looked_ns;  /* at the pool */
};

struct proxy {
    const struct isolated *isolated; /* changes with live options */
    struct channel channel;
    struct life life;
    long long process;  /* its PID, also when it has ended */
    bool is_too_large;  /* the process has more memory than it may */
    bool lacks_memory;  /* the process had used up its memory when it crashed */
    bool runs;          /* the process was started, and is not known to have ended */
    bool has_said;      /* the process has set the delay or reason of the message in hand */
    uint64_t watch;     /* of its end; 0 = none */
    uint64_t memory_ns; /* when its memory is looked at */
    uint64_t last_number;
    struct proxy_message in_hand; /* number 0 = none */
    struct proxy_window window;
    struct proxy_message *kept; /* owned */
    uint32_t kept_count;
    uint32_t kept_room;
    uint32_t in_hand_max;         /* of the plugin's behaviour */
    uint32_t demand;              /* of the plugin */
    const struct weir_tag **tags; /* owned: the tags of the process's messages */
    uint32_t tag_count;
    struct weir_inspection *inspection; /* of the present inspect; else NULL */
    struct parcel out;
};

/* Frees the tables. */
void proxy_finish(struct proxy *proxy);

/* Tells core how many messages the worker may have: those that the plugin keeps and, while it
 * demands more, a window. */
void proxy_update_demand(struct weir_self *self, struct proxy *proxy);

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
