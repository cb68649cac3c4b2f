/* SPDX-License-Identifier: MIT */
/*
 * `work` passes each line on, once it has done what the second word of the line says, such as to
 * retry it, to keep it, to fail or to crash. `answer` replies to requests.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>

#include "../../plugins/files/files.h"

#define OUTPUT_OUT 0u
#define KEPT_MAX 8u
#define SHORT_MS 1u
#define LONG_MS 60000u

struct settings {
    uint64_t wait;
    uint32_t mark;
    uint32_t live;
};

struct worker {
    const struct settings *settings;
    uint32_t begun; /* messages whose attempt does not say whether they come again */
    bool has_timer; /* that brings back the stash */
};

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct worker *)state)->settings = settings;
    return 0;
}

static void reconfigure(struct weir_self *self, void *state, const void *settings)
{
    (void)self;
    ((struct worker *)state)->settings = settings;
}

static struct weir_message *copy_of(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    if (!copy)
        return NULL;
    copy->key = message->key;
    memcpy(copy->data, message->data, message->size);
    return copy;
}

/* --- deeds: each returns a verdict ------------------------------------------------------------ */

static int pass(struct weir_self *self, const struct weir_message *message)
{
    struct weir_message *copy = copy_of(self, message);

    if (!copy)
        return WEIR_POSTPONE;
    if (weir_emit(self, OUTPUT_OUT, copy) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_POSTPONE;
}

/* Every second time only: it ends. */
static bool is_turn(struct worker *worker)
{
    return worker->begun++ % 2 == 0;
}

static int do_retry(struct weir_self *self, struct worker *worker,
                    const struct weir_message *message)
{
    (void)worker;
    if (message->attempt > 2)
        return pass(self, message);
    weir_retry_after(self, message->attempt - 1);
    return WEIR_RETRY;
}

static int do_postpone(struct weir_self *self, struct worker *worker,
                       const struct weir_message *message)
{
    if (!is_turn(worker))
        return pass(self, message);
    weir_retry_after(self, SHORT_MS);
    return WEIR_POSTPONE;
}

static int do_reject(struct weir_self *self, struct worker *worker,
                     const struct weir_message *message)
{
    (void)self;
    (void)worker;
    (void)message;
    return WEIR_REJECT;
}

static int do_fail(struct weir_self *self, struct worker *worker,
                   const struct weir_message *message)
{
    (void)worker;
    return message->attempt == 1 ? WEIR_FAIL : pass(self, message);
}

static int do_stop(struct weir_self *self, struct worker *worker,
                   const struct weir_message *message)
{
    int verdict = pass(self, message);

    (void)worker;
    return verdict == WEIR_DONE ? WEIR_STOP : verdict;
}

/* In a process: it must not end the host. */
static int do_crash(struct weir_self *self, struct worker *worker,
                    const struct weir_message *message)
{
    (void)worker;
    if (message->attempt == 1)
        abort();
    return pass(self, message);
}

static void bring_back(struct weir_self *self, void *state, void *context)
{
    (void)context;
    ((struct worker *)state)->has_timer = false;
    (void)weir_unstash(self, UINT32_MAX);
}

static int do_stash(struct weir_self *self, struct worker *worker,
                    const struct weir_message *message)
{
    if (!is_turn(worker))
        return pass(self, message);
    if (!worker->has_timer && weir_after(self, SHORT_MS, bring_back, NULL, NULL) != 0)
        return WEIR_POSTPONE;
    worker->has_timer = true;
    return weir_stash(self, message) == 0 ? WEIR_DONE : pass(self, message);
}

static void end_kept(struct weir_self *self, void *state, void *context)
{
    const struct weir_message *message = context;

    (void)state;
    (void)weir_settle(self, message, pass(self, message));
}

static int do_keep(struct weir_self *self, struct worker *worker,
                   const struct weir_message *message)
{
    (void)worker;
    return weir_after(self, SHORT_MS, end_kept, (void *)(uintptr_t)message, NULL) == 0
               ? WEIR_KEEP
               : WEIR_POSTPONE;
}

static void answered(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    const struct weir_message *message = context;

    (void)state;
    (void)weir_settle(self, message, reply->status == 0 ? pass(self, message) : WEIR_RETRY);
}

static int do_ask(struct weir_self *self, struct worker *worker, const struct weir_message *message)
{
    struct weir_message *question = copy_of(self, message);
    weir_pid pool;

    (void)worker;
    weir_retry_after(self, SHORT_MS);
    if (!question)
        return WEIR_POSTPONE;
    if (weir_lookup(self, "answers", &pool) == 0 &&
        weir_request(self, pool, question, LONG_MS, answered, (void *)(uintptr_t)message, NULL) ==
            0)
        return WEIR_KEEP;
    weir_message_free(self, question);
    return WEIR_POSTPONE;
}

/* The copy joins the origin of the message, and is sent when this worker may have ended. */
static int do_delay(struct weir_self *self, struct worker *worker,
                    const struct weir_message *message)
{
    struct weir_message *copy = copy_of(self, message);
    weir_pid pool;

    (void)worker;
    if (!copy)
        return WEIR_POSTPONE;
    if (weir_target(self, OUTPUT_OUT, &pool) == 0 && weir_join(self, copy, message) == 0 &&
        weir_send_after(self, pool, copy, SHORT_MS, NULL) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_POSTPONE;
}

static int do_forward(struct weir_self *self, struct worker *worker,
                      const struct weir_message *message)
{
    weir_pid pool;

    (void)worker;
    if (weir_target(self, OUTPUT_OUT, &pool) == 0 && weir_forward(self, pool, message) == 0)
        return WEIR_DONE;
    weir_retry_after(self, SHORT_MS);
    return WEIR_POSTPONE;
}

static const struct {
    const char *word;
    int (*act)(struct weir_self *self, struct worker *worker, const struct weir_message *message);
} deeds[] = {
    { "retry", do_retry }, { "postpone", do_postpone }, { "reject", do_reject },
    { "fail", do_fail },   { "stop", do_stop },         { "crash", do_crash },
    { "stash", do_stash }, { "keep", do_keep },         { "ask", do_ask },
    { "delay", do_delay }, { "forward", do_forward },
};

static int work(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    const struct files_line *line = files_line_get(message);
    const char *word = line ? strchr(files_line_text(line), ' ') : NULL;

    if (worker->settings->wait > 0)
        (void)poll(NULL, 0, (int)worker->settings->wait);
    for (size_t i = 0; word && i < sizeof deeds / sizeof deeds[0]; i++)
        if (strcmp(word + 1, deeds[i].word) == 0)
            return deeds[i].act(self, worker, message);
    return pass(self, message);
}

static int answer(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *reply = weir_message_new(self, message->tag, 0);

    (void)state;
    if (!reply)
        return WEIR_REJECT;
    if (weir_reply(self, message, reply) == 0)
        return WEIR_DONE;
    weir_message_free(self, reply);
    return WEIR_REJECT;
}

static const struct weir_option options[] = {
    WEIR_OPTION_DURATION(struct settings, wait, .fallback = "0ms", .max = 1000, .live = true,
                         .help = "how long each line takes"),
    WEIR_OPTION_U32(struct settings, mark, .fallback = "0", .help = "means nothing"),
    WEIR_OPTION_U32(struct settings, live, .fallback = "0", .live = true, .help = "likewise"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "each line that is done" },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "work",
        .summary = "does what a line says, and passes it on",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct worker),
        .in_hand = KEPT_MAX,
        .open = open_worker,
        .handle = work,
        .reconfigure = reconfigure,
    },
    { .name = "answer", .summary = "replies to each request", .handle = answer },
    { 0 },
};

WEIR_PLUGIN("doer", "1.0.0", behaviours);
