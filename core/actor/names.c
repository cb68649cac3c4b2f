#include "actor/names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

struct name_entry {
    struct retired retired;
    _Atomic(struct name_entry *) next; /* written under lock, read by all */
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

static struct name_entry *find(struct names *names, const char *name)
{
    /* [N1] pairs with the release in names_add: the entry is complete. */
    struct name_entry *entry = atomic_load_explicit(bucket_of(names, name), memory_order_acquire);

    while (entry && strcmp(entry->name, name) != 0)
        entry = atomic_load_explicit(&entry->next, memory_order_acquire);
    return entry;
}

int names_add(struct names *names, const char *name, weir_pid pid)
{
    size_t length = name ? strnlen(name, NAMES_LENGTH_MAX + 1) : 0;
    struct name_entry *entry;
    int status = WEIR_EEXISTS;

    if (length == 0 || length > NAMES_LENGTH_MAX)
        return WEIR_EINVALID;
    entry = calloc(1, sizeof *entry + length + 1);
    if (!entry)
        return WEIR_ENOMEM;
    memcpy(entry->name, name, length + 1);
    entry->pid = pid;
    pthread_mutex_lock(&names->lock);
    if (!find(names, name)) {
        _Atomic(struct name_entry *) *bucket = bucket_of(names, name);

        atomic_store_explicit(&entry->next, atomic_load_explicit(bucket, memory_order_relaxed),
                              memory_order_relaxed);
        atomic_store_explicit(bucket, entry, memory_order_release); /* [N1] */
        status = 0;
    }
    pthread_mutex_unlock(&names->lock);
    if (status != 0)
        free(entry);
    return status;
}

static void free_entry(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((char *)retired - offsetof(struct name_entry, retired));
}

/* Takes out of one bucket what is this PID's; with a name, only that. */
static void remove_locked(_Atomic(struct name_entry *) *link, const char *name, weir_pid pid,
                          struct reader *reader)
{
    struct name_entry *entry = atomic_load_explicit(link, memory_order_relaxed);

    while (entry) {
        struct name_entry *next = atomic_load_explicit(&entry->next, memory_order_relaxed);

        if (entry->pid == pid && (!name || strcmp(entry->name, name) == 0)) {
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

void names_remove_pid(struct names *names, weir_pid pid, struct reader *reader)
{
    pthread_mutex_lock(&names->lock);
    for (size_t i = 0; i < NAMES_BUCKETS; i++)
        remove_locked(&names->buckets[i], NULL, pid, reader);
    pthread_mutex_unlock(&names->lock);
}

int names_find(struct names *names, const char *name, weir_pid *out_pid)
{
    struct name_entry *entry = find(names, name);

    if (!entry)
        return WEIR_EUNKNOWN;
    *out_pid = entry->pid;
    return 0;
}
