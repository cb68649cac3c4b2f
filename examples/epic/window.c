/* SPDX-License-Identifier: MIT */
#include "window.h"

void window_add(struct window *window, int64_t id)
{
    *window_at(window, window->end++) = (struct piece){ .id = id };
}

bool window_next(struct window *window, uint64_t *out_place)
{
    while (window->next < window->end && window_at(window, window->next)->state != PIECE_QUEUED)
        window->next++;
    *out_place = window->next;
    return window->next < window->end;
}

void window_again(struct window *window, uint64_t place)
{
    window_at(window, place)->state = PIECE_QUEUED;
    if (place < window->next)
        window->next = place;
}

uint32_t window_settled(struct window *window)
{
    uint64_t place = window->first;

    while (place < window->end && window_at(window, place)->state >= PIECE_DONE)
        place++;
    return (uint32_t)(place - window->first);
}

void window_drop(struct window *window, uint32_t count)
{
    window->first += count;
}
