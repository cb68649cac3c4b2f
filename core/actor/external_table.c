/* SPDX-License-Identifier: MIT */
#include "actor/external_table.h"

#include <stdlib.h>

#include "actor/runtime.h"

#define INDEX_BITS 24 /* 16 million open at a time; 2^40 in a life */
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

int external_requests_create(struct runtime *runtime, struct external_requests **out)
{
    struct external_requests *requests = calloc(1, sizeof *requests);

    if (!requests)
        return WEIR_ENOMEM;
    atomic_init(&requests->references, 1);
    lock_init(&requests->lock, LOCK_REQUESTS);
    requests->runtime = runtime;
    *out = requests;
    return 0;
}

void external_requests_part(struct external_requests *requests)
{
    lock_acquire(&requests->lock);
    requests->runtime = NULL;
    lock_release(&requests->lock);
}

struct runtime *external_requests_hold(struct external_requests *requests)
{
    struct runtime *runtime;

    lock_acquire(&requests->lock);
    runtime = requests->runtime;
    if (runtime)
        runtime_hold(runtime);
    lock_release(&requests->lock);
    return runtime;
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
    lock_finish(&requests->lock);
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

int external_requests_put_locked(struct external_requests *requests,
                                 struct external_request *request)
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

struct external_request *external_requests_find_locked(struct external_requests *requests,
                                                       uint64_t reference)
{
    uint32_t index = (uint32_t)reference & INDEX_MASK;
    struct external_request *request = index < requests->capacity ? requests->open[index] : NULL;

    return request && request->reference == reference ? request : NULL;
}

void external_requests_take_out_locked(struct external_requests *requests,
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

int external_requests_give_up_locked(struct external_requests *requests,
                                     const struct external_request *request, int status)
{
    /* Relaxed: written under the lock, as what a check finds. */
    uint64_t given_up = atomic_load_explicit(&requests->given_up, memory_order_relaxed);

    atomic_store_explicit(&requests->given_up, given_up + 1, memory_order_relaxed);
    return request->begun ? WEIR_ERUNNING : status;
}

/* --- for actors ------------------------------------------------------------------------------- */

/* The request, if it is open and has no answer; NULL: it is over. */
static struct external_request *find_wanted_locked(struct external_requests *requests,
                                                   uint64_t reference)
{
    struct external_request *request = external_requests_find_locked(requests, reference);

    /* Relaxed: written under the lock. */
    return request && !atomic_load_explicit(&request->answered, memory_order_relaxed) ? request
                                                                                      : NULL;
}

bool external_requests_begin(struct external_requests *requests, uint64_t reference)
{
    struct external_request *request;

    lock_acquire(&requests->lock);
    request = find_wanted_locked(requests, reference);
    if (request)
        request->begun = true;
    lock_release(&requests->lock);
    return request != NULL;
}

void external_requests_put_back(struct external_requests *requests, uint64_t reference)
{
    struct external_request *request;

    lock_acquire(&requests->lock);
    request = find_wanted_locked(requests, reference);
    if (request)
        request->begun = false;
    lock_release(&requests->lock);
}

bool external_requests_is_wanted(struct external_requests *requests, uint64_t reference)
{
    bool wanted;

    lock_acquire(&requests->lock);
    wanted = find_wanted_locked(requests, reference) != NULL;
    lock_release(&requests->lock);
    return wanted;
}

uint64_t external_requests_given_up(const struct external_requests *requests)
{
    return atomic_load_explicit(&requests->given_up, memory_order_relaxed);
}
