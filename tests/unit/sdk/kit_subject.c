/* SPDX-License-Identifier: MIT */
#include "kit_subject.h"

static int run(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    return (*(subject_body *const *)message->data)(self, message);
}

static int open_it(struct weir_self *self, const void *settings, void *state)
{
    const struct subject_settings *wanted = settings;

    if (wanted->forget)
        (void)weir_message_new(self, weir_tag(self, "forgotten/1"), 8);
    *(int *)state = wanted->status;
    return wanted->status;
}

static void check(const void *settings, struct weir_report *report)
{
    if (((const struct subject_settings *)settings)->status > 0)
        weir_report_error(report, "status", "must not be %d",
                          ((const struct subject_settings *)settings)->status);
}

static int produce(struct weir_self *self, void *state, uint32_t credit)
{
    (void)state;
    /* One more than asked for when it is asked for three. */
    for (uint32_t i = 0; i < credit + (credit == 3); i++)
        (void)weir_emit(self, 0, weir_message_new(self, NULL, 0));
    return credit == 1 ? WEIR_END : WEIR_MORE;
}

static void close_it(struct weir_self *self, void *state, int reason)
{
    (void)state;
    weir_log(self, WEIR_LOG_INFO, "closed", weir_int("reason", reason));
}

static const struct weir_output outputs[] = {
    { .name = "out", .help = "all" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "run",
        .summary = "runs the function in the message",
        .outputs = outputs,
        .settings_size = sizeof(struct subject_settings),
        .state_size = sizeof(int),
        .in_hand = 2,
        .check = check,
        .open = open_it,
        .handle = run,
        .produce = produce,
        .close = close_it,
    },
    { 0 },
};

WEIR_PLUGIN("subject", "1.0.0", behaviours);
