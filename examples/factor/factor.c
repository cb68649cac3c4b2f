/* SPDX-License-Identifier: MIT */
/*
 * factor - the prime factors of numbers: one behaviour requests them, the other replies.
 */
#include "factor.h"

#include <inttypes.h>
#include <string.h>

#include <weir/messages/gen.h>
#include <weir/plugin.h>

#define AGAIN_MS 20u

/* --- factor.divide: answers
 * ------------------------------------------------------------------- */

struct divide {
    const struct weir_tag *question;
    const struct weir_tag *answer;
};

static int divide_open(struct weir_self *self, const void *settings, void *memory)
{
    struct divide *state = memory;

    (void)settings;
    state->question = weir_tag(self, FACTOR_QUESTION_TAG);
    state->answer = weir_tag(self, FACTOR_ANSWER_TAG);
    return state->question && state->answer ? 0 : WEIR_ENOMEM;
}

static void find_primes(uint64_t number, struct factor_answer *answer)
{
    for (uint64_t prime = 2; prime <= number / prime; prime++) {
        while (number % prime == 0) {
            answer->primes[answer->count++] = prime;
            number /= prime;
        }
    }
    if (number > 1)
        answer->primes[answer->count++] = number;
}

static int divide_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct divide *state = memory;
    const struct factor_question *question = message->data;
    struct weir_message *reply;

    if (message->tag != state->question || message->size != sizeof *question) {
        weir_reason(self, "not a " FACTOR_QUESTION_TAG);
        return WEIR_REJECT;
    }
    if (question->number == 0) {
        weir_reason(self, "every number divides 0");
        return WEIR_REJECT;
    }
    reply = weir_message_new(self, state->answer, sizeof(struct factor_answer));
    if (!reply) {
        weir_retry_after(self, AGAIN_MS);
        weir_reason(self, "no memory for the answer");
        return WEIR_RETRY;
    }
    find_primes(question->number, reply->data);
    if (weir_reply(self, message, reply) < 0)
        weir_message_free(self, reply);
    return WEIR_DONE;
}

/* --- factor.ask: asks
 * ------------------------------------------------------------------------- */

struct ask_settings {
    const char *of;
    uint64_t timeout;
};

struct ask {
    const struct ask_settings *settings; /* borrowed until close */
    const struct weir_tag *number;
    const struct weir_tag *question;
};

static int ask_open(struct weir_self *self, const void *settings, void *memory)
{
    struct ask *state = memory;

    state->settings = settings;
    state->number = weir_tag(self, GEN_NUMBER_TAG);
    state->question = weir_tag(self, FACTOR_QUESTION_TAG);
    return state->number && state->question ? 0 : WEIR_ENOMEM;
}

/* `12: 2 2 3` */
static void print_answer(struct weir_self *self, uint64_t number,
                         const struct factor_answer *answer)
{
    char line[24 * (FACTOR_PRIMES_MAX + 1)];
    size_t size = (size_t)snprintf(line, sizeof line, "%" PRIu64 ":", number);

    for (uint32_t i = 0; i < answer->count; i++)
        size += (size_t)snprintf(line + size, sizeof line - size, " %" PRIu64, answer->primes[i]);
    line[size++] = '\n';
    weir_print(self, line, size);
}

/* Called once for each request, in a turn of the requesting worker. */
static void ask_answered(struct weir_self *self, void *memory, void *context,
                         const struct weir_reply *reply)
{
    const struct weir_message *kept = context;
    const struct gen_number *number = gen_number_get(kept);

    (void)memory;
    if (reply->status == 0) {
        print_answer(self, number->number, reply->message->data);
        (void)weir_settle(self, kept, WEIR_DONE);
        return;
    }
    weir_log(self, WEIR_LOG_WARNING, "no answer", weir_uint("number", number->number),
             weir_str("status", weir_status_name(reply->status)),
             weir_str("detail", reply->detail));
    weir_reason(self, "no answer: %s", weir_status_name(reply->status));
    (void)weir_settle(self, kept, WEIR_REJECT);
}

/* Sends a request for the number in a message, which is kept until the answer arrives. 0 or a
 * status. */
static int ask(struct weir_self *self, const struct ask *state, const struct weir_message *message)
{
    struct weir_message *question = weir_message_new(self, state->question,
                                                     sizeof(struct factor_question));
    struct factor_question *payload;
    weir_pid to;
    int status;

    if (!question)
        return WEIR_ENOMEM;
    payload = question->data;
    payload->number = gen_number_get(message)->number;
    status = weir_lookup(self, state->settings->of, &to);
    if (status == 0)
        status = weir_request(self, to, question, state->settings->timeout, ask_answered,
                              (void *)(uintptr_t)message, NULL);
    if (status < 0)
        weir_message_free(self, question);
    return status;
}

static void ask_again(struct weir_self *self, void *memory, void *context);

/* As ask, but waits when there is no room or no memory. 0 or a status. */
static int ask_or_wait(struct weir_self *self, const struct ask *state,
                       const struct weir_message *message)
{
    int status = ask(self, state, message);

    if (status == WEIR_EFULL || status == WEIR_ENOMEM)
        status = weir_after(self, AGAIN_MS, ask_again, (void *)(uintptr_t)message, NULL);
    return status;
}

static void ask_again(struct weir_self *self, void *memory, void *context)
{
    const struct weir_message *kept = context;
    int status = ask_or_wait(self, memory, kept);

    if (status == 0)
        return;
    weir_reason(self, "not asked: %s", weir_status_name(status));
    (void)weir_settle(self, kept, WEIR_REJECT);
}

static int ask_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    const struct ask *state = memory;
    int status;

    if (message->tag != state->number || !gen_number_get(message)) {
        weir_reason(self, "not a " GEN_NUMBER_TAG);
        return WEIR_REJECT;
    }
    status = ask_or_wait(self, state, message);
    if (status == 0)
        return WEIR_KEEP;
    weir_reason(self, "not asked: %s", weir_status_name(status));
    return WEIR_REJECT;
}

/* --- tables
 * -----------------------------------------------------------------------------------
 */

static const struct weir_option ask_options[] = {
    WEIR_OPTION_POOL(struct ask_settings, of, .help = "the pool to ask", .required = true),
    WEIR_OPTION_DURATION(struct ask_settings, timeout, .help = "how long an answer is waited for",
                         .fallback = "5s", .min = 1, .max = 3600000),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "ask",
        .summary = "asks for the factors of numbers, and prints them",
        .options = ask_options,
        .settings_size = sizeof(struct ask_settings),
        .state_size = sizeof(struct ask),
        .in_hand = 16,
        .open = ask_open,
        .handle = ask_handle,
    },
    {
        .name = "divide",
        .summary = "answers with the prime factors of a number",
        .state_size = sizeof(struct divide),
        .open = divide_open,
        .handle = divide_handle,
    },
    { 0 },
};

WEIR_PLUGIN("factor", "1.0.0", behaviours);
