/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_batch.h"

#include <stdlib.h>
#include <string.h>

#include "host/dead/dead_shares.h"

#define KEPT_MAX (8u << 20) /* bytes of an empty text that wait for its next use */

void dead_batch_finish(struct dead_batch *batch)
{
    free(batch->text.bytes);
    *batch = (struct dead_batch){ .count = 0 };
}

struct dead_part dead_batch_fitting(const struct dead_batch *batch, uint64_t has, uint64_t total,
                                    uint64_t total_max)
{
    struct dead_part part = { 0, 0 };
    size_t size;

    while (part.size < batch->text.size) {
        size = dead_record_size(batch->text.bytes + part.size);
        if (!dead_shares_allow(has + part.size, size, total + part.size, total_max, true))
            break;
        part.size += size;
        part.count++;
    }
    return part;
}

int dead_batch_move(struct dead_batch *batch, struct dead_part part, struct dead_text *out)
{
    struct dead_text *text = &batch->text;

    if (dead_text_append(out, text->bytes, part.size) != 0)
        return WEIR_ENOMEM;
    text->size -= part.size;
    if (text->size > 0)
        memmove(text->bytes, text->bytes + part.size, text->size);
    else if (text->capacity > KEPT_MAX)
        dead_batch_finish(batch);
    batch->count = text->size > 0 ? batch->count - part.count : 0;
    return 0;
}
