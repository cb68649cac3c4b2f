#include "actor/asking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "actor/runtime.h"
#include "actor/send.h"
#include "dispatch/futex.h"

#define INDEX_BITS 24 /* 16 million open at a time; 2^40 in a life */
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

/* The size of struct weir_answer in version 1.0: all of it. */
#define ANSWER_SIZE_MIN (offsetof(struct weir_answer, detail) + 48)

/* One open request. The thread that takes it out of the table frees it. */
struct asking {
    uint64_t reference;          /* const */
    uint64_t due_ns;             /* const: by the system's clock */
    _Atomic uint32_t answered;   /* futex; written under the lock */
    void (*on_answer)(void *);   /* const; may be NULL */
    void *on_answer_context;     /* const */
    bool awaited;                /* lock */
    struct asking_answer answer; /* lock, until `answered` */
};

int askings_create(struct askings **out)
{
    struct askings *askings = calloc(1, sizeof *askings);

    if (!askings)
        return WEIR_ENOMEM;
    atomic_init(&askings->references, 1);
    pthread_mutex_init(&askings->lock, NULL);
    *out = askings;
    return 0;
}

struct askings *askings_ref(struct askings *askings)
{
    /* Relaxed: the caller has a reference already. */
    atomic_fetch_add_explicit(&askings->references, 1, memory_order_relaxed);
    return askings;
}

void askings_unref(struct askings *askings)
{
    /* Each release pairs with the acquire of the last one: all uses come before. */
    if (!askings || atomic_fetch_sub_explicit(&askings->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&askings->lock);
    free(askings->open);
    free(askings);
}

/* --- the table ------------------------------------------------------------------------------ */

static int grow_locked(struct askings *askings)
{
    uint32_t capacity = askings->capacity ? askings->capacity * 2 : 8;
    struct asking **open;

    if (capacity > INDEX_MASK)
        return WEIR_ENOMEM;
    open = realloc(askings->open, capacity * sizeof *open);
    if (!open)
        return WEIR_ENOMEM;
    for (uint32_t i = askings->capacity; i < capacity; i++)
        open[i] = NULL;
    askings->open = open;
    askings->capacity = capacity;
    return 0;
}

static int put_locked(struct askings *askings, struct asking *asking)
{
    uint32_t index = askings->first_free;

    if (askings->closed)
        return WEIR_ECLOSED;
    while (index < askings->capacity && askings->open[index])
        index++;
    askings->first_free = index;
    if (index == askings->capacity && grow_locked(askings) != 0)
        return WEIR_ENOMEM;
    asking->reference = (++askings->next_reference << INDEX_BITS) | index;
    askings->open[index] = asking;
    askings->first_free = index + 1;
    return 0;
}

static struct asking *find_locked(struct askings *askings, uint64_t reference)
{
    uint32_t index = (uint32_t)reference & INDEX_MASK;
    struct asking *asking = index < askings->capacity ? askings->open[index] : NULL;

    return asking && asking->reference == reference ? asking : NULL;
}

static void take_out_locked(struct askings *askings, const struct asking *asking)
{
    uint32_t index = (uint32_t)asking->reference & INDEX_MASK;

    /* After askings_close the table is empty. */
    if (index >= askings->capacity || askings->open[index] != asking)
        return;
    askings->open[index] = NULL;
    if (index < askings->first_free)
        askings->first_free = index;
}

static void answer_locked(struct asking *asking, int status, struct message *reply,
                          const char *detail)
{
    asking->answer.status = status;
    asking->answer.reply = reply;
    (void)snprintf(asking->answer.detail, sizeof asking->answer.detail, "%s", detail);
    /* seq_cst: the sleeping thread reads it without the lock, and the answer with the lock. */
    atomic_store_explicit(&asking->answered, 1, memory_order_seq_cst);
    futex_wake(&asking->answered);
    if (asking->on_answer)
        asking->on_answer(asking->on_answer_context);
}

/* --- asking --------------------------------------------------------------------------------- */

static int open_one(struct askings *askings, const struct asking_options *options,
                    struct asking **out)
{
    struct clock clock = clock_monotonic();
    struct asking *asking = calloc(1, sizeof *asking);
    int status;

    if (!asking)
        return WEIR_ENOMEM;
    asking->due_ns = clock_after_ms(&clock, options->timeout_ms);
    asking->on_answer = options->on_answer;
    asking->on_answer_context = options->on_answer_context;
    pthread_mutex_lock(&askings->lock);
    status = put_locked(askings, asking);
    pthread_mutex_unlock(&askings->lock);
    if (status != 0) {
        free(asking);
        return status;
    }
    *out = asking;
    return 0;
}

/* The request was refused, so no other thread knows it. */
static void close_one(struct askings *askings, struct asking *asking)
{
    pthread_mutex_lock(&askings->lock);
    take_out_locked(askings, asking);
    pthread_mutex_unlock(&askings->lock);
    free(asking);
}

static int dispatch(struct runtime *runtime, struct executor *executor,
                    const struct asking_options *options, struct message *message)
{
    if (options->inspects) {
        message->public.kind = MESSAGE_INSPECT;
        return send_control(runtime, executor, options->to, message);
    }
    return send_message(runtime, executor, options->to, options->lane, message);
}

int asking_send(struct runtime *runtime, struct executor *executor,
                const struct asking_options *options, struct message *message,
                uint64_t *out_reference)
{
    struct asking *asking;
    uint64_t reference;
    int status = open_one(runtime->askings, options, &asking);

    if (status != 0)
        return status;
    reference = asking->reference;
    message->public.kind = WEIR_REQUEST;
    message->public.from = 0;
    message->public.reserved |= MESSAGE_EXPIRES;
    message->reference = reference;
    message->deadline_ns = clock_after_ms(&executor->clock, options->timeout_ms);
    status = dispatch(runtime, executor, options, message);
    if (status != 0) {
        message->public.kind = WEIR_MESSAGE;
        message->public.reserved &= ~(uint32_t)MESSAGE_EXPIRES;
        close_one(runtime->askings, asking);
        return status;
    }
    *out_reference = reference;
    return 0;
}

bool askings_answer(struct askings *askings, uint64_t reference, int status, struct message *reply,
                    const char *detail)
{
    struct asking *asking;
    bool taken;

    pthread_mutex_lock(&askings->lock);
    asking = find_locked(askings, reference);
    /* Relaxed: written under the lock. */
    taken = asking && !atomic_load_explicit(&asking->answered, memory_order_relaxed);
    if (taken)
        answer_locked(asking, status, reply, detail);
    pthread_mutex_unlock(&askings->lock);
    return taken;
}

/* --- fetching ------------------------------------------------------------------------------- */

static struct asking *claim(struct askings *askings, uint64_t reference)
{
    struct asking *asking;

    pthread_mutex_lock(&askings->lock);
    asking = find_locked(askings, reference);
    if (asking && asking->awaited)
        asking = NULL;
    else if (asking)
        asking->awaited = true;
    pthread_mutex_unlock(&askings->lock);
    return asking;
}

/* Removes a claimed request from the table. False: it has no answer, and will get none. */
static bool fetch(struct askings *askings, struct asking *asking, struct asking_answer *out)
{
    bool answered;

    *out = (struct asking_answer){ .status = WEIR_ETIMEOUT };
    pthread_mutex_lock(&askings->lock);
    take_out_locked(askings, asking);
    answered = atomic_load_explicit(&asking->answered, memory_order_relaxed);
    if (answered)
        *out = asking->answer;
    pthread_mutex_unlock(&askings->lock);
    free(asking);
    return answered;
}

static void sleep_until_answered(struct asking *asking)
{
    struct clock clock = clock_monotonic();

    while (!atomic_load_explicit(&asking->answered, memory_order_seq_cst)) {
        uint64_t now = clock_now_ns(&clock);

        if (now >= asking->due_ns)
            return;
        futex_wait(&asking->answered, 0,
                   asking->due_ns == UINT64_MAX ? UINT64_MAX : asking->due_ns - now);
    }
}

int askings_await(struct askings *askings, uint64_t reference, struct asking_answer *out)
{
    struct asking *asking = claim(askings, reference);

    *out = (struct asking_answer){ 0 };
    if (!asking)
        return WEIR_EUNKNOWN;
    sleep_until_answered(asking);
    (void)fetch(askings, asking, out);
    return out->status;
}

bool askings_is_answered(struct askings *askings, uint64_t reference)
{
    struct asking *asking;
    bool answered;

    pthread_mutex_lock(&askings->lock);
    asking = find_locked(askings, reference);
    /* Relaxed: written under the lock. */
    answered = asking && atomic_load_explicit(&asking->answered, memory_order_relaxed);
    pthread_mutex_unlock(&askings->lock);
    return answered;
}

int asking_cancel(struct runtime *runtime, uint64_t reference, struct asking_answer *out)
{
    struct asking *asking = claim(runtime->askings, reference);

    if (!asking)
        return WEIR_EUNKNOWN;
    /* Before the fetch: an answer that comes afterwards removes the note. */
    given_up_add(&runtime->given_up, 0, reference);
    if (fetch(runtime->askings, asking, out))
        (void)given_up_take(&runtime->given_up, 0, reference);
    return 0;
}

bool asking_can_show(const struct weir_answer *out)
{
    return out->size >= ANSWER_SIZE_MIN;
}

void asking_show(const struct asking_answer *answer, struct weir_answer *out)
{
    uint32_t known = (uint32_t)sizeof(struct weir_answer);
    struct weir_answer shown = { .size = out->size < known ? out->size : known,
                                 .message = answer->reply ? &answer->reply->public : NULL };

    memcpy(shown.detail, answer->detail, sizeof shown.detail);
    memcpy(out, &shown, shown.size);
}

void askings_close(struct askings *askings, struct cache *cache)
{
    pthread_mutex_lock(&askings->lock);
    askings->closed = true;
    for (uint32_t i = 0; i < askings->capacity; i++) {
        struct asking *asking = askings->open[i];

        if (!asking)
            continue;
        askings->open[i] = NULL;
        if (asking->awaited) {
            if (!atomic_load_explicit(&asking->answered, memory_order_relaxed))
                answer_locked(asking, WEIR_ECLOSED, NULL, "");
            continue; /* its waiting thread frees it */
        }
        message_destroy(cache, asking->answer.reply);
        free(asking);
    }
    pthread_mutex_unlock(&askings->lock);
}
