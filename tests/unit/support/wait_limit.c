/* SPDX-License-Identifier: MIT */
#include "unit/support/wait_limit.h"

#include <stdlib.h>

#define WAIT_LIMIT_MS 30000u

uint32_t wait_limit_ms(void)
{
    const char *text = getenv("WEIR_TEST_WAIT_LIMIT_MS");
    unsigned long wanted = text ? strtoul(text, NULL, 10) : 0;

    return wanted > 0 && wanted < WAIT_LIMIT_MS ? (uint32_t)wanted : WAIT_LIMIT_MS;
}
