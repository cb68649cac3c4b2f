/* SPDX-License-Identifier: MIT */
#include "dial.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define NAME_SIZE 256u

enum stage {
    STAGE_OPENING,  /* the name, the socket, TLS */
    STAGE_ENTERING, /* the login, and what the user needs */
    STAGE_OVER,
};

struct dial {
    struct amqp_settings *settings; /* owned */
    char name[NAME_SIZE];
    struct link_use use;
    int over;              /* owned: an eventfd */
    struct link link;      /* of the thread; of the owner when the stage is over */
    int status;            /* likewise */
    atomic_uint stage;     /* enum stage: written by the thread, read by the owner */
    atomic_bool is_let_go; /* written by the owner, read by the thread */
    atomic_uint users;     /* the thread and the owner; the last one frees */
};

static void release(struct dial *dial)
{
    /* [D1] The decrement of the other user happens before the frees. */
    if (atomic_fetch_sub_explicit(&dial->users, 1, memory_order_acq_rel) > 1)
        return;
    link_drop(&dial->link);
    settings_free(dial->settings);
    if (dial->over >= 0)
        (void)close(dial->over);
    free(dial);
}

/* [D2] The owner that reads a stage sees what the thread wrote before. */
static void enter(struct dial *dial, enum stage stage)
{
    atomic_store_explicit(&dial->stage, stage, memory_order_release);
}

static enum stage stage_of(const struct dial *dial)
{
    return (enum stage)atomic_load_explicit(&dial->stage, memory_order_acquire);
}

static void *run(void *context)
{
    struct dial *dial = context;
    uint64_t one = 1;

    dial->status = link_open(&dial->link);
    enter(dial, STAGE_ENTERING);
    /* A hint: what is let go later ends at its next step. */
    if (dial->status == 0 && !atomic_load_explicit(&dial->is_let_go, memory_order_relaxed))
        dial->status = link_enter(&dial->link, &dial->use);
    enter(dial, STAGE_OVER);
    (void)!write(dial->over, &one, sizeof one);
    release(dial);
    return NULL;
}

/* Signals are for the threads of the host. */
static int start_thread(struct dial *dial)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    int status = pthread_attr_init(&attributes);

    if (status != 0)
        return WEIR_ENOMEM;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(&thread, &attributes, run, dial);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return status == 0 ? 0 : WEIR_ENOMEM;
}

struct dial *dial_start(const struct amqp_settings *settings, uint32_t server,
                        const struct link_use *use)
{
    struct dial *dial = calloc(1, sizeof *dial);

    if (!dial)
        return NULL;
    dial->settings = settings_copy(settings);
    dial->over = eventfd(0, EFD_CLOEXEC);
    (void)snprintf(dial->name, sizeof dial->name, "%s", use->name);
    dial->use = (struct link_use){ dial->name, use->begin };
    link_init(&dial->link, dial->settings);
    dial->link.server = server;
    atomic_init(&dial->users, 2);
    if (dial->settings && dial->over >= 0 && start_thread(dial) == 0)
        return dial;
    atomic_store_explicit(&dial->users, 1, memory_order_relaxed); /* no thread has it */
    release(dial);
    return NULL;
}

int dial_descriptor(const struct dial *dial)
{
    return dial->over;
}

bool dial_wait(const struct dial *dial, int milliseconds)
{
    struct pollfd wait = { .fd = dial->over, .events = POLLIN };

    while (poll(&wait, 1, milliseconds) < 0 && errno == EINTR)
        ;
    return stage_of(dial) == STAGE_OVER;
}

bool dial_is_opening(const struct dial *dial)
{
    return stage_of(dial) == STAGE_OPENING;
}

int dial_take(struct dial *dial, struct link *link)
{
    int status = dial->status;

    if (status != 0)
        link_drop(&dial->link);
    link_move(link, &dial->link);
    release(dial);
    return status;
}

void dial_drop(struct dial *dial)
{
    if (!dial)
        return;
    atomic_store_explicit(&dial->is_let_go, true, memory_order_relaxed);
    if (stage_of(dial) == STAGE_ENTERING) /* its next call fails, so that the server is left soon */
        link_interrupt(&dial->link);
    release(dial);
}
