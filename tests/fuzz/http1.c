/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a request of HTTP/1.1 is read in one way: whatever its bytes and its cuts, it
 *         is accepted with the same parts, or refused, as a second reader says.
 * Method: the first byte of an input is the size of the pieces, and the rest is the request.
 */
#include "fuzz.h"
#include "http1_trial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0)
        http1_trial((const char *)data + 1, size - 1, data[0]);
    return 0;
}
