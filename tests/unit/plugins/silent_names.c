/* SPDX-License-Identifier: MIT */
#include "silent_names.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static uint32_t waiting; /* guarded by mutex, as is the next one */
static bool answers;

typedef int look_up(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static void wait_for_answer(void)
{
    (void)pthread_mutex_lock(&mutex);
    waiting++;
    (void)pthread_cond_broadcast(&changed);
    while (!answers)
        (void)pthread_cond_wait(&changed, &mutex);
    waiting--;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&mutex);
}

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **out)
{
    size_t size = name ? strlen(name) : 0;
    look_up *real;

    if (size >= 7 && strcmp(name + size - 7, ".silent") == 0) {
        wait_for_answer();
        return EAI_NONAME;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real ? real(name, service, hints, out) : EAI_SYSTEM;
}

uint32_t silent_names_waiting(void)
{
    uint32_t count;

    (void)pthread_mutex_lock(&mutex);
    count = waiting;
    (void)pthread_mutex_unlock(&mutex);
    return count;
}

void silent_names_answer(void)
{
    (void)pthread_mutex_lock(&mutex);
    answers = true;
    (void)pthread_cond_broadcast(&changed);
    while (waiting > 0)
        (void)pthread_cond_wait(&changed, &mutex);
    (void)pthread_mutex_unlock(&mutex);
}

void silent_names_be_silent(void)
{
    (void)pthread_mutex_lock(&mutex);
    answers = false;
    (void)pthread_mutex_unlock(&mutex);
}
