/* SPDX-License-Identifier: MIT */
/* The payloads of pgpool.query/1 and pgpool.result/1. */
#include <string.h>

#include "pgpool.h"

size_t pgpool_pack(char *out, size_t room, const char *const *texts, uint32_t count)
{
    size_t size = 0;

    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(texts[i]) + 1;

        if (out && size + length <= room)
            memcpy(out + size, texts[i], length);
        size += length;
    }
    return size;
}

struct weir_message *pgpool_query(struct weir_self *self, const struct weir_tag *tag,
                                  const char *const *texts, uint32_t count)
{
    size_t size = pgpool_pack(NULL, 0, texts, count);
    struct weir_message *message = weir_message_new(self, tag, size);

    if (message)
        (void)pgpool_pack(message->data, size, texts, count);
    return message;
}

uint32_t pgpool_unpack(const struct weir_message *message,
                       const char *out_texts[PGPOOL_PARAMETERS_MAX + 1])
{
    const char *text = message->data;
    const char *end = text + message->size;
    uint32_t count = 0;

    if (message->size == 0 || end[-1] != '\0')
        return 0;
    for (; text < end; text += strlen(text) + 1) {
        if (count > PGPOOL_PARAMETERS_MAX)
            return 0;
        out_texts[count++] = text;
    }
    return count;
}

const char *pgpool_cell(const struct weir_message *message, uint32_t row, uint32_t column)
{
    const struct pgpool_result *result = message->data;
    const char *text = (const char *)(result + 1);

    for (uint64_t skip = (uint64_t)row * result->columns + column; skip > 0; skip--)
        text += strlen(text) + 1;
    return text;
}
