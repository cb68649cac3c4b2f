#include "actor/external_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/runtime.h"
#include "actor/send.h"
#include "actor/send_wait.h"
#include "dispatch/futex.h"

#define INDEX_BITS 24 /* 16 million open at a time; 2^40 in a life */
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

/* The size of struct weir_answer in version 1.0: all of it. */
#define ANSWER_SIZE_MIN (offsetof(struct weir_answer, detail) + 48)

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

int external_requests_create(struct external_requests **out)
{
    struct external_requests *requests = calloc(1, sizeof *requests);

    if (!requests)
        return WEIR_ENOMEM;
    atomic_init(&requests->references, 1);
    pthread_mutex_init(&requests->lock, NULL);
    *out = requests;
    return 0;
}

struct external_requests *external_requests_ref(struct external_requests *requests)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&requests->references, 1, memory_order_relaxed);
    return requests;
}

void external_requests_unref(struct external_requests *requests)
{
    /* Each release pairs with the acquire of the last one: all uses come before. */
    if (!requests || atomic_fetch_sub_explicit(&requests->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&requests->lock);
    free(requests->open);
    free(requests);
}

/* --- the table ------------------------------------------------------------------------------ */

static int grow_locked(struct external_requests *requests)
{
    uint32_t capacity = requests->capacity ? requests->capacity * 2 : 8;
    struct external_request **open;

    if (capacity > INDEX_MASK)
        return WEIR_ENOMEM;
    open = realloc(requests->open, capacity * sizeof *open);
    if (!open)
        return WEIR_ENOMEM;
    for (uint32_t i = requests->capacity; i < capacity; i++)
        open[i] = NULL;
    requests->open = open;
    requests->capacity = capacity;
    return 0;
}

static int put_locked(struct external_requests *requests, struct external_request *request)
{
    uint32_t index = requests->first_free;

    if (requests->closed)
        return WEIR_ECLOSED;
    while (index < requests->capacity && requests->open[index])
        index++;
    requests->first_free = index;
    if (index == requests->capacity && grow_locked(requests) != 0)
        return WEIR_ENOMEM;
    request->reference = (++requests->next_reference << INDEX_BITS) | index;
    requests->open[index] = request;
    requests->first_free = index + 1;
    return 0;
}

static struct external_request *find_locked(struct external_requests *requests, uint64_t reference)
{
    uint32_t index = (uint32_t)reference & INDEX_MASK;
    struct external_request *request = index < requests->capacity ? requests->open[index] : NULL;

    return request && request->reference == reference ? request : NULL;
}

static void take_out_locked(struct external_requests *requests,
                            const struct external_request *request)
{
    uint32_t index = (uint32_t)request->reference & INDEX_MASK;

    /* After external_requests_close the table is empty. */
    if (index >= requests->capacity || requests->open[index] != request)
        return;
    requests->open[index] = NULL;
    if (index < requests->first_free)
        requests->first_free = index;
}

static void answer_locked(struct external_requests *requests, struct external_request *request,
                          int status, struct message *reply, const char *detail)
{
    request->answer.status = status;
    request->answer.reply = reply;
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

/* --- request --------------------------------------------------------------------------------- */

static int open_one(struct external_requests *requests,
                    const struct external_request_options *options, struct external_request **out)
{
    struct clock clock = clock_monotonic();
    struct external_request *request = calloc(1, sizeof *request);
    int status;

    if (!request)
        return WEIR_ENOMEM;
    request->due_ns = clock_after_ms(&clock, options->timeout_ms);
    request->on_answer = options->on_answer;
    request->on_answer_context = options->on_answer_context;
    pthread_mutex_lock(&requests->lock);
    status = put_locked(requests, request);
    pthread_mutex_unlock(&requests->lock);
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
    pthread_mutex_lock(&requests->lock);
    take_out_locked(requests, request);
    pthread_mutex_unlock(&requests->lock);
    free(request);
}

static int dispatch(struct runtime *runtime, struct executor *executor,
                    const struct external_request_options *options, struct message *message)
{
    if (options->inspects) {
        message->public.kind = MESSAGE_INSPECT;
        return send_control(runtime, executor, options->to, message);
    }
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

int external_request_send(struct runtime *runtime, struct executor *executor,
                          const struct external_request_options *options, struct message *message,
                          uint64_t *out_reference)
{
    struct external_request *request;
    uint64_t reference;
    int status = open_one(runtime->external_requests, options, &request);

    if (status != 0)
        return status;
    mark(request, clock_after_ms(&executor->clock, options->timeout_ms), message);
    reference = request->reference;
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
    struct external_request *request;
    uint64_t reference;
    int status = open_one(runtime->external_requests, options, &request);

    if (status != 0)
        return status;
    mark(request, clock_after_ms(&runtime->options.clock, options->timeout_ms), message);
    reference = request->reference;
    status = send_wait(runtime, options->to, message, options->timeout_ms);
    if (status != 0)
        abandon(runtime->external_requests, request, message);
    else
        *out_reference = reference;
    return status;
}

bool external_requests_answer(struct external_requests *requests, uint64_t reference, int status,
                              struct message *reply, const char *detail)
{
    struct external_request *request;
    bool taken;

    pthread_mutex_lock(&requests->lock);
    request = find_locked(requests, reference);
    /* Relaxed: written under the lock. */
    taken = request && !atomic_load_explicit(&request->answered, memory_order_relaxed);
    if (taken)
        answer_locked(requests, request, status, reply, detail);
    pthread_mutex_unlock(&requests->lock);
    return taken;
}

/* --- fetching ------------------------------------------------------------------------------- */

static struct external_request *claim(struct external_requests *requests, uint64_t reference)
{
    struct external_request *request;

    pthread_mutex_lock(&requests->lock);
    request = find_locked(requests, reference);
    if (request && request->awaited)
        request = NULL;
    else if (request)
        request->awaited = true;
    pthread_mutex_unlock(&requests->lock);
    return request;
}

/* Removes a claimed request from the table. False: it has no answer, and will get none. */
static bool fetch(struct external_requests *requests, struct external_request *request,
                  struct external_request_answer *out)
{
    bool answered;

    *out = (struct external_request_answer){ .status = WEIR_ETIMEOUT };
    pthread_mutex_lock(&requests->lock);
    take_out_locked(requests, request);
    answered = atomic_load_explicit(&request->answered, memory_order_relaxed);
    if (answered)
        *out = request->answer;
    pthread_mutex_unlock(&requests->lock);
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
    struct external_request *request = claim(requests, reference);

    *out = (struct external_request_answer){ 0 };
    if (!request)
        return WEIR_EUNKNOWN;
    sleep_until_answered(request);
    (void)fetch(requests, request, out);
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

    pthread_mutex_lock(&several->requests->lock);
    for (uint32_t i = 0; i < several->count; i++) {
        struct external_request *request = find_locked(several->requests, references[i]);

        if (!request || request->awaited)
            continue;
        request->awaited = true;
        several->claimed[i] = request;
        claimed++;
    }
    several->requests->any_waits++;
    pthread_mutex_unlock(&several->requests->lock);
    return claimed;
}

/* Other threads may wait for all but the one that was fetched. */
static void release_several(struct several *several, uint32_t fetched)
{
    pthread_mutex_lock(&several->requests->lock);
    several->requests->any_waits--;
    for (uint32_t i = 0; i < several->count; i++)
        if (several->claimed[i] && i != fetched)
            several->claimed[i]->awaited = false;
    pthread_mutex_unlock(&several->requests->lock);
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
        (void)fetch(requests, several.claimed[first], out);
        status = out->status;
    }
    free(several.claimed);
    return status;
}

bool external_requests_is_answered(struct external_requests *requests, uint64_t reference)
{
    struct external_request *request;
    bool answered;

    pthread_mutex_lock(&requests->lock);
    request = find_locked(requests, reference);
    /* Relaxed: written under the lock. */
    answered = request && atomic_load_explicit(&request->answered, memory_order_relaxed);
    pthread_mutex_unlock(&requests->lock);
    return answered;
}

int external_request_cancel(struct runtime *runtime, uint64_t reference,
                            struct external_request_answer *out)
{
    struct external_request *request = claim(runtime->external_requests, reference);

    if (!request)
        return WEIR_EUNKNOWN;
    /* Before the fetch: an answer that comes afterwards removes the note. */
    given_up_add(&runtime->given_up, 0, reference);
    if (fetch(runtime->external_requests, request, out))
        (void)given_up_take(&runtime->given_up, 0, reference);
    return 0;
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
    pthread_mutex_lock(&requests->lock);
    requests->closed = true;
    for (uint32_t i = 0; i < requests->capacity; i++) {
        struct external_request *request = requests->open[i];

        if (!request)
            continue;
        requests->open[i] = NULL;
        if (request->awaited) {
            if (!atomic_load_explicit(&request->answered, memory_order_relaxed))
                answer_locked(requests, request, WEIR_ECLOSED, NULL, "");
            continue; /* its waiting thread frees it */
        }
        message_destroy(cache, request->answer.reply);
        free(request);
    }
    pthread_mutex_unlock(&requests->lock);
}
