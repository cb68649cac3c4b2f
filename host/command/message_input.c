/* SPDX-License-Identifier: MIT */
#include "host/command/message_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/control/http.h"

#define PIECE 65536u /* as much as a pipe holds */

void message_input_init(struct message_input *input, int descriptor)
{
    *input = (struct message_input){ .descriptor = descriptor };
}

void message_input_finish(struct message_input *input)
{
    free(input->bytes);
    input->bytes = NULL;
}

/* Doubles, so that a long line is copied a few times only. */
static bool make_room(struct message_input *input)
{
    size_t capacity = input->capacity ? 2 * input->capacity : PIECE;
    char *bytes;

    if (input->size < input->capacity)
        return true;
    bytes = realloc(input->bytes, capacity);
    if (!bytes)
        return false;
    input->bytes = bytes;
    input->capacity = capacity;
    return true;
}

/* Reads a piece. A negative errno. */
static int read_piece(struct message_input *input)
{
    ssize_t size;

    if (!make_room(input))
        return -ENOMEM;
    do {
        size = read(input->descriptor, input->bytes + input->size, input->capacity - input->size);
    } while (size < 0 && errno == EINTR);
    if (size < 0)
        return -errno;
    input->ended = size == 0;
    input->size += (size_t)size;
    return 0;
}

/* The size of the whole lines of the first HTTP_BODY_MAX bytes; of a line of that size without its
 * end, which needs none as the last one. */
static size_t whole_lines(const struct message_input *input)
{
    size_t size = input->size < HTTP_BODY_MAX ? input->size : HTTP_BODY_MAX;
    const char *end = size > 0 ? memrchr(input->bytes, '\n', size) : NULL;

    if (input->ended && size == input->size)
        return size;
    if (end)
        return (size_t)(end - input->bytes) + 1;
    return input->size > HTTP_BODY_MAX && input->bytes[HTTP_BODY_MAX] == '\n' ? HTTP_BODY_MAX : 0;
}

int message_input_read(struct message_input *input, size_t *out_size)
{
    size_t size = whole_lines(input);

    while (size == 0 && !input->ended && input->size <= HTTP_BODY_MAX) {
        int status = read_piece(input);

        if (status != 0)
            return status;
        size = whole_lines(input);
    }
    if (size == 0 && input->size > 0)
        return -E2BIG;
    *out_size = size;
    return 0;
}

int message_input_read_all(struct message_input *input)
{
    while (!input->ended) {
        int status = read_piece(input);

        if (status != 0)
            return status;
        if (input->size > HTTP_BODY_MAX)
            return -E2BIG;
    }
    return 0;
}

size_t message_input_line(const struct message_input *input)
{
    const char *end = memchr(input->bytes, '\n', input->size);

    return end ? (size_t)(end - input->bytes) : input->size;
}

void message_input_drop(struct message_input *input, uint64_t count)
{
    size_t begin = 0;

    for (; count > 0 && begin < input->size; count--) {
        const char *end = memchr(input->bytes + begin, '\n', input->size - begin);

        begin = end ? (size_t)(end - input->bytes) + 1 : input->size;
        input->lines++;
    }
    input->size -= begin;
    memmove(input->bytes, input->bytes + begin, input->size);
}
