/* SPDX-License-Identifier: MIT */
#include "kit_tag.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

#define NAME_MAX_BYTES 128u /* as in core: message/tag.h */

struct kit_tag {
    struct weir_tag tag; /* first */
    struct kit_tag *next;
    char name[];
};

/* Newest first; grows only. [T1] the release of a new head pairs with the acquire of a search. */
static _Atomic(struct kit_tag *) tags;

static struct kit_tag *search(struct kit_tag *from, const char *name)
{
    while (from && strcmp(from->name, name) != 0)
        from = from->next;
    return from;
}

static struct kit_tag *make(const char *name, size_t length)
{
    struct kit_tag *made = kit_take(sizeof *made + length + 1);

    memcpy(made->name, name, length + 1);
    made->tag.name = made->name;
    return made;
}

const struct weir_tag *kit_tag_find(const char *name)
{
    size_t length = name ? strnlen(name, NAME_MAX_BYTES + 1) : 0;
    struct kit_tag *head, *found, *made = NULL;

    if (length == 0 || length > NAME_MAX_BYTES)
        return NULL;
    head = atomic_load_explicit(&tags, memory_order_acquire); /* [T1] */
    while (!(found = search(head, name))) {
        made = made ? made : make(name, length);
        made->next = head;
        /* [T1]; on failure `head` is the present one, which may have the name. */
        if (atomic_compare_exchange_weak_explicit(&tags, &head, made, memory_order_release,
                                                  memory_order_acquire))
            return &made->tag;
    }
    free(made);
    return &found->tag;
}
