/* SPDX-License-Identifier: MIT */
#include "host/isolation/isolated.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/isolation/callbacks.h"
#include "host/isolation/settings_image.h"
#include "host/isolation/window.h"

static uint32_t in_hand_of(const struct weir_behaviour *behaviour)
{
    return behaviour->in_hand ? behaviour->in_hand : 1;
}

static const struct isolated *isolated_of(const void *settings)
{
    return (const struct isolated *)(const void *)((const char *)settings -
                                                   offsetof(struct isolated, settings));
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
        callbacks_fail(self, proxy, 0, WEIR_ETERMINATED);
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

static void set_limits(struct proxy *proxy)
{
    const struct isolated_options *options = &proxy->isolated->options;

    life_limit(&proxy->life, options->memory, options->files);
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
    proxy->process = proxy->life.process;
    proxy->channel.life = proxy->life.end;
    set_limits(proxy);
    proxy->in_hand_max = proxy->demand = in_hand_of(proxy->isolated->options.behaviour);
    window_open(self, proxy);
    weir_child_process(self, proxy->life.process);
    pack_start(self, proxy);
    status = callbacks_converse(self, proxy, DIALOGUE_OPEN, &result);
    if (status != WEIR_OK)
        callbacks_bury(self, proxy, DIALOGUE_OPEN, status);
    if (status == WEIR_OK && result < 0) {
        char how[CALLBACKS_HOW_SIZE];

        callbacks_kill(self, proxy, how);
        callbacks_forget(proxy);
    }
    if (status == WEIR_OK && result >= 0)
        proxy_update_demand(self, proxy);
    if (status == WEIR_OK && result >= 0 && proxy->life.end >= 0)
        (void)weir_watch(self, proxy->life.end, WEIR_READABLE, on_end, NULL, &proxy->watch);
    if (status != WEIR_OK || result < 0)
        proxy_finish(proxy);
    return status != WEIR_OK ? WEIR_ECRASHED : result < 0 ? result : 0;
}

/* --- other callbacks -------------------------------------------------------------------------- */

static void reconfigure(struct weir_self *self, void *state, const void *settings)
{
    struct proxy *proxy = state;

    proxy->isolated = isolated_of(settings);
    if (proxy->runs) {
        set_limits(proxy);
        window_bound(self, proxy);
    }
    if (!proxy->runs || !proxy->isolated->options.behaviour->reconfigure)
        return;
    parcel_clear(&proxy->out);
    settings_image_pack(proxy->isolated->options.behaviour, proxy->isolated->options.settings,
                        &proxy->out);
    (void)callbacks_tell(self, proxy, DIALOGUE_RECONFIGURE);
}

static void reopen(struct weir_self *self, void *state)
{
    struct proxy *proxy = state;

    parcel_clear(&proxy->out);
    if (proxy->runs)
        (void)callbacks_tell(self, proxy, DIALOGUE_REOPEN);
}

static void inspect(struct weir_self *self, void *state, struct weir_inspection *out)
{
    struct proxy *proxy = state;

    parcel_clear(&proxy->out);
    if (!proxy->runs)
        return;
    proxy->inspection = out;
    (void)callbacks_tell(self, proxy, DIALOGUE_INSPECT);
    proxy->inspection = NULL;
}

static int leave(struct weir_self *self, void *state)
{
    struct proxy *proxy = state;

    parcel_clear(&proxy->out);
    return proxy->runs && callbacks_tell(self, proxy, DIALOGUE_LEAVE) == WEIR_WAIT ? WEIR_WAIT
                                                                                   : WEIR_END;
}

static void close_process(struct weir_self *self, void *state, int reason)
{
    struct proxy *proxy = state;
    char how[CALLBACKS_HOW_SIZE];
    int result, status = WEIR_OK;

    proxy->kept_count = 0;                        /* the host has settled them */
    if (proxy->runs && !window_is_empty(proxy)) { /* the process has what is settled */
        callbacks_kill(self, proxy, how);
        callbacks_forget(proxy);
    }
    if (proxy->runs) {
        parcel_clear(&proxy->out);
        parcel_number(&proxy->out, (uint64_t)reason);
        status = callbacks_converse(self, proxy, DIALOGUE_CLOSE, &result);
    }
    if (proxy->runs && status != WEIR_OK)
        callbacks_bury(self, proxy, DIALOGUE_CLOSE, status);
    if (proxy->runs) {
        callbacks_kill(self, proxy, how);
        callbacks_forget(proxy);
    }
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
        .flags = (inner->flags & ~(uint32_t)WEIR_GATHERS) | WEIR_BLOCKING,
        .in_hand = in_hand_of(inner) - 1 + DIALOGUE_WINDOW_MAX,
        .open = open_process,
        .handle = window_handle,
        .flush = window_flush,
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
