/* SPDX-License-Identifier: MIT */
/*
 * actor/external_table.h - the table of open requests of outside threads, for the files that work
 * on it: external_request.c sends and answers, external_await.c waits and fetches.
 *
 * Functions that end in _locked: the caller holds the lock of the table.
 */
#ifndef ACTOR_EXTERNAL_TABLE_H
#define ACTOR_EXTERNAL_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "message/message.h"

struct external_requests {
    _Atomic uint32_t references;
    struct lock lock;
    struct external_request **open; /* lock; by index; NULL = free */
    uint32_t capacity;              /* lock */
    uint32_t first_free;            /* lock: no lower index is free */
    uint64_t next_reference;        /* lock */
    bool closed;                    /* lock */
    /* lock: NULL as soon as no thread may enter it any more; outlives the ports that lead to it */
    struct runtime *runtime;
    uint32_t any_waits;        /* lock: threads in external_requests_await_any */
    _Atomic uint32_t answers;  /* futex for them; written under the lock */
    _Atomic uint64_t given_up; /* requests so far that ended without an answer of an actor;
                                     * written under the lock */
};

/* The result of a request. */
struct external_request_answer {
    int status;            /* 0, or the reason why there is no reply */
    struct message *reply; /* owned by the caller; NULL: none */
    char detail[48];
    weir_pid pool; /* of a take; 0: it was none */
};

/* One open request. The thread that takes it out of the table frees it. */
struct external_request {
    uint64_t reference;                    /* const */
    uint64_t due_ns;                       /* const: by the system's clock */
    _Atomic uint32_t answered;             /* futex; written under the lock */
    weir_pid pool;                         /* const: of a take; 0: it is none */
    void (*on_answer)(void *);             /* lock; may be NULL */
    void *on_answer_context;               /* lock */
    bool awaited;                          /* lock */
    bool begun;                            /* lock: by an actor */
    struct external_request_answer answer; /* lock, until `answered` */
};

/* One reference. WEIR_ENOMEM. */
int external_requests_create(struct runtime *runtime, struct external_requests **out);
struct external_requests *external_requests_ref(struct external_requests *requests);
/* From now on external_requests_hold finds no runtime. Legal twice. */
void external_requests_part(struct external_requests *requests);
/* The runtime, held: runtime_release is due. NULL: it ends. Any thread. */
struct runtime *external_requests_hold(struct external_requests *requests);
/* NULL is allowed. */
void external_requests_unref(struct external_requests *requests);

/* Gives the request a reference, and puts it into the table. WEIR_ECLOSED, WEIR_ENOMEM. */
int external_requests_put_locked(struct external_requests *requests,
                                 struct external_request *request);

/* NULL: not open. */
struct external_request *external_requests_find_locked(struct external_requests *requests,
                                                       uint64_t reference);

void external_requests_take_out_locked(struct external_requests *requests,
                                       const struct external_request *request);

/* The request ends without an answer of an actor. Returns its status: `status`, WEIR_ETIMEOUT or
 * WEIR_ECANCELLED, if no actor has begun it, and none will; else WEIR_ERUNNING. */
int external_requests_give_up_locked(struct external_requests *requests,
                                     const struct external_request *request, int status);

/* --- for actors ------------------------------------------------------------------------------- */

/* An actor is about to handle the request. False: it must not, since the request is over. This and
 * giving up exclude each other. */
bool external_requests_begin(struct external_requests *requests, uint64_t reference);

/* What has begun was put back: until it begins again, giving up does not find it running. */
void external_requests_put_back(struct external_requests *requests, uint64_t reference);

/* False: the request is over. */
bool external_requests_is_wanted(struct external_requests *requests, uint64_t reference);

/* The number of requests given up so far. A check after this call finds that they are over. */
uint64_t external_requests_given_up(const struct external_requests *requests);

#endif
