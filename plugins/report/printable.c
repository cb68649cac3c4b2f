#include "printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* How long a sequence that begins with this byte has to be; 0 for a byte that begins none. */
static size_t utf8_length(unsigned char lead)
{
    if (lead >= 0xc2 && lead <= 0xdf)
        return 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return 3;
    if (lead >= 0xf0 && lead <= 0xf4)
        return 4;
    return 0;
}

/* The second byte carries what makes a sequence overlong, a surrogate or too large a number. */
static bool is_second_byte(unsigned char lead, unsigned char second)
{
    switch (lead) {
    case 0xc2: /* below 0xa0 they are the control characters of Latin-1 */
    case 0xe0:
        return second >= 0xa0 && second <= 0xbf;
    case 0xed:
        return second >= 0x80 && second <= 0x9f;
    case 0xf0:
        return second >= 0x90 && second <= 0xbf;
    case 0xf4:
        return second >= 0x80 && second <= 0x8f;
    default:
        return second >= 0x80 && second <= 0xbf;
    }
}

/* Bytes of the printable character at the start; 0 when there is none. */
static size_t printable_length(const unsigned char *bytes, size_t size)
{
    size_t length = utf8_length(bytes[0]);

    if (bytes[0] >= 0x20 && bytes[0] < 0x7f && bytes[0] != '\\')
        return 1;
    if (length == 0 || length > size || !is_second_byte(bytes[0], bytes[1]))
        return 0;
    for (size_t i = 2; i < length; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf)
            return 0;
    }
    return length;
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

/* Tenths are cut off, not rounded: 999,999 bytes are never `1000.0 kB`. */
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
