/*
 * actor/external_table.h - the table of open requests of outside threads, for the files that work
 * on it: external_request.c sends and answers, external_await.c waits and fetches.
 *
 * Functions that end in _locked: the caller holds the lock of the table.
 */
#ifndef ACTOR_EXTERNAL_TABLE_H
#define ACTOR_EXTERNAL_TABLE_H

#include "actor/external_request.h"

/* One open request. The thread that takes it out of the table frees it. */
struct external_request {
    uint64_t reference;                    /* const */
    uint64_t due_ns;                       /* const: by the system's clock */
    _Atomic uint32_t answered;             /* futex; written under the lock */
    void (*on_answer)(void *);             /* const; may be NULL */
    void *on_answer_context;               /* const */
    bool awaited;                          /* lock */
    struct external_request_answer answer; /* lock, until `answered` */
};

/* Gives the request a reference, and puts it into the table. WEIR_ECLOSED, WEIR_ENOMEM. */
int external_requests_put_locked(struct external_requests *requests,
                                 struct external_request *request);

/* NULL: not open. */
struct external_request *external_requests_find_locked(struct external_requests *requests,
                                                       uint64_t reference);

void external_requests_take_out_locked(struct external_requests *requests,
                                       const struct external_request *request);

#endif
