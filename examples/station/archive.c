/* SPDX-License-Identifier: MIT */
/*
 * The behaviour station.archive: a thread of its own does the work, and settles the messages.
 *
 * The thread stands for a library that has threads. The worker keeps each message and gives the
 * thread a copy of the reading; the thread settles the message through the port.
 */
#include <pthread.h>
#include <stdlib.h>

#include "station.h"

#define IN_HAND 8u

/* A job for the thread: the reading, and its message. */
struct job {
    struct station_reading reading;
    const struct weir_message *kept; /* identifies the message; the thread does not read it */
};

/* Shared by the worker and its thread. */
struct shared {
    struct weir_port *port;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    struct job jobs[IN_HAND];
    uint32_t first, count;
    uint64_t sum;
    bool ends;
};

struct state {
    const struct weir_tag *tag;
    struct shared *shared; /* owned */
};

/* --- the thread ------------------------------------------------------------------------------- */

/* Waits for a job. False: the worker ends. */
static bool take_job(struct shared *shared, struct job *job)
{
    bool found;

    pthread_mutex_lock(&shared->lock);
    while (shared->count == 0 && !shared->ends)
        pthread_cond_wait(&shared->changed, &shared->lock);
    found = shared->count > 0;
    if (found) {
        *job = shared->jobs[shared->first];
        shared->first = (shared->first + 1) % IN_HAND;
        shared->count--;
        shared->sum += job->reading.value;
    }
    pthread_mutex_unlock(&shared->lock);
    return found;
}

static void *work(void *context)
{
    struct shared *shared = context;
    struct job job;

    while (take_job(shared, &job))
        (void)weir_port_settle(shared->port, job.kept, WEIR_DONE, 0, NULL);
    return NULL;
}

/* --- the worker ------------------------------------------------------------------------------- */

static int archive_open(struct weir_self *self, const void *settings, void *memory)
{
    struct state *state = memory;
    struct shared *shared = calloc(1, sizeof *shared);

    (void)settings;
    state->tag = weir_tag(self, STATION_READING_TAG);
    if (!shared || !state->tag)
        goto fail;
    shared->port = weir_port(self);
    if (!shared->port)
        goto fail;
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->changed, NULL);
    if (pthread_create(&shared->thread, NULL, work, shared) != 0)
        goto fail_thread;
    state->shared = shared;
    return 0;

fail_thread:
    pthread_cond_destroy(&shared->changed);
    pthread_mutex_destroy(&shared->lock);
    weir_port_unref(shared->port);
fail:
    free(shared);
    return WEIR_ENOMEM;
}

/* There is always a place: the host lets this worker keep at most IN_HAND messages. */
static void give_job(struct shared *shared, const struct station_reading *reading,
                     const struct weir_message *kept)
{
    pthread_mutex_lock(&shared->lock);
    shared->jobs[(shared->first + shared->count++) % IN_HAND] = (struct job){ *reading, kept };
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
}

static int archive_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct state *state = memory;
    const struct station_reading *reading = station_reading_get(message, state->tag);

    if (!reading) {
        weir_reason(self, "not a " STATION_READING_TAG);
        return WEIR_REJECT;
    }
    give_job(state->shared, reading, message);
    return WEIR_KEEP;
}

static void archive_close(struct weir_self *self, void *memory, int reason)
{
    struct shared *shared = ((struct state *)memory)->shared;
    char line[64];

    (void)reason;
    pthread_mutex_lock(&shared->lock);
    shared->ends = true;
    pthread_cond_signal(&shared->changed);
    pthread_mutex_unlock(&shared->lock);
    pthread_join(shared->thread, NULL);
    weir_port_unref(shared->port);
    weir_print(self, line,
               (size_t)snprintf(line, sizeof line, "sum %ju\n", (uintmax_t)shared->sum));
    pthread_cond_destroy(&shared->changed);
    pthread_mutex_destroy(&shared->lock);
    free(shared);
}

const struct weir_behaviour station_archive = {
    .name = "archive",
    .summary = "adds up the readings on a thread of its own",
    .state_size = sizeof(struct state),
    .in_hand = IN_HAND,
    .open = archive_open,
    .handle = archive_handle,
    .close = archive_close,
};
