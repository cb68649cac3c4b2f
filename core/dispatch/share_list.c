/* SPDX-License-Identifier: MIT */
#include "dispatch/share_list.h"

#include <stdlib.h>

#include "dispatch/schedulable.h"

static struct share *share_of_link(struct list *link)
{
    return LIST_ENTRY(link, struct share, link);
}

/* --- life ------------------------------------------------------------------------------------- */

void share_list_init(struct share_list *list)
{
    lock_init(&list->lock, LOCK_SHARES);
    list_init(&list->used);
    list_init(&list->unused);
    atomic_init(&list->waiting, 0);
}

static void free_all(struct list *links)
{
    struct list *link = links->next;

    while (link != links) {
        struct share *share = share_of_link(link);

        link = link->next;
        free(share);
    }
}

void share_list_finish(struct share_list *list)
{
    free_all(&list->used);
    free_all(&list->unused);
    lock_finish(&list->lock);
}

/* --- shares ----------------------------------------------------------------------------------- */

static struct share *find_locked(struct share_list *list, const void *party)
{
    for (struct list *link = list->used.next; link != &list->used; link = link->next)
        if (share_of_link(link)->party == party)
            return share_of_link(link);
    return NULL;
}

static struct share *make_locked(struct share_list *list, const void *party)
{
    struct share *share;

    if (list_empty(&list->unused)) {
        share = malloc(sizeof *share);
    } else {
        share = share_of_link(list->unused.next);
        list_remove(&share->link);
    }
    if (!share)
        return NULL;
    *share = (struct share){ .party = party };
    list_init(&share->link);
    list_append(&list->used, &share->link);
    return share;
}

struct share *share_list_get_locked(struct share_list *list, const void *party)
{
    struct share *share = find_locked(list, party);

    return share ? share : make_locked(list, party);
}

void share_list_look_locked(struct share_list *list, struct share *share)
{
    if (share->turns > 0 || share->extra_turns > 0 || share->first)
        return;
    list_remove(&share->link);
    list_append(&list->unused, &share->link);
}

struct share *share_list_next_locked(struct share_list *list)
{
    for (struct list *link = list->used.next; link != &list->used; link = link->next) {
        if (!share_of_link(link)->first)
            continue;
        list_remove(link);
        list_append(&list->used, link);
        return share_of_link(link);
    }
    return NULL;
}

/* --- actors that wait ------------------------------------------------------------------------- */

void share_list_push_locked(struct share_list *list, struct share *share,
                            struct schedulable *schedulable)
{
    schedulable->next = NULL;
    if (share->last)
        share->last->next = schedulable;
    else
        share->first = schedulable;
    share->last = schedulable;
    atomic_fetch_add_explicit(&list->waiting, 1, memory_order_seq_cst);
}

struct schedulable *share_list_pop_locked(struct share_list *list, struct share *share)
{
    struct schedulable *schedulable = share->first;

    if (!schedulable)
        return NULL;
    share->first = schedulable->next;
    if (!share->first)
        share->last = NULL;
    atomic_fetch_sub_explicit(&list->waiting, 1, memory_order_seq_cst);
    return schedulable;
}
