/* SPDX-License-Identifier: MIT */
/*
 * face/pool.h - pools: making, changing in size, closing.
 *
 * A part of weir_core.h, through which the host and libweir include it.
 */
#ifndef FACE_POOL_H
#define FACE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "face/figures.h"
#include "face/parts.h"

#include <weir/pool.h>

#define POOL_SIZE_MAX 65536 /* workers */

struct dispatcher;
struct executor;
struct pool;
struct pool_change;
struct runtime;

struct pool_options {
    const char *path;    /* `images/small`; borrowed until return */
    struct pool *parent; /* NULL at the top */
    /* For a reload: before pool_admit, the parent's senders do not see the pool, and its failures
     * do not escalate. */
    bool apart;
    struct dispatcher *dispatcher;         /* of its workers */
    struct dispatcher *manager_dispatcher; /* of its own turns; NULL = that of the workers */
    /* the pool and its first workers open there; NULL = where they run */
    struct dispatcher *opener;
    struct spec *spec;    /* of its workers; takes a reference; NULL: members are pools */
    struct spec *manager; /* takes a reference; NULL: the built-in one */
    uint32_t size;        /* workers at first */
    struct pool_settings settings;
    const struct dead_letters_bounds *dead_letters; /* borrowed until return; NULL = the defaults */
    const struct weir_list *subscribe; /* to events; borrowed until return; NULL = to none */
    bool fan_out;                      /* each event goes to every member */
    uint32_t output_count;
    const struct binding *outputs; /* borrowed until return; NULL = all unbound */
    const struct rate *rates;      /* of the outputs; borrowed until return; NULL = none */
};

/*
 * Makes a pool with its workers, which open in their first turns. Returns borrowed: it lives until
 * pool_destroy. WEIR_EINVALID, WEIR_EEXISTS (the path), WEIR_ECLOSED (the parent), WEIR_ENOMEM.
 */
int pool_create(struct runtime *runtime, struct executor *executor,
                const struct pool_options *options, struct pool **out);

/* The pool of a PID; NULL: it has ended, or is no pool. Any thread, in a read section, inside which
 * alone it may be used. */
struct pool *pool_find(struct runtime *runtime, weir_pid pid);

weir_pid pool_pid(const struct pool *pool);
/* Borrowed while the pool is there. */
const char *pool_path(const struct pool *pool);
bool pool_has_parent(const struct pool *pool);
/* From pool_close or pool_remove on. */
bool pool_is_closing(const struct pool *pool);

/*
 * Reserves memory in a pool for `count` more members: pools that are made below it from now on, and
 * pools made apart that are admitted. pool_show_joined publishes them all at once. Called again
 * only after pool_show_joined or pool_forget_join. WEIR_ENOMEM.
 */
int pool_prepare_join(struct pool *parent, uint32_t count);

/* Makes a pool permanent that was made apart. If it has a parent, which has reserved memory for it,
 * it is its parent's member from now on, and closes with its parent. Cannot fail. */
void pool_admit(struct pool *pool, struct executor *executor);

/* Publishes all admitted pools to the parent's senders. Cannot fail. */
void pool_show_joined(struct pool *parent, struct executor *executor);

/* Undoes pool_prepare_join: no pool was admitted. */
void pool_forget_join(struct pool *parent);

/* The pool accepts no new message; members drain and end, nested ones first. Any thread. */
void pool_close(struct pool *pool, struct executor *executor);

/* As pool_close, for a pool that is removed while others stay: each worker treats its mailbox as
 * the pool's `remove` says, as if it left alone. Messages that are passed on go to the pool above.
 * Any thread. */
void pool_remove(struct pool *pool, struct executor *executor);

/* Releases its path: lookups do not find it any more, and another pool may take the name. Any
 * thread. */
void pool_give_up_name(struct pool *pool, struct executor *executor);

/* Another pool may take its path. Until then lookups still find this pool, for parts that end with
 * it. Any thread. */
void pool_yield_name(struct pool *pool);

/* As pool_close, but each member ends after its present message: waiting messages are dead. Also
 * for a closing pool. Any thread. */
void pool_stop_now(struct pool *pool, struct executor *executor);

/* True once every member has ended after pool_close. */
bool pool_has_ended(struct pool *pool);

/* Frees an ended pool, after a grace period. */
void pool_destroy(struct pool *pool, struct executor *executor);

/* True when the pool cannot open, is paused or has no worker: a sender that waits for room there
 * may wait for ever. */
bool pool_admits_nothing(struct pool *pool);

/* True when its workers, or those of a pool in it, have WEIR_GIVES_UP. */
bool pool_gives_up(struct pool *pool);

/* The time that the workers of a pool, and of the pools below, may take when the pool is removed:
 * the longest of their `remove_timeout_ms` and of `grace_ms`. A worker without a time-out counts as
 * `usual_ms`. 0: there are no workers. */
uint64_t pool_remove_ms(struct pool *pool, uint64_t usual_ms, uint64_t grace_ms);

/*
 * True when a pool has former workers; `out_due_ns` is when the last of them must have left, on the
 * runtime's clock; 0 = no such time. Any thread.
 */
bool outlet_has_former(struct pool *pool, uint64_t *out_due_ns);

/* A paused pool refuses every message with WEIR_EFULL; the members go on. Any thread. */
void pool_pause(struct pool *pool, bool paused, struct executor *executor);

/* Takes the wiring, which holds the targets of the outputs from now on. */
void pool_set_wiring(struct pool *pool, struct wiring *wiring, struct executor *executor);

/* Signals each worker whose behaviour has `reopen` or that has children: the workers of the pool,
 * including leaving ones, and of the pools below. Any thread, in a read section. */
void reopening_signal(struct pool *pool, struct executor *executor);

/*
 * Sets the number of workers. Any thread, also inside a worker. `out` may be NULL. WEIR_EINVALID:
 * out of bounds, or the members are pools; WEIR_ECLOSED; WEIR_ENOMEM. Then nothing has changed. A
 * pool with `clamp` goes to its bound instead. Suspends the law of an elastic pool.
 */
int pool_resize(struct pool *pool, struct executor *executor, uint32_t target,
                struct weir_resized *out);

/* As pool_resize, by `count` workers more or fewer. */
int pool_add(struct pool *pool, struct executor *executor, int64_t count, struct weir_resized *out);

/* The cause of a change of the number of workers. */
enum resize_by {
    RESIZE_BY_SCALE,    /* the pool itself, by its law */
    RESIZE_BY_OPERATOR, /* `weir scale` */
    RESIZE_BY_PROGRAM,  /* a call of libweir */
    RESIZE_BY_PLUGIN,   /* a call of a worker or manager */
    RESIZE_BY_REQUEST,  /* a message to the pool */
    RESIZE_BY_RELOAD,
    RESIZE_BY_COUNT,
};

/* For logs and metrics. */
const char *resize_by_name(enum resize_by by);

/* Counts and logs a resize that changed the number of workers. `who`: the requester, for the log;
 * NULL = the name of `by`. Borrows all arguments. */
void resize_report(struct pool *pool, enum resize_by by, const char *who,
                   const struct weir_resized *resized);

/* The number of resizes by `by` so far. Any thread. */
uint64_t pool_resizes(const struct pool *pool, enum resize_by by);

/* Resumes the law of a pool that a resize has suspended. 0 also when the law is in force. Any
 * thread, in a read section. WEIR_EINVALID: it has none. WEIR_ECLOSED: the pool closes. */
int pool_scale_auto(struct pool *pool, struct executor *executor);

/* How the pool resizes itself. */
struct pool_scaling {
    struct scale scale;
    bool suspended; /* by a resize, until pool_scale_auto or a reload */
};
void pool_look_at_scale(struct pool *pool, struct pool_scaling *out);
/* For pages: "none", "suspended" or "auto". Static. */
const char *pool_scaling_name(const struct pool_scaling *scaling);

/* The target that a law would set now, and why. */
struct pool_law_answer {
    uint32_t now; /* the present target */
    uint32_t target;
    const char *cause; /* static */
};

/* Applies the law of `settings` to the pool's present figures, and only returns the result: the
 * size does not change. Any thread. */
void pool_consult_law(struct pool *pool, const struct pool_settings *settings,
                      struct pool_law_answer *out);

/* The number of workers by the state of their restart. A worker that a signal has ordered to
 * restart counts as begun. */
struct renewal_counts {
    uint32_t asked, begun, failed;
};

/* In place of the number of one worker. */
#define RENEWAL_ALL UINT32_MAX

/* Asks worker number `index` of a pool to restart; RENEWAL_ALL: each, also of the pools below.
 * Returns how many. Any thread, in a read section. */
uint32_t renewal_ask(struct pool *pool, uint32_t index, struct executor *executor);

/* Adds the workers of a pool and of those below it, or one worker. Any thread. */
void renewal_count(struct pool *pool, uint32_t index, struct renewal_counts *sum);

/* Cancels the restart of workers that have not begun it. Returns how many. Any thread, in a read
 * section. */
uint32_t renewal_take_back(struct pool *pool, uint32_t index, struct executor *executor);

/* One worker of a pool, and the numbers that there are. */
struct renewal_worker {
    bool is_member;
    bool is_leaving; /* no member any more */
    uint32_t count;  /* of all members */
    uint32_t lowest; /* number of a member, if there is one */
    uint32_t highest;
};

/* Looks for worker number `index`. Any thread. */
void renewal_look(struct pool *pool, uint32_t index, struct renewal_worker *out);

/* Kills the process that worker number `index` has named (weir_child_process). WEIR_EUNKNOWN: no
 * such member. WEIR_ENOTALLOWED: it has named none, or that has ended. Logs the kill before it. Any
 * thread. */
int renewal_kill(struct pool *pool, uint32_t index);

/* As subscription_set in two steps, of which the second cannot fail; or abort, also after a failed
 * prepare. */
int subscription_prepare(struct pool *pool, struct executor *executor,
                         const struct weir_list *names);
void subscription_commit(struct pool *pool, struct executor *executor,
                         const struct weir_list *names, bool fan_out);
void subscription_abort(struct pool *pool, struct executor *executor);

/* --- figures -------------------------------------------------------------------------------- */

/* True when out->size is set: no smaller than in version 1.0. */
static inline bool pool_can_show(const struct weir_pool_stats *out)
{
    return out->size >= offsetof(struct weir_pool_stats, restarts) + sizeof out->restarts;
}

/* Consistent figures; the sum of all leaves for a nested pool. Fills out->size bytes. Any
 * thread. */
void pool_stats(struct pool *pool, struct weir_pool_stats *out);

/* The target number of workers. */
uint32_t pool_target(struct pool *pool);

/*
 * Lists its members, including leaving ones: fills up to `max` elements, each `member_size` apart,
 * as far as the caller's struct reaches. Returns the number of members. Any thread.
 */
uint32_t pool_members(struct pool *pool, struct weir_member *out, uint32_t member_size,
                      uint32_t max);

/* The progress of its members, including ended ones, by unit. Returns the number of units; at most
 * `max`. */
uint32_t pool_progress(struct pool *pool, struct pool_progress *out, uint32_t max);

/* Workers that are open, not yet open, or whose last open failed. A manager that is not open counts
 * too. */
struct pool_opening {
    uint32_t open;
    uint32_t starting;
    uint32_t failed;
    uint32_t stopped;               /* have opened, and failed too often since */
    int status;                     /* of one worker or manager that failed */
    char path[PLACE_PATH_MAX];      /* its path */
    bool manager;                   /* it is the pool's manager */
    bool manager_starts;            /* the pool's manager is one of `starting` */
    char reason[ACTOR_DETAIL_SIZE]; /* its weir_reason; "" = none */
};
/* Of this pool and below. Adds to `out`, which the caller has cleared. */
void pool_opening(struct pool *pool, struct pool_opening *out);
/* Likewise, without the pools below. */
void pool_opening_here(struct pool *pool, struct pool_opening *out);
/* Likewise, of the workers that a change has prepared; `open` also has the present ones, if they
 * stay. */
void pool_change_opening(struct pool_change *change, struct pool_opening *out);

/* Messages that its workers emitted at outputs that lead nowhere, which were freed. */
uint64_t pool_unbound(struct pool *pool);

/* Workers that wait at an output and take no message until then; not those that leave, which are no
 * part of the target, and no children of workers. */
struct pool_waiting {
    uint32_t for_room; /* in the pool behind it */
    uint32_t for_rate; /* for a token of its rate */
};
/* Without the pools below. Any thread. */
void pool_waiting_at(struct pool *pool, uint32_t output, struct pool_waiting *out);

/* The reason that a worker gave with the last retry, cut at `size`; "" = none. Without the pools
 * below. Any thread. */
void pool_retry_reason(struct pool *pool, char *text, size_t size);

/* Adds the dead letters of the pool and of all pools below to `out`, which the caller has cleared.
 * They exceed the ledger's `dead`: they include emitted messages without a receiver, and messages
 * of other lanes. */
void pool_dead(struct pool *pool, struct dead_letters_figures *out);

/* The misuses of its workers, and of all pools below. */
uint64_t pool_misuses(struct pool *pool);

/* The sum of its leaves' ledgers: exact for each. */
void pool_ledger(struct pool *pool, struct ledger_reading *out);

#endif
