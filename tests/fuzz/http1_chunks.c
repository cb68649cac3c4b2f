/* SPDX-License-Identifier: MIT */
/*
 * Goal:   a body in chunks is read in one way, as in http1.c.
 * Method: the first byte of an input is the size of the pieces, and the rest follows a head.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "http1_trial.h"
#include "trial.h"

#define HEAD "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
#define HEAD_SIZE (sizeof HEAD - 1)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *request;

    if (size == 0)
        return 0;
    request = malloc(HEAD_SIZE + size - 1);
    trial_must(request != NULL, "memory is out");
    memcpy(request, HEAD, HEAD_SIZE);
    memcpy(request + HEAD_SIZE, data + 1, size - 1);
    http1_trial(request, HEAD_SIZE + size - 1, data[0]);
    free(request);
    return 0;
}
