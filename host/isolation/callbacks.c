/* SPDX-License-Identifier: MIT */
#include "host/isolation/callbacks.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define NS_PER_MS 1000000u

/* --- the end of a process --------------------------------------------------------------------- */

void callbacks_kill(struct weir_self *self, struct proxy *proxy, char *how)
{
    weir_child_process(self, 0);
    if (proxy->watch)
        (void)weir_unwatch(self, proxy->watch);
    proxy->watch = 0;
    life_end(&proxy->life, how, CALLBACKS_HOW_SIZE);
    channel_hear(&proxy->channel);
    proxy->lacks_memory = proxy->channel.lacks_memory;
    proxy->runs = false;
}

void callbacks_forget(struct proxy *proxy)
{
    channel_finish(&proxy->channel);
}

/* Why the process has ended: by itself, as `how` says, or killed with that status. */
static void tell_why(const struct proxy *proxy, int status, char *how)
{
    char bound[32];
    size_t length;

    text_format_size(proxy->isolated->options.memory, bound, sizeof bound);
    if (status == WEIR_ETIMEOUT) {
        (void)snprintf(how, CALLBACKS_HOW_SIZE, "timeout");
    } else if (status == WEIR_EINVALID) {
        (void)snprintf(how, CALLBACKS_HOW_SIZE, "wrote nonsense");
    } else if (status == WEIR_ENOMEM && proxy->is_too_large) {
        (void)snprintf(how, CALLBACKS_HOW_SIZE, "memory above process.memory, %s", bound);
    } else if (status == WEIR_ENOMEM) {
        (void)snprintf(how, CALLBACKS_HOW_SIZE, "out of memory");
    } else if (proxy->lacks_memory) {
        length = strlen(how);
        (void)snprintf(how + length, CALLBACKS_HOW_SIZE - length, ", out of memory (%s)", bound);
    }
}

void callbacks_say_why(struct weir_self *self, struct proxy *proxy, int callback, int status,
                       char *how)
{
    const struct isolated_options *options = &proxy->isolated->options;

    tell_why(proxy, status, how);
    weir_log(self, WEIR_LOG_ERROR, "process of a worker ended", weir_int("process", proxy->process),
             weir_str("reason", how), weir_str("callback", dialogue_name(callback)),
             weir_str("plugin", options->plugin), weir_str("version", options->version),
             weir_uint("attempt", proxy->in_hand.message ? proxy->in_hand.message->attempt : 0));
    weir_reason(self, "%s", how);
}

void callbacks_bury(struct weir_self *self, struct proxy *proxy, int callback, int status)
{
    char how[CALLBACKS_HOW_SIZE];

    callbacks_kill(self, proxy, how);
    callbacks_forget(proxy);
    callbacks_say_why(self, proxy, callback, status, how);
}

void callbacks_fail(struct weir_self *self, struct proxy *proxy, int callback, int status)
{
    callbacks_bury(self, proxy, callback, status);
    (void)weir_exit(self, weir_pid_of(self), WEIR_END_CRASH);
}

/* --- a callback in the process ---------------------------------------------------------------- */

static void tick(struct weir_self *self, void *state, void *context)
{
    struct proxy *proxy = state;

    if (!proxy->runs)
        return;
    parcel_clear(&proxy->out);
    parcel_number(&proxy->out, (uintptr_t)context);
    (void)callbacks_tell(self, proxy, DIALOGUE_TICK);
}

static void then(struct weir_self *self, void *state, void *context, const struct weir_reply *reply)
{
    static const struct weir_message none = { .kind = WEIR_MESSAGE };
    const struct weir_message *message = reply->message;
    struct proxy *proxy = state;
    int status = reply->status;

    if (!proxy->runs)
        return;
    if (message && message->size > DIALOGUE_PAYLOAD_MAX) {
        message = NULL;
        status = WEIR_EINVALID;
    }
    parcel_clear(&proxy->out);
    parcel_number(&proxy->out, (uintptr_t)context);
    parcel_number(&proxy->out, reply->reference);
    parcel_number(&proxy->out, (uint64_t)(int64_t)status);
    parcel_text(&proxy->out, reply->detail);
    parcel_number(&proxy->out, message != NULL);
    (void)proxy_pack_message(proxy, message ? message : &none, &proxy->out);
    (void)callbacks_tell(self, proxy, DIALOGUE_THEN);
}

void callbacks_set_due(struct proxy *proxy, int callback)
{
    const struct isolated_options *options = &proxy->isolated->options;
    struct clock clock = clock_monotonic();
    uint64_t timeout_ms = options->timeout_ms, close_ms = options->close_timeout_ms;

    if (callback == DIALOGUE_OPEN) /* it starts a process and loads a plugin */
        timeout_ms = options->open_timeout_ms;
    else if (callback == DIALOGUE_CLOSE && close_ms && (!timeout_ms || close_ms < timeout_ms))
        timeout_ms = close_ms;
    proxy->channel.due_ns = timeout_ms ? clock_now_ns(&clock) + timeout_ms * NS_PER_MS : 0;
}

int callbacks_await(struct weir_self *self, struct proxy *proxy, struct channel_frame *out)
{
    static const struct proxy_callbacks callbacks = { tick, then };
    int status;

    for (;;) {
        status = channel_receive(&proxy->channel, out);
        if (status != WEIR_OK || out->kind == DIALOGUE_RETURN || out->kind == DIALOGUE_UNTOUCHED)
            return status;
        status = channel_check(&proxy->channel);
        if (status == WEIR_OK)
            status = proxy_serve(self, proxy, &callbacks, out);
        if (status == WEIR_OK)
            status = channel_send(&proxy->channel, DIALOGUE_ANSWER, 0, &proxy->out);
        if (status != WEIR_OK)
            return status;
    }
}

int callbacks_converse(struct weir_self *self, struct proxy *proxy, int callback, int *out_result)
{
    struct channel_frame frame;
    int status;

    callbacks_set_due(proxy, callback);
    status = channel_send(&proxy->channel, (uint32_t)callback, 0, &proxy->out);
    if (status == WEIR_OK)
        status = callbacks_await(self, proxy, &frame);
    if (status != WEIR_OK)
        return status;
    *out_result = (int)(int64_t)unparcel_number(&frame.content);
    return frame.content.wrong || frame.kind != DIALOGUE_RETURN || frame.number ? WEIR_EINVALID
                                                                                : WEIR_OK;
}

int callbacks_tell(struct weir_self *self, struct proxy *proxy, int callback)
{
    int result = 0;
    int status = callbacks_converse(self, proxy, callback, &result);

    if (status != WEIR_OK)
        callbacks_fail(self, proxy, callback, status);
    else
        proxy_update_demand(self, proxy);
    return status == WEIR_OK ? result : 0;
}
