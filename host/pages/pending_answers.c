/* SPDX-License-Identifier: MIT */
#include "host/pages/pending_answers.h"

#include <stdlib.h>

#include "host/run/assembly.h"

struct pending_answer {
    struct pending_answer *next;
    uint64_t reference;
    uint64_t due_ns; /* monotonic */
    struct pending_question question;
    char path[PLACE_PATH_MAX];
};

void pending_answers_init(struct pending_answers *pending, struct assembly *assembly,
                          void (*on_answer)(void *context), void *context)
{
    *pending = (struct pending_answers){ .assembly = assembly,
                                         .on_answer = on_answer,
                                         .context = context };
}

void pending_answers_finish(struct pending_answers *pending)
{
    struct pending_answer *answer = pending->open;

    while (answer) {
        struct pending_answer *next = answer->next;

        free(answer);
        answer = next;
    }
}

struct pending_answer *pending_answer_create(const struct pending_question *question)
{
    struct clock clock = clock_monotonic();
    struct pending_answer *answer = calloc(1, sizeof *answer);

    if (!answer)
        return NULL;
    (void)snprintf(answer->path, sizeof answer->path, "%s", question->path);
    answer->question = *question;
    answer->question.path = answer->path;
    answer->due_ns = clock_after_ms(&clock, question->timeout_ms);
    return answer;
}

struct request_options pending_answers_options(const struct pending_answers *pending,
                                               const struct pending_answer *answer, weir_pid to)
{
    return (struct request_options){ .to = to,
                                     .lane = WEIR_NORMAL,
                                     .timeout_ms = answer->question.timeout_ms,
                                     .on_answer = pending->on_answer,
                                     .on_answer_context = pending->context };
}

void pending_answers_add(struct pending_answers *pending, struct pending_answer *answer,
                         uint64_t reference)
{
    struct pending_answer **end = &pending->open;

    while (*end)
        end = &(*end)->next;
    answer->reference = reference;
    *end = answer;
}

/* True when it is answered or its time is over: never waits. */
static void fetch(struct pending_answers *pending, const struct pending_answer *answer)
{
    struct runtime *runtime = pending->assembly->runtime;
    struct weir_answer got = WEIR_ANSWER;
    int status = runtime_await(runtime, answer->reference, &got);
    struct control_reply reply = { .status = 0 };
    FILE *stream = open_memstream(&reply.text, &reply.size);

    if (stream) {
        answer->question.write(&answer->question, status, &got, &reply, stream);
        if (fclose(stream) != 0) {
            free(reply.text);
            reply.text = NULL;
        }
    }
    control_answer(answer->question.connection, reply);
    runtime_message_free(runtime, got.message);
}

static bool is_due(const struct pending_answers *pending, const struct pending_answer *answer,
                   uint64_t now_ns)
{
    return now_ns >= answer->due_ns ||
           runtime_is_answered(pending->assembly->runtime, answer->reference);
}

void pending_answers_collect(struct pending_answers *pending)
{
    struct pending_answer **link = &pending->open;
    struct clock clock = clock_monotonic();

    while (*link) {
        struct pending_answer *answer = *link;

        if (!is_due(pending, answer, clock_now_ns(&clock))) {
            link = &answer->next;
            continue;
        }
        *link = answer->next;
        fetch(pending, answer);
        free(answer);
    }
}
