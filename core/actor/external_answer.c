/* SPDX-License-Identifier: MIT */
#include "actor/external_answer.h"

#include <stdio.h>

#include "dispatch/futex.h"

void external_requests_answer_locked(struct external_requests *requests,
                                     struct external_request *request, int status,
                                     struct message *reply, const char *detail)
{
    bool gives_up = status == WEIR_ETIMEOUT || status == WEIR_ECANCELLED;

    request->answer.status = gives_up ? external_requests_give_up_locked(requests, request, status)
                                      : status;
    request->answer.reply = reply;
    if (detail[0]) /* seldom, and slow */
        (void)snprintf(request->answer.detail, sizeof request->answer.detail, "%s", detail);
    /* seq_cst: the sleeping thread reads it without the lock, and the answer with the lock. */
    atomic_store_explicit(&request->answered, 1, memory_order_seq_cst);
    futex_wake(&request->answered);
    if (requests->any_waits) {
        atomic_fetch_add_explicit(&requests->answers, 1, memory_order_seq_cst);
        futex_wake_all(&requests->answers);
    }
    if (request->on_answer)
        request->on_answer(request->on_answer_context);
}

bool external_requests_answer(struct external_requests *requests, uint64_t reference, int status,
                              struct message *reply, const char *detail)
{
    struct external_request *request;
    bool taken;

    lock_acquire(&requests->lock);
    request = external_requests_find_locked(requests, reference);
    /* Relaxed: written under the lock. */
    taken = request && !atomic_load_explicit(&request->answered, memory_order_relaxed);
    if (taken)
        external_requests_answer_locked(requests, request, status, reply, detail);
    lock_release(&requests->lock);
    return taken;
}
