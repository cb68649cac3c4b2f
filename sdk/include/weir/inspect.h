/* SPDX-License-Identifier: MIT */
/*
 * weir/inspect.h - figures of an actor, also when its mailbox is full.
 *
 * Part of <weir/plugin.h>: include that. The ownership words of weir/host.h apply. A figure is an
 * item: a name and a text. The host provides items of every actor (`state`, `queued`, `in_hand`,
 * `links`, ...) and of every pool (`pool_size`, `busy`, `dead.crashed`, ...). A behaviour adds its
 * own items in `inspect`.
 *
 * An inspect is a control message: no full mailbox refuses it, and it overtakes all waiting
 * messages. The actor answers at the latest after the message in hand. Inspects that ask for the
 * same items at the same time get the same figures.
 */
#ifndef WEIR_INSPECT_H
#define WEIR_INSPECT_H

#include <string.h>

#include "host.h"

#define WEIR_INSPECT_ITEM_MAX 63   /* bytes of a name, without its NUL; longer ones are cut */
#define WEIR_INSPECT_VALUE_MAX 255 /* likewise of a value */
#define WEIR_INSPECT_ITEMS_MAX 64  /* names that one inspect may ask for */

/* The argument of `inspect`. Made by the host. */
struct weir_inspection {
    bool (*wants)(const struct weir_inspection *, const char *item);
    void (*add)(struct weir_inspection *, const char *item, const char *value);
};

/* For `inspect`: true when the item is requested. Call it before computing a value that costs
 * time. */
WEIR_INLINE bool weir_inspect_wants(const struct weir_inspection *out, const char *item)
{
    return out->wants(out, item);
}

/*
 * For `inspect`: adds an item with a value formatted as by printf. Borrows the arguments. The host
 * drops an item that is not requested, and an item whose name it or the behaviour has added before.
 */
WEIR_PRINTF(3, 4)
WEIR_INLINE void weir_inspect_add(struct weir_inspection *out, const char *item, const char *format,
                                  ...)
{
    char text[WEIR_INSPECT_VALUE_MAX + 1];
    va_list arguments;

    if (!out->wants(out, item))
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out->add(out, item, text);
}

/*
 * Asks an actor or a pool for items by name. `items` ends with NULL; `items` = NULL asks for all
 * items. A pool answers for itself, not for its members.
 *
 * After 0, `then` is called exactly once: with status 0 and a message that weir_inspected and
 * weir_inspected_next read, or with the reason why there is none. The status after `timeout_ms` is
 * WEIR_ETIMEOUT. If this incarnation ends first, `then` is not called. `out_reference` may be NULL.
 * WEIR_EUNKNOWN, WEIR_ETERMINATED: no such actor, or it has ended. WEIR_EINVALID: too many items,
 * or `then` is NULL. WEIR_ENOMEM.
 */
WEIR_INLINE int weir_inspect(struct weir_self *self, weir_pid other, const char *const *items,
                             uint64_t timeout_ms, weir_then *then, void *context,
                             uint64_t *out_reference)
{
    return self->host->inspect(self, other, items, timeout_ms, then, context, out_reference);
}

/* --- reading an answer ------------------------------------------------------------------------ */

/*
 * Reads the next item; false after the last one. Set `*position` to 0 before the first call. Name
 * and value are borrowed from the answer.
 */
WEIR_INLINE bool weir_inspected_next(const struct weir_message *answer, size_t *position,
                                     const char **out_item, const char **out_value)
{
    const char *item = (const char *)answer->data + *position;
    const char *end = (const char *)answer->data + answer->size;
    const char *value, *value_end;

    if (*position >= answer->size)
        return false;
    value = (const char *)memchr(item, 0, (size_t)(end - item));
    value_end = value ? (const char *)memchr(value + 1, 0, (size_t)(end - value - 1)) : NULL;
    if (!value_end)
        return false;
    *out_item = item;
    *out_value = value + 1;
    *position += (size_t)(value_end + 1 - item);
    return true;
}

/* The value of an item, borrowed from the answer. NULL: the answer does not have the item. */
WEIR_INLINE const char *weir_inspected(const struct weir_message *answer, const char *item)
{
    const char *name, *value;
    size_t position = 0;

    while (weir_inspected_next(answer, &position, &name, &value))
        if (strcmp(name, item) == 0)
            return value;
    return NULL;
}

#endif
