/* SPDX-License-Identifier: MIT */
/*
 * Fault: a thread of the plugin's own is not joined in `close`, and sends after it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"

#include <weir/port.h>

/* The data of the thread after its actor has ended. */
struct luggage {
    struct weir_port *port;
    struct weir_message *message; /* made while the actor lived */
    weir_pid to;
};

/* Prints the result for the late message, without `self`, which is gone. */
static void *send_late(void *argument)
{
    struct luggage *luggage = argument;
    struct weir_message *other;
    char text[64];
    int size, status;

    while ((other = weir_port_message_new(luggage->port, NULL, 0))) {
        weir_port_message_free(luggage->port, other);
        (void)sched_yield();
    }
    status = weir_port_send(luggage->port, luggage->to, luggage->message);
    if (status != 0)
        weir_port_message_free(luggage->port, luggage->message);
    weir_port_unref(luggage->port);
    free(luggage);
    size = snprintf(text, sizeof text, "late %s\n", weir_status_name(status));
    return write(STDOUT_FILENO, text, (size_t)size) == size ? NULL : argument;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct luggage *luggage = calloc(1, sizeof *luggage);
    pthread_t thread;

    (void)state;
    if (!luggage)
        return WEIR_FAIL;
    luggage->port = weir_port(self);
    luggage->message = weir_message_new(self, message->tag, 0);
    luggage->to = message->from;
    if (!luggage->port || !luggage->message ||
        pthread_create(&thread, NULL, send_late, luggage) != 0)
        return WEIR_FAIL;
    (void)pthread_detach(thread);
    weir_print(self, "late began\n", strlen("late began\n"));
    return WEIR_DONE;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "run", .handle = handle },
    { 0 },
};

WEIR_PLUGIN("late", "1.0.0", behaviours);
