/* SPDX-License-Identifier: MIT */
#include "host/reload/law_answers.h"

#include <stdlib.h>

#include "config/json.h"

static void consult(struct law_answers *answers, const struct assembly *assembly,
                    const struct settings_pool *settings, uint32_t old_index)
{
    struct law_answer *answer = &answers->answers[answers->count];

    if (old_index == SETTINGS_NONE || !settings->core.scale.on)
        return;
    answer->path = settings->path;
    pool_consult_law(assembly->pools[old_index], &settings->core, &answer->answer);
    answers->count++;
}

struct law_answers *law_answers_create(const struct assembly *assembly,
                                       const struct settings *settings, const struct plan *plan)
{
    struct law_answers *answers = malloc(sizeof *answers +
                                         settings->pool_count * sizeof answers->answers[0]);

    if (!answers)
        return NULL;
    answers->count = 0;
    for (uint32_t i = 0; i < settings->pool_count; i++)
        consult(answers, assembly, &settings->pools[i], plan->old_pools[i]);
    return answers;
}

void law_answers_destroy(struct law_answers *answers)
{
    free(answers);
}

void law_answers_print(const struct law_answers *answers, FILE *stream)
{
    for (size_t i = 0; answers && i < answers->count; i++) {
        const struct pool_law_answer *answer = &answers->answers[i].answer;

        fprintf(stream, "note: pools.%s.scale: ", answers->answers[i].path);
        if (answer->target == answer->now)
            fprintf(stream, "stays at %u now: %s\n", answer->now, answer->cause);
        else
            fprintf(stream, "would go from %u to %u now: %s\n", answer->now, answer->target,
                    answer->cause);
    }
}

void law_answers_write(const struct law_answers *answers, struct json *json)
{
    json_begin_array(json, "laws");
    for (size_t i = 0; answers && i < answers->count; i++) {
        json_begin_object(json, NULL);
        json_text(json, "path", answers->answers[i].path);
        json_unsigned(json, "now", answers->answers[i].answer.now);
        json_unsigned(json, "target", answers->answers[i].answer.target);
        json_text(json, "reason", answers->answers[i].answer.cause);
        json_end(json);
    }
    json_end(json);
}
