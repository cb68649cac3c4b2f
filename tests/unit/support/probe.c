/* SPDX-License-Identifier: MIT */
#include "unit/support/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The state of one worker. */
struct worker {
    struct probe *probe;
    _Atomic bool in_callback;
};

static void enter(struct worker *worker)
{
    if (!atomic_exchange(&worker->in_callback, true))
        return;
    /* Two threads have the actor: any wait from here on, and any end, may never come. */
    (void)fputs("two callbacks of one incarnation overlap\n", stderr);
    abort();
}

static void leave(struct worker *worker)
{
    atomic_store(&worker->in_callback, false);
}

static int open_worker(struct weir_self *self, const void *settings, void *state)
{
    struct probe *probe = (struct probe *)(uintptr_t)settings;
    struct worker *worker = state;
    int status = 0;

    worker->probe = probe;
    enter(worker);
    if (probe->opens)
        status = probe->opens(self, probe);
    atomic_fetch_add(status == 0 ? &probe->opened : &probe->refused, 1);
    leave(worker);
    return status;
}

static int handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct worker *worker = state;
    struct probe *probe = worker->probe;
    probe_act *act = probe->tied;
    int verdict;

    enter(worker);
    if (message->size < sizeof(struct order)) {
        act = probe->act;
    } else if (message->kind != WEIR_EXIT && message->kind != WEIR_DOWN) {
        act = probe_order(message)->act ? probe_order(message)->act : probe->act;
        probe_note(probe, probe_order(message)->id);
    }
    verdict = act ? act(self, probe, message) : WEIR_DONE;
    leave(worker);
    return verdict;
}

static void close_worker(struct weir_self *self, void *state, int reason)
{
    struct worker *worker = state;

    enter(worker);
    if (worker->probe->closes)
        worker->probe->closes(self, worker->probe);
    atomic_store(&worker->probe->last_reason, reason);
    atomic_fetch_add(&worker->probe->closed, 1);
    leave(worker);
}

static int worker_taken(struct weir_self *self, void *state)
{
    struct worker *worker = state;
    int status;

    enter(worker);
    atomic_fetch_add(&worker->probe->taken, 1);
    status = worker->probe->takes ? worker->probe->takes(self, worker->probe) : 0;
    leave(worker);
    return status;
}

static int worker_returned(struct weir_self *self, void *state)
{
    struct worker *worker = state;
    int status;

    enter(worker);
    atomic_fetch_add(&worker->probe->returned, 1);
    status = worker->probe->returns ? worker->probe->returns(self, worker->probe) : 0;
    leave(worker);
    return status;
}

struct probe *probe_create(void)
{
    struct probe *probe = calloc(1, sizeof *probe);

    if (!probe)
        abort();
    probe->behaviour = (struct weir_behaviour){
        .name = "probe",
        .state_size = sizeof(struct worker),
        .open = open_worker,
        .handle = handle,
        .close = close_worker,
        .taken = worker_taken,
        .returned = worker_returned,
    };
    atomic_init(&probe->last_reason, -1);
    gate_init(&probe->gate);
    pthread_mutex_init(&probe->lock, NULL);
    return probe;
}

void probe_destroy(struct probe *probe)
{
    gate_finish(&probe->gate);
    pthread_mutex_destroy(&probe->lock);
    free(probe);
}

void probe_note(struct probe *probe, uint64_t note)
{
    pthread_mutex_lock(&probe->lock);
    if (probe->count < PROBE_NOTES_MAX)
        probe->notes[probe->count++] = note;
    pthread_mutex_unlock(&probe->lock);
}

uint32_t probe_count(struct probe *probe)
{
    uint32_t count;

    pthread_mutex_lock(&probe->lock);
    count = probe->count;
    pthread_mutex_unlock(&probe->lock);
    return count;
}

uint64_t probe_get(struct probe *probe, uint32_t index)
{
    uint64_t note = UINT64_MAX;

    pthread_mutex_lock(&probe->lock);
    if (index < probe->count)
        note = probe->notes[index];
    pthread_mutex_unlock(&probe->lock);
    return note;
}

uint32_t probe_times(struct probe *probe, uint64_t note)
{
    uint32_t times = 0;

    pthread_mutex_lock(&probe->lock);
    for (uint32_t i = 0; i < probe->count; i++)
        times += probe->notes[i] == note;
    pthread_mutex_unlock(&probe->lock);
    return times;
}

const struct order *probe_order(const struct weir_message *message)
{
    return message->data;
}

struct weir_message *probe_message(struct weir_self *self, struct order order)
{
    struct weir_message *message = weir_message_new(self, NULL, sizeof order);

    if (!message)
        abort();
    memcpy(message->data, &order, sizeof order);
    return message;
}

/* --- acts ----------------------------------------------------------------------------------- */

int probe_done(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)probe;
    (void)message;
    return WEIR_DONE;
}

int probe_fail(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)probe;
    weir_reason(self, "order %llu", (unsigned long long)probe_order(message)->id);
    return WEIR_FAIL;
}

int probe_wait(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    (void)self;
    (void)message;
    return gate_pass(&probe->gate) ? WEIR_DONE : WEIR_REJECT;
}

int probe_wait_and_fail(struct weir_self *self, struct probe *probe,
                        const struct weir_message *message)
{
    (void)gate_pass(&probe->gate);
    return probe_fail(self, probe, message);
}

int probe_reply(struct weir_self *self, struct probe *probe, const struct weir_message *message)
{
    struct weir_message *reply = probe_message(
        self, (struct order){ .id = probe_order(message)->id + 1000 });
    int status = weir_reply(self, message, reply);

    if (status != 0) {
        probe_note(probe, (uint64_t)-status);
        weir_message_free(self, reply);
    }
    return WEIR_DONE;
}
