/* SPDX-License-Identifier: MIT */
/*
 * reload/law_answers.h - the sizes that the `scale` of a new file gives for the present figures,
 * for `weir plan`.
 *
 * Life: law_answers_create .. law_answers_destroy. On the thread of the supervisor.
 */
#ifndef HOST_RELOAD_LAW_ANSWERS_H
#define HOST_RELOAD_LAW_ANSWERS_H

#include <stdio.h>

#include "config/plan.h"
#include "host/run/assembly.h"

struct json;

struct law_answer {
    const char *path; /* of the pool; borrowed from the settings */
    struct pool_law_answer answer;
};

struct law_answers {
    size_t count;
    struct law_answer answers[];
};

/* Asks the law of each elastic pool in `settings` that runs already. Borrows the settings until the
 * destruction. Returns owned; NULL when memory is out. */
struct law_answers *law_answers_create(const struct assembly *assembly,
                                       const struct settings *settings, const struct plan *plan);
/* NULL is allowed. */
void law_answers_destroy(struct law_answers *answers);

/* A line for each pool. NULL: none. */
void law_answers_print(const struct law_answers *answers, FILE *stream);
/* An array `laws` in the open object. */
void law_answers_write(const struct law_answers *answers, struct json *json);

#endif
