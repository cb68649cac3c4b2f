/* SPDX-License-Identifier: MIT */
#include "pool/renewal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "actor/lifecycle.h"
#include "actor/restart.h"
#include "actor/runtime.h"
#include "pool/pool.h"

/* --- from outside --------------------------------------------------------------------------- */

/* A request or order, and its receivers. */
struct call {
    enum renewal renewal;
    uint32_t index; /* RENEWAL_ALL, or of one worker */
    bool (*fits)(const struct place *place);
    uint64_t pause_ms;
};

/* Relaxed, here and below: the pool's lock is held; a signal precedes the worker's own read. */
static enum renewal renewal_of(const struct place *place)
{
    return (enum renewal)atomic_load_explicit(&place->renewal, memory_order_relaxed);
}

static void set_locked(struct place *place, enum renewal renewal)
{
    atomic_store_explicit(&place->renewal, (uint8_t)renewal, memory_order_relaxed);
}

static bool is_meant(const struct place *place, uint32_t index)
{
    return index == RENEWAL_ALL || place->index == index;
}

static bool is_any(const struct place *place)
{
    (void)place;
    return true;
}

static bool is_not_ordered(const struct place *place)
{
    return renewal_of(place) != RENEWAL_ORDERED;
}

static bool is_asked(const struct place *place)
{
    return renewal_of(place) == RENEWAL_ASKED;
}

static bool is_stopped(const struct place *place)
{
    return actor_state(place->actor) == ACTOR_STOPPED;
}

static uint32_t signal_list_locked(struct list *places, const struct call *call,
                                   struct executor *executor)
{
    uint32_t count = 0;

    for (struct list *node = places->next; node != places; node = node->next) {
        struct place *place = LIST_ENTRY(node, struct place, link);

        if (!is_meant(place, call->index) || !call->fits(place))
            continue;
        set_locked(place, call->renewal);
        place->pause_ms = call->pause_ms;
        (void)actor_signal(place->actor, actor_serial_of(actor_pid(place->actor)), executor,
                           SIGNAL_RESTART);
        count++;
    }
    return count;
}

/* One that was asked may have begun to leave since: the request does not stay with it. */
static uint32_t signal_places_locked(struct pool *pool, const struct call *call,
                                     struct executor *executor)
{
    uint32_t count = signal_list_locked(&pool->places, call, executor);

    if (call->renewal == RENEWAL_NONE) {
        count += signal_list_locked(&pool->leavers, call, executor);
        count += signal_list_locked(&pool->closers, call, executor);
    }
    return count;
}

/* Depth is bounded by the configuration; parents lock before children, always. */
static uint32_t signal_pool(struct pool *pool, const struct call *call, struct executor *executor)
{
    uint32_t count;

    lock_acquire(&pool->lock);
    if (call->renewal == RENEWAL_ORDERED)
        pool->escalation.backoff = (struct backoff){ 0 };
    count = signal_places_locked(pool, call, executor);
    for (uint32_t i = 0; i < pool->child_count && call->index == RENEWAL_ALL; i++)
        count += signal_pool(pool->children[i], call, executor);
    lock_release(&pool->lock);
    return count;
}

uint32_t renewal_ask(struct pool *pool, uint32_t index, struct executor *executor)
{
    return signal_pool(pool, &(struct call){ RENEWAL_ASKED, index, is_not_ordered, 0 }, executor);
}

uint32_t renewal_take_back(struct pool *pool, uint32_t index, struct executor *executor)
{
    return signal_pool(pool, &(struct call){ RENEWAL_NONE, index, is_asked, 0 }, executor);
}

void renewal_order(struct pool *pool, bool stopped_only, uint64_t pause_ms,
                   struct executor *executor)
{
    (void)signal_pool(pool,
                      &(struct call){ RENEWAL_ORDERED, RENEWAL_ALL,
                                      stopped_only ? is_stopped : is_any, pause_ms },
                      executor);
}

static void count_list_locked(struct list *places, uint32_t index, struct renewal_counts *sum)
{
    for (struct list *node = places->next; node != places; node = node->next) {
        const struct place *place = LIST_ENTRY(node, struct place, link);
        enum renewal renewal = renewal_of(place);

        if (!is_meant(place, index))
            continue;
        sum->asked += renewal == RENEWAL_ASKED;
        sum->begun += renewal == RENEWAL_ORDERED || renewal == RENEWAL_BEGUN;
        sum->failed += renewal == RENEWAL_FAILED;
    }
}

void renewal_count(struct pool *pool, uint32_t index, struct renewal_counts *sum)
{
    lock_acquire(&pool->lock);
    count_list_locked(&pool->places, index, sum);
    for (uint32_t i = 0; i < pool->child_count && index == RENEWAL_ALL; i++)
        renewal_count(pool->children[i], index, sum);
    lock_release(&pool->lock);
}

/* --- one worker ------------------------------------------------------------------------------- */

/* NULL: none of the list has this number. */
static struct place *find_locked(struct list *places, uint32_t index)
{
    for (struct list *node = places->next; node != places; node = node->next)
        if (LIST_ENTRY(node, struct place, link)->index == index)
            return LIST_ENTRY(node, struct place, link);
    return NULL;
}

static void add_number(struct renewal_worker *worker, uint32_t index)
{
    if (worker->count == 0 || index < worker->lowest)
        worker->lowest = index;
    if (worker->count == 0 || index > worker->highest)
        worker->highest = index;
    worker->count++;
}

void renewal_look(struct pool *pool, uint32_t index, struct renewal_worker *out)
{
    *out = (struct renewal_worker){ .count = 0 };
    lock_acquire(&pool->lock);
    for (struct list *node = pool->places.next; node != &pool->places; node = node->next)
        add_number(out, LIST_ENTRY(node, struct place, link)->index);
    out->is_member = find_locked(&pool->places, index) != NULL;
    out->is_leaving = find_locked(&pool->leavers, index) || find_locked(&pool->closers, index);
    lock_release(&pool->lock);
}

/* Its owner names no process before it reaps it. So a number that is still named was not reaped
 * when the descriptor was made, and the descriptor means this process and no later one. */
static int kill_process(const struct place *place)
{
    int32_t process = atomic_load(&place->process);
    int descriptor = process > 0 ? pidfd_open(process, 0) : -1;
    int status = WEIR_ENOTALLOWED;

    if (descriptor < 0)
        return status;
    if (atomic_load(&place->process) == process &&
        pidfd_send_signal(descriptor, SIGKILL, NULL, 0) == 0)
        status = 0;
    (void)close(descriptor);
    return status;
}

/* Before the kill, so that the line stands before those about the end of the process. */
static void log_kill(struct pool *pool, uint32_t index, int64_t process)
{
    char path[PLACE_PATH_MAX + 16];

    (void)snprintf(path, sizeof path, "%s#%" PRIu32, pool->path, index);
    log_event(&pool->runtime->options.log, WEIR_LOG_WARNING, path,
              "an operator kills the process of the worker", weir_int("process", process),
              weir_str("effect", "an error about its end is no fault of the worker"));
}

/* 0: there is none. */
static int32_t find_process(struct pool *pool, uint32_t index)
{
    const struct place *place;
    int32_t process;

    lock_acquire(&pool->lock);
    place = find_locked(&pool->places, index);
    process = place ? atomic_load(&place->process) : 0;
    lock_release(&pool->lock);
    return process;
}

int renewal_kill(struct pool *pool, uint32_t index)
{
    int32_t process = find_process(pool, index);
    const struct place *place;
    int status = WEIR_EUNKNOWN;

    if (process > 0)
        log_kill(pool, index, process);
    lock_acquire(&pool->lock);
    place = find_locked(&pool->places, index);
    if (place)
        status = kill_process(place);
    lock_release(&pool->lock);
    return status;
}

bool renewal_is_ordered(struct place *place)
{
    struct pool *pool = pool_of_place(place);
    bool is_ordered;

    lock_acquire(&pool->lock);
    is_ordered = renewal_of(place) == RENEWAL_ORDERED;
    lock_release(&pool->lock);
    return is_ordered;
}

/* --- the worker ----------------------------------------------------------------------------- */

bool renewal_begin(struct place *place, uint64_t *out_pause_ms)
{
    struct pool *pool = pool_of_place(place);
    bool begins;

    lock_acquire(&pool->lock);
    begins = (is_asked(place) || !is_not_ordered(place)) && place->standing != PLACE_LEAVING;
    if (begins)
        set_locked(place, RENEWAL_BEGUN);
    *out_pause_ms = place->pause_ms;
    lock_release(&pool->lock);
    return begins;
}

void renewal_opened_locked(struct place *place)
{
    if (renewal_of(place) == RENEWAL_BEGUN || renewal_of(place) == RENEWAL_FAILED)
        set_locked(place, RENEWAL_NONE);
}

void renewal_broken_locked(struct place *place)
{
    if (renewal_of(place) == RENEWAL_BEGUN)
        set_locked(place, RENEWAL_FAILED);
}
