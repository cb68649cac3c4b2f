/* SPDX-License-Identifier: MIT */
#include "exec_wait.h"

#include <poll.h>

#include <weir/testkit.h>

void run_until(struct weir_kit *kit, bool (*done)(struct weir_kit *kit))
{
    while (!done(kit)) {
        if (weir_kit_poll(kit) == 0)
            (void)poll(NULL, 0, 1);
    }
}

bool nothing_is_kept(struct weir_kit *kit)
{
    return weir_kit_kept_count(kit) == 0;
}
