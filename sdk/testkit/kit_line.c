/* SPDX-License-Identifier: MIT */
#include "kit_line.h"

#include <weir/testkit.h>

/* Set between the two calls that one macro of <weir/plugin.h> makes; a plugin may have threads. */
static struct kit_line *present(void)
{
    static _Thread_local struct kit_line line;

    return &line;
}

void weir_kit_line(const char *file, int line)
{
    *present() = (struct kit_line){ file, line };
}

struct kit_line kit_line_take(void)
{
    const struct kit_line line = *present();

    *present() = (struct kit_line){ .file = NULL };
    return line;
}
