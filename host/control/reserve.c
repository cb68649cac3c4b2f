/* SPDX-License-Identifier: MIT */
#include "host/control/reserve.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define SHARE 4u /* of the limit */
/* What a host opens after its runtime is made: loops, sockets, a file of dead letters, inotify. */
#define LATER 16u
#define NONE (-1)

/* --- places ----------------------------------------------------------------------------------- */

/* A descriptor belongs to the thread that exchanges it; relaxed, since nothing else is passed. */
static bool close_at(struct reserve *reserve, uint32_t place)
{
    int descriptor = atomic_exchange_explicit(&reserve->descriptors[place], NONE,
                                              memory_order_relaxed);

    return descriptor >= 0 && close(descriptor) == 0;
}

static bool open_at(struct reserve *reserve, uint32_t place)
{
    int none = NONE, descriptor;

    if (atomic_load_explicit(&reserve->descriptors[place], memory_order_relaxed) >= 0)
        return true;
    descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    if (!atomic_compare_exchange_strong_explicit(&reserve->descriptors[place], &none, descriptor,
                                                 memory_order_relaxed, memory_order_relaxed))
        (void)close(descriptor);
    return true;
}

static void close_all(struct reserve *reserve)
{
    for (uint32_t place = 0; place < reserve->size; place++)
        (void)close_at(reserve, place);
}

/* --- using ------------------------------------------------------------------------------------ */

bool reserve_give(struct reserve *reserve)
{
    for (uint32_t place = 0; place < reserve->size; place++)
        if (close_at(reserve, place))
            return true;
    return false;
}

void reserve_lend(struct reserve *reserve)
{
    if (!reserve)
        return;
    /* Sequentially consistent, as the load in reserve_refill: see there. */
    (void)atomic_fetch_add(&reserve->loans, 1);
    close_all(reserve);
}

void reserve_end_loan(struct reserve *reserve)
{
    if (reserve && atomic_fetch_sub(&reserve->loans, 1) == 1)
        (void)reserve_refill(reserve);
}

/* A loan that begins meanwhile closes what was filled before, and the rest is not filled. */
bool reserve_refill(struct reserve *reserve)
{
    bool is_full = true;

    for (uint32_t place = 0; place < reserve->size && is_full; place++)
        is_full = atomic_load(&reserve->loans) > 0 || open_at(reserve, place);
    return is_full;
}

/* --- life ------------------------------------------------------------------------------------- */

void reserve_init(struct reserve *reserve)
{
    struct rlimit limit;

    *reserve = (struct reserve){ .size = RESERVE_MAX };
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / SHARE < RESERVE_MAX)
        reserve->size = (uint32_t)(limit.rlim_cur / SHARE);
    for (uint32_t place = 0; place < RESERVE_MAX; place++)
        atomic_init(&reserve->descriptors[place], NONE);
    (void)reserve_refill(reserve);
}

uint32_t reserve_rest(void)
{
    struct rlimit limit;
    int next;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= UINT32_MAX)
        return 0;
    /* The lowest number that is free: what is open has lower ones. */
    next = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (next < 0)
        return 1;
    (void)close(next);
    return limit.rlim_cur > (rlim_t)next + LATER ? (uint32_t)limit.rlim_cur - (uint32_t)next - LATER
                                                 : 1;
}

void reserve_finish(struct reserve *reserve)
{
    close_all(reserve);
    reserve->size = 0;
}
