/* SPDX-License-Identifier: MIT */
/*
 * Threads that serve a line of requests behind a mutex, and users that wait for the answer, each at
 * a condition variable of its own.
 */
#include <pthread.h>

#include "job.h"

struct request {
    struct request *next;
    pthread_cond_t answered;
    int has_answer;
};

struct shared {
    struct job job;
    pthread_mutex_t mutex;
    pthread_cond_t asked;
    struct request *first, *last;
    int ends;
};

struct user {
    struct shared *shared;
    uint32_t number;
    pthread_t thread;
};

static void ask(struct shared *shared)
{
    struct request request = { .answered = PTHREAD_COND_INITIALIZER };

    pthread_mutex_lock(&shared->mutex);
    *(shared->first ? &shared->last->next : &shared->first) = &request;
    shared->last = &request;
    pthread_cond_signal(&shared->asked);
    while (!request.has_answer)
        pthread_cond_wait(&request.answered, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
}

static void *serve(void *context)
{
    struct shared *shared = context;

    pthread_mutex_lock(&shared->mutex);
    while (!shared->ends || shared->first) {
        struct request *request = shared->first;

        if (!request) {
            pthread_cond_wait(&shared->asked, &shared->mutex);
            continue;
        }
        shared->first = request->next;
        request->has_answer = 1;
        pthread_cond_signal(&request->answered);
    }
    pthread_mutex_unlock(&shared->mutex);
    return NULL;
}

static void *run(void *context)
{
    struct user *user = context;
    struct shared *shared = user->shared;

    for (uint64_t i = 0; i < shared->job.each; i++) {
        uint64_t began_ns = row_now_ns();

        ask(shared);
        job_note(&shared->job, user->number, i, began_ns);
    }
    return NULL;
}

static void end_servers(struct shared *shared, const pthread_t *servers)
{
    pthread_mutex_lock(&shared->mutex);
    shared->ends = 1;
    pthread_cond_broadcast(&shared->asked);
    pthread_mutex_unlock(&shared->mutex);
    for (uint32_t i = 0; i < shared->job.members; i++)
        (void)pthread_join(servers[i], NULL);
}

int main(int argc, char **argv)
{
    static struct shared shared = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .asked = PTHREAD_COND_INITIALIZER };
    static struct user users[JOB_USERS_MAX];
    static pthread_t servers[JOB_USERS_MAX];

    job_begin(&shared.job, argc, argv);
    if (shared.job.members > JOB_USERS_MAX)
        return 64;
    for (uint32_t i = 0; i < shared.job.members; i++)
        if (pthread_create(&servers[i], NULL, serve, &shared) != 0)
            return 70;
    job_start(&shared.job);
    for (uint32_t i = 0; i < shared.job.users; i++) {
        users[i] = (struct user){ .shared = &shared, .number = i };
        if (pthread_create(&users[i].thread, NULL, run, &users[i]) != 0)
            return 70;
    }
    for (uint32_t i = 0; i < shared.job.users; i++)
        (void)pthread_join(users[i].thread, NULL);
    end_servers(&shared, servers);
    return job_end(&shared.job);
}
