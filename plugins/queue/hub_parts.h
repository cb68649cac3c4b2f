/* SPDX-License-Identifier: MIT */
/*
 * hub_parts.h - the parts of a hub, for hub*.c alone.
 *
 * The thread of the hub owns the store. Fields that say (lock) are protected by the mutex; the
 * others are of the thread alone.
 */
#ifndef HUB_PARTS_H
#define HUB_PARTS_H

#include <pthread.h>
#include <stdio.h>

#include "door.h"
#include "hub.h"

#define GROUP_OPERATIONS 1000u
#define GROUP_BYTES ((uint64_t)4 << 20)
#define FEED_BYTES ((uint64_t)4 << 20) /* of payload that is read and not emitted */

struct in_hand {
    int64_t id;
    bool is_ending; /* what became of it waits for a commit */
};

struct hub_queue {
    struct hub_queue *next;
    char name[QUEUE_NAME_SIZE]; /* const */
    struct store_queue *store;  /* borrowed; NULL = not read yet */
    struct client *taker;       /* (lock) NULL = none */
    bool forgets;               /* (lock) the taker left: what is not ending is ready */
    struct store_figures shown; /* (lock) */
    uint64_t planned_pieces, planned_bytes;
    struct in_hand *in_hand; /* owned */
    uint32_t in_hand_count, in_hand_capacity;
    struct store_cursor cursor; /* behind the last piece that was read */
    bool is_read_out;           /* nothing is ready behind the cursor */
};

enum lack {
    LACKS_NOTHING,
    LACKS_QUEUE, /* `limit` or `bytes` */
    LACKS_DISK,  /* `min_free` */
};

struct client {
    struct client *next; /* (lock) */
    struct hub *hub;     /* const */
    struct hub_queue *queue;
    int descriptor;                 /* const: an eventfd */
    bool is_take;                   /* const */
    bool is_stopped;                /* (lock) gets no piece */
    enum lack lack;                 /* (lock) of room for its first piece */
    struct queue_settings settings; /* (lock) without texts */
    struct piece_list waiting;      /* (lock) given */
    struct piece_list ready;        /* (lock) stored, or taken, for the actor */
    uint32_t out;                   /* (lock) taken: in `ready` or with the actor */
    uint32_t busy;                  /* (lock) of its pieces are in the commit that runs */
    bool had_trouble;               /* of its actor: logged */
};

enum hub_state {
    HUB_OPENING,
    HUB_CHECKING, /* `file` is known, and locked */
    HUB_OPEN,
    HUB_REFUSED, /* the first open failed: nobody uses it */
};

struct hub {
    struct hub *next;           /* in the list of the process */
    uint32_t users;             /* of that list's mutex */
    const char *path;           /* owned; const */
    struct place_identity file; /* const when it is known */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;             /* of the thread */
    pthread_cond_t quiet;            /* a commit is over, or the open */
    enum hub_state state;            /* (lock) */
    bool is_ending;                  /* (lock) */
    bool is_woken;                   /* (lock) there may be something to do */
    bool has_trouble;                /* (lock) */
    char trouble[PLACE_REASON_SIZE]; /* (lock) */
    struct client *clients;          /* (lock) owned */
    struct hub_queue *queues;        /* (lock) the list; owned */
    struct piece_list settled;       /* (lock) what became of taken pieces */
    const struct order *order;       /* (lock) of the door; NULL = none */
    struct order_answer *answer;     /* (lock) for it */
    int asker;                       /* (lock) its connection */
    bool is_closed;                  /* (lock) no more orders are carried out */
    uint32_t round;                  /* which client goes first */
    char run[2 * 8 + 1];
    uint64_t serial; /* (lock) of the names */

    struct store store;
    struct door *door; /* owned; NULL: it could not be opened, and is tried again */
    int64_t door_ms;   /* not before this time of CLOCK_MONOTONIC */
    bool is_in_doubt;
    uint32_t failures;    /* in a row */
    bool is_tidy;         /* nothing was written since the last look at unused pages */
    bool is_tidying;      /* and unused pages are left: the next step follows at once */
    int64_t last_wall_ms; /* of the clock, to see a step */
    int64_t next_due;     /* of a retry */
    int64_t next_until;   /* when a name is unique no more */
};

/* What one transaction does. */
struct group {
    struct piece_list settled, puts;
    bool is_full;  /* somebody wants a sync */
    bool promotes; /* retries are due */
    bool clamps;   /* the clock was set back */
    bool forgets;  /* names are unique no more */
    int64_t wall_ms;
};

/* Makes a hub and locks its file, which is read for damage then: hub_wait_open. Returns owned;
 * NULL: `reason`. */
struct hub *hub_create(const char *path, char reason[PLACE_REASON_SIZE]);
/* Returns 0, or -1 with a reason. A large file takes a while. */
int hub_wait_open(struct hub *hub, char reason[PLACE_REASON_SIZE]);
/* Commits what became of pieces, once, and frees the hub. It has no clients. */
void hub_destroy(struct hub *hub);
void hub_wake_locked(struct hub *hub);
/* The queue of this name, made when it is new. Locked. NULL: memory is out. */
struct hub_queue *hub_queue_locked(struct hub *hub, const char *name);
/* Milliseconds of the clock. */
int64_t hub_wall_ms(void);
/* Reads from the file when the next waiting piece is due. The hub calls it after each commit. */
void hub_read_times(struct hub *hub);
void hub_wake_client(struct client *client);

/* --- hub_group.c ------------------------------------------------------------------------------ */

/* Collects what may be written now. Locked. */
void group_collect_locked(struct hub *hub, struct group *group, uint64_t free_bytes);
bool group_is_empty(const struct group *group);
/* Not locked. */
enum store_result group_write(struct hub *hub, struct group *group);
/* Tells the clients, or puts all back to where it was. Locked. */
void group_finish_locked(struct hub *hub, struct group *group, enum store_result result);
/* After store_recover: what is in the file is stored. Locked. -1: it cannot be read. */
int group_resolve_locked(struct hub *hub);

/* --- hub_orders.c ----------------------------------------------------------------------------- */

/* Carries out the order that waits, if there is one. Not locked. Returns what its commit says. */
enum store_result orders_step(struct hub *hub);
/* Answers the order that waits, if there is one: nothing was done. Not locked. */
void orders_refuse(struct hub *hub, enum order_status status, const char *error);
/* For the door: waits for the answer. `context` is the hub. */
void orders_serve(void *context, int asker, const struct order *order, struct order_answer *out);

/* --- hub_feed.c ------------------------------------------------------------------------------- */

/* Gives pieces to the takes that have room. Takes and gives back the lock. Returns 0, or -1 with
 * the store's error. */
int feed_all(struct hub *hub);
/* Makes ready what takes had that have left. Locked. */
void feed_forget_locked(struct hub *hub);
void feed_mark_ending(struct hub_queue *queue, int64_t id);
void feed_end(struct hub_queue *queue, int64_t id);
/* Pieces before the cursor may be ready. */
void feed_rewind(struct hub_queue *queue);
/* True: a take has the piece, or what became of it is not committed. */
bool feed_has(const struct hub_queue *queue, int64_t id);

#endif
