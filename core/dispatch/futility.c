/* SPDX-License-Identifier: MIT */
#include "dispatch/futility.h"

void futility_count(struct futility *futility, bool was_refused)
{
    if (was_refused)
        futility->turns++;
    else
        *futility = (struct futility){ 0 };
}

bool futility_is_a_round(struct futility *futility, uint32_t queued)
{
    if (futility->turns <= queued + 1)
        return false;
    futility->turns = 0;
    return true;
}

void futility_goes_on(struct futility *futility, uint64_t now_ns)
{
    if (!futility->since_ns)
        futility->since_ns = now_ns;
}

bool futility_is_long(const struct futility *futility, uint64_t now_ns)
{
    return futility->since_ns && now_ns - futility->since_ns >= FUTILITY_LONG_NS;
}
