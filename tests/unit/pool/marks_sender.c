/* SPDX-License-Identifier: MIT */
#include "unit/pool/marks_sender.h"

#include <string.h>

#include <weir/task.h>

#include "face/groups.h"
#include "face/leases.h"
#include "face/messages.h"
#include "unit/host/suite.h"

void marks_settled(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    struct world *w = (*(struct probe **)state)->context;

    (void)self;
    world_hear(w, outcome->result == WEIR_OUTCOME_DONE    ? "done"
                  : outcome->result == WEIR_OUTCOME_RETRY ? "retry"
                                                          : "dead");
}

static void *free_apart(void *context)
{
    const struct freeing *freeing = context;

    weir_port_message_free(freeing->port, freeing->message);
    return NULL;
}

/* A thread of the worker frees the message, and has ended when this returns. */
static void free_by_thread(struct weir_self *self, struct weir_message *message)
{
    struct freeing freeing = { weir_port(self), message };
    pthread_t thread;

    CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, free_apart, &freeing), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    weir_port_unref(freeing.port);
}

static void send_or_free(struct weir_self *self, struct world *w, weir_pid to,
                         struct weir_message *message)
{
    uint64_t timer;

    switch (w->setup.sending) {
    case SENDING_NOW:
        if (weir_send(self, to, message) != 0)
            weir_message_free(self, message);
        break;
    case SENDING_FREED:
        free_by_thread(self, message);
        break;
    case SENDING_FREED_LATE:
        w->to_free = (struct freeing){ weir_port(self), message };
        break;
    default:
        CU_ASSERT_EQUAL(weir_send_after(self, to, message, DELAY_MS, &timer), 0);
        if (w->setup.sending == SENDING_CANCELLED)
            CU_ASSERT_EQUAL(weir_cancel_timer(self, timer), 0);
    }
}

static struct weir_message *make_victim(struct weir_self *self)
{
    return probe_message(self, (struct order){ .act = marks_victim, .id = VICTIM });
}

/* The argument is the receiver. */
static int send_victim(struct weir_self *self, struct probe *probe,
                       const struct weir_message *message)
{
    struct world *w = probe->context;
    struct weir_message *made = make_victim(self);

    if (w->setup.mark == ORIGIN)
        CU_ASSERT_EQUAL(weir_set_origin(self, made, 1), 0);
    if (w->setup.mark == JOINED)
        CU_ASSERT_EQUAL(weir_join(self, made, (struct weir_message *)(uintptr_t)message), 0);
    send_or_free(self, w, (weir_pid)probe_order(message)->argument, made);
    probe_note(probe, VICTIM);
    return WEIR_DONE;
}

/* Sends the feeder a message with an origin: what that sends joins it. */
static int send_joint(struct weir_self *self, struct probe *probe,
                      const struct weir_message *message)
{
    struct world *w = probe->context;
    struct weir_message *made = probe_message(
        self, (struct order){ .act = send_victim, .argument = probe_order(message)->argument });

    CU_ASSERT_EQUAL(weir_set_origin(self, made, 1), 0);
    CU_ASSERT_EQUAL(weir_send(self, w->feeder->pid, made), 0);
    return WEIR_DONE;
}

int marks_publish(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct world *w = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_publish(self, w->event, make_victim(self), NULL, NULL), 0);
    probe_note(probe, VICTIM);
    return WEIR_DONE;
}

int marks_own_event(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct world *w = probe->context;

    (void)message;
    CU_ASSERT_EQUAL(weir_event(self, "news", &w->event), 0);
    return WEIR_DONE;
}

void world_free(struct world *w)
{
    (void)free_apart(&w->to_free);
    weir_port_unref(w->to_free.port);
}

/* --- sending ---------------------------------------------------------------------------------- */

static struct weir_message *make_order(struct world *w, struct order order)
{
    struct weir_message *message = runtime_message_new(w->rig.runtime, NULL, sizeof order);

    memcpy(message->data, &order, sizeof order);
    return message;
}

static bool send_request(struct world *w)
{
    struct weir_message *message = make_order(w,
                                              (struct order){ .act = marks_victim, .id = VICTIM });
    int status;

    if (w->setup.mark == LEASED)
        status = runtime_lease_request(w->rig.runtime, &w->lease, message, FOR_LONG_MS, &w->event);
    else
        status = runtime_request(
            w->rig.runtime,
            &(struct request_options){ .to = world_home(w), .timeout_ms = FOR_LONG_MS }, message,
            &w->event);
    return status == 0;
}

static bool have_sent(struct world *w, struct probe *sender)
{
    return rig_noted(&w->rig, sender, VICTIM, 1);
}

static bool send_by_worker(struct world *w)
{
    const weir_pid to = w->setup.mark == DIRECT ? world_home(w) : w->pool->pid;
    const bool is_origin = marks_has_origin(w->setup.mark);
    struct order order = { .act = w->setup.mark == JOINED ? send_joint : send_victim,
                           .argument = to };

    CU_ASSERT_EQUAL(rig_send(&w->rig, is_origin ? w->origin->pid : w->feeder->pid, order), 0);
    return have_sent(w, w->setup.mark == ORIGIN ? w->origins : w->feeders);
}

static bool send_task(struct world *w)
{
    const struct weir_task_call call = { marks_task, w };
    const struct submission submission = {
        .to = w->pool->pid, .calls = &call, .count = 1, .group = w->tasks
    };
    uint32_t taken;

    return runtime_submit(w->rig.runtime, &submission, 0, &taken) == 0;
}

static bool send_copies(struct world *w)
{
    return rig_send(&w->rig, w->pool->pid, (struct order){ .act = marks_victim, .id = VICTIM }) ==
           0;
}

static bool send_event(struct world *w)
{
    CU_ASSERT_EQUAL(rig_send(&w->rig, w->feeder->pid, (struct order){ .act = marks_publish }), 0);
    return have_sent(w, w->feeders);
}

bool world_send(struct world *w)
{
    switch (w->setup.mark) {
    case COPY:
        return send_copies(w);
    case EVENT:
    case EVENT_ALL:
        return send_event(w);
    case REQUEST:
    case LEASED:
        return send_request(w);
    case TASK:
        return send_task(w);
    default:
        return send_by_worker(w);
    }
}

bool world_order(struct world *w, struct order order)
{
    struct weir_message *message;
    int status;

    if (w->setup.mark != LEASED)
        return rig_send(&w->rig, world_home(w), order) == 0;
    message = make_order(w, order);
    status = runtime_lease_send(w->rig.runtime, 0, &w->lease, message);
    if (status != 0)
        runtime_message_free(w->rig.runtime, message);
    return status == 0;
}
