/* SPDX-License-Identifier: MIT */
#include "kit_state.h"

#include <stdlib.h>
#include <string.h>

#define SPARE_SIZE ((size_t)4096) /* more than the state of most behaviours */

void kit_state_make(struct weir_kit *kit)
{
    size_t size = kit->behaviour.state_size ? kit->behaviour.state_size : SPARE_SIZE;

    free(kit->state);
    if (posix_memalign(&kit->state, 16, size) != 0)
        abort();
    memset(kit->state, 0, size);
}

void kit_state_check(struct weir_kit *kit)
{
    const unsigned char *bytes = kit->state;
    size_t at = 0;

    if (kit->behaviour.state_size > 0)
        return;
    while (at < SPARE_SIZE && bytes[at] == 0)
        at++;
    if (at < SPARE_SIZE)
        kit_problem(kit, "%s wrote to its state, and its state_size is 0", kit->behaviour.name);
}
