/* SPDX-License-Identifier: MIT */
#include "base/lock_order.h"

#undef NDEBUG /* what this file is for */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>

#define REPORT_MAX 512

/* The lock that the thread acquired last. */
static struct lock_order **held_by_thread(void)
{
    static _Thread_local struct lock_order *held;

    return &held;
}

/* As a failed assertion: libweir writes nothing itself. */
static _Noreturn void report(const char *wrong, const char *what, uint32_t depth,
                             const struct lock_order *held, struct lock_site site)
{
    char text[REPORT_MAX];

    (void)snprintf(text, sizeof text,
                   "%s: %s (depth %u), and the thread holds %s (depth %u) since %s:%u", wrong, what,
                   depth, lock_rank_name(held->rank), held->depth, held->site.file,
                   held->site.line);
    __assert_fail(text, site.file, site.line, "lock_acquire");
}

static bool comes_before(const struct lock_order *held, const struct lock_order *wanted)
{
    return held->rank != wanted->rank ? held->rank < wanted->rank : held->depth < wanted->depth;
}

static bool is_beside(const struct lock_order *held, const struct lock_order *wanted)
{
    return held != wanted && held->rank == wanted->rank && held->depth == wanted->depth;
}

static void report_order(const struct lock_order *held, const struct lock_order *wanted,
                         struct lock_site site)
{
    report(held == wanted ? "a lock twice" : "the order of locks", lock_rank_name(wanted->rank),
           wanted->depth, held, site);
}

void lock_order_check(const struct lock_order *order, struct lock_site site)
{
    for (const struct lock_order *held = *held_by_thread(); held; held = held->next)
        if (!comes_before(held, order))
            report_order(held, order, site);
}

void lock_order_check_beside(const struct lock_order *order, const struct lock_order *parent,
                             struct lock_site site)
{
    bool has_parent = false;

    for (const struct lock_order *held = *held_by_thread(); held; held = held->next) {
        has_parent = has_parent || held == parent;
        if (!comes_before(held, order) && !is_beside(held, order))
            report_order(held, order, site);
    }
    if (!has_parent)
        report("without the lock of the parent", lock_rank_name(order->rank), order->depth, parent,
               site);
}

void lock_order_check_only(const struct lock_order *order, struct lock_site site)
{
    for (const struct lock_order *held = *held_by_thread(); held; held = held->next)
        if (held != order)
            report("a thread that waits", lock_rank_name(order->rank), order->depth, held, site);
}

void lock_order_check_none(enum lock_rank first, enum lock_rank last, struct lock_site site)
{
    for (const struct lock_order *held = *held_by_thread(); held; held = held->next)
        if (held->rank >= first && held->rank <= last)
            report("no lock is held here", "a wait, or a call of the program or a plugin", 0, held,
                   site);
}

void lock_order_push(struct lock_order *order, struct lock_site site)
{
    struct lock_order **held = held_by_thread();

    order->site = site;
    order->next = *held;
    *held = order;
}

void lock_order_pop(struct lock_order *order)
{
    struct lock_order **link = held_by_thread();

    while (*link && *link != order)
        link = &(*link)->next;
    assert(*link == order); /* the thread holds it */
    *link = order->next;
}

struct lock_order *lock_order_switch(struct lock_order *held)
{
    struct lock_order **present = held_by_thread();
    struct lock_order *former = *present;

    *present = held;
    return former;
}
