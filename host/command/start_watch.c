/* SPDX-License-Identifier: MIT */
#include "host/command/start_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include <weir/status.h>

#include "host/run/exit_guard.h"

/* Ends the process. Until then the starting thread goes on, but cannot copy plugins any more. */
static void leave(struct start_watch *watch, int code)
{
    control_listener_destroy(start_watch_take_listener(watch));
    configuration_leave(watch->configuration);
    _exit(code);
}

/* The thread: waits for a signal until the start is over. */
static void *run(void *context)
{
    struct start_watch *watch = context;
    struct pollfd waited_for[] = { { .fd = watch->end, .events = POLLIN },
                                   { .fd = watch->signals, .events = POLLIN } };

    while (!waited_for[0].revents) {
        if (poll(waited_for, 2, -1) > 0 && !waited_for[0].revents && waited_for[1].revents) {
            fputs("weir: stopped during the start\n", watch->err);
            leave(watch, EX_TEMPFAIL);
        }
    }
    if (exit_guard_is_asked())
        leave(watch, EXIT_GUARD_CODE);
    return NULL;
}

static void close_both(const struct start_watch *watch)
{
    if (watch->signals >= 0)
        close(watch->signals);
    if (watch->end >= 0)
        close(watch->end);
}

int start_watch_begin(struct start_watch *watch, struct configuration *configuration, FILE *err)
{
    sigset_t set;

    watch->configuration = configuration;
    watch->err = err;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    watch->signals = signalfd(-1, &set, SFD_CLOEXEC);
    watch->end = eventfd(0, EFD_CLOEXEC);
    if (watch->signals >= 0 && watch->end >= 0 &&
        pthread_create(&watch->thread, NULL, run, watch) == 0)
        return WEIR_OK;
    close_both(watch);
    return WEIR_ENOMEM;
}

void start_watch_wake(void *context)
{
    const struct start_watch *watch = context;

    (void)eventfd_write(watch->end, 1);
}

void start_watch_end(struct start_watch *watch)
{
    (void)eventfd_write(watch->end, 1);
    (void)pthread_join(watch->thread, NULL);
    close_both(watch);
}

int start_watch_listen(struct start_watch *watch, const struct settings_host *settings)
{
    struct control_listener *listener = NULL;
    struct control_socket socket;
    struct report report;
    int status;

    if (!settings->control)
        return 0;
    report_init(&report);
    status = control_socket_listen(settings->control, written_mark(&settings->written, "control"),
                                   &report, &socket);
    configuration_print(&report, watch->err);
    report_finish(&report);
    if (status == 0)
        status = control_listener_create(&socket, &listener);
    /* Release: pairs with the acquire in start_watch_take_listener, on the watching thread. */
    atomic_store_explicit(&watch->listener, listener, memory_order_release);
    return status;
}

struct control_listener *start_watch_take_listener(struct start_watch *watch)
{
    return atomic_exchange_explicit(&watch->listener, NULL, memory_order_acq_rel);
}
