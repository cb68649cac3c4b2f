/* SPDX-License-Identifier: MIT */
#include "wire/http1_result.h"

#include <stddef.h>

static const struct problem {
    unsigned status;
    const char *words;
} problems[] = {
#define PROBLEM(name, status, words) [HTTP1_##name] = { status, words },
    HTTP1_PROBLEMS(PROBLEM)
#undef PROBLEM
};

unsigned http1_status(enum http1_result result)
{
    return result < sizeof problems / sizeof problems[0] ? problems[result].status : 0;
}

const char *http1_words(enum http1_result result)
{
    return http1_status(result) ? problems[result].words : "";
}
