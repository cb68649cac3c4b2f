/* SPDX-License-Identifier: MIT */
/*
 * run/notify.h - notifies the service manager: sd_notify(3), without libsystemd.
 *
 * Each message is one datagram to the socket that $NOTIFY_SOCKET names. A message that the manager
 * does not take within NOTIFY_TIMEOUT_MS is lost.
 *
 * Life: notify_create, before the process has a second thread .. notify_destroy. The rest: any
 * thread; with NULL, which stands for no service manager, every call does nothing.
 */
#ifndef HOST_RUN_NOTIFY_H
#define HOST_RUN_NOTIFY_H

#include <stdint.h>

/* A manager that is busy for longer must not stop the host. */
#define NOTIFY_TIMEOUT_MS 1000

struct notify;

/* Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID, and removes them, so that the commands of
 * workers do not speak for the host. Returns owned; *out is NULL without a service manager.
 * WEIR_ENOMEM. */
int notify_create(struct notify **out);
void notify_destroy(struct notify *notify);

/* The manager expects a beat within this time; 0 = it does not. */
uint64_t notify_watchdog_ms(const struct notify *notify);

/* The start or a reload is complete. `text` is for people: `systemctl status` shows it. After
 * notify_stopping it does nothing. */
void notify_ready(const struct notify *notify, const char *text);

/* A reload begins. `now_ns` is the monotonic time. */
void notify_reloading(const struct notify *notify, uint64_t now_ns);

/* The host ends, which may take `timeout_ms`. Only the first call does something. */
void notify_stopping(struct notify *notify, uint64_t timeout_ms);

/* The host makes progress. Never waits. */
void notify_beat(const struct notify *notify);

#endif
