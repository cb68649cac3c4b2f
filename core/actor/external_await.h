/* SPDX-License-Identifier: MIT */
/*
 * actor/external_await.h - outside threads wait for the answers to their requests, and fetch them.
 *
 * Any thread, not in a read section.
 */
#ifndef ACTOR_EXTERNAL_AWAIT_H
#define ACTOR_EXTERNAL_AWAIT_H

#include "actor/external_table.h"

/* Waits for the answer until the time-out. Its status, or WEIR_ETIMEOUT: no actor has begun it, and
 * none will; WEIR_ERUNNING: one has; WEIR_ECANCELLED; WEIR_ECLOSED: the runtime has ended;
 * WEIR_EUNKNOWN: not open, or another thread waits for it. */
int external_requests_await(struct external_requests *requests, uint64_t reference,
                            struct external_request_answer *out);

/*
 * As external_requests_await for the first of several that has an answer or is over; only that one
 * is closed. WEIR_ETIMEOUT with `out_index` = `count`: none within `timeout_ms`. WEIR_EUNKNOWN:
 * none is open. WEIR_ENOMEM.
 */
int external_requests_await_any(struct external_requests *requests, const uint64_t *references,
                                uint32_t count, uint64_t timeout_ms, uint32_t *out_index,
                                struct external_request_answer *out);

/* Calls `call` once the request has its answer, or now if it has it, under the lock of the table:
 * it must not call back. It replaces an earlier one. WEIR_EUNKNOWN: not open. */
int external_requests_on_answer(struct external_requests *requests, uint64_t reference,
                                void (*call)(void *context), void *context);

/* True when external_requests_await would return at once with an answer. */
bool external_requests_is_answered(struct external_requests *requests, uint64_t reference);

/* The request, for which no other thread waits from now on. NULL: not open, or another thread waits
 * for it. */
struct external_request *external_request_claim(struct external_requests *requests,
                                                uint64_t reference);

/* Removes a claimed request from the table, and frees it. False: it has no answer, and will get
 * none; it is given up, with WEIR_ETIMEOUT or WEIR_ERUNNING. */
bool external_request_fetch(struct external_requests *requests, struct external_request *request,
                            struct external_request_answer *out);

#endif
