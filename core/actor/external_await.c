/* SPDX-License-Identifier: MIT */
#include "actor/external_await.h"

#include <stdlib.h>

#include "actor/external_table.h"
#include "base/clock.h"
#include "dispatch/futex.h"

struct external_request *external_request_claim(struct external_requests *requests,
                                                uint64_t reference)
{
    struct external_request *request;

    lock_acquire(&requests->lock);
    request = external_requests_find_locked(requests, reference);
    if (request && request->awaited)
        request = NULL;
    else if (request)
        request->awaited = true;
    lock_release(&requests->lock);
    return request;
}

bool external_request_fetch(struct external_requests *requests, struct external_request *request,
                            struct external_request_answer *out)
{
    bool answered;

    *out = (struct external_request_answer){ 0 };
    lock_acquire(&requests->lock);
    external_requests_take_out_locked(requests, request);
    answered = atomic_load_explicit(&request->answered, memory_order_relaxed);
    if (answered)
        *out = request->answer;
    else
        out->status = external_requests_give_up_locked(requests, request, WEIR_ETIMEOUT);
    out->pool = request->pool;
    lock_release(&requests->lock);
    free(request);
    return answered;
}

static void sleep_until_answered(struct external_request *request)
{
    struct clock clock = clock_monotonic();

    while (!atomic_load_explicit(&request->answered, memory_order_seq_cst)) {
        uint64_t now = clock_now_ns(&clock);

        if (now >= request->due_ns)
            return;
        futex_wait(&request->answered, 0,
                   request->due_ns == UINT64_MAX ? UINT64_MAX : request->due_ns - now);
    }
}

int external_requests_await(struct external_requests *requests, uint64_t reference,
                            struct external_request_answer *out)
{
    struct external_request *request = external_request_claim(requests, reference);

    *out = (struct external_request_answer){ 0 };
    if (!request)
        return WEIR_EUNKNOWN;
    sleep_until_answered(request);
    (void)external_request_fetch(requests, request, out);
    return out->status;
}

/* --- the first of several --------------------------------------------------------------------- */

/* Several requests of which one thread waits for the first. */
struct several {
    struct external_requests *requests;
    struct external_request **claimed; /* NULL: not open, or another thread waits for it */
    uint32_t count;
};

/* How many of them this thread waits for now. */
static uint32_t claim_several(struct several *several, const uint64_t *references)
{
    uint32_t claimed = 0;

    lock_acquire(&several->requests->lock);
    for (uint32_t i = 0; i < several->count; i++) {
        struct external_request *request = external_requests_find_locked(several->requests,
                                                                         references[i]);

        if (!request || request->awaited)
            continue;
        request->awaited = true;
        several->claimed[i] = request;
        claimed++;
    }
    several->requests->any_waits++;
    lock_release(&several->requests->lock);
    return claimed;
}

/* Other threads may wait for all references except the fetched one. */
static void release_several(struct several *several, uint32_t fetched)
{
    lock_acquire(&several->requests->lock);
    several->requests->any_waits--;
    for (uint32_t i = 0; i < several->count; i++)
        if (several->claimed[i] && i != fetched)
            several->claimed[i]->awaited = false;
    lock_release(&several->requests->lock);
}

/* The first that is answered or over; `count`: none is. `out_due_ns`: the first that will be. */
static uint32_t find_first(const struct several *several, uint64_t now_ns, uint64_t *out_due_ns)
{
    for (uint32_t i = 0; i < several->count; i++) {
        const struct external_request *request = several->claimed[i];

        if (!request)
            continue;
        if (atomic_load_explicit(&request->answered, memory_order_seq_cst) ||
            now_ns >= request->due_ns)
            return i;
        if (request->due_ns < *out_due_ns)
            *out_due_ns = request->due_ns;
    }
    return several->count;
}

static uint32_t sleep_until_first(const struct several *several, uint64_t deadline_ns)
{
    const struct clock clock = clock_monotonic();

    for (;;) {
        /* seq_cst: read before the requests are, and written after one is answered. */
        uint32_t answers = atomic_load_explicit(&several->requests->answers, memory_order_seq_cst);
        uint64_t now = clock_now_ns(&clock);
        uint64_t due_ns = deadline_ns;
        uint32_t first = find_first(several, now, &due_ns);

        if (first < several->count || now >= deadline_ns)
            return first;
        futex_wait(&several->requests->answers, answers,
                   due_ns == UINT64_MAX ? UINT64_MAX : due_ns - now);
    }
}

int external_requests_await_any(struct external_requests *requests, const uint64_t *references,
                                uint32_t count, uint64_t timeout_ms, uint32_t *out_index,
                                struct external_request_answer *out)
{
    const struct clock clock = clock_monotonic();
    const uint64_t deadline_ns = clock_after_ms(&clock, timeout_ms);
    struct several several = { requests,
                               calloc((size_t)count + 1, sizeof(struct external_request *)),
                               count };
    uint32_t first = count;
    int status = WEIR_EUNKNOWN;

    *out = (struct external_request_answer){ 0 };
    if (!several.claimed)
        return WEIR_ENOMEM;
    if (claim_several(&several, references) > 0) {
        first = sleep_until_first(&several, deadline_ns);
        status = WEIR_ETIMEOUT;
    }
    release_several(&several, first);
    *out_index = first;
    if (first < count) {
        (void)external_request_fetch(requests, several.claimed[first], out);
        status = out->status;
    }
    free(several.claimed);
    return status;
}

int external_requests_on_answer(struct external_requests *requests, uint64_t reference,
                                void (*call)(void *context), void *context)
{
    struct external_request *request;

    lock_acquire(&requests->lock);
    request = external_requests_find_locked(requests, reference);
    /* Relaxed: written under the lock. */
    if (request && atomic_load_explicit(&request->answered, memory_order_relaxed)) {
        call(context);
    } else if (request) {
        request->on_answer = call;
        request->on_answer_context = context;
    }
    lock_release(&requests->lock);
    return request ? 0 : WEIR_EUNKNOWN;
}

bool external_requests_is_answered(struct external_requests *requests, uint64_t reference)
{
    struct external_request *request;
    bool answered;

    lock_acquire(&requests->lock);
    request = external_requests_find_locked(requests, reference);
    /* Relaxed: written under the lock. */
    answered = request && atomic_load_explicit(&request->answered, memory_order_relaxed);
    lock_release(&requests->lock);
    return answered;
}
