/* SPDX-License-Identifier: MIT */
#include "printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/printable.h>

/* The first allocation: a verdict, a package and a path of usual length. */
#define CAPACITY_MIN 256u

void printable_init(struct printable *printable)
{
    *printable = (struct printable){ 0 };
}

void printable_finish(struct printable *printable)
{
    free(printable->text);
    printable_init(printable);
}

void printable_clear(struct printable *printable)
{
    printable->size = 0;
    printable->failed = false;
}

static bool make_room(struct printable *printable, size_t size)
{
    size_t wanted = printable->capacity ? printable->capacity : CAPACITY_MIN;
    char *grown;

    if (printable->failed || size > SIZE_MAX / 4 - printable->size)
        return false;
    while (wanted - printable->size < size)
        wanted *= 2;
    if (wanted == printable->capacity)
        return true;
    grown = realloc(printable->text, wanted);
    if (!grown)
        return false;
    printable->text = grown;
    printable->capacity = wanted;
    return true;
}

static void add_bytes(struct printable *printable, const char *bytes, size_t size)
{
    if (!make_room(printable, size)) {
        printable->failed = true;
        return;
    }
    memcpy(printable->text + printable->size, bytes, size);
    printable->size += size;
}

void printable_add(struct printable *printable, const char *text)
{
    add_bytes(printable, text, strlen(text));
}

void printable_pad(struct printable *printable, size_t start, size_t size)
{
    while (!printable->failed && printable->size - start < size)
        add_bytes(printable, " ", 1);
}

/* --- names ------------------------------------------------------------------------------------ */

/* Bytes of the printable character at the start; 0 when there is none. */
static size_t printable_length(const unsigned char *bytes, size_t size)
{
    return bytes[0] == '\\' ? 0 : weir_printable((const char *)bytes, size);
}

static void add_escaped(struct printable *printable, unsigned char byte)
{
    char escape[5];

    switch (byte) {
    case '\n':
        add_bytes(printable, "\\n", 2);
        break;
    case '\t':
        add_bytes(printable, "\\t", 2);
        break;
    case '\r':
        add_bytes(printable, "\\r", 2);
        break;
    case '\\':
        add_bytes(printable, "\\\\", 2);
        break;
    default:
        (void)snprintf(escape, sizeof escape, "\\x%02x", (unsigned)byte);
        add_bytes(printable, escape, 4);
        break;
    }
}

void printable_add_name(struct printable *printable, const char *name, size_t size)
{
    size_t at = 0;

    while (at < size && !printable->failed) {
        const unsigned char *bytes = (const unsigned char *)name + at;
        size_t length = printable_length(bytes, size - at);

        if (length > 0)
            add_bytes(printable, name + at, length);
        else
            add_escaped(printable, bytes[0]);
        at += length > 0 ? length : 1;
    }
}

/* --- figures ---------------------------------------------------------------------------------- */

void printable_add_number(struct printable *printable, uint64_t number)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    printable_add(printable, text);
}

/* Truncates tenths, without rounding: 999,999 bytes are never `1000.0 kB`. */
void printable_add_bytes(struct printable *printable, uint64_t bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
    uint64_t scale = 1;
    size_t unit = 0;

    while (bytes / scale >= 1000) {
        scale *= 1000;
        unit++;
    }
    printable_add_number(printable, bytes / scale);
    if (unit > 0) {
        printable_add(printable, ".");
        printable_add_number(printable, bytes % scale / (scale / 10));
    }
    printable_add(printable, " ");
    printable_add(printable, units[unit]);
}
