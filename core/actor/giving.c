/* SPDX-License-Identifier: MIT */
#include "actor/giving.h"

#include "actor/misuse.h"

bool giving_refused(struct actor *actor)
{
    misuse_report(actor, MISUSE_GIVEN, 0);
    return false;
}

static void take_back(struct message *const *messages, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        messages[i]->public.reserved &= ~(uint32_t)(MESSAGE_GIVEN | MESSAGE_OWN);
}

bool giving_begin_chain(struct actor *actor, struct message *const *messages, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!giving_begin(actor, messages[i])) {
            take_back(messages, 0, i);
            return false;
        }
    return true;
}

int giving_end_chain(struct message *const *messages, uint32_t count, int taken)
{
    take_back(messages, taken < 0 ? 0 : (uint32_t)taken, count);
    return taken;
}
