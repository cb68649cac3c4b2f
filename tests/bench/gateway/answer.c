/* SPDX-License-Identifier: MIT */
/*
 * answer.c - the workers of ./dev bench http. Each replies with the same text: answer.now after
 * some steps of work, answer.later after a pause without work, as of a database.
 */
#include <poll.h>
#include <string.h>
#include <weir/plugin.h>

#include "../row.h"

#define TEXT "hello\n"

struct now_settings {
    uint64_t steps;
};

struct later_settings {
    uint32_t ms;
};

struct answer {
    const void *settings;
    uint64_t noise;
};

static int open_answer(struct weir_self *self, const void *settings, void *memory)
{
    (void)self;
    ((struct answer *)memory)->settings = settings;
    return 0;
}

static int reply(struct weir_self *self, const struct weir_message *request)
{
    struct weir_message *text = weir_message_new(self, NULL, sizeof TEXT - 1);

    if (!text)
        return WEIR_RETRY;
    memcpy(text->data, TEXT, sizeof TEXT - 1);
    if (weir_reply(self, request, text) != 0)
        weir_message_free(self, text);
    return WEIR_DONE;
}

static int answer_now(struct weir_self *self, void *memory, const struct weir_message *request)
{
    struct answer *answer = memory;
    const struct now_settings *settings = answer->settings;

    answer->noise = row_work(answer->noise, settings->steps);
    return reply(self, request);
}

static int answer_later(struct weir_self *self, void *memory, const struct weir_message *request)
{
    const struct later_settings *settings = ((const struct answer *)memory)->settings;

    (void)poll(NULL, 0, (int)settings->ms);
    return reply(self, request);
}

static const struct weir_option now_options[] = {
    WEIR_OPTION_U64(struct now_settings, steps, .fallback = "0", .max = INT64_MAX,
                    .help = "of work for each request; 900 take about 1 us"),
    { 0 },
};

static const struct weir_option later_options[] = {
    WEIR_OPTION_U32(struct later_settings, ms, .fallback = "10", .max = 10000,
                    .help = "of waiting for each request"),
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    { .name = "now",
      .summary = "works and replies with a text",
      .options = now_options,
      .settings_size = sizeof(struct now_settings),
      .state_size = sizeof(struct answer),
      .open = open_answer,
      .handle = answer_now },
    { .name = "later",
      .summary = "waits and replies with a text",
      .flags = WEIR_BLOCKING,
      .options = later_options,
      .settings_size = sizeof(struct later_settings),
      .state_size = sizeof(struct answer),
      .open = open_answer,
      .handle = answer_later },
    { 0 },
};

WEIR_PLUGIN("answer", "1.0.0", behaviours);
