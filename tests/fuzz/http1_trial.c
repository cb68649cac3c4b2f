/* SPDX-License-Identifier: MIT */
#include "http1_trial.h"

#include <stdlib.h>
#include <string.h>

#include "trial.h"
#include "unit/wire/http1_outcome.h"
#include "unit/wire/http1_plain.h"

/* Within what the fuzzer makes up, so that both bounds are met. */
#define TARGET_MAX 300u
#define HEAD_MAX 2000u

static bool is_cut(const void *context, size_t at)
{
    return at % *(const size_t *)context == 0;
}

static char *read_pieces(const char *request, size_t size, size_t piece)
{
    return http1_outcome(request, size, TARGET_MAX, HEAD_MAX,
                         (struct http1_cuts){ is_cut, &piece });
}

void http1_trial(const char *request, size_t size, uint8_t piece)
{
    char *whole = read_pieces(request, size, SIZE_MAX);
    char *pieces = read_pieces(request, size, piece + 1u);
    char *bytes = read_pieces(request, size, 1);
    char *plain = http1_plain_outcome(request, size, TARGET_MAX, HEAD_MAX);

    trial_must(strcmp(whole, pieces) == 0, "a request in pieces is another one");
    trial_must(strcmp(whole, bytes) == 0, "a request in single bytes is another one");
    trial_must(http1_plain_agrees(plain, whole), "the second reader disagrees");
    free(whole);
    free(pieces);
    free(bytes);
    free(plain);
}
