/* SPDX-License-Identifier: MIT */
#include "pool/members.h"

#include <stddef.h>
#include <stdlib.h>

#include "actor/handover.h"

struct members *members_create(uint32_t count)
{
    struct members *members = calloc(1, sizeof *members + count * sizeof members->members[0]);

    if (members)
        members->count = count;
    return members;
}

void members_destroy(struct members *members)
{
    if (members)
        handover_unref(members->handover);
    free(members);
}

static void free_members(struct retired *retired, struct reader *reader)
{
    struct members *members = (struct members *)(void *)((char *)retired -
                                                         offsetof(struct members, retired));

    (void)reader;
    if (members->handover)
        handover_mark(members->handover);
    members_destroy(members);
}

void members_publish(_Atomic(struct members *) *slot, struct members *next, struct reader *reader)
{
    /* [P1] pairs with the acquire of the senders in route.c. */
    struct members *old = atomic_exchange_explicit(slot, next, memory_order_acq_rel);

    if (!old)
        return;
    old->retired.free = free_members;
    reader_retire(reader, &old->retired);
}
