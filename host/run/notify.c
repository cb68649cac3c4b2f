/* SPDX-License-Identifier: MIT */
#include "host/run/notify.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <weir/status.h>

#define TEXT_SIZE 512
#define US_PER_MS UINT64_C(1000)
#define STOPPING_MORE_MS 5000 /* for the end of the process, after shutdown_timeout */

struct notify {
    struct sockaddr_un address; /* const */
    socklen_t address_size;     /* const */
    uint64_t watchdog_ms;       /* const */
    atomic_bool stopping;       /* by notify_stopping */
};

/* A path, or `@` and a name that is in no file system; false for any other address. */
static bool set_address(struct notify *notify, const char *name)
{
    size_t size = strlen(name);

    if ((name[0] != '/' && name[0] != '@') || size < 2 || size >= sizeof notify->address.sun_path)
        return false;
    notify->address.sun_family = AF_UNIX;
    memcpy(notify->address.sun_path, name, size);
    if (name[0] == '@')
        notify->address.sun_path[0] = '\0';
    notify->address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    return true;
}

static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoull(text, NULL, 10) : 0;
}

int notify_create(struct notify **out)
{
    const char *name = getenv("NOTIFY_SOCKET");
    uint64_t process = number_of("WATCHDOG_PID");
    struct notify *notify = name ? calloc(1, sizeof *notify) : NULL;

    *out = NULL;
    if (!name)
        return 0;
    if (!notify)
        return WEIR_ENOMEM;
    atomic_init(&notify->stopping, false);
    if (process == 0 || process == (uint64_t)getpid())
        notify->watchdog_ms = number_of("WATCHDOG_USEC") / US_PER_MS;
    if (set_address(notify, name))
        *out = notify;
    else
        free(notify);
    (void)unsetenv("NOTIFY_SOCKET");
    (void)unsetenv("WATCHDOG_USEC");
    (void)unsetenv("WATCHDOG_PID");
    return 0;
}

void notify_destroy(struct notify *notify)
{
    free(notify);
}

uint64_t notify_watchdog_ms(const struct notify *notify)
{
    return notify ? notify->watchdog_ms : 0;
}

static void send_state(const struct notify *notify, const char *text, int flags)
{
    struct timeval limit = { .tv_sec = NOTIFY_TIMEOUT_MS / 1000 };
    int descriptor;

    if (!notify)
        return;
    descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return;
    (void)setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    (void)sendto(descriptor, text, strlen(text), flags | MSG_NOSIGNAL,
                 (const struct sockaddr *)&notify->address, notify->address_size);
    close(descriptor);
}

void notify_ready(const struct notify *notify, const char *text)
{
    char message[TEXT_SIZE];

    /* Relaxed: a READY that crosses a STOPPING changes nothing for the manager. */
    if (notify && atomic_load_explicit(&notify->stopping, memory_order_relaxed))
        return;
    (void)snprintf(message, sizeof message, "READY=1\nSTATUS=%s", text);
    send_state(notify, message, 0);
}

void notify_reloading(const struct notify *notify, uint64_t now_ns)
{
    char message[TEXT_SIZE];

    (void)snprintf(message, sizeof message,
                   "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=reloading", now_ns / 1000);
    send_state(notify, message, 0);
}

void notify_stopping(struct notify *notify, uint64_t timeout_ms)
{
    char message[TEXT_SIZE];

    /* Relaxed: see notify_ready. */
    if (notify && atomic_exchange_explicit(&notify->stopping, true, memory_order_relaxed))
        return;
    (void)snprintf(message, sizeof message,
                   "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64
                   "\nSTATUS=finishing the accepted messages",
                   (timeout_ms + STOPPING_MORE_MS) * US_PER_MS);
    send_state(notify, message, 0);
}

void notify_beat(const struct notify *notify)
{
    send_state(notify, "WATCHDOG=1", MSG_DONTWAIT);
}
