/* SPDX-License-Identifier: MIT */
/*
 * An array of members behind a mutex, with a condition variable for those who wait. HOW is `-`: who
 * comes may overtake them; `line`: they are served in the order in which they came.
 */
#include <pthread.h>

#include "job.h"

/* A user that waits in the line. */
struct waiter {
    struct waiter *next;
    pthread_cond_t served;
    uint32_t member;
    int has_member;
};

struct shared {
    struct job job;
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    uint32_t free[JOB_USERS_MAX];
    uint32_t free_count;
    int in_line;
    struct waiter *first, *last;
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

static uint32_t take_in_line(struct shared *shared)
{
    struct waiter waiter = { .served = PTHREAD_COND_INITIALIZER };

    pthread_mutex_lock(&shared->mutex);
    if (shared->free_count > 0) {
        waiter.member = shared->free[--shared->free_count];
    } else {
        *(shared->first ? &shared->last->next : &shared->first) = &waiter;
        shared->last = &waiter;
        while (!waiter.has_member)
            pthread_cond_wait(&waiter.served, &shared->mutex);
    }
    pthread_mutex_unlock(&shared->mutex);
    return waiter.member;
}

static void give_back_in_line(struct shared *shared, uint32_t member)
{
    struct waiter *waiter;

    pthread_mutex_lock(&shared->mutex);
    waiter = shared->first;
    if (waiter) {
        shared->first = waiter->next;
        waiter->member = member;
        waiter->has_member = 1;
        pthread_cond_signal(&waiter->served);
    } else {
        shared->free[shared->free_count++] = member;
    }
    pthread_mutex_unlock(&shared->mutex);
}

static void *run(void *context)
{
    struct user *user = context;
    struct shared *shared = user->shared;

    for (uint64_t i = 0; i < shared->job.each; i++) {
        uint64_t began_ns = row_now_ns();

        if (shared->in_line)
            give_back_in_line(shared, take_in_line(shared));
        else
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
    shared.in_line = strcmp(shared.job.how, "line") == 0;
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
