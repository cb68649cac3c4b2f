/* SPDX-License-Identifier: MIT */
#include "host/isolation/parcel.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 256u
/* More does not stay behind a large message. */
#define ROOM_KEPT ((size_t)1 << 20)

void parcel_finish(struct parcel *parcel)
{
    free(parcel->bytes);
    *parcel = (struct parcel){ 0 };
}

void parcel_clear(struct parcel *parcel)
{
    if (parcel->room > ROOM_KEPT)
        parcel_finish(parcel);
    parcel->size = 0;
    parcel->failed = false;
}

static bool reserve(struct parcel *parcel, size_t size)
{
    size_t room = parcel->room ? parcel->room : ROOM_MIN;
    char *bytes;

    if (size <= parcel->room - parcel->size)
        return true;
    while (room - parcel->size < size && room <= SIZE_MAX / 2)
        room *= 2;
    bytes = room - parcel->size < size ? NULL : realloc(parcel->bytes, room);
    if (!bytes) {
        parcel->failed = true;
        return false;
    }
    parcel->bytes = bytes;
    parcel->room = room;
    return true;
}

bool parcel_append(struct parcel *parcel, const void *bytes, size_t size)
{
    if (!reserve(parcel, size))
        return false;
    if (size)
        memcpy(parcel->bytes + parcel->size, bytes, size);
    parcel->size += size;
    return true;
}

void parcel_number(struct parcel *parcel, uint64_t number)
{
    (void)parcel_append(parcel, &number, sizeof number);
}

void parcel_bytes(struct parcel *parcel, const void *bytes, size_t size)
{
    parcel_number(parcel, size);
    (void)parcel_append(parcel, bytes, size);
}

void parcel_text(struct parcel *parcel, const char *text)
{
    parcel_bytes(parcel, text ? text : "", (text ? strlen(text) : 0) + 1);
}

struct unparcel unparcel_of(const void *bytes, size_t size)
{
    const char *at = size ? bytes : "";

    return (struct unparcel){ at, at + size, false };
}

static const void *take(struct unparcel *from, uint64_t size)
{
    const char *bytes = from->at;

    if (size > (uint64_t)(from->end - from->at))
        from->wrong = true;
    if (from->wrong)
        return NULL;
    from->at += size;
    return bytes;
}

uint64_t unparcel_number(struct unparcel *from)
{
    uint64_t number = 0;
    const void *bytes = take(from, sizeof number);

    if (bytes)
        memcpy(&number, bytes, sizeof number);
    return number;
}

const void *unparcel_bytes(struct unparcel *from, size_t *out_size)
{
    uint64_t size = unparcel_number(from);
    const void *bytes = take(from, size);

    *out_size = bytes ? (size_t)size : 0;
    return bytes;
}

const char *unparcel_text(struct unparcel *from)
{
    size_t size;
    const char *text = unparcel_bytes(from, &size);

    if (!text || size == 0 || memchr(text, 0, size) != text + size - 1) {
        from->wrong = true;
        return "";
    }
    return text;
}
