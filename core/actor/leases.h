/* SPDX-License-Identifier: MIT */
/*
 * actor/leases.h - the leases of one pool, for their holders: any thread, in a read section.
 *
 * Each member that was ever taken, or may be lent, has an entry, at a fixed index. A token is
 * {index, number of the lease in the runtime}: so it never repeats, in no pool, and a lookup is one
 * step. A lease is open from the grant until its holder returns it or its member ends it (lease.h),
 * whichever comes first, under `lock`. From then on each use of its token is refused. A message of
 * an open lease is put into the member's mailbox under the lock, also while the mailbox is closed
 * because the member is to leave: so after a member has ended the lease, no message of that lease
 * follows.
 *
 * A lease of a thread of the program may begin, and end, without a turn of the member
 * (pool/lending.h).
 *
 * Rank of `lock`: below the pool's lock, above that of its queue.
 */
#ifndef ACTOR_LEASES_H
#define ACTOR_LEASES_H

#include "actor/actor.h"
#include "base/lease_end.h"
#include "base/lock.h"
#include "stats/histogram.h"

#define LEASE_TROUBLE 96u

struct leases {
    weir_pid pool; /* const */
    struct lock lock;
    struct lease **entries;       /* lock: by index; NULL: free */
    uint32_t count;               /* lock: of `entries` */
    uint32_t first_free;          /* lock: no entry before it is free */
    uint64_t granted;             /* lock: so far */
    uint64_t ended[LEASE_ENDS];   /* lock: so far */
    uint64_t unserved[TAKE_ENDS]; /* lock: takes, so far */
    uint64_t failed_free;         /* lock: workers that failed while free, so far */
    uint64_t failed_leased;       /* lock: that failed or were revoked while leased */
    struct histogram waited;      /* lock: of takes that were served */
    struct histogram lasted;      /* lock: of leases that are over */
    char trouble[LEASE_TROUBLE];  /* lock: why the last open failed; "" since one succeeded */
    _Atomic bool in_trouble;      /* lock writes: there is such a text */
    _Atomic uint64_t timeout_ms;  /* written under the pool's lock; 0 = none */
    _Atomic bool on;              /* written under the pool's lock: the pool gives leases */
};

/* Of one member; allocated when it is first taken, or may be lent; freed with its place. */
struct lease {
    struct leases *leases; /* const */
    struct actor *actor;   /* const: the member */
    uint32_t index;        /* const */

    uint64_t token;     /* lock: of the last lease */
    bool open;          /* lock */
    enum lease_end end; /* lock: of the last lease, when it is not open */
    weir_pid holder;    /* lock: 0 = an outside thread */
    uint64_t begun_ns;  /* written under lock */
    uint64_t due_ns;    /* lock: of the lease, then of the way back; TIMER_NEVER = no time-out */
    bool is_used;       /* lock: a message was sent under it */
    /* the queue's lock writes: leases so far that began and ended without a turn of the member */
    _Atomic uint64_t loans;

    /* owner */
    struct message *take; /* the request that it serves, in hand; NULL: there is none */
    bool is_adopted;      /* it has a lease without a TAKE: the member was lent */
    uint64_t monitor;     /* of the holder; 0 = none */
    bool is_over;         /* seen by the member */
    /* the TAKE during `taken`: another member may get it; the thread that holds the owner's thread
     * (relief.h) takes it out then; NULL: none */
    struct message *offered;
    uint64_t offered_ns; /* since then */
};

/* A lease that was granted without a turn of the member, for a taker that waited. */
struct loan {
    struct message *take; /* the taker's, owned; NULL: nobody waited */
    struct weir_lease lease;
};

/* Whether a worker stays as it is after such an end. */
static inline bool lease_keeps_worker(enum lease_end end)
{
    return end == LEASE_DONE || end == LEASE_HOLDER_ENDED;
}

/* `depth`: of their pool. */
void leases_init(struct leases *leases, uint32_t depth);
void leases_finish(struct leases *leases);
/* pool->lock is held. */
void leases_set(struct leases *leases, bool on, uint64_t timeout_ms);

/* Adds the counters of leases that are over to those of another pool, whose lock is taken first. */
void leases_absorb(struct leases *leases, struct leases *gone);

static inline bool leases_are_given(const struct leases *leases)
{
    /* Relaxed: a member and a taker that see a former value act as before the change. */
    return leases && atomic_load_explicit(&leases->on, memory_order_relaxed);
}

/* --- for members, in their turns ------------------------------------------------------------- */

/* A new entry; NULL when memory is out. It is removed by leases_leave, then freed by its owner. */
struct lease *leases_join(struct leases *leases, struct actor *member);
void leases_leave(struct lease *lease);

/* Opens a lease for the holder of its TAKE, and fills its plain data. Returns its time-out's
 * end, or TIMER_NEVER. */
uint64_t leases_open(struct lease *lease, weir_pid holder, uint64_t now_ns, struct weir_lease *out);

/* Ends an open lease, and returns how it ended: in `end`, or earlier in another way. */
enum lease_end leases_close(struct lease *lease, enum lease_end end);

/* Counts a worker that has failed, or whose lease was revoked. */
void leases_count_failure(struct leases *leases, bool is_leased);

/* Counts a TAKE that ends without a lease, since its taker gets `status`. */
void leases_count_unserved(struct leases *leases, int status);

/* Ends the lease if its time-out has passed. True: it is over, as in `out_end`, and the member is
 * to be free until `out_due_ns`; false: it is open, until `out_due_ns` at the latest. */
bool leases_look(struct lease *lease, uint64_t now_ns, enum lease_end *out_end,
                 uint64_t *out_due_ns);

/* An open of the member has failed for that reason, or, NULL, succeeded: for the takers of its
 * pool, and of the group of its pool. */
void leases_note_open(const struct actor *member, const char *reason);

/* Without a turn of the member: begins a lease of the program, until `due_ns`, for a taker that has
 * waited since `queued_ns`. leases->lock and the lock of the pool's queue are held. */
void leases_open_loan_locked(struct lease *lease, uint64_t queued_ns, uint64_t now_ns,
                             uint64_t due_ns, struct weir_lease *out);

/* When a lease that begins now is due; TIMER_NEVER. */
uint64_t leases_due(const struct leases *leases, uint64_t now_ns);

/* --- for takers ------------------------------------------------------------------------------- */

/* Grants a free member to a thread of the program, without a turn. False: the thread has to send a
 * TAKE. In a read section. */
bool leases_lend(struct runtime *runtime, struct executor *executor, weir_pid pool,
                 struct weir_lease *out);

/* Why a take of that pool was not served in time: the reason of the last open that failed; "": none
 * did since one succeeded. In a read section. */
void leases_explain(struct runtime *runtime, weir_pid pool, char *out_text, size_t size);

/* The answer to a TAKE of the program; NULL when memory is out. */
struct message *leases_make_reply(struct executor *executor, const struct weir_lease *lease);

/* --- for holders ------------------------------------------------------------------------------ */

/* As weir_return, of `holder`. */
int leases_return(struct runtime *runtime, struct executor *executor,
                  const struct weir_lease *lease, weir_pid holder, int how);

/* As weir_lease_renew, of `holder`. */
int leases_renew(struct runtime *runtime, struct executor *executor, const struct weir_lease *lease,
                 weir_pid holder);

/* As weir_lease_send. Takes the message on 0. */
int leases_send(struct runtime *runtime, struct executor *executor, const struct weir_lease *lease,
                struct message *message);

/* Sends a TAKE to a pool; `tries`: it does not wait for a worker in use. Takes it on 0; otherwise
 * as weir_take. */
int leases_take(struct runtime *runtime, struct executor *executor, weir_pid pool, bool tries,
                struct message *take);

/* The time-out of a request: a take with the time-out 0 is a try, and gets its answer at once. */
static inline uint64_t leases_timeout(bool takes, uint64_t timeout_ms)
{
    return takes && timeout_ms == 0 ? WEIR_FOR_EVER : timeout_ms;
}

/* The answer to a TAKE reaches no taker: returns the lease in it, if there is one. */
void leases_return_unwanted(struct runtime *runtime, struct executor *executor,
                            const struct message *answer);

#endif
