/* SPDX-License-Identifier: MIT */
#include "waiting.h"

#include <string.h>

void waiting_log(struct weir_self *self, bool *is_logged, const char *path, int error)
{
    char text[128];

    if (!*is_logged)
        weir_log(self, WEIR_LOG_WARNING, "files wait; the host lacks what they need",
                 weir_str("path", path), weir_str("reason", strerror_r(error, text, sizeof text)),
                 weir_str("effect", "the others are read first"));
    *is_logged = true;
}
