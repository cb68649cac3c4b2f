/* SPDX-License-Identifier: MIT */
/* No fault: uses the zlib of the system. */
#include <zlib.h>

#include "fault.h"

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    char text[64];
    int size = snprintf(text, sizeof text, "real_zlib %08lx %.1s\n",
                        crc32(0, (const unsigned char *)"weir", 4), zlibVersion());

    (void)state;
    (void)message;
    weir_print(self, text, (size_t)size);
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = handle },
    { 0 },
};

WEIR_PLUGIN("real_zlib", "1.0.0", behaviours);
