/* SPDX-License-Identifier: MIT */
#include "confirms.h"

#include <stdlib.h>

#include <weir/plugin.h>

#define NO_ITEM UINT32_MAX

int confirms_init(struct confirms *confirms, uint32_t capacity)
{
    confirms->items = calloc(capacity, sizeof *confirms->items);
    confirms->capacity = capacity;
    confirms->suspects = 0;
    confirms_reset(confirms);
    return confirms->items ? 0 : WEIR_ENOMEM;
}

void confirms_finish(struct confirms *confirms)
{
    free(confirms->items);
    confirms->items = NULL;
}

void confirms_reset(struct confirms *confirms)
{
    confirms->first = confirms->next = 1;
    confirms->is_alone = false;
}

static uint32_t *item_at(struct confirms *confirms, uint64_t number)
{
    return &confirms->items[number % confirms->capacity];
}

bool confirms_has_room(const struct confirms *confirms, bool is_proven)
{
    return confirms_is_empty(confirms) ||
           (is_proven && !confirms->is_alone && confirms->suspects == 0 &&
            confirms->next - confirms->first < confirms->capacity);
}

void confirms_add(struct confirms *confirms, uint32_t item, bool is_proven)
{
    confirms->is_alone = !is_proven || confirms->suspects > 0;
    if (confirms->suspects > 0)
        confirms->suspects--;
    *item_at(confirms, confirms->next++) = item;
}

uint64_t confirms_count(const struct confirms *confirms)
{
    return confirms->next - confirms->first;
}

void confirms_suspect_all(struct confirms *confirms)
{
    confirms->suspects = confirms_count(confirms);
}

bool confirms_is_empty(const struct confirms *confirms)
{
    return confirms->first == confirms->next;
}

bool confirms_take(struct confirms *confirms, uint64_t number, bool multiple, uint32_t *out_item)
{
    uint64_t last = number == 0 ? confirms->next - 1 : number;
    uint64_t place = multiple ? confirms->first : last;
    uint32_t *item;

    if (place < confirms->first || place >= confirms->next || place > last)
        return false;
    item = item_at(confirms, place);
    *out_item = *item;
    *item = NO_ITEM;
    while (confirms->first < confirms->next && *item_at(confirms, confirms->first) == NO_ITEM)
        confirms->first++;
    return *out_item != NO_ITEM;
}
