/* SPDX-License-Identifier: MIT */
#include "host/isolation/isolated.h"

#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "host/isolation/dialogue.h"
#include "host/isolation/proxy.h"
#include "host/isolation/settings_image.h"

#define HOW_SIZE 64u /* of a reason: "killed by SIGSEGV" */
#define NS_PER_MS 1000000u
#define KEPT_MIN 16u

/* The plugin's settings stand at the end, so that core finds in them what the options name. */
struct isolated {
    struct isolated_options options;
    struct weir_behaviour behaviour;
    alignas(16) unsigned char settings[];
};

static const struct isolated *isolated_of(const void *settings)
{
    return (const struct isolated *)(const void *)((const char *)settings -
                                                   offsetof(struct isolated, settings));
}

/* --- the end of a process --------------------------------------------------------------------- */

static void put_process_away(struct weir_self *self, struct proxy *proxy, char *how)
{
    weir_child_process(self, 0);
    if (proxy->watch)
        (void)weir_unwatch(self, proxy->watch);
    proxy->watch = 0;
    life_end(&proxy->life, how, HOW_SIZE);
    channel_hear(&proxy->channel);
    proxy->lacks_memory = proxy->channel.lacks_memory;
    channel_finish(&proxy->channel);
    proxy->runs = false;
}

static const char *name_of(int callback)
{
    static const char *const names[] = {
        [DIALOGUE_OPEN] = "open",         [DIALOGUE_HANDLE] = "handle",
        [DIALOGUE_CLOSE] = "close",       [DIALOGUE_RECONFIGURE] = "reconfigure",
        [DIALOGUE_INSPECT] = "inspect",   [DIALOGUE_REOPEN] = "reopen",
        [DIALOGUE_LEAVE] = "leave",       [DIALOGUE_TICK] = "timer",
        [DIALOGUE_THEN] = "continuation", [DIALOGUE_FLUSH] = "flush",
    };

    return callback ? names[callback] : "none";
}

/* Why the process has ended: by itself, as `how` says, or killed with that status. */
static void tell_why(const struct proxy *proxy, int status, char *how)
{
    char bound[32];
    size_t length;

    text_format_size(proxy->isolated->options.memory, bound, sizeof bound);
    if (status == WEIR_ETIMEOUT) {
        (void)snprintf(how, HOW_SIZE, "timeout");
    } else if (status == WEIR_EINVALID) {
        (void)snprintf(how, HOW_SIZE, "wrote nonsense");
    } else if (status == WEIR_ENOMEM && proxy->is_too_large) {
        (void)snprintf(how, HOW_SIZE, "memory above process.memory, %s", bound);
    } else if (status == WEIR_ENOMEM) {
        (void)snprintf(how, HOW_SIZE, "out of memory");
    } else if (proxy->lacks_memory) {
        length = strlen(how);
        (void)snprintf(how + length, HOW_SIZE - length, ", out of memory (%s)", bound);
    }
}

/* The process has ended by itself, or must end: says so, and sets the reason of the failure. */
static void bury(struct weir_self *self, struct proxy *proxy, int callback, int status)
{
    const struct isolated_options *options = &proxy->isolated->options;
    char how[HOW_SIZE];
    long long process = proxy->life.process;

    put_process_away(self, proxy, how);
    tell_why(proxy, status, how);
    weir_log(self, WEIR_LOG_ERROR, "process of a worker ended", weir_int("process", process),
             weir_str("reason", how), weir_str("callback", name_of(callback)),
             weir_str("plugin", options->plugin), weir_str("version", options->version),
             weir_uint("attempt", proxy->in_hand.message ? proxy->in_hand.message->attempt : 0));
    weir_reason(self, "%s", how);
}

/* Outside of `handle` and `open` there is no verdict to return. */
static void fail(struct weir_self *self, struct proxy *proxy, int callback, int status)
{
    bury(self, proxy, callback, status);
    (void)weir_exit(self, weir_pid_of(self), WEIR_END_CRASH);
}

/* --- a callback in the process ---------------------------------------------------------------- */

static void tick(struct weir_self *self, void *state, void *context);
static void then(struct weir_self *self, void *state, void *context,
                 const struct weir_reply *reply);

static const struct proxy_callbacks callbacks = { tick, then };

static void set_due(struct proxy *proxy, int callback)
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

/* Gives a callback, whose arguments are in `proxy->out`, and carries out the calls of the process
 * until it returns. */
static int converse(struct weir_self *self, struct proxy *proxy, int callback, int *out_result)
{
    struct channel_frame frame;
    int status;

    set_due(proxy, callback);
    proxy->has_spoken = false;
    status = channel_send(&proxy->channel, (uint32_t)callback, 0, &proxy->out);
    for (;;) {
        if (status == WEIR_OK)
            status = channel_receive(&proxy->channel, &frame);
        if (status != WEIR_OK)
            return status;
        proxy->has_spoken = true;
        if (frame.kind == DIALOGUE_RETURN)
            break;
        status = channel_check(&proxy->channel);
        if (status == WEIR_OK)
            status = proxy_serve(self, proxy, &callbacks, &frame);
        if (status == WEIR_OK)
            status = channel_send(&proxy->channel, DIALOGUE_ANSWER, 0, &proxy->out);
    }
    *out_result = (int)(int64_t)unparcel_number(&frame.content);
    return frame.content.wrong ? WEIR_EINVALID : WEIR_OK;
}

/* A callback without a verdict. */
static int tell(struct weir_self *self, struct proxy *proxy, int callback)
{
    int result = 0;
    int status = converse(self, proxy, callback, &result);

    if (status != WEIR_OK)
        fail(self, proxy, callback, status);
    return status == WEIR_OK ? result : 0;
}

/* --- open ------------------------------------------------------------------------------------- */

static int start(struct proxy *proxy)
{
    struct segment *segment = NULL;
    int bells[2], descriptor, error;

    descriptor = segment_create(&segment);
    if (descriptor < 0)
        return errno;
    error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bells) == 0 ? 0 : errno;
    if (error == 0) {
        error = channel_begin(&proxy->channel, segment, true, bells[0]) == WEIR_OK ? 0 : ENOMEM;
        if (error == 0) {
            segment = NULL; /* the channel has it, and the bell */
            error = life_start(&proxy->life, bells[1], descriptor, proxy->isolated->options.image);
        }
        (void)close(bells[1]);
        if (error != 0 && !segment)
            channel_finish(&proxy->channel);
        else if (error != 0)
            (void)close(bells[0]);
    }
    if (segment)
        segment_unmap(segment);
    (void)close(descriptor);
    return error;
}

/* The process has ended between two callbacks. */
static void on_end(struct weir_self *self, void *state, void *context, int descriptor,
                   int readiness)
{
    struct proxy *proxy = state;

    (void)context;
    (void)descriptor;
    (void)readiness;
    proxy->watch = 0;
    if (proxy->runs)
        fail(self, proxy, 0, WEIR_ETERMINATED);
}

static void pack_list(struct parcel *out, const struct weir_list *list)
{
    parcel_number(out, list->count);
    for (size_t i = 0; i < list->count; i++)
        parcel_text(out, list->items[i]);
}

static void pack_sandbox(struct parcel *out, const struct sandbox *sandbox)
{
    parcel_number(out, sandbox->on);
    parcel_number(out, sandbox->strict);
    parcel_number(out, sandbox->network);
    pack_list(out, &sandbox->read);
    pack_list(out, &sandbox->write);
}

static void pack_start(struct weir_self *self, struct proxy *proxy)
{
    const struct isolated_options *options = &proxy->isolated->options;
    struct parcel *out = &proxy->out;

    parcel_clear(out);
    parcel_text(out, options->file);
    parcel_text(out, options->behaviour->name);
    parcel_number(out, options->generation);
    parcel_number(out, options->log_format);
    parcel_number(out, weir_pid_of(self));
    parcel_text(out, weir_path(self));
    parcel_number(out, weir_index(self));
    parcel_number(out, weir_pool(self));
    pack_sandbox(out, &options->sandbox);
    settings_image_pack(options->behaviour, options->settings, out);
}

/* `look` of the channel. What is shared or mapped from a file is memory that no limit of the kernel
 * bounds. */
static int look_at_memory(void *context)
{
    struct proxy *proxy = context;

    proxy->is_too_large = life_memory(&proxy->life) > proxy->isolated->options.memory;
    return proxy->is_too_large ? WEIR_ENOMEM : WEIR_OK;
}

static void set_limits(struct proxy *proxy)
{
    const struct isolated_options *options = &proxy->isolated->options;

    life_limit(&proxy->life, options->memory, options->files);
    proxy->channel.look = options->memory ? look_at_memory : NULL;
}

static int open_process(struct weir_self *self, const void *settings, void *state)
{
    struct proxy *proxy = state;
    int result = 0, status, error;

    proxy->isolated = isolated_of(settings);
    error = start(proxy);
    if (error != 0) {
        weir_reason(self, "no process: %s", strerror(error));
        return WEIR_ENOMEM;
    }
    proxy->runs = true;
    proxy->channel.life = proxy->life.end;
    proxy->channel.context = proxy;
    set_limits(proxy);
    weir_child_process(self, proxy->life.process);
    pack_start(self, proxy);
    status = converse(self, proxy, DIALOGUE_OPEN, &result);
    if (status != WEIR_OK)
        bury(self, proxy, DIALOGUE_OPEN, status);
    if (status == WEIR_OK && result < 0) {
        char how[HOW_SIZE];

        put_process_away(self, proxy, how);
    }
    if (status == WEIR_OK && result >= 0 && proxy->life.end >= 0)
        (void)weir_watch(self, proxy->life.end, WEIR_READABLE, on_end, NULL, &proxy->watch);
    if (status != WEIR_OK || result < 0)
        proxy_finish(proxy);
    return status != WEIR_OK ? WEIR_ECRASHED : result < 0 ? result : 0;
}

/* --- messages --------------------------------------------------------------------------------- */

static bool reserve_kept(struct proxy *proxy)
{
    uint32_t room = proxy->kept_room ? 2 * proxy->kept_room : KEPT_MIN;
    struct proxy_message *kept;

    if (proxy->kept_count < proxy->kept_room)
        return true;
    kept = realloc(proxy->kept, room * sizeof *kept);
    if (!kept)
        return false;
    proxy->kept = kept;
    proxy->kept_room = room;
    return true;
}

/* The process ended before it took the message: nobody has begun it. */
static int give_back(struct weir_self *self, struct proxy *proxy,
                     const struct weir_message *message, int status)
{
    if (weir_put_back(self, message) != WEIR_OK) {
        bury(self, proxy, DIALOGUE_HANDLE, status);
        return WEIR_FAIL;
    }
    proxy->in_hand = (struct proxy_message){ 0 };
    fail(self, proxy, 0, status);
    return WEIR_DONE;
}

/* A process gathers nothing: after each message that it keeps comes `flush`. Returns the verdict of
 * the message in hand. */
static int flush(struct weir_self *self, struct proxy *proxy)
{
    int flushed = WEIR_KEEP, status;

    parcel_clear(&proxy->out);
    proxy->early = WEIR_KEEP;
    proxy->flushes = true;
    status = converse(self, proxy, DIALOGUE_FLUSH, &flushed);
    proxy->flushes = false;
    if (status != WEIR_OK) {
        bury(self, proxy, DIALOGUE_FLUSH, status);
        return WEIR_FAIL;
    }
    if (flushed == WEIR_KEEP)
        return proxy->early;
    if (flushed != WEIR_DONE)
        return WEIR_FAIL;
    for (uint32_t i = 0; i < proxy->kept_count; i++)
        (void)weir_settle(self, proxy->kept[i].message, WEIR_DONE);
    proxy->kept_count = 0;
    return proxy->early == WEIR_KEEP ? WEIR_DONE : proxy->early;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct proxy *proxy = state;
    int verdict = WEIR_DONE, status;

    if (message->size > DIALOGUE_PAYLOAD_MAX) {
        weir_reason(self, "isolated: payload above 256MiB");
        return WEIR_REJECT;
    }
    if (!proxy->runs || !reserve_kept(proxy))
        return WEIR_POSTPONE;
    if (life_is_over(&proxy->life))
        return give_back(self, proxy, message, WEIR_ETERMINATED);
    parcel_clear(&proxy->out);
    proxy->in_hand.number = proxy_pack_message(proxy, message, &proxy->out);
    proxy->in_hand.message = message;
    if (proxy->out.failed)
        return WEIR_POSTPONE;
    status = converse(self, proxy, DIALOGUE_HANDLE, &verdict);
    if (status == WEIR_ETERMINATED && !proxy->has_spoken && !segment_was_taken(&proxy->channel.end))
        return give_back(self, proxy, message, status);
    if (status != WEIR_OK) {
        bury(self, proxy, DIALOGUE_HANDLE, status);
        verdict = WEIR_FAIL;
    }
    if (verdict == WEIR_KEEP && proxy->in_hand.message && proxy->isolated->options.behaviour->flush)
        verdict = flush(self, proxy);
    if (verdict == WEIR_KEEP && proxy->in_hand.message)
        proxy->kept[proxy->kept_count++] = proxy->in_hand;
    proxy->in_hand = (struct proxy_message){ 0 };
    return verdict;
}

static void tick(struct weir_self *self, void *state, void *context)
{
    struct proxy *proxy = state;

    if (!proxy->runs)
        return;
    parcel_clear(&proxy->out);
    parcel_number(&proxy->out, (uintptr_t)context);
    (void)tell(self, proxy, DIALOGUE_TICK);
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
    (void)tell(self, proxy, DIALOGUE_THEN);
}

/* --- other callbacks -------------------------------------------------------------------------- */

static void reconfigure(struct weir_self *self, void *state, const void *settings)
{
    struct proxy *proxy = state;

    proxy->isolated = isolated_of(settings);
    if (proxy->runs)
        set_limits(proxy);
    if (!proxy->runs || !proxy->isolated->options.behaviour->reconfigure)
        return;
    parcel_clear(&proxy->out);
    settings_image_pack(proxy->isolated->options.behaviour, proxy->isolated->options.settings,
                        &proxy->out);
    (void)tell(self, proxy, DIALOGUE_RECONFIGURE);
}

static void reopen(struct weir_self *self, void *state)
{
    struct proxy *proxy = state;

    parcel_clear(&proxy->out);
    if (proxy->runs)
        (void)tell(self, proxy, DIALOGUE_REOPEN);
}

static void inspect(struct weir_self *self, void *state, struct weir_inspection *out)
{
    struct proxy *proxy = state;

    parcel_clear(&proxy->out);
    if (!proxy->runs)
        return;
    proxy->inspection = out;
    (void)tell(self, proxy, DIALOGUE_INSPECT);
    proxy->inspection = NULL;
}

static int leave(struct weir_self *self, void *state)
{
    struct proxy *proxy = state;

    parcel_clear(&proxy->out);
    return proxy->runs && tell(self, proxy, DIALOGUE_LEAVE) == WEIR_WAIT ? WEIR_WAIT : WEIR_END;
}

static void close_process(struct weir_self *self, void *state, int reason)
{
    struct proxy *proxy = state;
    char how[HOW_SIZE];
    int result, status = WEIR_OK;

    proxy->kept_count = 0; /* the host has settled them */
    if (proxy->runs) {
        parcel_clear(&proxy->out);
        parcel_number(&proxy->out, (uint64_t)reason);
        status = converse(self, proxy, DIALOGUE_CLOSE, &result);
    }
    if (proxy->runs && status != WEIR_OK)
        bury(self, proxy, DIALOGUE_CLOSE, status);
    if (proxy->runs)
        put_process_away(self, proxy, how);
    proxy_finish(proxy);
}

/* --- the behaviour ---------------------------------------------------------------------------- */

static struct weir_behaviour stand_in(const struct weir_behaviour *inner)
{
    return (struct weir_behaviour){
        .name = inner->name,
        .summary = inner->summary,
        .options = inner->options,
        .outputs = inner->outputs,
        .settings_size = inner->settings_size,
        .state_size = sizeof(struct proxy),
        .flags = inner->flags | WEIR_BLOCKING,
        .in_hand = inner->in_hand,
        .open = open_process,
        .handle = handle,
        .close = close_process,
        .reconfigure = reconfigure,
        .inspect = inner->inspect ? inspect : NULL,
        .reopen = inner->reopen ? reopen : NULL,
        .leave = inner->leave ? leave : NULL,
    };
}

struct isolated *isolated_create(const struct isolated_options *options)
{
    size_t size = options->settings ? options->behaviour->settings_size : 0;
    struct isolated *isolated = calloc(1, sizeof *isolated + size + 16);

    if (!isolated)
        return NULL;
    isolated->options = *options;
    isolated->behaviour = stand_in(options->behaviour);
    if (size)
        memcpy(isolated->settings, options->settings, size);
    return isolated;
}

void isolated_destroy(struct isolated *isolated)
{
    free(isolated);
}

const struct weir_behaviour *isolated_behaviour(const struct isolated *isolated)
{
    return &isolated->behaviour;
}

const void *isolated_settings(const struct isolated *isolated)
{
    return isolated->settings;
}
