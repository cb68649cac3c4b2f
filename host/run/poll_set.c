/* SPDX-License-Identifier: MIT */
#include "host/run/poll_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <uv.h>

#include "base/lock.h"

#define READY_MAX 64         /* events read at a time; the loop calls again for the rest */
#define SWEEP_MS 1000        /* a descriptor that is closed is a plugin's mistake: no hurry */
#define DESCRIPTORS_FIRST 64 /* in the table; doubled as larger ones are watched */

/* A descriptor of this number. */
struct interest {
    uint64_t token;  /* lock */
    uint32_t serial; /* lock: grows with each watch, so that a late event is known */
    uint32_t events; /* lock: epoll's; 0 = not watched */
};

struct poll_set {
    int epoll; /* const */
    uv_poll_t handle;
    bool is_attached;        /* I/O thread */
    struct runtime *runtime; /* const from attach on */
    uint64_t swept_ms;       /* I/O thread */
    struct lock lock;
    struct interest *interests; /* lock: by descriptor */
    uint32_t count;             /* lock: of the array */
    uint64_t *lost;             /* lock: tokens of closed files whose number is watched again */
    uint32_t lost_count;        /* lock */
    uint32_t lost_size;         /* lock: of the array */
};

/* --- the set -------------------------------------------------------------------------------- */

static uint32_t epoll_events(uint32_t events)
{
    return (events & WEIR_READABLE ? (uint32_t)EPOLLIN | EPOLLRDHUP : 0u) |
           (events & WEIR_WRITABLE ? (uint32_t)EPOLLOUT : 0u);
}

/* An error or a hang-up is reported as every readiness that was requested: reading or writing then
 * returns the error. */
static int readiness(uint32_t seen, uint32_t wanted)
{
    bool failed = seen & (EPOLLERR | EPOLLHUP);
    int ready = 0;

    if ((wanted & EPOLLIN) && (failed || (seen & (EPOLLIN | EPOLLRDHUP))))
        ready |= WEIR_READABLE;
    if ((wanted & EPOLLOUT) && (failed || (seen & EPOLLOUT)))
        ready |= WEIR_WRITABLE;
    return ready;
}

static int control(struct poll_set *set, int operation, int descriptor,
                   const struct interest *interest)
{
    struct epoll_event event = {
        .events = interest->events | EPOLLONESHOT,
        .data.u64 = (uint64_t)interest->serial << 32 | (uint32_t)descriptor,
    };

    return epoll_ctl(set->epoll, operation, descriptor, &event) == 0 ? 0 : errno;
}

static int status_of(int error)
{
    switch (error) {
    case 0:
        return 0;
    case EEXIST:
        return WEIR_EEXISTS;
    case EPERM: /* a file that cannot be waited for */
        return WEIR_EUNSUPPORTED;
    case ENOMEM:
    case ENOSPC:
        return WEIR_ENOMEM;
    default:
        return WEIR_EINVALID;
    }
}

/* Makes a table long enough for element `index`. */
static void *reserve(void *table, uint32_t *count, uint32_t index, size_t element_size)
{
    uint32_t wanted = *count ? *count : DESCRIPTORS_FIRST;
    char *grown = table;

    while (wanted <= index)
        wanted *= 2;
    if (wanted == *count)
        return table;
    grown = realloc(table, wanted * element_size);
    if (!grown)
        return NULL;
    memset(grown + *count * element_size, 0, (wanted - *count) * element_size);
    *count = wanted;
    return grown;
}

/* Reserves room for this descriptor, and for a note that its watcher has lost it. */
static bool reserve_locked(struct poll_set *set, uint32_t descriptor)
{
    void *table = reserve(set->interests, &set->count, descriptor, sizeof *set->interests);

    if (!table)
        return false;
    set->interests = table;
    table = reserve(set->lost, &set->lost_size, set->lost_count, sizeof *set->lost);
    if (!table)
        return false;
    set->lost = table;
    return true;
}

/*
 * A reported descriptor stays in the set, disarmed, and is only armed again: the usual case. If the
 * descriptor is watched and can be added again, the old file was closed.
 */
static int arm_locked(struct poll_set *set, int descriptor, const struct interest *interest,
                      bool was_open)
{
    int error = was_open ? ENOENT : control(set, EPOLL_CTL_MOD, descriptor, interest);

    return error == ENOENT ? control(set, EPOLL_CTL_ADD, descriptor, interest) : error;
}

static int begin_locked(struct poll_set *set, int descriptor, struct interest fresh)
{
    struct interest *interest;
    bool was_open;
    int status;

    /* The table is as long as the largest descriptor, so an invalid number must not lengthen it. */
    if ((uint32_t)descriptor >= set->count && fcntl(descriptor, F_GETFD) < 0)
        return WEIR_EINVALID;
    if (!reserve_locked(set, (uint32_t)descriptor))
        return WEIR_ENOMEM;
    interest = &set->interests[descriptor];
    was_open = interest->events != 0;
    fresh.serial = interest->serial + 1;
    status = status_of(arm_locked(set, descriptor, &fresh, was_open));
    if (status != 0)
        return status;
    if (was_open)
        set->lost[set->lost_count++] = interest->token;
    *interest = fresh;
    return 0;
}

static int begin(void *context, int descriptor, uint32_t events, uint64_t token)
{
    struct interest fresh = { .token = token, .events = epoll_events(events) };
    struct poll_set *set = context;
    int status;

    lock_acquire(&set->lock);
    status = begin_locked(set, descriptor, fresh);
    lock_release(&set->lock);
    return status;
}

static void end(void *context, int descriptor, uint64_t token)
{
    struct poll_set *set = context;
    struct interest *interest;

    lock_acquire(&set->lock);
    interest = (uint32_t)descriptor < set->count ? &set->interests[descriptor] : NULL;
    if (interest && interest->events && interest->token == token) {
        /* It may be closed already, and then it is not in the set. */
        (void)control(set, EPOLL_CTL_DEL, descriptor, interest);
        interest->events = 0;
    }
    lock_release(&set->lock);
}

struct poller poll_set_poller(struct poll_set *set)
{
    return (struct poller){ .context = set, .begin = begin, .end = end };
}

/* --- reporting ------------------------------------------------------------------------------ */

/* The readiness of an event's descriptor, with its watcher; 0: the watch has ended. */
static int take_ready(struct poll_set *set, const struct epoll_event *event, struct interest *out)
{
    struct interest *interest;
    int ready = 0;

    lock_acquire(&set->lock);
    interest = &set->interests[(uint32_t)event->data.u64];
    if (interest->events && interest->serial == event->data.u64 >> 32) {
        ready = readiness(event->events, interest->events);
        *out = *interest;
        interest->events = 0;
    }
    lock_release(&set->lock);
    return ready;
}

/* Memory to report it was out: the descriptor is armed again. */
static void put_back(struct poll_set *set, const struct epoll_event *event,
                     const struct interest *taken)
{
    int descriptor = (int)(uint32_t)event->data.u64;
    struct interest *interest;

    lock_acquire(&set->lock);
    interest = &set->interests[descriptor];
    if (!interest->events && control(set, EPOLL_CTL_MOD, descriptor, taken) == 0)
        *interest = *taken;
    lock_release(&set->lock);
}

static void on_ready(uv_poll_t *handle, int status, int uv_events)
{
    struct poll_set *set = handle->data;
    struct epoll_event events[READY_MAX];
    int count = epoll_wait(set->epoll, events, READY_MAX, 0);

    (void)status;
    (void)uv_events;
    for (int i = 0; i < count; i++) {
        struct interest taken;
        int ready = take_ready(set, &events[i], &taken);

        if (ready && runtime_ready(set->runtime, taken.token, ready) != 0)
            put_back(set, &events[i], &taken);
    }
}

/* --- closed under a watch ------------------------------------------------------------------- */

/* The next descriptor from `*index` on whose file is no longer the watched one. */
static bool find_closed(struct poll_set *set, uint32_t *index, struct interest *out)
{
    bool found = false;

    lock_acquire(&set->lock);
    for (; *index < set->count && !found; ++*index) {
        const struct interest *interest = &set->interests[*index];

        /* To arm an armed descriptor changes nothing; it fails when the file is another one or
         * closed. */
        if (interest->events && control(set, EPOLL_CTL_MOD, (int)*index, interest) != 0) {
            *out = *interest;
            found = true;
        }
    }
    lock_release(&set->lock);
    return found;
}

static void forget(struct poll_set *set, uint32_t descriptor, uint32_t serial)
{
    struct interest *interest;

    lock_acquire(&set->lock);
    interest = &set->interests[descriptor];
    if (interest->events && interest->serial == serial)
        interest->events = 0;
    lock_release(&set->lock);
}

/* A watcher whose descriptor number is watched for another file by now; false: there is none. */
static bool get_lost(struct poll_set *set, uint64_t *out_token)
{
    bool found;

    lock_acquire(&set->lock);
    found = set->lost_count > 0;
    if (found)
        *out_token = set->lost[0];
    lock_release(&set->lock);
    return found;
}

static void drop_lost(struct poll_set *set)
{
    lock_acquire(&set->lock);
    set->lost[0] = set->lost[--set->lost_count];
    lock_release(&set->lock);
}

/* A watcher that is not notified because memory is out is notified by the next sweep. */
static void sweep(struct poll_set *set)
{
    struct interest closed;
    uint32_t index = 0;
    uint64_t token;

    while (get_lost(set, &token) && runtime_ready(set->runtime, token, WEIR_EINVALID) == 0)
        drop_lost(set);
    while (find_closed(set, &index, &closed))
        if (runtime_ready(set->runtime, closed.token, WEIR_EINVALID) == 0)
            forget(set, index - 1, closed.serial);
}

void poll_set_tick(struct poll_set *set, uint64_t now_ms)
{
    if (!set->is_attached || now_ms - set->swept_ms < SWEEP_MS)
        return;
    set->swept_ms = now_ms;
    sweep(set);
}

/* --- life ----------------------------------------------------------------------------------- */

int poll_set_create(struct poll_set **out)
{
    struct poll_set *set = calloc(1, sizeof *set);

    if (!set)
        return WEIR_ENOMEM;
    set->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (set->epoll < 0) {
        free(set);
        return WEIR_ENOMEM;
    }
    lock_init(&set->lock, LOCK_POLL_SET);
    *out = set;
    return 0;
}

int poll_set_attach(struct poll_set *set, struct uv_loop_s *loop, struct runtime *runtime)
{
    int error = uv_poll_init(loop, &set->handle, set->epoll);

    if (error != 0)
        return error;
    set->handle.data = set;
    set->runtime = runtime;
    set->is_attached = true;
    return uv_poll_start(&set->handle, UV_READABLE, on_ready);
}

void poll_set_detach(struct poll_set *set)
{
    if (!set || !set->is_attached)
        return;
    uv_close((uv_handle_t *)&set->handle, NULL);
    set->is_attached = false;
}

void poll_set_destroy(struct poll_set *set)
{
    if (!set)
        return;
    close(set->epoll);
    lock_finish(&set->lock);
    free(set->interests);
    free(set->lost);
    free(set);
}
