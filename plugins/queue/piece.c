/* SPDX-License-Identifier: MIT */
#include "piece.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct piece *piece_create(size_t size)
{
    struct piece *piece = malloc(sizeof *piece + size);

    if (!piece)
        return NULL;
    memset(piece, 0, sizeof *piece);
    piece->size = size;
    piece->attempt = 1;
    return piece;
}

struct piece *piece_copy(const struct weir_message *message)
{
    struct piece *piece = piece_create(message->size);

    if (!piece)
        return NULL;
    piece->of = message;
    piece->key = message->key;
    if (message->tag) {
        (void)snprintf(piece->tag, sizeof piece->tag, "%s", message->tag->name);
        piece->layout = PIECE_LAYOUT;
    }
    if (message->size > 0)
        memcpy(piece->bytes, message->data, message->size);
    return piece;
}

struct piece *piece_shrink(struct piece *piece)
{
    struct piece *small = realloc(piece, sizeof *piece);

    if (small)
        piece = small;
    return piece;
}

void piece_destroy(struct piece *piece)
{
    free(piece);
}

void piece_list_append(struct piece_list *list, struct piece *piece)
{
    piece->next = NULL;
    if (list->last)
        list->last->next = piece;
    else
        list->first = piece;
    list->last = piece;
    list->count++;
    list->bytes += piece->size;
}

void piece_list_prepend_all(struct piece_list *list, struct piece_list *front)
{
    if (!front->first)
        return;
    front->last->next = list->first;
    if (!list->last)
        list->last = front->last;
    list->first = front->first;
    list->count += front->count;
    list->bytes += front->bytes;
    *front = (struct piece_list){ NULL, NULL, 0, 0 };
}

struct piece *piece_list_take(struct piece_list *list)
{
    struct piece *piece = list->first;

    if (!piece)
        return NULL;
    list->first = piece->next;
    if (!list->first)
        list->last = NULL;
    list->count--;
    list->bytes -= piece->size;
    return piece;
}

void piece_list_free(struct piece_list *list)
{
    struct piece *piece;

    while ((piece = piece_list_take(list)) != NULL)
        piece_destroy(piece);
}
