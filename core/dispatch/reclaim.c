#include "dispatch/reclaim.h"

#include <stddef.h>

#include <weir/status.h>

void reclaim_init(struct reclaim *reclaim)
{
    atomic_init(&reclaim->epoch, 1);
    atomic_init(&reclaim->reader_count, 0);
    for (size_t i = 0; i < RECLAIM_READERS_MAX; i++)
        atomic_init(&reclaim->readers[i], NULL);
    pthread_mutex_init(&reclaim->lock, NULL);
    reclaim->orphans = (struct retired_list){ 0 };
    atomic_init(&reclaim->has_orphans, false);
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
    pthread_mutex_destroy(&reclaim->lock);
}

int reader_init(struct reader *reader, struct reclaim *reclaim)
{
    int status = WEIR_ENOMEM;

    *reader = (struct reader){ .reclaim = reclaim };
    atomic_init(&reader->seen, RECLAIM_OFFLINE);
    pthread_mutex_lock(&reclaim->lock);
    for (uint32_t i = 0; i < RECLAIM_READERS_MAX && status != 0; i++) {
        if (atomic_load_explicit(&reclaim->readers[i], memory_order_relaxed))
            continue;
        atomic_store_explicit(&reclaim->readers[i], reader, memory_order_seq_cst);
        if (i >= atomic_load_explicit(&reclaim->reader_count, memory_order_relaxed))
            atomic_store_explicit(&reclaim->reader_count, i + 1, memory_order_seq_cst);
        status = 0;
    }
    pthread_mutex_unlock(&reclaim->lock);
    return status;
}

void reader_finish(struct reader *reader)
{
    struct reclaim *reclaim = reader->reclaim;

    reader_offline(reader);
    pthread_mutex_lock(&reclaim->lock);
    for (uint32_t i = 0; i < RECLAIM_READERS_MAX; i++) {
        if (atomic_load_explicit(&reclaim->readers[i], memory_order_relaxed) == reader)
            atomic_store_explicit(&reclaim->readers[i], NULL, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&reclaim->lock);
    reader_hand_over(reader);
}

void reader_hand_over(struct reader *reader)
{
    struct reclaim *reclaim = reader->reclaim;

    pthread_mutex_lock(&reclaim->lock);
    append(&reclaim->orphans, &reader->aging);
    append(&reclaim->orphans, &reader->fresh);
    /* [Q4] before the scan in is_left_alone. */
    if (reclaim->orphans.first)
        atomic_store_explicit(&reclaim->has_orphans, true, memory_order_seq_cst);
    pthread_mutex_unlock(&reclaim->lock);
}

void reader_online(struct reader *reader)
{
    uint64_t epoch;

    /*
     * [Q3] seq_cst: a scan that saw us offline came before the exchange. The increment of the epoch
     * came before the scan, so the second load sees it, and with it everything that was unpublished
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
 * True when every online reader has seen `epoch`. The readers are compared, never touched beyond
 * their word: one that leaves at this moment is alive as long as reclaim->lock can be taken, which
 * reader_finish does; so the scan holds it.
 */
static bool all_have_seen_locked(struct reclaim *reclaim, uint64_t epoch)
{
    uint32_t count = atomic_load_explicit(&reclaim->reader_count, memory_order_seq_cst);

    for (uint32_t i = 0; i < count; i++) {
        struct reader *reader = atomic_load_explicit(&reclaim->readers[i], memory_order_seq_cst);
        uint64_t seen;

        if (!reader)
            continue;
        seen = atomic_load_explicit(&reader->seen, memory_order_seq_cst);
        if (seen != RECLAIM_OFFLINE && seen < epoch)
            return false;
    }
    return true;
}

static void adopt_orphans(struct reader *reader)
{
    struct reclaim *reclaim = reader->reclaim;

    if (!atomic_load_explicit(&reclaim->has_orphans, memory_order_relaxed))
        return;
    pthread_mutex_lock(&reclaim->lock);
    append(&reader->fresh, &reclaim->orphans);
    atomic_store_explicit(&reclaim->has_orphans, false, memory_order_relaxed);
    pthread_mutex_unlock(&reclaim->lock);
}

static bool aging_is_done(struct reader *reader)
{
    struct reclaim *reclaim = reader->reclaim;
    bool done;

    pthread_mutex_lock(&reclaim->lock);
    done = all_have_seen_locked(reclaim, reader->aging_epoch);
    pthread_mutex_unlock(&reclaim->lock);
    return done;
}

bool reader_poll(struct reader *reader)
{
    adopt_orphans(reader);
    for (int round = 0; round < 2; round++) {
        if (reader->aging.first) {
            if (!aging_is_done(reader))
                return true;
            free_all(&reader->aging, reader);
        }
        if (!reader->fresh.first)
            return false;
        append(&reader->aging, &reader->fresh);
        /* [Q1] release: the objects of the list were unpublished before. */
        reader->aging_epoch = atomic_fetch_add_explicit(&reader->reclaim->epoch, 1,
                                                        memory_order_seq_cst) +
                              1;
        if (reader_is_online(reader))
            reader_quiescent(reader);
    }
    return reader->aging.first || reader->fresh.first;
}

/* True when objects wait to be freed, and no reader is online to do it. */
static bool is_left_alone(struct reclaim *reclaim)
{
    bool alone;

    if (!atomic_load_explicit(&reclaim->has_orphans, memory_order_seq_cst))
        return false;
    pthread_mutex_lock(&reclaim->lock);
    alone = all_have_seen_locked(reclaim, UINT64_MAX);
    pthread_mutex_unlock(&reclaim->lock);
    return alone;
}

void reader_rest(struct reader *reader)
{
    do {
        /* Freeing an object may look up others. */
        if (!reader_is_online(reader))
            reader_online(reader);
        if (reader_poll(reader))
            reader_hand_over(reader);
        /* [Q4] seq_cst: of two readers that go offline at once, the later one sees the other's
         * objects, or the other sees no reader online. */
        atomic_exchange_explicit(&reader->seen, RECLAIM_OFFLINE, memory_order_seq_cst);
    } while (is_left_alone(reader->reclaim));
}
