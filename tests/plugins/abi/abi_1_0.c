/* SPDX-License-Identifier: MIT */
/*
 * A plugin as SDK 1.0 made it: compiled with the headers of v1_0/, whose structs are the smaller
 * ones of then. A source, a worker that asks a desk and keeps its messages meanwhile, and the desk.
 */
#include <inttypes.h>
#include <string.h>

#include <weir/plugin.h>

#if WEIR_ABI_MINOR != 0
#error "these are not the headers of SDK 1.0"
#endif

#define ASK_MS 60000 /* far more than the desk needs */

enum { NUMBERS_OUT = 0 };

static int print(struct weir_self *self, const char *format, uint64_t a, uint64_t b)
{
    char line[80];
    int length = snprintf(line, sizeof line, format, a, b);

    weir_print(self, line, (size_t)length);
    return 0;
}

static struct weir_message *number_new(struct weir_self *self, uint64_t number)
{
    struct weir_message *message = weir_message_new(self, weir_tag(self, "abi.number/1"),
                                                    sizeof number);

    if (message)
        memcpy(message->data, &number, sizeof number);
    return message;
}

static uint64_t number_in(const struct weir_message *message)
{
    uint64_t number = 0;

    if (message->size == sizeof number)
        memcpy(&number, message->data, sizeof number);
    return number;
}

/* --- numbers: the source ---------------------------------------------------------------------- */

struct numbers_settings {
    uint64_t count;
};

struct numbers {
    uint64_t next;
    uint64_t count;
};

static int numbers_open(struct weir_self *self, const void *settings, void *memory)
{
    struct numbers *numbers = memory;

    (void)self;
    numbers->count = ((const struct numbers_settings *)settings)->count;
    return 0;
}

static int numbers_produce(struct weir_self *self, void *memory, uint32_t credit)
{
    struct numbers *numbers = memory;

    while (credit-- > 0 && numbers->next < numbers->count) {
        struct weir_message *message = number_new(self, numbers->next);

        if (!message || weir_emit(self, NUMBERS_OUT, message) != 0)
            return WEIR_ENOMEM;
        numbers->next++;
    }
    weir_progress(self, "numbers", numbers->next, numbers->count);
    return numbers->next < numbers->count ? WEIR_MORE : WEIR_END;
}

/* --- square: the worker ----------------------------------------------------------------------- */

struct square_settings {
    bool loud;
    uint32_t add;
    uint64_t pause;
    double factor;
    const char *greeting;
    uint32_t mode;
    struct weir_list words;
    struct weir_map names;
};

struct square {
    const struct square_settings *settings;
    const struct weir_message *late; /* kept until a timer fires */
    uint64_t answers;
};

static void square_check(const void *settings, struct weir_report *report)
{
    if (((const struct square_settings *)settings)->add == 13)
        weir_report_error(report, "add", "13 brings bad luck");
}

static int square_open(struct weir_self *self, const void *settings, void *memory)
{
    struct square *square = memory;

    square->settings = settings;
    weir_log(self, WEIR_LOG_INFO, "opened", weir_str("greeting", square->settings->greeting),
             weir_uint("words", square->settings->words.count),
             weir_uint("names", square->settings->names.count),
             weir_real("factor", square->settings->factor));
    return 0;
}

static void square_late(struct weir_self *self, void *memory, void *context)
{
    struct square *square = memory;

    (void)context;
    print(self, "late %" PRIu64 " pool %" PRIu64 "\n", number_in(square->late),
          weir_pool(self) != 0);
    (void)weir_settle(self, square->late, WEIR_DONE);
    square->late = NULL;
}

static void square_answered(struct weir_self *self, void *memory, void *context,
                            const struct weir_reply *reply)
{
    struct square *square = memory;
    const struct weir_message *kept = context;

    square->answers++;
    if (reply->status == 0)
        print(self, "square %" PRIu64 " %" PRIu64 "\n", number_in(kept), number_in(reply->message));
    (void)weir_settle(self, kept, reply->status == 0 ? WEIR_DONE : WEIR_REJECT);
}

static int square_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct square *square = memory;
    struct weir_message *question;
    weir_pid desk;

    if (number_in(message) == 0) {
        square->late = message;
        return weir_after(self, square->settings->pause, square_late, NULL, NULL) == 0 ? WEIR_KEEP
                                                                                       : WEIR_FAIL;
    }
    question = number_new(self, number_in(message) + square->settings->add);
    if (!question || weir_lookup(self, "desk", &desk) != 0 ||
        weir_request(self, desk, question, ASK_MS, square_answered, (void *)message, NULL) != 0) {
        weir_message_free(self, question);
        return WEIR_REJECT;
    }
    return WEIR_KEEP;
}

/* The struct of then lies before a mark, which a host that writes more would overwrite. */
static void square_close(struct weir_self *self, void *memory, int reason)
{
    struct {
        struct weir_pool_stats stats;
        uint64_t mark[8];
    } guarded = { .stats = { .size = sizeof guarded.stats } };
    struct square *square = memory;
    uint64_t marks = 0;

    (void)reason;
    memset(guarded.mark, 0x5a, sizeof guarded.mark);
    if (weir_pool_stats(self, weir_pool(self), &guarded.stats) != 0)
        return;
    for (size_t i = 0; i < 8; i++)
        marks += guarded.mark[i] == 0x5a5a5a5a5a5a5a5aULL;
    print(self, "answers %" PRIu64 " done %" PRIu64 "\n", square->answers, guarded.stats.done);
    print(self, "stats %" PRIu64 " marks %" PRIu64 "\n", guarded.stats.size == sizeof guarded.stats,
          marks);
    weir_exit_status(self, 3);
}

/* --- desk: answers requests ------------------------------------------------------------------- */

static int desk_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct weir_message *answer;

    (void)memory;
    if (message->kind != WEIR_REQUEST) {
        weir_reason(self, "only %s", "requests");
        return WEIR_REJECT;
    }
    answer = number_new(self, number_in(message) * number_in(message));
    if (!answer || weir_reply(self, message, answer) != 0)
        return WEIR_FAIL;
    return WEIR_DONE;
}

/* --- the tables ------------------------------------------------------------------------------- */

static const char *const modes[] = { "plain", "fancy", NULL };

static const struct weir_option numbers_options[] = {
    WEIR_OPTION_U64(struct numbers_settings, count, .required = true, .min = 1, .max = 1000),
    { 0 },
};

static const struct weir_option square_options[] = {
    WEIR_OPTION_BOOL(struct square_settings, loud, .fallback = "false"),
    WEIR_OPTION_U32(struct square_settings, add, .fallback = "0", .min = 0, .max = 1000,
                    .live = true, .help = "added before"),
    WEIR_OPTION_DURATION(struct square_settings, pause, .fallback = "1ms"),
    WEIR_OPTION_F64(struct square_settings, factor, .fallback = "0.5"),
    WEIR_OPTION_STRING(struct square_settings, greeting, .fallback = "hello", .secret = true),
    WEIR_OPTION_ENUM(struct square_settings, mode, .fallback = "plain", .choices = modes),
    WEIR_OPTION_LIST(struct square_settings, words, .min = 0, .max = 4),
    WEIR_OPTION_MAP(struct square_settings, names),
    { 0 },
};

static const struct weir_output numbers_outputs[] = {
    { .name = "numbers", .help = "one by one", .required = true },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "numbers",
        .summary = "counts",
        .options = numbers_options,
        .outputs = numbers_outputs,
        .settings_size = sizeof(struct numbers_settings),
        .state_size = sizeof(struct numbers),
        .open = numbers_open,
        .produce = numbers_produce,
    },
    {
        .name = "square",
        .summary = "has numbers squared",
        .options = square_options,
        .settings_size = sizeof(struct square_settings),
        .state_size = sizeof(struct square),
        .in_hand = 8,
        .check = square_check,
        .open = square_open,
        .handle = square_handle,
        .close = square_close,
    },
    { .name = "desk", .summary = "squares", .handle = desk_handle },
    { 0 },
};

WEIR_PLUGIN("abi_1_0", "1.0.0", behaviours);
