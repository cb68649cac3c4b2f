/* SPDX-License-Identifier: MIT */
/*
 * actor/external_request.h - requests of outside threads; their answers arrive in a table
 * (external_table.h), and the threads wait for them (external_await.h).
 *
 * Such a request has sender 0 and a reference of this table. The answering thread stores the answer
 * here. Counted: a waiting thread may outlive the runtime, and gets WEIR_ECLOSED then.
 *
 * Life: create, open.., answer.., await or cancel.., close, unref. Any thread, any operation; await
 * not in a read section.
 */
#ifndef ACTOR_EXTERNAL_REQUEST_H
#define ACTOR_EXTERNAL_REQUEST_H

#include "actor/external_table.h"

#include <weir/port.h>

struct cache;
struct executor;
struct lease_holder;
struct runtime;

struct external_request_options {
    weir_pid to;
    enum weir_lane lane;
    uint64_t timeout_ms;
    bool inspects;                     /* a control message, for inspect_arrived */
    bool takes;                        /* a lease of a member of `to` */
    const struct lease_holder *holder; /* of that lease; NULL: the program */
    const struct weir_lease *under;    /* in place of `to`; NULL: no lease */
    /* Called when the answer is there, on the answering thread, under the lock of the table: it
     * must not call back. May be NULL. */
    void (*on_answer)(void *context);
    void *on_answer_context;
};

/*
 * Sends a request, in a read section. Takes the message on 0; then the caller calls either await or
 * cancel. Otherwise as weir_send; WEIR_ECLOSED after external_requests_close, WEIR_ENOMEM.
 */
int external_request_send(struct runtime *runtime, struct executor *executor,
                          const struct external_request_options *options, struct message *message,
                          uint64_t *out_reference);

/* As external_request_send, but waits for room, and not in a read section. Also as send_wait. */
int external_request_send_wait(struct runtime *runtime,
                               const struct external_request_options *options,
                               struct message *message, uint64_t *out_reference);

/*
 * Gives up the request: an actor that has not begun it drops it. An answer that came already is
 * left in `out`. A thread that waits gets WEIR_ECANCELLED or WEIR_ERUNNING. 0: no actor has begun
 * it, and none will, or it had its answer. WEIR_ERUNNING. WEIR_EUNKNOWN: it is over.
 */
int external_requests_cancel(struct external_requests *requests, uint64_t reference,
                             struct external_request_answer *out);

/* Gives the answer to a take that was not served in time its detail. In a read section. */
void external_request_explain(struct runtime *runtime, struct external_request_answer *answer);

/* Fills an answer for programs and plugins, out->size bytes. external_request_can_show checks that
 * the size is no smaller than in version 1.0. */
bool external_request_can_show(const struct weir_answer *out);
void external_request_show(const struct external_request_answer *answer, struct weir_answer *out);

/* The runtime ends: wakes waiting threads, and frees answers that no thread has fetched. */
void external_requests_close(struct external_requests *requests, struct cache *cache);

#endif
