/* SPDX-License-Identifier: MIT */
#include "dispatch/reclaim.h"

#include <assert.h>
#include <stddef.h>

#include <weir/status.h>

void reclaim_init(struct reclaim *reclaim)
{
    atomic_init(&reclaim->epoch, 1);
    lock_init(&reclaim->lock, LOCK_RECLAIM);
    reclaim->reader_count = 0;
    reclaim->seen_below = 0;
    reclaim->orphans = (struct retired_list){ 0 };
    atomic_init(&reclaim->has_orphans, false);
    for (size_t i = 0; i < RECLAIM_READERS_MAX; i++)
        reclaim->readers[i] = NULL;
}

static void append(struct retired_list *list, struct retired_list *other)
{
    if (!other->first)
        return;
    if (list->last)
        list->last->next = other->first;
    else
        list->first = other->first;
    list->last = other->last;
    *other = (struct retired_list){ 0 };
}

static void free_all(struct retired_list *list, struct reader *reader)
{
    struct retired *retired = list->first;

    *list = (struct retired_list){ 0 };
    while (retired) {
        struct retired *next = retired->next;

        retired->free(retired, reader);
        retired = next;
    }
}

void reclaim_finish(struct reclaim *reclaim)
{
    lock_finish(&reclaim->lock);
}

int reader_init(struct reader *reader, struct reclaim *reclaim)
{
    uint32_t index = 0;

    *reader = (struct reader){ .reclaim = reclaim };
    atomic_init(&reader->seen, RECLAIM_OFFLINE);
    lock_acquire(&reclaim->lock);
    while (index < RECLAIM_READERS_MAX && reclaim->readers[index])
        index++;
    reader->index = index;
    if (index < RECLAIM_READERS_MAX) {
        reclaim->readers[index] = reader;
        if (index == reclaim->reader_count)
            reclaim->reader_count++;
    }
    lock_release(&reclaim->lock);
    return index < RECLAIM_READERS_MAX ? 0 : WEIR_ENOMEM;
}

void reader_finish(struct reader *reader)
{
    struct reclaim *reclaim = reader->reclaim;

    reader_offline(reader);
    lock_acquire(&reclaim->lock);
    if (reader->index < RECLAIM_READERS_MAX && reclaim->readers[reader->index] == reader)
        reclaim->readers[reader->index] = NULL;
    lock_release(&reclaim->lock);
    reader_hand_over(reader);
}

void reader_hand_over(struct reader *reader)
{
    struct reclaim *reclaim = reader->reclaim;

    lock_acquire(&reclaim->lock);
    append(&reclaim->orphans, &reader->aging);
    append(&reclaim->orphans, &reader->fresh);
    /* [Q4] before the scan in is_left_alone. */
    if (reclaim->orphans.first)
        atomic_store_explicit(&reclaim->has_orphans, true, memory_order_seq_cst);
    lock_release(&reclaim->lock);
}

void reader_online(struct reader *reader)
{
    uint64_t epoch;

    /*
     * [Q3] seq_cst: a scan that saw us offline came before the exchange. The present epoch began
     * before the scan, so the second load sees it, and with it everything that was unpublished
     * before.
     */
    do {
        epoch = atomic_load_explicit(&reader->reclaim->epoch, memory_order_seq_cst);
        atomic_exchange_explicit(&reader->seen, epoch, memory_order_seq_cst);
    } while (atomic_load_explicit(&reader->reclaim->epoch, memory_order_seq_cst) != epoch);
}

void reader_offline(struct reader *reader)
{
    /* [Q2] release: our reads come before. */
    atomic_store_explicit(&reader->seen, RECLAIM_OFFLINE, memory_order_release);
}

void reader_retire(struct reader *reader, struct retired *retired)
{
    struct retired_list one = { retired, retired };

    retired->next = NULL;
    append(&reader->fresh, &one);
}

/*
 * The number of the first reader, from `first` on, that is online and has not seen `epoch`; the
 * number of readers: none. The lock keeps a reader alive: reader_finish takes it.
 */
static uint32_t first_behind_locked(struct reclaim *reclaim, uint32_t first, uint64_t epoch)
{
    for (uint32_t i = first; i < reclaim->reader_count; i++) {
        const struct reader *reader = reclaim->readers[i];
        uint64_t seen;

        if (!reader)
            continue;
        /* [Q2] acquire, and [Q3]: seq_cst. */
        seen = atomic_load_explicit(&reader->seen, memory_order_seq_cst);
        if (seen != RECLAIM_OFFLINE && seen < epoch)
            return i;
    }
    return reclaim->reader_count;
}

/* A reader that has seen the present epoch does not go back: it comes online with the present one.
 * So the search goes on where the last one ended. */
static bool advance_locked(struct reclaim *reclaim)
{
    /* Relaxed: written under the lock. */
    uint64_t epoch = atomic_load_explicit(&reclaim->epoch, memory_order_relaxed);

    reclaim->seen_below = first_behind_locked(reclaim, reclaim->seen_below, epoch);
    if (reclaim->seen_below < reclaim->reader_count)
        return false;
    reclaim->seen_below = 0;
    /* [Q1] release, [Q3] seq_cst: covers all objects that readers unpublished before they announced
     * `epoch`. */
    atomic_store_explicit(&reclaim->epoch, epoch + 1, memory_order_seq_cst);
    return true;
}

/* Begins the next epoch if all have seen the present one. False: some have not, or another thread
 * searches at this moment. */
static bool advance(struct reclaim *reclaim)
{
    bool begins;

    if (!lock_try(&reclaim->lock))
        return false;
    begins = advance_locked(reclaim);
    lock_release(&reclaim->lock);
    return begins;
}

static void adopt_orphans(struct reader *reader)
{
    struct reclaim *reclaim = reader->reclaim;

    if (!atomic_load_explicit(&reclaim->has_orphans, memory_order_relaxed))
        return;
    lock_acquire(&reclaim->lock);
    append(&reader->fresh, &reclaim->orphans);
    atomic_store_explicit(&reclaim->has_orphans, false, memory_order_relaxed);
    lock_release(&reclaim->lock);
}

/* Frees the entries that are old enough, and notes the epoch of the rest. */
static void age(struct reader *reader)
{
    /* Relaxed: the reader's own. */
    uint64_t seen = atomic_load_explicit(&reader->seen, memory_order_relaxed);

    if (reader->aging.first && seen - reader->aging_epoch >= RECLAIM_GRACE)
        free_all(&reader->aging, reader);
    if (!reader->aging.first) {
        append(&reader->aging, &reader->fresh);
        reader->aging_epoch = seen;
    }
}

/* reader_poll, without the lists that others left. */
static bool poll_own(struct reader *reader)
{
    assert(reader_is_online(reader));
    do {
        reader_quiescent(reader);
        age(reader);
    } while (reader->aging.first && advance(reader->reclaim));
    return reader->aging.first;
}

bool reader_poll(struct reader *reader)
{
    adopt_orphans(reader);
    return poll_own(reader);
}

/* True when objects wait to be freed, and no reader is online to do it. */
static bool is_left_alone(struct reclaim *reclaim)
{
    bool alone;

    if (!atomic_load_explicit(&reclaim->has_orphans, memory_order_seq_cst))
        return false;
    lock_acquire(&reclaim->lock);
    alone = first_behind_locked(reclaim, 0, UINT64_MAX) == reclaim->reader_count;
    lock_release(&reclaim->lock);
    return alone;
}

/* A reader that is online takes what others left with its next poll; only the last one to go takes
 * it here. */
void reader_rest(struct reader *reader)
{
    bool waits;

    if (!reader_is_online(reader))
        reader_online(reader);
    waits = poll_own(reader);
    for (;;) {
        if (waits)
            reader_hand_over(reader);
        /* [Q4] seq_cst: of two readers that go offline at once, the later one sees the other's
         * objects, or the other sees no reader online. */
        atomic_exchange_explicit(&reader->seen, RECLAIM_OFFLINE, memory_order_seq_cst);
        if (!is_left_alone(reader->reclaim))
            return;
        /* Freeing an object may look up others. */
        reader_online(reader);
        waits = reader_poll(reader);
    }
}
