/* SPDX-License-Identifier: MIT */
/*
 * base/list.h - an intrusive doubly linked list; the owner of the list owns nothing in it.
 *
 * A node that is in no list points at itself, so removing twice is harmless. Not synchronised.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *previous;
};

#define LIST_ENTRY(node, type, field) ((type *)(void *)((char *)(node)-offsetof(type, field)))

static inline void list_init(struct list *list)
{
    list->next = list;
    list->previous = list;
}

static inline bool list_empty(const struct list *list)
{
    return list->next == list;
}

static inline void list_append(struct list *list, struct list *node)
{
    node->previous = list->previous;
    node->next = list;
    list->previous->next = node;
    list->previous = node;
}

static inline void list_remove(struct list *node)
{
    node->previous->next = node->next;
    node->next->previous = node->previous;
    list_init(node);
}

#endif
