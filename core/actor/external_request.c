/* SPDX-License-Identifier: MIT */
#include "actor/external_request.h"

#include <stdlib.h>
#include <string.h>

#include "actor/external_answer.h"
#include "actor/external_await.h"
#include "actor/external_table.h"
#include "actor/leases.h"
#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/send_wait.h"

/* The size of struct weir_answer in version 1.0: all of it. */
#define ANSWER_SIZE_MIN (offsetof(struct weir_answer, detail) + 48)

/* --- request --------------------------------------------------------------------------------- */

static int open_one(struct external_requests *requests,
                    const struct external_request_options *options, struct external_request **out)
{
    struct clock clock = clock_monotonic();
    struct external_request *request = calloc(1, sizeof *request);
    int status;

    if (!request)
        return WEIR_ENOMEM;
    request->due_ns = clock_after_ms(&clock, leases_timeout(options->takes, options->timeout_ms));
    request->pool = options->takes ? options->to : 0;
    request->on_answer = options->on_answer;
    request->on_answer_context = options->on_answer_context;
    lock_acquire(&requests->lock);
    status = external_requests_put_locked(requests, request);
    lock_release(&requests->lock);
    if (status != 0) {
        free(request);
        return status;
    }
    *out = request;
    return 0;
}

/* The request was refused, so no other thread knows it. */
static void close_one(struct external_requests *requests, struct external_request *request)
{
    lock_acquire(&requests->lock);
    external_requests_take_out_locked(requests, request);
    lock_release(&requests->lock);
    free(request);
}

static int dispatch(struct runtime *runtime, struct executor *executor,
                    const struct external_request_options *options, struct message *message)
{
    if (options->inspects) {
        message->public.kind = MESSAGE_INSPECT;
        return send_control(runtime, executor, options->to, message);
    }
    if (options->takes)
        return leases_take(runtime, executor, options->to, options->timeout_ms == 0, message);
    if (options->under)
        return leases_send(runtime, executor, options->under, message);
    return send_message(runtime, executor, options->to, options->lane, message);
}

/* Makes the message a request. */
static void mark(const struct external_request *request, uint64_t deadline_ns,
                 struct message *message)
{
    message->public.kind = WEIR_REQUEST;
    message->public.from = 0;
    message->public.reserved |= MESSAGE_EXPIRES;
    message->reference = request->reference;
    message->deadline_ns = deadline_ns;
}

/* The message was refused, and is no request any more. */
static void abandon(struct external_requests *requests, struct external_request *request,
                    struct message *message)
{
    message->public.kind = WEIR_MESSAGE;
    message->public.reserved &= ~(uint32_t)MESSAGE_EXPIRES;
    close_one(requests, request);
}

/* A message with an origin has an outcome already: it cannot become a request. */
static int open_for(struct runtime *runtime, const struct external_request_options *options,
                    const struct message *message, struct external_request **out)
{
    return message->public.reserved & MESSAGE_TRACKED
               ? WEIR_EINVALID
               : open_one(runtime->external_requests, options, out);
}

/* Answers a take of the program by the lease of a free member. False: it has to wait for one. */
static bool answer_take(struct runtime *runtime, struct executor *executor,
                        const struct external_request_options *options, uint64_t reference)
{
    struct message *reply;
    struct weir_lease lease;

    if (!options->takes || options->holder || !leases_lend(runtime, executor, options->to, &lease))
        return false;
    reply = leases_make_reply(executor, &lease);
    if (reply && external_requests_answer(runtime->external_requests, reference, 0, reply, ""))
        return true;
    /* Memory is out, or the runtime ends. */
    message_destroy(&executor->cache, reply);
    (void)leases_return(runtime, executor, &lease, 0, WEIR_DONE);
    return false;
}

int external_request_send(struct runtime *runtime, struct executor *executor,
                          const struct external_request_options *options, struct message *message,
                          uint64_t *out_reference)
{
    /* Read first: the receiver must not take the message after the thread has given up. */
    const uint64_t deadline_ns = clock_after_ms(
        &executor->clock, leases_timeout(options->takes, options->timeout_ms));
    struct external_request *request;
    uint64_t reference;
    int status = open_for(runtime, options, message, &request);

    if (status != 0)
        return status;
    mark(request, deadline_ns, message);
    reference = request->reference;
    if (answer_take(runtime, executor, options, reference)) {
        message_destroy(&executor->cache, message);
        *out_reference = reference;
        return 0;
    }
    status = dispatch(runtime, executor, options, message);
    if (status != 0)
        abandon(runtime->external_requests, request, message);
    else
        *out_reference = reference;
    return status;
}

int external_request_send_wait(struct runtime *runtime,
                               const struct external_request_options *options,
                               struct message *message, uint64_t *out_reference)
{
    const uint64_t deadline_ns = clock_after_ms(&runtime->options.clock, options->timeout_ms);
    struct external_request *request;
    uint64_t reference;
    int status = open_for(runtime, options, message, &request);

    if (status != 0)
        return status;
    mark(request, deadline_ns, message);
    reference = request->reference;
    status = send_wait(runtime, options->to, message, options->timeout_ms);
    if (status != 0)
        abandon(runtime->external_requests, request, message);
    else
        *out_reference = reference;
    return status;
}

/* Ends an open request, or one for which a thread waits; that thread then frees it. */
static int cancel_locked(struct external_requests *requests, struct external_request *request,
                         struct external_request_answer *out)
{
    int status = 0;

    if (atomic_load_explicit(&request->answered, memory_order_relaxed)) {
        if (request->awaited)
            return WEIR_EUNKNOWN;
        *out = request->answer;
    } else if (request->awaited) {
        external_requests_answer_locked(requests, request, WEIR_ECANCELLED, NULL, "");
        return request->begun ? WEIR_ERUNNING : 0;
    } else if (external_requests_give_up_locked(requests, request, 0) != 0) {
        status = WEIR_ERUNNING;
    }
    external_requests_take_out_locked(requests, request);
    free(request);
    return status;
}

int external_requests_cancel(struct external_requests *requests, uint64_t reference,
                             struct external_request_answer *out)
{
    struct external_request *request;
    int status = WEIR_EUNKNOWN;

    *out = (struct external_request_answer){ 0 };
    lock_acquire(&requests->lock);
    request = external_requests_find_locked(requests, reference);
    if (request)
        status = cancel_locked(requests, request, out);
    lock_release(&requests->lock);
    return status;
}

void external_request_explain(struct runtime *runtime, struct external_request_answer *answer)
{
    if (answer->pool && answer->status == WEIR_ETIMEOUT)
        leases_explain(runtime, answer->pool, answer->detail, sizeof answer->detail);
}

bool external_request_can_show(const struct weir_answer *out)
{
    return out->size >= ANSWER_SIZE_MIN;
}

void external_request_show(const struct external_request_answer *answer, struct weir_answer *out)
{
    uint32_t known = (uint32_t)sizeof(struct weir_answer);
    struct weir_answer shown = { .size = out->size < known ? out->size : known,
                                 .message = answer->reply ? &answer->reply->public : NULL };

    memcpy(shown.detail, answer->detail, sizeof shown.detail);
    memcpy(out, &shown, shown.size);
}

void external_requests_close(struct external_requests *requests, struct cache *cache)
{
    lock_acquire(&requests->lock);
    requests->closed = true;
    for (uint32_t i = 0; i < requests->capacity; i++) {
        struct external_request *request = requests->open[i];

        if (!request)
            continue;
        requests->open[i] = NULL;
        if (request->awaited) {
            if (!atomic_load_explicit(&request->answered, memory_order_relaxed))
                external_requests_answer_locked(requests, request, WEIR_ECLOSED, NULL, "");
            continue; /* its waiting thread frees it */
        }
        message_destroy(cache, request->answer.reply);
        free(request);
    }
    lock_release(&requests->lock);
}
