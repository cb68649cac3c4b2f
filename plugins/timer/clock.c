/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

int64_t clock_utc_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
