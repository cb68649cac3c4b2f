/* SPDX-License-Identifier: MIT */
/*
 * Workers and a source that do no harm and make no progress. Fault: they reject, retry, fail, wait
 * for nothing, or send a message a second time.
 */
#include "fault.h"

#define OUTPUT_OUT 0u

/* Returns the same verdict for each message, with a reason. */
static int reject(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    (void)message;
    weir_reason(self, "no such picture");
    return WEIR_REJECT;
}

/* Each message is handled the third time. */
static int retry(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    if (message->attempt > 2)
        return WEIR_DONE;
    weir_reason(self, "not yet");
    weir_retry_after(self, 1);
    return WEIR_RETRY;
}

static int put_off(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    (void)message;
    weir_reason(self, "not today");
    weir_retry_after(self, 3600000);
    return WEIR_RETRY;
}

/* Each message is handled the second time, by the worker's successor. */
static int fail(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)state;
    if (message->attempt > 1)
        return WEIR_DONE;
    weir_reason(self, "lost its way");
    return WEIR_FAIL;
}

static int stay_shut(struct weir_self *self, const void *settings, void *state)
{
    (void)settings;
    (void)state;
    weir_reason(self, "no key to the door");
    return WEIR_EINVALID;
}

/* Sends each message twice, and then frees it. */
static int twice(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *copy = weir_message_new(self, message->tag, 0);

    (void)state;
    if (!copy || weir_emit(self, OUTPUT_OUT, copy) != 0)
        return WEIR_FAIL;
    if (weir_emit(self, OUTPUT_OUT, copy) == 0)
        return WEIR_DONE;
    weir_message_free(self, copy);
    return WEIR_DONE;
}

static const struct weir_output outputs[] = { { .name = "out" }, { 0 } };

static int produce_nothing(struct weir_self *self, void *state, uint32_t credit)
{
    (void)self;
    (void)state;
    (void)credit;
    return WEIR_END;
}

/* One message without a key, without declaring WEIR_KEYLESS. */
static int produce_one(struct weir_self *self, void *state, uint32_t credit)
{
    struct weir_message *message = weir_message_new(self, weir_tag(self, "wayward.one/1"), 0);
    int status = message ? weir_emit(self, OUTPUT_OUT, message) : WEIR_ENOMEM;

    (void)state;
    (void)credit;
    if (status == 0)
        return WEIR_END;
    weir_message_free(self, message);
    return status;
}

static int wait_for_nothing(struct weir_self *self, void *state, uint32_t credit)
{
    (void)self;
    (void)state;
    (void)credit;
    return WEIR_WAIT;
}

static const struct weir_output source_outputs[] = { { .name = "out", .required = true }, { 0 } };

static const struct weir_behaviour behaviours[] = {
    { .name = "keyless",
      .flags = WEIR_KEYLESS,
      .outputs = source_outputs,
      .produce = produce_nothing },
    { .name = "one", .outputs = source_outputs, .produce = produce_one },
    { .name = "idle", .outputs = source_outputs, .produce = wait_for_nothing },
    { .name = "twice", .outputs = outputs, .handle = twice },
    { .name = "shut", .open = stay_shut, .handle = reject },
    { .name = "reject", .handle = reject },
    { .name = "retry", .handle = retry },
    { .name = "put_off", .handle = put_off },
    { .name = "fail", .handle = fail },
    { .name = "keyed", .flags = WEIR_KEYED, .handle = reject },
    { 0 },
};

WEIR_PLUGIN("wayward", "1.0.0", behaviours);
