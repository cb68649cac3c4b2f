/* SPDX-License-Identifier: MIT */
/*
 * run/heartbeat.h - notifies the service manager that the host makes progress, if it expects that.
 *
 * A timer of the I/O thread sends a message to a hidden actor on the dispatcher `default`, and the
 * actor notifies the manager. So a beat shows that the I/O thread runs, that messages arrive, and
 * that the dispatcher runs actors. No message is sent while `may_beat` denies it.
 *
 * Life: heartbeat_create, once the loop and the dispatchers are there .. heartbeat_destroy, after
 * the runtime has stopped, and before it is destroyed and the loop is closed. I/O thread only.
 */
#ifndef HOST_RUN_HEARTBEAT_H
#define HOST_RUN_HEARTBEAT_H

#include <stdbool.h>

#include "host/run/notify.h"
#include "weir_core.h"

struct uv_loop_s;

struct heartbeat_setup {
    struct uv_loop_s *loop;
    struct runtime *runtime;
    const struct notify *notify;
    bool (*may_beat)(void *context);
    void *context;
};

struct heartbeat;

/* *out is NULL when no manager expects a beat. Borrows all of the setup. WEIR_ENOMEM. Returns
 * owned. */
int heartbeat_create(const struct heartbeat_setup *setup, struct heartbeat **out);
/* The loop must run once more before it is closed. NULL is allowed. */
void heartbeat_destroy(struct heartbeat *heartbeat);

#endif
