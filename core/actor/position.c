/* SPDX-License-Identifier: MIT */
#include "actor/position.h"

#include <stdlib.h>
#include <string.h>

#include <weir/source.h>

int position_set(struct position *position, const void *data, size_t size)
{
    void *copy;

    if (size > WEIR_POSITION_MAX)
        return WEIR_EINVALID;
    copy = malloc(size ? size : 1);
    if (!copy)
        return WEIR_ENOMEM;
    if (size > 0)
        memcpy(copy, data, size);
    position_clear(position);
    position->data = copy;
    position->size = size;
    return 0;
}

void position_move(struct position *to, struct position *from)
{
    position_clear(to);
    *to = *from;
    *from = (struct position){ 0 };
}

void position_clear(struct position *position)
{
    free(position->data);
    *position = (struct position){ 0 };
}
