/* SPDX-License-Identifier: MIT */
/*
 * kit.h - the behaviour under test and everything that the kit records about it.
 *
 * kit_*.c answer the host calls of the plugin, api_*.c the calls of the test. The kit owns
 * everything here; weir_kit_destroy frees it. Not synchronised.
 */
#ifndef SDK_TESTKIT_KIT_H
#define SDK_TESTKIT_KIT_H

#include "include/weir/testkit.h"

#include "kit_line.h"
#include "kit_text.h"

#define KIT_VERDICTS 7u     /* WEIR_DONE .. WEIR_POSTPONE */
#define KIT_OUTBOX_MAX 256u /* as in core: actor/spec.h */

enum kit_owner {
    KIT_PLUGIN = 1, /* the plugin made the message, and sends or frees it */
    KIT_SENT = 2,
    KIT_FREED = 3,
    KIT_IN_HAND = 4, /* lent to `handle` */
    KIT_KEPT = 5,
    KIT_SETTLED = 6,
    KIT_REPLY = 7, /* lent to a continuation */
    KIT_STASHED = 8,
    KIT_READY = 9, /* unstashed, or put back: `handle` gets it next; see kit_front.h */
};

struct kit_blob {
    struct weir_blob blob; /* first: this is what the plugin sees */
    uint32_t holds;        /* of the plugin */
    struct weir_kit *kit;
    struct kit_blob *next;
};

struct kit_message {
    struct weir_message message; /* first: this is what the plugin sees */
    enum kit_owner owner;
    bool replied;
    bool forwarded;
    struct kit_blob *blob; /* has the payload; NULL: the message has it */
    bool stashed;          /* by the `handle` that runs */
    bool has_origin;       /* the worker waits for the outcome of `token` */
    uint64_t token;
    const struct weir_message *joins; /* by weir_join */
    bool detached;
    bool is_labelled;
    struct kit_line made;
    struct kit_message *behind; /* in the front */
    struct kit_message *next;
};

/* A timer, or a request. */
struct kit_due {
    uint64_t number;
    uint64_t at_ms;
    uint64_t every_ms; /* 0 = once */
    bool is_request;
    weir_tick *tick;
    weir_then *then; /* of a request; NULL: the answer is ignored */
    void *context;
    bool cancelled; /* a request: the kit answers it at the end of the turn */
    /* Of weir_send_after. */
    struct weir_message *message;
    weir_pid to;
    enum weir_lane lane;
    struct kit_due *next;
};

struct kit_sent {
    struct weir_kit_sent sent; /* first */
    struct kit_sent *next;
};

/* A place in the list: of those of a way and an output number `index` is `at`. */
struct kit_seek {
    enum weir_kit_way way;
    uint32_t output;
    size_t index;
    const struct kit_sent *at; /* NULL: no place */
};

/* A name that weir_lookup finds: from the test, or taken by the worker. */
struct kit_name {
    weir_pid pid;
    bool own; /* taken by the worker: ends with the incarnation */
    struct kit_name *next;
    char name[];
};

struct kit_monitor {
    uint64_t number;
    struct kit_monitor *next;
};

struct kit_event {
    uint64_t token; /* 0: the worker does not own it */
    uint32_t subscribers;
    bool subscribed;
    struct kit_event *next;
    char name[];
};

struct kit_watch {
    uint64_t number;
    int descriptor;
    uint32_t events;
    weir_ready *ready;
    void *context;
    struct kit_watch *next;
};

struct kit_unit {
    const char *unit; /* a constant of the plugin */
    uint64_t done;
    uint64_t total;
    char *text; /* owned; NULL: the unit is a number */
    struct kit_unit *next;
};

struct kit_child;
struct kit_port {
    struct weir_port port; /* first */
    struct weir_kit *kit;  /* NULL = closed */
    size_t references;     /* without the kit's own */
    bool has_kit;          /* the kit still has it */
    struct kit_port *next; /* in the kit */
};

struct weir_kit {
    struct weir_self self;           /* first: kit_of casts it back */
    struct weir_behaviour behaviour; /* in the layout of this kit; owns its tables */
    const void *settings;            /* borrowed from the test or from `options` */
    struct kit_options *options;     /* one for each text of options; see kit_options.c */
    void *state;                     /* owned */
    bool is_open;
    uint64_t now_ms;
    uint64_t last_number; /* of timers, requests, events and watches */

    struct kit_message *messages; /* newest first */
    struct kit_message *in_hand;  /* what the last `handle` got; see its owner */
    struct kit_message *front;    /* KIT_READY: see kit_front.h */
    struct kit_message *row;
    size_t put_back_count;
    struct kit_due *dues;
    struct kit_sent *sent; /* oldest first */
    struct kit_sent **sent_end;
    struct kit_seek *seek; /* owned; the last one that the test has looked for */
    size_t sent_count;
    size_t emit_count; /* emits among them */
    struct kit_name *names;
    struct kit_monitor *monitors;
    struct kit_unit *units;
    struct kit_port *ports; /* newest first */
    struct kit_event *events;
    struct kit_blob *blobs;
    struct kit_watch *watches;
    struct kit_child *children; /* oldest first */
    size_t child_count;
    weir_pid parent;
    bool is_closing;
    uint64_t time_left_ms; /* of requests to the worker */
    bool unwanted;         /* see weir_kit_wanted */

    uint32_t fail_in;           /* the call that fails, counted from now; 0 = none */
    uint32_t fail_count;        /* calls that fail from there on */
    uint32_t demand;            /* as weir_set_demand left it */
    uint32_t descriptors;       /* as weir_set_descriptors left it */
    uint32_t descriptors_limit; /* UINT32_MAX = none */
    uint64_t memory;            /* as weir_kit_limit_memory left it; 0 = no limit */
    int64_t child_process;      /* as weir_child_process left it; 0 = none */
    uint32_t room;              /* UINT32_MAX: the test sets no limit, so the outbox is the limit */
    int room_status;
    uint32_t outbox; /* messages emitted in the callback that runs */
    uint32_t index;
    weir_pid pool;
    struct weir_pool_stats stats;
    struct kit_outcome *outcomes; /* requested by weir_pool_tell, oldest first */

    size_t settled[KIT_VERDICTS];
    size_t problem_count;
    struct kit_text problems;
    struct kit_text printed;
    struct kit_text logged;
    size_t log_count; /* lines of `logged` */
    struct kit_text checked;
    struct kit_text mistakes;
    struct kit_text inspected;
    char reason[48];
    uint64_t retry_ms;
    int exit_status;
    int own_end; /* enum weir_end_reason of a weir_exit of itself; -1 = none */
    void *left;  /* owned: the position of a source */
    size_t left_size;
};

/* The kit behind the plugin's `self`. */
struct weir_kit *kit_of(struct weir_self *self);

/* The PID of the worker under test. */
weir_pid kit_pid(const struct weir_kit *kit);

/* Zeroed memory; aborts the program when there is none. */
void *kit_take(size_t size);

/* Adds a problem: one line, as printf. */
WEIR_PRINTF(2, 3) void kit_problem(struct weir_kit *kit, const char *format, ...);

/* True when the test lets this call fail. */
bool kit_allocation_fails(struct weir_kit *kit);

/* The kit of a port; NULL: the incarnation has ended. */
static inline struct weir_kit *kit_port_kit(struct weir_port *port)
{
    return ((struct kit_port *)(void *)port)->kit;
}

#endif
