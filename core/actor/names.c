/* SPDX-License-Identifier: MIT */
#include "actor/names.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weir/status.h>

/* A renaming; part of the entry of the new name. Readers reach it also through the entry of the old
 * name, which is retired first. */
struct move {
    _Atomic bool is_done; /* written once under lock, read by all */
};

struct name_entry {
    struct retired retired;
    /* written under lock, read by all: the renaming that ends this name; NULL = none */
    _Atomic(struct move *) leaves_by;
    struct move comes_by;     /* complete from the start, except for a claim or a renaming */
    struct table_node of_pid; /* lock */
    uint64_t hash;            /* const: of the name */
    bool is_claim;            /* const: of an incarnation, and ends with it */
    weir_pid pid;             /* const */
    /* written once under lock, read by all: another entry of the same name comes before this one */
    _Atomic bool yields;
    char name[]; /* const */
};

/*
 * Each name is in the first slot after its hash that was free when it was added; a search ends at
 * the first slot that was never used. A reader that still searches a replaced table finds the state
 * at the time it began.
 */
struct name_table {
    struct retired retired;
    uint32_t mask;                        /* const */
    uint32_t used;                        /* lock: slots that have or had a name */
    _Atomic(struct name_entry *) slots[]; /* written under lock, read by all */
};

#define SLOTS_MIN 64u

static const struct name_entry given_up; /* marks a slot whose name was removed */

void names_init(struct names *names)
{
    lock_init(&names->lock, LOCK_NAMES);
    atomic_init(&names->table, NULL);
    names->by_pid = names->labels = (struct table){ .only = NULL };
    names->count = 0;
}

void names_finish(struct names *names)
{
    struct table_node *node = table_take_all(&names->by_pid);

    while (node) {
        struct name_entry *entry = TABLE_ENTRY(node, struct name_entry, of_pid);

        node = node->next;
        free(entry);
    }
    (void)table_take_all(&names->labels);
    free(atomic_load_explicit(&names->table, memory_order_relaxed));
    lock_finish(&names->lock);
}

/* [N1] pairs with the releases in put and replace_table_locked: the table is complete. */
static struct name_table *table_of(struct names *names)
{
    return atomic_load_explicit(&names->table, memory_order_acquire);
}

static struct name_entry *entry_at(struct name_table *table, uint32_t slot)
{
    return atomic_load_explicit(&table->slots[slot & table->mask], memory_order_acquire);
}

static bool has_name(const struct name_entry *entry, uint64_t hash, const char *name)
{
    return entry != &given_up && entry->hash == hash && strcmp(entry->name, name) == 0;
}

static bool is_done(struct move *move)
{
    /* [N2] pairs with the release in names_rename and names_publish. */
    return atomic_load_explicit(&move->is_done, memory_order_acquire);
}

/* A single store of `is_done` ends the old name and begins the new one. */
static bool counts(struct name_entry *entry)
{
    struct move *leaves_by = atomic_load_explicit(&entry->leaves_by, memory_order_acquire);

    return is_done(&entry->comes_by) && !(leaves_by && is_done(leaves_by));
}

static bool yields(struct name_entry *entry)
{
    /* Relaxed: a lookup at the moment of the change may find either. */
    return atomic_load_explicit(&entry->yields, memory_order_relaxed);
}

/* Of entries that yield, the last one. */
static struct name_entry *find(struct names *names, const char *name)
{
    struct name_table *table = table_of(names);
    uint64_t hash = weir_key(name, strlen(name));
    struct name_entry *entry, *last = NULL;

    for (uint32_t slot = (uint32_t)hash; table; slot++) {
        entry = entry_at(table, slot);
        if (!entry)
            break;
        if (!has_name(entry, hash, name) || !counts(entry))
            continue;
        last = entry;
        if (!yields(entry))
            break;
    }
    return last;
}

/* Finds claims that are not published, too; no name that yields. Under the lock no renaming is
 * halfway. */
static struct name_entry *find_taken_locked(struct names *names, const char *name)
{
    struct name_table *table = table_of(names);
    uint64_t hash = weir_key(name, strlen(name));
    struct name_entry *entry = NULL;

    for (uint32_t slot = (uint32_t)hash; table; slot++) {
        entry = entry_at(table, slot);
        if (!entry || (has_name(entry, hash, name) && !yields(entry)))
            break;
    }
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
    entry->hash = weir_key(name, length);
    entry->pid = pid;
    atomic_init(&entry->comes_by.is_done, true);
    *out = entry;
    return 0;
}

static void free_table(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((char *)retired - offsetof(struct name_table, retired));
}

static void put(struct name_table *table, struct name_entry *entry)
{
    uint32_t slot = (uint32_t)entry->hash;

    while (entry_at(table, slot))
        slot++;
    table->used++;
    atomic_store_explicit(&table->slots[slot & table->mask], entry,
                          memory_order_release); /* [N1] */
}

/* Replaces the table by one with room for twice the names, without removed slots. */
static int replace_table_locked(struct names *names, struct reader *reader)
{
    struct name_table *old = table_of(names);
    struct name_table *table;
    uint32_t size = SLOTS_MIN;

    while (size < names->count * 4 && size <= UINT32_MAX / 4)
        size *= 2;
    table = calloc(1, sizeof *table + size * sizeof table->slots[0]);
    if (!table)
        return WEIR_ENOMEM;
    table->mask = size - 1;
    for (uint32_t i = 0; old && i <= old->mask; i++)
        if (entry_at(old, i) && entry_at(old, i) != &given_up)
            put(table, entry_at(old, i));
    atomic_store_explicit(&names->table, table, memory_order_release); /* [N1] */
    if (old) {
        old->retired.free = free_table;
        reader_retire(reader, &old->retired);
    }
    return 0;
}

/* At most half of the slots are used, so that searches are short. */
static int reserve_locked(struct names *names, struct reader *reader)
{
    struct name_table *table = table_of(names);

    return table && table->used <= table->mask / 2 ? 0 : replace_table_locked(names, reader);
}

/* The table has room: reserve_locked. */
static void insert_locked(struct names *names, struct name_entry *entry)
{
    table_add(&names->by_pid, &entry->of_pid, entry->pid);
    names->count++;
    put(table_of(names), entry);
}

/* Takes the entry on 0. */
static int insert(struct names *names, struct name_entry *entry, struct reader *reader)
{
    int status;

    lock_acquire(&names->lock);
    status = reserve_locked(names, reader);
    if (status == 0 && find_taken_locked(names, entry->name))
        status = WEIR_EEXISTS;
    if (status == 0)
        insert_locked(names, entry);
    lock_release(&names->lock);
    if (status != 0)
        free(entry);
    return status;
}

int names_add(struct names *names, const char *name, weir_pid pid, struct reader *reader)
{
    struct name_entry *entry;
    int status = make_entry(name, pid, &entry);

    return status == 0 ? insert(names, entry, reader) : status;
}

int names_claim(struct names *names, const char *name, weir_pid pid, bool is_found,
                struct reader *reader)
{
    struct name_entry *entry;
    int status = make_entry(name, pid, &entry);

    if (status != 0)
        return status;
    entry->is_claim = true;
    atomic_init(&entry->comes_by.is_done, is_found);
    return insert(names, entry, reader);
}

/* The entry of a PID's table node. */
static struct name_entry *entry_of(struct table_node *node)
{
    return node ? TABLE_ENTRY(node, struct name_entry, of_pid) : NULL;
}

static struct name_entry *first_of_locked(struct names *names, weir_pid pid)
{
    return entry_of(table_first(&names->by_pid, pid));
}

static struct name_entry *next_of_locked(const struct name_entry *entry)
{
    return entry_of(table_next(&entry->of_pid));
}

void names_label(struct names *names, struct name_label *label, const char *text, weir_pid pid)
{
    label->text = text;
    lock_acquire(&names->lock);
    table_add(&names->labels, &label->by_pid, pid);
    lock_release(&names->lock);
}

void names_unlabel(struct names *names, struct name_label *label)
{
    lock_acquire(&names->lock);
    table_remove(&names->labels, &label->by_pid);
    lock_release(&names->lock);
}

/* The text of the label of a PID, or else its first name; "": it has none. */
static const char *text_of_locked(struct names *names, weir_pid pid)
{
    struct table_node *label = table_first(&names->labels, pid);
    const struct name_entry *entry = first_of_locked(names, pid);

    if (label)
        return TABLE_ENTRY(label, struct name_label, by_pid)->text;
    while (entry && next_of_locked(entry))
        entry = next_of_locked(entry);
    return entry ? entry->name : "";
}

void names_of(struct names *names, weir_pid pid, char out_name[NAMES_LENGTH_MAX + 1])
{
    lock_acquire(&names->lock);
    (void)snprintf(out_name, NAMES_LENGTH_MAX + 1, "%s", text_of_locked(names, pid));
    lock_release(&names->lock);
}

void names_publish(struct names *names, weir_pid pid)
{
    lock_acquire(&names->lock);
    for (struct name_entry *entry = first_of_locked(names, pid); entry;
         entry = next_of_locked(entry))
        atomic_store_explicit(&entry->comes_by.is_done, true, memory_order_release);
    lock_release(&names->lock); /* the stores are [N2] */
}

static void free_entry(struct retired *retired, struct reader *reader)
{
    (void)reader;
    free((char *)retired - offsetof(struct name_entry, retired));
}

static void remove_locked(struct names *names, struct name_entry *entry, struct reader *reader)
{
    struct name_table *table = table_of(names);
    uint32_t slot = (uint32_t)entry->hash;

    while (entry_at(table, slot) != entry)
        slot++;
    atomic_store_explicit(&table->slots[slot & table->mask],
                          (struct name_entry *)(uintptr_t)&given_up, memory_order_release);
    table_remove(&names->by_pid, &entry->of_pid);
    names->count--;
    entry->retired.free = free_entry;
    reader_retire(reader, &entry->retired);
}

/* NULL: the name is not this PID's. */
static struct name_entry *find_of_locked(struct names *names, const char *name, weir_pid pid)
{
    struct name_entry *entry = first_of_locked(names, pid);

    while (entry && strcmp(entry->name, name) != 0)
        entry = next_of_locked(entry);
    return entry;
}

void names_remove(struct names *names, const char *name, weir_pid pid, struct reader *reader)
{
    struct name_entry *entry;

    lock_acquire(&names->lock);
    entry = find_of_locked(names, name, pid);
    if (entry)
        remove_locked(names, entry, reader);
    lock_release(&names->lock);
}

void names_yield(struct names *names, const char *name, weir_pid pid)
{
    struct name_entry *entry;

    lock_acquire(&names->lock);
    entry = find_of_locked(names, name, pid);
    if (entry)
        atomic_store_explicit(&entry->yields, true, memory_order_relaxed);
    lock_release(&names->lock);
}

void names_remove_claims(struct names *names, weir_pid pid, struct reader *reader)
{
    struct name_entry *entry, *next;

    lock_acquire(&names->lock);
    for (entry = first_of_locked(names, pid); entry; entry = next) {
        next = next_of_locked(entry);
        if (entry->is_claim)
            remove_locked(names, entry, reader);
    }
    lock_release(&names->lock);
}

/* 0: `next` has replaced the old name; otherwise nothing has changed. */
static int rename_locked(struct names *names, const char *from, struct name_entry *next,
                         struct reader *reader)
{
    struct name_entry *old = find_taken_locked(names, from);
    bool is_found;
    int status;

    if (!old || old->pid != next->pid || !old->is_claim)
        return WEIR_EUNKNOWN;
    if (find_taken_locked(names, next->name))
        return WEIR_EEXISTS;
    status = reserve_locked(names, reader);
    if (status != 0)
        return status;
    is_found = atomic_load_explicit(&old->comes_by.is_done, memory_order_relaxed);
    next->is_claim = true;
    atomic_store_explicit(&next->comes_by.is_done, false, memory_order_relaxed);
    atomic_store_explicit(&old->leaves_by, &next->comes_by, memory_order_release);
    insert_locked(names, next);
    if (is_found)
        atomic_store_explicit(&next->comes_by.is_done, true, memory_order_release); /* [N2] */
    remove_locked(names, old, reader);
    return 0;
}

int names_rename(struct names *names, const char *from, const char *to, weir_pid pid,
                 struct reader *reader)
{
    struct name_entry *next;
    int status = from ? make_entry(to, pid, &next) : WEIR_EINVALID;

    if (status != 0)
        return status;
    lock_acquire(&names->lock);
    status = rename_locked(names, from, next, reader);
    lock_release(&names->lock);
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
