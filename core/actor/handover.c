/* SPDX-License-Identifier: MIT */
#include "actor/handover.h"

#include <stdlib.h>

#include "actor/actor.h"

struct handover *handover_create(uint32_t count, uint64_t now_ns, uint64_t due_ns)
{
    struct handover *handover = calloc(1, sizeof *handover + count * sizeof handover->givers[0]);

    if (!handover)
        return NULL;
    atomic_init(&handover->references, 1);
    atomic_init(&handover->marked, false);
    handover->begun_ns = now_ns;
    handover->due_ns = due_ns;
    handover->count = count;
    return handover;
}

struct handover *handover_ref(struct handover *handover)
{
    if (handover)
        atomic_fetch_add_explicit(&handover->references, 1, memory_order_relaxed);
    return handover;
}

void handover_unref(struct handover *handover)
{
    /* acq_rel: all uses come before the free. */
    if (handover && atomic_fetch_sub_explicit(&handover->references, 1, memory_order_acq_rel) == 1)
        free(handover);
}

void handover_mark(struct handover *handover)
{
    for (uint32_t i = 0; i < handover->count; i++) {
        struct giver *giver = &handover->givers[i];

        /* The low half of the word is the tail. */
        giver->mark = (uint32_t)atomic_load_explicit(&giver->actor->mailbox.word,
                                                     memory_order_acquire);
    }
    /* Release: the marks. */
    atomic_store_explicit(&handover->marked, true, memory_order_release);
}
