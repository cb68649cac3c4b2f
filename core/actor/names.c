#include "actor/names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

/* Of one renaming; lies in the entry of the new name. Read also through that of the old one, which
 * is retired first. */
struct move {
    _Atomic bool is_done; /* written once under lock, read by all */
};

struct name_entry {
    struct retired retired;
    _Atomic(struct name_entry *) next; /* written under lock, read by all */
    _Atomic(struct move *) leaves_by;  /* written under lock, read by all: NULL = it stays */
    struct move comes_by;              /* done from the start, but for a claim or a renaming */
    bool is_claim;                     /* const: of an incarnation, and gone with it */
    weir_pid pid;                      /* const */
    char name[];                       /* const */
};

void names_init(struct names *names)
{
    pthread_mutex_init(&names->lock, NULL);
    for (size_t i = 0; i < NAMES_BUCKETS; i++)
        atomic_init(&names->buckets[i], NULL);
}

void names_finish(struct names *names)
{
    for (size_t i = 0; i < NAMES_BUCKETS; i++) {
        struct name_entry *entry = atomic_load_explicit(&names->buckets[i], memory_order_relaxed);

        while (entry) {
            struct name_entry *next = atomic_load_explicit(&entry->next, memory_order_relaxed);

            free(entry);
            entry = next;
        }
    }
    pthread_mutex_destroy(&names->lock);
}

static _Atomic(struct name_entry *) *bucket_of(struct names *names, const char *name)
{
    return &names->buckets[weir_key(name, strlen(name)) % NAMES_BUCKETS];
}

static bool is_done(struct move *move)
{
    /* [N2] pairs with the release in names_rename and names_publish. */
    return atomic_load_explicit(&move->is_done, memory_order_acquire);
}

/* One store of `is_done` ends the old name and begins the new one. */
static bool counts(struct name_entry *entry)
{
    struct move *leaves_by = atomic_load_explicit(&entry->leaves_by, memory_order_acquire);

    return is_done(&entry->comes_by) && !(leaves_by && is_done(leaves_by));
}

static struct name_entry *find(struct names *names, const char *name)
{
    /* [N1] pairs with the release in names_add: the entry is complete. */
    struct name_entry *entry = atomic_load_explicit(bucket_of(names, name), memory_order_acquire);

    while (entry && (strcmp(entry->name, name) != 0 || !counts(entry)))
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    return entry;
}

/* Also one that is claimed and found by nobody yet. No renaming is halfway under the lock. */
static struct name_entry *find_taken_locked(struct names *names, const char *name)
{
    struct name_entry *entry = atomic_load_explicit(bucket_of(names, name), memory_order_relaxed);

    while (entry && strcmp(entry->name, name) != 0)
        entry = atomic_load_explicit(&entry->next, memory_order_relaxed);
    return entry;
}

static int make_entry(const char *name, weir_pid pid, struct name_entry **out)
{
    size_t length = name ? strnlen(name, NAMES_LENGTH_MAX + 1) : 0;
    struct name_entry *entry;

    if (length == 0 || length > NAMES_LENGTH_MAX)
        return WEIR_EINVALID;
    entry = calloc(1, sizeof *entry + length + 1);
    if (!entry)
        return WEIR_ENOMEM;
    memcpy(entry->name, name, length + 1);
    entry->pid = pid;
    atomic_init(&entry->comes_by.is_done, true);
    *out = entry;
    return 0;
}

static void insert_locked(struct names *names, struct name_entry *entry)
{
    _Atomic(struct name_entry *) *bucket = bucket_of(names, entry->name);

    atomic_store_explicit(&entry->next, atomic_load_explicit(bucket, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(bucket, entry, memory_order_release); /* [N1] */
}

/* Takes the entry on 0. */
static int insert(struct names *names, struct name_entry *entry)
{
    int status = 0;

    pthread_mutex_lock(&names->lock);
    if (find_taken_locked(names, entry->name))
        status = WEIR_EEXISTS;
    else
        insert_locked(names, entry);
    pthread_mutex_unlock(&names->lock);
    if (status != 0)
        free(entry);
    return status;
}

int names_add(struct names *names, const char *name, weir_pid pid)
{
    struct name_entry *entry;
    int status = make_entry(name, pid, &entry);

    return status == 0 ? insert(names, entry) : status;
}

int names_claim(struct names *names, const char *name, weir_pid pid, bool is_found)
{
    struct name_entry *entry;
    int status = make_entry(name, pid, &entry);

    if (status != 0)
        return status;
    entry->is_claim = true;
    atomic_init(&entry->comes_by.is_done, is_found);
    return insert(names, entry);
}

void names_publish(struct names *names, weir_pid pid)
{
    pthread_mutex_lock(&names->lock);
    for (size_t i = 0; i < NAMES_BUCKETS; i++) {
        struct name_entry *entry = atomic_load_explicit(&names->buckets[i], memory_order_relaxed);

        for (; entry; entry = atomic_load_explicit(&entry->next, memory_order_relaxed))
            if (entry->pid == pid)
                atomic_store_explicit(&entry->comes_by.is_done, true, memory_order_release);
    }
    pthread_mutex_unlock(&names->lock); /* the stores are [N2] */
}

static void free_entry(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((char *)retired - offsetof(struct name_entry, retired));
}

/* Takes out of one bucket what is this PID's: the one with this name; NULL: its claims. */
static void remove_locked(_Atomic(struct name_entry *) *link, const char *name, weir_pid pid,
                          struct reader *reader)
{
    struct name_entry *entry = atomic_load_explicit(link, memory_order_relaxed);

    while (entry) {
        struct name_entry *next = atomic_load_explicit(&entry->next, memory_order_relaxed);

        if (entry->pid == pid && (name ? strcmp(entry->name, name) == 0 : entry->is_claim)) {
            atomic_store_explicit(link, next, memory_order_release);
            entry->retired.free = free_entry;
            reader_retire(reader, &entry->retired);
        } else {
            link = &entry->next;
        }
        entry = next;
    }
}

void names_remove(struct names *names, const char *name, weir_pid pid, struct reader *reader)
{
    pthread_mutex_lock(&names->lock);
    remove_locked(bucket_of(names, name), name, pid, reader);
    pthread_mutex_unlock(&names->lock);
}

void names_remove_claims(struct names *names, weir_pid pid, struct reader *reader)
{
    pthread_mutex_lock(&names->lock);
    for (size_t i = 0; i < NAMES_BUCKETS; i++)
        remove_locked(&names->buckets[i], NULL, pid, reader);
    pthread_mutex_unlock(&names->lock);
}

/* 0: `next` is in its place, and the old name gone; else nothing changed. */
static int rename_locked(struct names *names, const char *from, struct name_entry *next,
                         struct reader *reader)
{
    struct name_entry *old = find_taken_locked(names, from);
    bool is_found;

    if (!old || old->pid != next->pid || !old->is_claim)
        return WEIR_EUNKNOWN;
    if (find_taken_locked(names, next->name))
        return WEIR_EEXISTS;
    is_found = atomic_load_explicit(&old->comes_by.is_done, memory_order_relaxed);
    next->is_claim = true;
    atomic_store_explicit(&next->comes_by.is_done, false, memory_order_relaxed);
    atomic_store_explicit(&old->leaves_by, &next->comes_by, memory_order_release);
    insert_locked(names, next);
    if (is_found)
        atomic_store_explicit(&next->comes_by.is_done, true, memory_order_release); /* [N2] */
    remove_locked(bucket_of(names, from), from, next->pid, reader);
    return 0;
}

int names_rename(struct names *names, const char *from, const char *to, weir_pid pid,
                 struct reader *reader)
{
    struct name_entry *next;
    int status = from ? make_entry(to, pid, &next) : WEIR_EINVALID;

    if (status != 0)
        return status;
    pthread_mutex_lock(&names->lock);
    status = rename_locked(names, from, next, reader);
    pthread_mutex_unlock(&names->lock);
    if (status != 0)
        free(next);
    return status;
}

int names_find(struct names *names, const char *name, weir_pid *out_pid)
{
    struct name_entry *entry = find(names, name);

    if (!entry)
        return WEIR_EUNKNOWN;
    *out_pid = entry->pid;
    return 0;
}
