/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 16u

/* --- lists ------------------------------------------------------------------------------------ */

/* Room for another row at the end. False: memory is out. */
static bool list_reserve(struct given_list *list)
{
    uint32_t count = given_count(list), room = list->room;
    struct given *rows = list->rows;

    if (list->end < room)
        return true;
    if (count > room / 2 || room == 0) {
        room = room ? 2 * room : ROOM_MIN;
        rows = realloc(rows, room * sizeof *rows);
        if (!rows)
            return false;
        list->rows = rows;
        list->room = room;
    }
    memmove(rows, rows + list->begin, count * sizeof *rows);
    list->begin = 0;
    list->end = count;
    return true;
}

static struct given *list_find(const struct given_list *list, uint64_t id)
{
    for (uint32_t i = list->begin; i < list->end; i++) {
        if (list->rows[i].id == id)
            return &list->rows[i];
    }
    return NULL;
}

static struct given list_take(struct given_list *list, struct given *row)
{
    struct given taken = *row;

    if (row == list->rows + list->begin) {
        list->begin++;
        return taken;
    }
    memmove(row, row + 1, (size_t)(list->rows + list->end - (row + 1)) * sizeof *row);
    list->end--;
    return taken;
}

/* After list_reserve: in the order of the ids. */
static void list_insert(struct given_list *list, struct given row)
{
    struct given *at = list->rows + list->end++;

    for (; at > list->rows + list->begin && at[-1].id > row.id; at--)
        *at = at[-1];
    *at = row;
}

static struct given *list_at(const struct given_list *list, uint32_t number)
{
    return number < given_count(list) ? &list->rows[list->begin + number] : NULL;
}

/* --- the window ------------------------------------------------------------------------------- */

void window_finish(struct window *window)
{
    free(window->ahead.rows);
    free(window->kept.rows);
    *window = (struct window){ .last_id = window->last_id };
}

bool window_reserve(struct window *window, uint64_t *out_id)
{
    *out_id = window->last_id + 1;
    return window_count(window) < WINDOW_MAX && list_reserve(&window->ahead);
}

void window_add(struct window *window, const struct weir_message *message, size_t bytes,
                uint64_t mark)
{
    uint32_t cut = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;

    window->ahead.rows[window->ahead.end++] = (struct given){
        .message = message, .id = ++window->last_id, .mark = mark, .bytes = cut
    };
    window->bytes += cut;
}

struct given *window_in_hand(struct window *window)
{
    return list_at(&window->ahead, 0);
}

struct given *window_blamed(struct window *window)
{
    struct given *in_hand = window_in_hand(window);

    return in_hand && in_hand->mark <= window->written ? in_hand : list_at(&window->kept, 0);
}

struct given *window_find(struct window *window, uint64_t id)
{
    struct given *row = list_find(&window->ahead, id);

    return row ? row : list_find(&window->kept, id);
}

bool window_is_kept(const struct window *window, uint64_t id)
{
    return list_find(&window->kept, id) != NULL;
}

static struct given take_ahead(struct window *window, struct given *row)
{
    window->bytes -= row->bytes;
    return list_take(&window->ahead, row);
}

bool window_keep(struct window *window, uint64_t id)
{
    struct given *row = list_find(&window->ahead, id);

    if (!row || !list_reserve(&window->kept))
        return false;
    list_insert(&window->kept, take_ahead(window, row));
    return true;
}

const struct weir_message *window_take(struct window *window)
{
    return take_ahead(window, window_in_hand(window)).message;
}

const struct weir_message *window_take_kept(struct window *window, uint64_t id)
{
    struct given *row = list_find(&window->kept, id);

    return row ? list_take(&window->kept, row).message : NULL;
}

const struct weir_message *window_take_blamed(struct window *window)
{
    return window_blamed(window) == window_in_hand(window)
               ? window_take(window)
               : list_take(&window->kept, list_at(&window->kept, 0)).message;
}

/* Takes the older one of a kept message and one ahead; NULL: none. */
static const struct weir_message *take_older(struct window *window, struct given *kept,
                                             struct given *ahead)
{
    if (kept && (!ahead || kept->id < ahead->id))
        return list_take(&window->kept, kept).message;
    return ahead ? take_ahead(window, ahead).message : NULL;
}

const struct weir_message *window_take_oldest(struct window *window)
{
    return take_older(window, list_at(&window->kept, 0), list_at(&window->ahead, 0));
}

const struct weir_message *window_take_innocent(struct window *window)
{
    const struct given *blamed = window_blamed(window);
    struct given *kept = list_at(&window->kept, 0), *ahead = list_at(&window->ahead, 0);

    if (kept && kept == blamed)
        kept = list_at(&window->kept, 1);
    if (ahead && ahead == blamed)
        ahead = list_at(&window->ahead, 1);
    return take_older(window, kept, ahead);
}
