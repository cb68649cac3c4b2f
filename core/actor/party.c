/* SPDX-License-Identifier: MIT */
#include "actor/party.h"

#include "actor/children.h"
#include "actor/place.h"

const void *actor_party(const struct schedulable *schedulable)
{
    const struct actor *actor = (const struct actor *)(const void *)((const char *)schedulable -
                                                                     offsetof(struct actor,
                                                                              schedulable));
    const struct owner *owner;

    /* The ancestor lives as long as its children. */
    if (actor->place && actor->place->child)
        actor = actor->place->child->of->root->parent;
    owner = actor->kind == ACTOR_WORKER ? place_member_of(actor) : NULL;
    return owner ? (const void *)owner : actor;
}
