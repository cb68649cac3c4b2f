/* SPDX-License-Identifier: MIT */
#include "host/run/heartbeat.h"

#include <stdlib.h>

#include <uv.h>
#include <weir/plugin.h>

#define NAME "heartbeat"
#define TAG_BEAT "host.beat/1"
#define DISPATCHER "default"
#define BEATS 4u /* within the time of the manager: a late one does no harm */

struct heartbeat {
    struct heartbeat_setup setup; /* const */
    struct standalone *actor;     /* const */
    const struct weir_tag *tag;   /* const */
    uv_timer_t timer;
};

/* --- the actor ------------------------------------------------------------------------------ */

struct state {
    const struct notify *notify;
};

static int open_heart(struct weir_self *self, const void *settings, void *state)
{
    (void)self;
    ((struct state *)state)->notify = settings;
    return 0;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)message;
    notify_beat(((const struct state *)state)->notify);
    return WEIR_DONE;
}

static const struct weir_behaviour behaviour = {
    .name = NAME,
    .summary = "reports to the service manager that the host makes progress",
    .state_size = sizeof(struct state),
    .open = open_heart,
    .handle = handle,
};

static int spawn(struct heartbeat *heartbeat, struct executor *executor)
{
    struct runtime *runtime = heartbeat->setup.runtime;
    const struct spec_options made_of = { .behaviour = &behaviour,
                                          .settings = heartbeat->setup.notify };
    struct standalone_options options = { .name = NAME,
                                          .is_hidden = true,
                                          .limit = 1,
                                          .dispatcher = runtime_find_dispatcher(runtime,
                                                                                DISPATCHER) };
    int status = spec_make(runtime, &made_of, &options.spec);

    if (status != 0)
        return status;
    status = standalone_create(runtime, executor, &options, &heartbeat->actor);
    spec_unref(options.spec);
    return status;
}

/* --- the timer ------------------------------------------------------------------------------ */

/* A mailbox that is still full refuses the message: then the dispatcher makes no progress. */
static void on_timer(uv_timer_t *timer)
{
    const struct heartbeat *heartbeat = timer->data;
    struct runtime *runtime = heartbeat->setup.runtime;
    struct weir_message *message;

    if (!heartbeat->setup.may_beat(heartbeat->setup.context))
        return;
    message = runtime_message_new(runtime, heartbeat->tag, 0);
    if (message &&
        runtime_send(runtime, standalone_pid(heartbeat->actor), WEIR_NORMAL, message) != 0)
        runtime_message_free(runtime, message);
}

static int start_timer(struct heartbeat *heartbeat)
{
    uint64_t every_ms = notify_watchdog_ms(heartbeat->setup.notify) / BEATS;

    heartbeat->timer.data = heartbeat;
    every_ms = every_ms ? every_ms : 1;
    (void)uv_timer_init(heartbeat->setup.loop, &heartbeat->timer);
    return uv_timer_start(&heartbeat->timer, on_timer, every_ms, every_ms);
}

int heartbeat_create(const struct heartbeat_setup *setup, struct heartbeat **out)
{
    struct heartbeat *heartbeat;
    struct executor *executor;
    int status = WEIR_ENOMEM;

    *out = NULL;
    if (notify_watchdog_ms(setup->notify) == 0)
        return 0;
    heartbeat = calloc(1, sizeof *heartbeat);
    if (!heartbeat)
        return WEIR_ENOMEM;
    heartbeat->setup = *setup;
    heartbeat->tag = runtime_tag(setup->runtime, TAG_BEAT);
    executor = heartbeat->tag ? runtime_enter(setup->runtime) : NULL;
    if (executor) {
        status = spawn(heartbeat, executor);
        runtime_leave(executor);
    }
    if (status != 0) {
        free(heartbeat);
        return status;
    }
    (void)start_timer(heartbeat); /* fails only without a callback */
    *out = heartbeat;
    return 0;
}

static void free_heartbeat(uv_handle_t *timer)
{
    free(timer->data);
}

void heartbeat_destroy(struct heartbeat *heartbeat)
{
    if (!heartbeat)
        return;
    standalone_destroy(heartbeat->actor);
    uv_close((uv_handle_t *)&heartbeat->timer, free_heartbeat);
}
