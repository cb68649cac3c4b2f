/* SPDX-License-Identifier: MIT */
/* Fault: contains and exports a zlib of its own, whose functions return other values. */
#include <string.h>

#include "fault.h"

#define OUTPUT_NEXT 0u
#define OWN_CRC 0x0badcafeUL

WEIR_EXPORT unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned size);
WEIR_EXPORT const char *zlibVersion(void);

WEIR_EXPORT unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned size)
{
    (void)crc;
    (void)bytes;
    (void)size;
    return OWN_CRC;
}

WEIR_EXPORT const char *zlibVersion(void)
{
    return "own";
}

/* Prints its zlib's result, and lets the next one do so. */
static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *next = weir_message_new(self, message->tag, 0);
    char text[64];
    int size = snprintf(text, sizeof text, "own_zlib %08lx %s\n",
                        crc32(0, (const unsigned char *)"weir", 4), zlibVersion());

    (void)state;
    if (!next)
        return WEIR_RETRY;
    weir_print(self, text, (size_t)size);
    if (weir_emit(self, OUTPUT_NEXT, next) == 0)
        return WEIR_DONE;
    weir_message_free(self, next);
    return WEIR_FAIL;
}

static const struct weir_output outputs[] = {
    { .name = "next", .required = true },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .outputs = outputs, .handle = handle },
    { 0 },
};

WEIR_PLUGIN("own_zlib", "1.0.0", behaviours);
