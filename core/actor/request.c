/* SPDX-License-Identifier: MIT */
#include "actor/request.h"

#include <stdlib.h>
#include <string.h>

#include "actor/actor_ext.h"
#include "actor/askers.h"
#include "actor/callback.h"
#include "actor/deadlines.h"
#include "actor/external_answer.h"
#include "actor/leases.h"
#include "actor/own.h"
#include "actor/place.h"
#include "actor/runtime.h"
#include "actor/send.h"

#define INDEX_BITS 24 /* 16 million open requests for each actor; 2^40 in a life */
#define INDEX_MASK ((1u << INDEX_BITS) - 1)
#define NS_PER_MS 1000000u

static int grow(struct actor_ext *ext)
{
    uint32_t count = ext->pending_count ? ext->pending_count * 2 : 8;
    struct pending *pending;

    if (count > INDEX_MASK)
        return WEIR_ENOMEM;
    pending = realloc(ext->pending, count * sizeof *pending);
    if (!pending)
        return WEIR_ENOMEM;
    ext->pending = pending;
    for (uint32_t i = ext->pending_count; i < count; i++) {
        pending[i] = (struct pending){ .next_free = ext->pending_free };
        ext->pending_free = i + 1;
    }
    ext->pending_count = count;
    return 0;
}

static struct pending *take_entry(struct actor_ext *ext)
{
    struct pending *entry;

    if ((!ext->pending_free && grow(ext) != 0) || deadlines_reserve(ext) != 0)
        return NULL;
    entry = &ext->pending[ext->pending_free - 1];
    ext->pending_free = entry->next_free;
    entry->reference = (++ext->next_reference << INDEX_BITS) | (uint64_t)(entry - ext->pending);
    place_engage(ext->actor->place, 1);
    return entry;
}

static void give_entry(struct actor_ext *ext, struct pending *entry)
{
    deadlines_clear(ext, DEADLINE_REQUEST, (uint32_t)(entry - ext->pending));
    place_engage(ext->actor->place, -1);
    entry->reference = 0;
    entry->next_free = ext->pending_free;
    ext->pending_free = (uint32_t)(entry - ext->pending) + 1;
}

static struct pending *find_entry(struct actor_ext *ext, uint64_t reference)
{
    uint32_t index = (uint32_t)reference & INDEX_MASK;

    if (!ext || !reference || index >= ext->pending_count ||
        ext->pending[index].reference != reference)
        return NULL;
    return &ext->pending[index];
}

static uint64_t deadline(struct actor *actor, uint64_t timeout_ms)
{
    uint64_t now = executor_look_at_clock(actor->executor);

    return timeout_ms > (TIMER_NEVER - 1 - now) / NS_PER_MS ? TIMER_NEVER
                                                            : now + timeout_ms * NS_PER_MS;
}

static int dispatch(struct actor *actor, const struct request_options *options,
                    struct message *message)
{
    if (options->inspects) {
        message->public.kind = MESSAGE_INSPECT;
        return send_control(actor->runtime, actor->executor, options->to, message);
    }
    if (options->takes)
        return leases_take(actor->runtime, actor->executor, options->to, options->timeout_ms == 0,
                           message);
    if (options->under)
        return leases_send(actor->runtime, actor->executor, options->under, message);
    return send_message(actor->runtime, actor->executor, options->to, options->lane, message);
}

int request_send(struct actor *actor, const struct request_options *options,
                 struct message *message, uint64_t *out_reference)
{
    struct actor_ext *ext = actor_ext_get(actor);
    struct pending *entry;
    uint64_t reference, due_ns;
    int status;

    if (message->public.reserved & MESSAGE_TRACKED)
        return WEIR_EINVALID;
    entry = ext ? take_entry(ext) : NULL;
    if (!entry)
        return WEIR_ENOMEM;
    if (!options->inspects && !options->under)
        askers_note(actor, options->to);
    reference = entry->reference;
    due_ns = deadline(actor, leases_timeout(options->takes, options->timeout_ms));
    deadlines_set(ext, DEADLINE_REQUEST, (uint32_t)(entry - ext->pending), due_ns);
    entry->pool = options->takes ? options->to : 0;
    entry->status = WEIR_ETIMEOUT;
    entry->then = options->then;
    entry->context = options->context;
    message->public.kind = WEIR_REQUEST;
    message->public.from = actor_pid(actor);
    message->public.reserved |= MESSAGE_EXPIRES;
    message->reference = reference;
    message->deadline_ns = due_ns;
    own_mark(actor, options->to, message);
    status = dispatch(actor, options, message);
    if (status != 0) {
        give_entry(ext, entry);
        message->public.kind = WEIR_MESSAGE;
        message->public.reserved &= ~(uint32_t)MESSAGE_EXPIRES;
        return status;
    }
    actor_ext_arm(actor, due_ns);
    if (out_reference)
        *out_reference = reference;
    return 0;
}

/* Closes an entry and calls its continuation. */
static void finish(struct actor *actor, struct pending *entry, const struct weir_reply *reply)
{
    weir_then *then = entry->then;
    void *context = entry->context;

    give_entry(actor->ext, entry);
    if (!then)
        return;
    actor->flags &= (uint8_t)~ACTOR_WAITS;
    callback_begin(actor, NOTE_CONTINUATION);
    then(&actor->self, actor->memory, context, reply);
    callback_end(actor);
}

static void finish_without_message(struct actor *actor, struct pending *entry, int status)
{
    char detail[LEASE_TROUBLE] = "";
    struct weir_reply reply = { .reference = entry->reference, .status = status, .detail = detail };

    if (entry->pool && status == WEIR_ETIMEOUT)
        leases_explain(actor->runtime, entry->pool, detail, sizeof detail);
    finish(actor, entry, &reply);
}

int request_cancel(struct actor *actor, uint64_t reference)
{
    struct pending *entry = find_entry(actor->ext, reference);

    if (!entry || entry->status == WEIR_ECANCELLED)
        return WEIR_EUNKNOWN;
    given_up_add(&actor->runtime->given_up, actor_pid(actor), reference);
    /* Reported at the next step of this turn, like a time-out, since a cancel does not call back.
     * */
    entry->status = WEIR_ECANCELLED;
    deadlines_set(actor->ext, DEADLINE_REQUEST, (uint32_t)(entry - actor->ext->pending), 0);
    return actor_signal(actor, actor_serial_of(actor_pid(actor)), actor->executor, SIGNAL_TIME);
}

static int send_reply(struct runtime *runtime, struct executor *executor, weir_pid requester,
                      struct message *reply)
{
    reply->public.kind = MESSAGE_REPLY;
    return send_control(runtime, executor, requester, reply);
}

/* Counts an answer without a waiting requester. */
static void count_late(struct runtime *runtime, weir_pid requester, uint64_t reference)
{
    if (requester)
        (void)given_up_take(&runtime->given_up, requester, reference);
    atomic_fetch_add_explicit(&runtime->late_replies, 1, memory_order_relaxed);
}

static bool is_over(const struct message *request, uint64_t now_ns)
{
    return (request->public.reserved & MESSAGE_EXPIRES) && request->deadline_ns != TIMER_NEVER &&
           request->deadline_ns <= now_ns;
}

/* True when its requester gave it up before the time-out. */
static bool is_dropped(struct runtime *runtime, const struct message *request)
{
    const weir_pid requester = request->public.from;

    if (requester)
        return given_up_has(&runtime->given_up, requester, request->reference);
    return !(request->public.reserved & MESSAGE_ANSWERED) &&
           !external_requests_is_wanted(runtime->external_requests, request->reference);
}

/* The status of a request without a note. */
static int why_over(struct executor *executor, const struct message *request)
{
    return is_over(request, executor_time(executor)) ? WEIR_ETIMEOUT : 0;
}

static int why_dropped(struct executor *executor, const struct message *request)
{
    return is_over(request, executor_look_at_clock(executor)) ? WEIR_ETIMEOUT : WEIR_ECANCELLED;
}

/* As request_why_given_up, when notes must be looked up. Out of line, so that other checks save no
 * registers for it. */
__attribute__((noinline)) static int why_given_up_noted(struct runtime *runtime,
                                                        struct executor *executor,
                                                        const struct message *request)
{
    return is_dropped(runtime, request) ? why_dropped(executor, request)
                                        : why_over(executor, request);
}

int request_why_given_up(struct runtime *runtime, struct executor *executor,
                         const struct message *request)
{
    return request->public.from == 0 || given_up_any(&runtime->given_up)
               ? why_given_up_noted(runtime, executor, request)
               : why_over(executor, request);
}

/* Of a request of a thread: from then on the thread knows that it has begun. */
__attribute__((noinline)) static int begin_outside(struct actor *actor,
                                                   const struct message *request)
{
    int status = why_over(actor->executor, request);

    if (status == 0 &&
        !external_requests_begin(actor->runtime->external_requests, request->reference))
        status = why_dropped(actor->executor, request);
    return status;
}

/* A thread waits for the result. A TAKE is no work of the user: without a lease it has never begun.
 */
static bool is_awaited_outside(const struct message *request)
{
    return request->public.from == 0 &&
           !(request->public.reserved & (MESSAGE_TAKE | MESSAGE_ANSWERED));
}

void request_put_back(struct actor *actor, const struct message *request)
{
    if (is_awaited_outside(request))
        external_requests_put_back(actor->runtime->external_requests, request->reference);
}

int request_begin(struct actor *actor, const struct message *request)
{
    if (is_awaited_outside(request))
        return begin_outside(actor, request);
    return request_why_given_up(actor->runtime, actor->executor, request);
}

uint64_t request_given_up_so_far(const struct runtime *runtime)
{
    return given_up_added(&runtime->given_up) +
           external_requests_given_up(runtime->external_requests);
}

/* The status of a request that was given up; 0: it was not, as far as this thread can know. */
static int why_given_up(struct actor *actor, const struct message *request)
{
    return request_why_given_up(actor->runtime, actor->executor, request);
}

/* Replies to an outside thread, which may read the reply, and free it, before this call returns. */
static int reply_outside(struct actor *actor, struct message *request, struct message *reply)
{
    return external_requests_answer(actor->runtime->external_requests, request->reference, 0, reply,
                                    "")
               ? 0
               : why_dropped(actor->executor, request);
}

static int reply_inside(struct actor *actor, struct message *request, struct message *reply)
{
    int status = why_given_up(actor, request);

    return status != 0 ? status
                       : send_reply(actor->runtime, actor->executor, request->public.from, reply);
}

int request_reply(struct actor *actor, struct message *request, struct message *reply)
{
    int status;

    if (request->public.kind != WEIR_REQUEST || (reply->public.reserved & MESSAGE_TRACKED))
        return WEIR_EINVALID;
    if (request->public.reserved & MESSAGE_ANSWERED)
        return WEIR_ENOTALLOWED;
    reply->reference = request->reference;
    reply->status = 0;
    reply->public.from = actor_pid(actor);
    /* For a late reply, too: settling the request later must not answer again. */
    request->public.reserved |= MESSAGE_ANSWERED;
    status = request->public.from ? reply_inside(actor, request, reply)
                                  : reply_outside(actor, request, reply);
    if (status == 0)
        return 0;
    reply->public.kind = WEIR_MESSAGE;
    count_late(actor->runtime, request->public.from, request->reference);
    return status;
}

void request_answer(struct runtime *runtime, struct executor *executor, struct message *request,
                    int status, const char *detail)
{
    weir_pid requester = request->public.from;

    /* A worker that stops since the time is over has not rejected the request. */
    if (status == WEIR_EREJECTED && is_over(request, executor_time(executor)))
        status = WEIR_ETIMEOUT;
    if (requester == 0) {
        if (!external_requests_answer(runtime->external_requests, request->reference, status, NULL,
                                      detail))
            count_late(runtime, 0, request->reference);
        message_destroy(&executor->cache, request);
        return;
    }
    request = message_say(&executor->cache, request, detail);
    request->status = status;
    if (send_reply(runtime, executor, requester, request) == 0)
        return;
    count_late(runtime, requester, request->reference);
    message_destroy(&executor->cache, request);
}

void request_arrived(struct actor *actor, struct message *message)
{
    struct pending *entry = find_entry(actor->ext, message->reference);
    struct weir_reply reply = {
        .reference = message->reference,
        .status = message->status,
        .message = message->status == 0 ? &message->public : NULL,
        .detail = message->status != 0 && message->public.size ? message->public.data : "",
    };

    if (entry && entry->status != WEIR_ECANCELLED) {
        finish(actor, entry, &reply);
    } else {
        count_late(actor->runtime, actor_pid(actor), message->reference);
        leases_return_unwanted(actor->runtime, actor->executor, message);
    }
    message_destroy(&actor->executor->cache, message);
}

void request_bounce(struct runtime *runtime, struct executor *executor, weir_pid ended,
                    struct message *message)
{
    count_late(runtime, ended, message->reference);
    leases_return_unwanted(runtime, executor, message);
    message_destroy(&executor->cache, message);
}

void request_time(struct actor *actor, uint32_t index)
{
    struct pending *entry = &actor->ext->pending[index];

    finish_without_message(actor, entry, entry->status);
}

void request_drop_all(struct actor *actor)
{
    struct actor_ext *ext = actor->ext;

    for (uint32_t i = 0; i < ext->pending_count; i++) {
        struct pending *entry = &ext->pending[i];

        if (!entry->reference)
            continue;
        given_up_add(&actor->runtime->given_up, actor_pid(actor), entry->reference);
        give_entry(ext, entry);
    }
    /* Frees the array, so that the next incarnation has only the memory that it needs itself. */
    free(ext->pending);
    ext->pending = NULL;
    ext->pending_count = 0;
    ext->pending_free = 0;
}

uint64_t request_time_left_ms(struct actor *actor, const struct message *message)
{
    uint64_t now;

    if (!(message->public.reserved & MESSAGE_EXPIRES))
        return UINT64_MAX;
    if (is_dropped(actor->runtime, message))
        return 0;
    if (message->deadline_ns == TIMER_NEVER)
        return UINT64_MAX;
    now = executor_look_at_clock(actor->executor);
    if (message->deadline_ns <= now)
        return 0;
    return (message->deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS;
}
