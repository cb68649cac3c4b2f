#include "unit/support/patience.h"

#include <stdlib.h>

#define PATIENCE_MS 30000u

uint32_t patience_ms(void)
{
    const char *text = getenv("WEIR_TEST_PATIENCE_MS");
    unsigned long wanted = text ? strtoul(text, NULL, 10) : 0;

    return wanted > 0 && wanted < PATIENCE_MS ? (uint32_t)wanted : PATIENCE_MS;
}
