/* SPDX-License-Identifier: MIT */
/*
 * dispatch/share_list.h - the shares of a dispatcher's threads, and the actors that wait in them.
 * The rules are in shares.h.
 *
 * Each operation with `_locked` needs the lock of the list.
 */
#ifndef DISPATCH_SHARE_LIST_H
#define DISPATCH_SHARE_LIST_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/list.h"
#include "base/lock.h"

struct schedulable;

/* What a party has of a dispatcher; kept while it has turns, or actors that wait. */
struct share {
    struct list link;          /* lock: in `used`, or in `unused` */
    const void *party;         /* lock */
    uint32_t turns;            /* lock: on threads of the dispatcher */
    uint32_t extra_turns;      /* lock: on extra threads */
    struct schedulable *first; /* lock: wait here, in this order */
    struct schedulable *last;  /* lock */
};

struct share_list {
    struct lock lock;
    struct list used;         /* lock */
    struct list unused;       /* lock: no party has them */
    _Atomic uint32_t waiting; /* actors in all shares; written under lock, read by all */
};

void share_list_init(struct share_list *list);
/* No thread uses it. */
void share_list_finish(struct share_list *list);

/* The share of a party, made if it has none. NULL when memory is out. */
struct share *share_list_get_locked(struct share_list *list, const void *party);

/* After its numbers have changed: it is unused when nothing is left in it. */
void share_list_look_locked(struct share_list *list, struct share *share);

/* Appends an actor to a share. */
void share_list_push_locked(struct share_list *list, struct share *share,
                            struct schedulable *schedulable);
/* Takes the first actor out of a share. NULL: none waits. */
struct schedulable *share_list_pop_locked(struct share_list *list, struct share *share);

/* The first share with an actor that waits; it is the last one for the next call. NULL: there is
 * none. */
struct share *share_list_next_locked(struct share_list *list);

#endif
