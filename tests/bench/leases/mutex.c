/* SPDX-License-Identifier: MIT */
/* An array of members behind a mutex, with a condition variable for those who wait. */
#include <pthread.h>

#include "job.h"

struct shared {
    struct job job;
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    uint32_t free[JOB_USERS_MAX];
    uint32_t free_count;
};

struct user {
    struct shared *shared;
    uint32_t number;
    pthread_t thread;
};

static uint32_t take(struct shared *shared)
{
    uint32_t member;

    pthread_mutex_lock(&shared->mutex);
    while (shared->free_count == 0)
        pthread_cond_wait(&shared->freed, &shared->mutex);
    member = shared->free[--shared->free_count];
    pthread_mutex_unlock(&shared->mutex);
    return member;
}

static void give_back(struct shared *shared, uint32_t member)
{
    pthread_mutex_lock(&shared->mutex);
    shared->free[shared->free_count++] = member;
    pthread_cond_signal(&shared->freed);
    pthread_mutex_unlock(&shared->mutex);
}

static void *run(void *context)
{
    struct user *user = context;
    struct shared *shared = user->shared;

    for (uint64_t i = 0; i < shared->job.each; i++) {
        uint64_t began_ns = row_now_ns();

        give_back(shared, take(shared));
        job_note(&shared->job, user->number, i, began_ns);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct shared shared = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .freed = PTHREAD_COND_INITIALIZER };
    static struct user users[JOB_USERS_MAX];

    job_begin(&shared.job, argc, argv);
    for (uint32_t i = 0; i < shared.job.members && i < JOB_USERS_MAX; i++)
        shared.free[shared.free_count++] = i;
    job_start(&shared.job);
    for (uint32_t i = 0; i < shared.job.users; i++) {
        users[i] = (struct user){ .shared = &shared, .number = i };
        if (pthread_create(&users[i].thread, NULL, run, &users[i]) != 0)
            return 70;
    }
    for (uint32_t i = 0; i < shared.job.users; i++)
        (void)pthread_join(users[i].thread, NULL);
    return job_end(&shared.job);
}
