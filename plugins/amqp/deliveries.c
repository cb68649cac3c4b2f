/* SPDX-License-Identifier: MIT */
#include "deliveries.h"

#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>

int deliveries_init(struct deliveries *deliveries, uint32_t capacity)
{
    deliveries->items = calloc(capacity, sizeof *deliveries->items);
    if (!deliveries->items)
        return WEIR_ENOMEM;
    deliveries->capacity = capacity;
    for (uint32_t i = 0; i < capacity; i++)
        deliveries->items[i].next = i + 1 < capacity ? i + 1 : DELIVERY_NONE;
    deliveries->free_first = 0;
    deliveries->oldest = deliveries->newest = DELIVERY_NONE;
    deliveries->counts[DELIVERY_FREE] = capacity;
    return 0;
}

void deliveries_finish(struct deliveries *deliveries)
{
    for (uint32_t i = 0; deliveries->items && i < deliveries->capacity; i++)
        free(deliveries->items[i].bytes);
    free(deliveries->items);
    deliveries->items = NULL;
}

void deliveries_move(struct deliveries *deliveries, uint32_t index, enum delivery_state state)
{
    struct delivery *delivery = &deliveries->items[index];

    deliveries->counts[delivery->state]--;
    deliveries->counts[state]++;
    delivery->state = state;
}

static void link_newest(struct deliveries *deliveries, uint32_t index, uint64_t number)
{
    struct delivery *delivery = &deliveries->items[index];

    delivery->number = number;
    delivery->older = deliveries->newest;
    delivery->newer = DELIVERY_NONE;
    if (deliveries->newest == DELIVERY_NONE)
        deliveries->oldest = index;
    else
        deliveries->items[deliveries->newest].newer = index;
    deliveries->newest = index;
}

static void unlink_numbered(struct deliveries *deliveries, struct delivery *delivery)
{
    if (delivery->number == 0)
        return;
    delivery->number = 0;
    if (delivery->older == DELIVERY_NONE)
        deliveries->oldest = delivery->newer;
    else
        deliveries->items[delivery->older].newer = delivery->newer;
    if (delivery->newer == DELIVERY_NONE)
        deliveries->newest = delivery->older;
    else
        deliveries->items[delivery->newer].older = delivery->older;
}

uint32_t deliveries_add(struct deliveries *deliveries, uint64_t number, size_t properties_size,
                        size_t size)
{
    uint32_t index = deliveries->free_first;
    struct delivery *delivery;
    char *bytes = index == DELIVERY_NONE ? NULL : malloc(properties_size + size + 1);

    if (!bytes)
        return DELIVERY_NONE;
    delivery = &deliveries->items[index];
    deliveries->free_first = delivery->next;
    deliveries_move(deliveries, index, DELIVERY_WAITING);
    link_newest(deliveries, index, number);
    delivery->next = DELIVERY_NONE;
    delivery->tag = NULL;
    delivery->bytes = bytes;
    delivery->properties_size = properties_size;
    delivery->size = size;
    return index;
}

void deliveries_remove(struct deliveries *deliveries, uint32_t index)
{
    struct delivery *delivery = &deliveries->items[index];

    unlink_numbered(deliveries, delivery);
    deliveries_move(deliveries, index, DELIVERY_FREE);
    free(delivery->bytes);
    delivery->bytes = NULL;
    delivery->next = deliveries->free_first;
    deliveries->free_first = index;
}

uint32_t deliveries_unsettled(const struct deliveries *deliveries)
{
    return deliveries->capacity - deliveries->counts[DELIVERY_FREE];
}

uint64_t deliveries_lowest(const struct deliveries *deliveries)
{
    return deliveries->oldest == DELIVERY_NONE ? UINT64_MAX
                                               : deliveries->items[deliveries->oldest].number;
}

void deliveries_orphan(struct deliveries *deliveries)
{
    for (uint32_t i = 0; i < deliveries->capacity; i++) {
        struct delivery *delivery = &deliveries->items[i];

        if (delivery->state == DELIVERY_SENT)
            unlink_numbered(deliveries, delivery);
        else if (delivery->state != DELIVERY_FREE)
            deliveries_remove(deliveries, i);
    }
}

void delivery_line_append(struct deliveries *deliveries, struct delivery_line *line, uint32_t index)
{
    deliveries->items[index].next = DELIVERY_NONE;
    if (line->first == DELIVERY_NONE)
        line->first = index;
    else
        deliveries->items[line->last].next = index;
    line->last = index;
}

void delivery_line_prepend(struct deliveries *deliveries, struct delivery_line *line,
                           uint32_t index)
{
    deliveries->items[index].next = line->first;
    if (line->first == DELIVERY_NONE)
        line->last = index;
    line->first = index;
}

uint32_t delivery_line_take(struct deliveries *deliveries, struct delivery_line *line)
{
    uint32_t index = line->first;

    if (index != DELIVERY_NONE)
        line->first = deliveries->items[index].next;
    return index;
}
