/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "hub_parts.h"

#define AGAIN_MS 100u        /* before a store that failed is tried again; doubles */
#define AGAIN_DOUBLINGS 3u   /* to 800 ms */
#define DAMAGED_DOUBLINGS 6u /* to 6.4 s: no disk mends a page of the file */
#define ROOM_MS 250u         /* between two looks whether a disk has room */
#define LOOK_MS 1000u        /* between two looks at the clock while retries or names wait */
#define DOOR_MS 1000 /* between two tries to open the door; a hub without it waits LOOK_MS */

/* A disk on which a piece is not even tried is trouble as one that fails: people are to know. A
 * queue that is full is none. */
static const char no_room[] = "the file system has no room above `min_free`";

int64_t hub_wall_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t steady_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void hub_read_times(struct hub *hub)
{
    hub->next_due = store_next_due(&hub->store);
    hub->next_until = store_next_until(&hub->store);
}

void hub_wake_client(struct client *client)
{
    uint64_t one = 1;

    (void)!write(client->descriptor, &one, sizeof one);
}

void hub_wake_locked(struct hub *hub)
{
    hub->is_woken = true;
    (void)pthread_cond_signal(&hub->wake);
}

/* --- trouble ---------------------------------------------------------------------------------- */

/* Each client hears of a change. NULL: there is none. Locked. */
static void set_trouble(struct hub *hub, const char *trouble)
{
    bool is_new = hub->has_trouble != (trouble != NULL);

    if (trouble)
        (void)snprintf(hub->trouble, sizeof hub->trouble, "%s", trouble);
    hub->has_trouble = trouble != NULL;
    for (struct client *client = hub->clients; is_new && client; client = client->next)
        hub_wake_client(client);
}

/* Locked. */
static bool has_client_that(const struct hub *hub, enum lack lack)
{
    for (const struct client *client = hub->clients; client; client = client->next)
        if (client->lack == lack)
            return true;
    return false;
}

static void fail(struct hub *hub, bool is_in_doubt)
{
    (void)pthread_mutex_lock(&hub->lock);
    hub->failures++;
    if (is_in_doubt && !hub->is_in_doubt) {
        hub->is_in_doubt = true;
        if (hub->store.doubt_after < 0)
            hub->store.doubt_after = hub->store.last_id;
    }
    set_trouble(hub, hub->store.error);
    (void)pthread_mutex_unlock(&hub->lock);
}

/* All that was tried worked: a file that can be opened and written, but not read, stays trouble. */
static void succeed(struct hub *hub)
{
    (void)pthread_mutex_lock(&hub->lock);
    hub->failures = 0;
    hub->store.failure = 0;
    set_trouble(hub, has_client_that(hub, LACKS_DISK) ? no_room : NULL);
    (void)pthread_mutex_unlock(&hub->lock);
}

/* --- a step ----------------------------------------------------------------------------------- */

static bool recover(struct hub *hub)
{
    int status;

    if (store_recover(&hub->store) != 0) {
        fail(hub, true);
        return false;
    }
    (void)pthread_mutex_lock(&hub->lock);
    status = group_resolve_locked(hub);
    (void)pthread_mutex_unlock(&hub->lock);
    if (status != 0) {
        fail(hub, true);
        return false;
    }
    hub->is_in_doubt = false;
    hub_read_times(hub);
    return true;
}

/* Locked: new queues are rare. */
static bool attach_queues(struct hub *hub)
{
    for (struct hub_queue *queue = hub->queues; queue; queue = queue->next) {
        if (queue->store)
            continue;
        queue->store = store_queue(&hub->store, queue->name);
        if (!queue->store)
            return false;
        queue->shown = queue->store->committed;
    }
    return true;
}

/* True: something was written, and more may wait. `out_has_written`: nothing is left out for want
 * of room on the disk. */
static bool write_group(struct hub *hub, bool *out_is_well, bool *out_has_written)
{
    uint64_t free_bytes = place_free_bytes(&hub->store.place);
    enum store_result result = STORE_OK;
    struct group group = { .is_full = false };
    bool makes_room, is_empty = true;

    (void)pthread_mutex_lock(&hub->lock);
    /* On a full disk what makes room goes alone, every other time. */
    makes_room = hub->failures % 2 == 1 && hub->settled.first;
    *out_is_well = attach_queues(hub);
    if (*out_is_well) {
        feed_forget_locked(hub);
        group_collect_locked(hub, &group, makes_room ? 0 : free_bytes);
        is_empty = group_is_empty(&group);
    }
    (void)pthread_mutex_unlock(&hub->lock);
    if (!is_empty)
        result = group_write(hub, &group);
    *out_is_well = *out_is_well && result == STORE_OK;
    if (!*out_is_well)
        fail(hub, result == STORE_IN_DOUBT);
    (void)pthread_mutex_lock(&hub->lock);
    group_finish_locked(hub, &group, result);
    if (*out_is_well && makes_room)
        hub->failures++;
    *out_has_written = *out_is_well && !makes_room;
    (void)pthread_cond_broadcast(&hub->quiet);
    (void)pthread_mutex_unlock(&hub->lock);
    hub->is_tidy = hub->is_tidy && is_empty;
    return !is_empty && *out_is_well;
}

/* True: more may wait. */
static bool step(struct hub *hub)
{
    bool is_well, has_written, has_more;

    if (hub->is_in_doubt && !recover(hub)) {
        orders_refuse(hub, ORDER_FAILED, hub->store.error);
        return false;
    }
    if (orders_step(hub) == STORE_IN_DOUBT) {
        fail(hub, true);
        return false;
    }
    has_more = write_group(hub, &is_well, &has_written);
    if (is_well && feed_all(hub) != 0) {
        fail(hub, true);
        return false;
    }
    if (has_written)
        succeed(hub);
    return has_more;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Milliseconds, at most, until something is to be done without a wake; UINT64_MAX: never. */
static uint64_t wait_ms(const struct hub *hub)
{
    uint32_t most = hub->store.failure == -EINVAL ? DAMAGED_DOUBLINGS : AGAIN_DOUBLINGS;
    uint32_t doublings = hub->failures < most ? hub->failures : most;
    int64_t due = hub->next_due == STORE_NEVER ? LOOK_MS : hub->next_due - hub_wall_ms();

    if (hub->failures > 0)
        return (uint64_t)AGAIN_MS << doublings;
    if (hub->is_tidying)
        return 0;
    if (has_client_that(hub, LACKS_QUEUE) || has_client_that(hub, LACKS_DISK))
        return ROOM_MS;
    if (hub->next_due == STORE_NEVER)
        return hub->is_tidy && hub->next_until == STORE_NEVER && hub->door ? UINT64_MAX : LOOK_MS;
    return due < 1 ? 1 : due < (int64_t)LOOK_MS ? (uint64_t)due : LOOK_MS;
}

/* Locked. True: it was woken. */
static bool wait_for_work(struct hub *hub)
{
    uint64_t wait = wait_ms(hub);
    struct timespec until;
    int status = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(wait == UINT64_MAX ? 0 : wait / 1000);
    until.tv_nsec += (long)(wait % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    /* While the store fails, a wake changes nothing. */
    while (status == 0 && !hub->is_ending && (!hub->is_woken || hub->failures > 0))
        status = wait == UINT64_MAX ? pthread_cond_wait(&hub->wake, &hub->lock)
                                    : pthread_cond_timedwait(&hub->wake, &hub->lock, &until);
    return status == 0;
}

/* True: go on. */
static bool wait(struct hub *hub, bool has_more)
{
    bool is_ending, is_woken = true;

    (void)pthread_mutex_lock(&hub->lock);
    if (!has_more)
        is_woken = wait_for_work(hub);
    hub->is_woken = false;
    is_ending = hub->is_ending;
    (void)pthread_mutex_unlock(&hub->lock);
    hub->is_tidying = false;
    if (!is_woken && hub->failures == 0 && !hub->is_tidy) {
        int left = store_tidy(&hub->store);

        hub->is_tidying = left > 0;
        hub->is_tidy = left <= 0; /* after a failure, not before something was written */
        if (left < 0)
            fail(hub, true);
    }
    return !is_ending;
}

/* Opens the door when that is due: the last try has failed, for want of a descriptor perhaps. */
static void open_door(struct hub *hub)
{
    int64_t now_ms = steady_ms();

    if (hub->door || now_ms < hub->door_ms)
        return;
    hub->door_ms = now_ms + DOOR_MS;
    hub->door = door_open(hub->path, orders_serve, hub);
}

static void work(struct hub *hub)
{
    bool has_more = false;

    open_door(hub);
    hub_read_times(hub);
    hub->last_wall_ms = INT64_MAX; /* nobody knows how the clock was set meanwhile */
    while (wait(hub, has_more)) {
        open_door(hub);
        has_more = step(hub);
    }
    while (step(hub))
        ;
    (void)pthread_mutex_lock(&hub->lock);
    hub->is_closed = true;
    (void)pthread_mutex_unlock(&hub->lock);
    orders_refuse(hub, ORDER_REFUSED, "the host ends");
    door_close(hub->door);
    store_close(&hub->store, !hub->is_in_doubt);
}

static void enter(struct hub *hub, enum hub_state state)
{
    (void)pthread_mutex_lock(&hub->lock);
    hub->state = state;
    (void)snprintf(hub->trouble, sizeof hub->trouble, "%s", hub->store.error);
    (void)pthread_cond_broadcast(&hub->quiet);
    (void)pthread_mutex_unlock(&hub->lock);
}

static void *run(void *context)
{
    struct hub *hub = context;
    int status = store_open(&hub->store, hub->path);

    hub->file = hub->store.place.file;
    enter(hub, status == 0 ? HUB_CHECKING : HUB_REFUSED);
    if (status == 0) {
        status = store_connect(&hub->store);
        enter(hub, status == 0 ? HUB_OPEN : HUB_REFUSED);
    }
    if (status == 0)
        work(hub);
    return NULL;
}

/* --- life ------------------------------------------------------------------------------------- */

struct hub_queue *hub_queue_locked(struct hub *hub, const char *name)
{
    struct hub_queue *queue = hub->queues;

    while (queue && strcmp(queue->name, name) != 0)
        queue = queue->next;
    if (queue)
        return queue;
    queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    (void)snprintf(queue->name, sizeof queue->name, "%s", name);
    feed_rewind(queue);
    queue->next = hub->queues;
    hub->queues = queue;
    return queue;
}

static void release(struct hub *hub)
{
    struct hub_queue *next;

    for (struct hub_queue *queue = hub->queues; queue; queue = next) {
        next = queue->next;
        free(queue->in_hand);
        free(queue);
    }
    piece_list_free(&hub->settled);
    (void)pthread_cond_destroy(&hub->wake);
    (void)pthread_cond_destroy(&hub->quiet);
    (void)pthread_mutex_destroy(&hub->lock);
    free((char *)(uintptr_t)hub->path);
    free(hub);
}

/* Signals are for the threads of the host. */
static int start(struct hub *hub)
{
    sigset_t all, before;
    int status;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    status = pthread_create(&hub->thread, NULL, run, hub);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static struct hub *init(const char *path)
{
    struct hub *hub = calloc(1, sizeof *hub);
    pthread_condattr_t attributes;
    unsigned char run_id[8];

    if (!hub)
        return NULL;
    (void)pthread_mutex_init(&hub->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&hub->wake, &attributes);
    (void)pthread_cond_init(&hub->quiet, NULL);
    (void)pthread_condattr_destroy(&attributes);
    hub->path = strdup(path);
    if (!hub->path || getrandom(run_id, sizeof run_id, 0) != (ssize_t)sizeof run_id) {
        release(hub);
        return NULL;
    }
    for (size_t i = 0; i < sizeof run_id; i++)
        (void)snprintf(hub->run + 2 * i, 3, "%02x", run_id[i]);
    return hub;
}

static enum hub_state wait_while(struct hub *hub, enum hub_state passing,
                                 char reason[PLACE_REASON_SIZE])
{
    enum hub_state state;

    (void)pthread_mutex_lock(&hub->lock);
    while (hub->state == passing)
        (void)pthread_cond_wait(&hub->quiet, &hub->lock);
    state = hub->state;
    if (state == HUB_REFUSED)
        (void)snprintf(reason, PLACE_REASON_SIZE, "%s", hub->trouble);
    (void)pthread_mutex_unlock(&hub->lock);
    return state;
}

int hub_wait_open(struct hub *hub, char reason[PLACE_REASON_SIZE])
{
    return wait_while(hub, HUB_CHECKING, reason) == HUB_OPEN ? 0 : -1;
}

struct hub *hub_create(const char *path, char reason[PLACE_REASON_SIZE])
{
    struct hub *hub = init(path);

    (void)snprintf(reason, PLACE_REASON_SIZE, "memory is out");
    if (!hub)
        return NULL;
    if (start(hub) != 0) {
        release(hub);
        return NULL;
    }
    if (wait_while(hub, HUB_OPENING, reason) != HUB_REFUSED)
        return hub;
    (void)pthread_join(hub->thread, NULL);
    release(hub);
    return NULL;
}

void hub_destroy(struct hub *hub)
{
    (void)pthread_mutex_lock(&hub->lock);
    hub->is_ending = true;
    hub_wake_locked(hub);
    (void)pthread_mutex_unlock(&hub->lock);
    (void)pthread_join(hub->thread, NULL);
    release(hub);
}
