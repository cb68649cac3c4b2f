/* SPDX-License-Identifier: MIT */
#include "stats/dead_letters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message/tag.h"

void dead_letters_init(struct dead_letters *letters, const struct dead_letters_bounds *bounds)
{
    static const struct dead_letters_bounds usual = { DEAD_LETTERS_MAX, DEAD_LETTERS_BYTES_MAX };

    *letters = (struct dead_letters){ .bounds = bounds ? *bounds : usual };
    lock_init(&letters->lock, LOCK_DEAD_LETTERS);
}

void dead_letters_finish(struct dead_letters *letters)
{
    struct dead_message *dead = letters->first;

    while (dead) {
        struct dead_message *next = dead->next;

        free(dead);
        dead = next;
    }
    lock_finish(&letters->lock);
}

void dead_letters_note_retry(struct dead_letters *letters, const char *reason)
{
    lock_acquire(&letters->lock);
    (void)snprintf(letters->retry_reason, sizeof letters->retry_reason, "%s", reason ? reason : "");
    lock_release(&letters->lock);
}

void dead_letters_retry_reason(struct dead_letters *letters, char *out, size_t size)
{
    lock_acquire(&letters->lock);
    (void)snprintf(out, size, "%s", letters->retry_reason);
    lock_release(&letters->lock);
}

/* --- the list, by number -------------------------------------------------------------------- */

static uint64_t weight_of(const struct dead_message *dead)
{
    return dead->letter.whole ? dead->letter.size : 0;
}

/* Inserts after `before`; NULL: it becomes the oldest. */
static void insert_locked(struct dead_letters *letters, struct dead_message *before,
                          struct dead_message *dead)
{
    struct dead_message **link = before ? &before->next : &letters->first;

    dead->next = *link;
    *link = dead;
    if (!dead->next)
        letters->last = dead;
    letters->count++;
    letters->bytes += weight_of(dead);
}

/* Frees a dead letter. `before` precedes it; NULL: it is the oldest. */
static void remove_locked(struct dead_letters *letters, struct dead_message *before,
                          struct dead_message *dead)
{
    struct dead_message **link = before ? &before->next : &letters->first;

    *link = dead->next;
    if (!dead->next)
        letters->last = before;
    letters->count--;
    letters->bytes -= weight_of(dead);
    free(dead);
}

static void evict_oldest_locked(struct dead_letters *letters)
{
    remove_locked(letters, NULL, letters->first);
    letters->evicted++;
}

static void evict_locked(struct dead_letters *letters)
{
    while (letters->first &&
           (letters->count > letters->bounds.count || letters->bytes > letters->bounds.bytes))
        evict_oldest_locked(letters);
}

/* --- adding --------------------------------------------------------------------------------- */

/* The payload of a task is a pointer to an argument that may be gone by then. */
static bool is_task(const struct message *message)
{
    return message->public.tag && strcmp(message->public.tag->name, TAG_TASK) == 0;
}

static struct dead_message *copy(const struct message *message, bool whole)
{
    size_t size = whole ? message->public.size : 0;
    struct dead_message *dead = size <= SIZE_MAX - sizeof *dead ? malloc(sizeof *dead + size)
                                                                : NULL;

    if (!dead)
        return NULL;
    dead->letter = (struct dead_letter){
        .tag = message->public.tag,
        .size = message->public.size,
        .whole = whole,
        .from = message->public.from,
        .key = message->public.key,
        .attempt = message->public.attempt,
        .kind = message->public.kind,
        .lane = message->public.lane,
    };
    if (size) {
        memcpy(dead->payload, message->public.data, size);
        memcpy(dead->letter.head, message->public.data,
               size < DEAD_LETTER_HEAD ? size : DEAD_LETTER_HEAD);
    }
    return dead;
}

static void keep_locked(struct dead_letters *letters, struct dead_message *dead)
{
    dead->letter.number = letters->number;
    insert_locked(letters, letters->last, dead);
    evict_locked(letters);
}

_Static_assert(sizeof((struct weir_end){ 0 }.detail) + sizeof "; " - 1 + MESSAGE_LABEL_MAX <=
                   DEAD_LETTER_DETAIL,
               "a reason and a label fit");

const char *dead_letters_detail(const struct message *message, const char *detail,
                                char out[DEAD_LETTER_DETAIL])
{
    const char *label = message_label(message);

    if (!detail)
        detail = "";
    if (!label[0])
        return detail;
    (void)snprintf(out, DEAD_LETTER_DETAIL, "%s%s%s", detail, detail[0] ? "; " : "", label);
    return out;
}

/* 0: the detail does not end with the label, such as one in which something is hidden. */
static uint8_t label_size(const struct message *message, const char *detail)
{
    const char *label = message_label(message);
    size_t size = strlen(label), whole = strlen(detail);

    return size <= whole && strcmp(detail + whole - size, label) == 0 ? (uint8_t)size : 0;
}

void dead_letters_add(struct dead_letters *letters, const struct message *message,
                      const struct dead_letter_way *way, enum dead_reason reason,
                      const char *detail, uint64_t record, uint64_t now_ns)
{
    static const struct dead_letter_way to_pool = { .output = DEAD_LETTER_DIRECT };
    struct dead_message *dead = NULL;

    lock_acquire(&letters->lock);
    letters->counts[reason]++;
    letters->number++;
    if (letters->bounds.count && !message_is_of_core(message))
        dead = copy(message, message->public.size <= letters->bounds.bytes && !is_task(message));
    if (dead) {
        dead->letter.reason = reason;
        dead->letter.way = way ? *way : to_pool;
        dead->letter.record = record;
        dead->letter.when_ns = now_ns;
        (void)snprintf(dead->letter.detail, sizeof dead->letter.detail, "%s", detail ? detail : "");
        dead->letter.label_size = label_size(message, dead->letter.detail);
        keep_locked(letters, dead);
    }
    lock_release(&letters->lock);
}

void dead_letters_set_bounds(struct dead_letters *letters, const struct dead_letters_bounds *bounds)
{
    lock_acquire(&letters->lock);
    letters->bounds = *bounds;
    evict_locked(letters);
    lock_release(&letters->lock);
}

/* --- reading -------------------------------------------------------------------------------- */

void dead_letters_counts(struct dead_letters *letters, uint64_t out_counts[DEAD_REASONS])
{
    lock_acquire(&letters->lock);
    memcpy(out_counts, letters->counts, sizeof letters->counts);
    lock_release(&letters->lock);
}

void dead_letters_figures_add(struct dead_letters_figures *sum,
                              const struct dead_letters_figures *figures)
{
    for (size_t i = 0; i < DEAD_REASONS; i++)
        sum->counts[i] += figures->counts[i];
    sum->kept += figures->kept;
    sum->kept_bytes += figures->kept_bytes;
    sum->evicted += figures->evicted;
    sum->replayed += figures->replayed;
    sum->deleted += figures->deleted;
}

void dead_letters_figures(struct dead_letters *letters, struct dead_letters_figures *out)
{
    struct dead_letters_figures own;

    lock_acquire(&letters->lock);
    memcpy(own.counts, letters->counts, sizeof own.counts);
    own.kept = letters->count;
    own.kept_bytes = letters->bytes;
    own.evicted = letters->evicted;
    own.replayed = letters->replayed;
    own.deleted = letters->deleted;
    lock_release(&letters->lock);
    dead_letters_figures_add(out, &own);
}

void dead_letters_absorb(struct dead_letters *letters, const struct dead_letters_figures *gone)
{
    lock_acquire(&letters->lock);
    for (size_t i = 0; i < DEAD_REASONS; i++)
        letters->counts[i] += gone->counts[i];
    letters->evicted += gone->evicted + gone->kept;
    letters->replayed += gone->replayed;
    letters->deleted += gone->deleted;
    lock_release(&letters->lock);
}

uint64_t dead_letters_total(const struct dead_letters_figures *figures)
{
    uint64_t total = 0;

    for (size_t i = 0; i < DEAD_REASONS; i++)
        total += figures->counts[i];
    return total;
}

uint32_t dead_letters_read_after(struct dead_letters *letters, uint64_t number,
                                 struct dead_letter *out, uint32_t max)
{
    uint32_t count = 0;

    lock_acquire(&letters->lock);
    for (struct dead_message *dead = letters->first; dead && count < max; dead = dead->next)
        if (dead->letter.number > number)
            out[count++] = dead->letter;
    lock_release(&letters->lock);
    return count;
}

uint32_t dead_letters_read(struct dead_letters *letters, struct dead_letter *out, uint32_t max)
{
    return dead_letters_read_after(letters, 0, out, max);
}

/* Finds a dead letter and the one before it, NULL for the oldest; NULL: no dead letter has that
 * number. */
static struct dead_message *find_locked(struct dead_letters *letters, uint64_t number,
                                        struct dead_message **out_before)
{
    struct dead_message *dead = letters->first;

    *out_before = NULL;
    while (dead && dead->letter.number != number) {
        *out_before = dead;
        dead = dead->next;
    }
    return dead;
}

static int copy_payload(const struct dead_message *dead, unsigned char **out, size_t *out_size)
{
    size_t size = dead->letter.size;
    unsigned char *payload;

    if (!dead->letter.whole && size > 0)
        return WEIR_EUNSUPPORTED;
    payload = malloc(size + 1); /* a payload may be empty */
    if (!payload)
        return WEIR_ENOMEM;
    memcpy(payload, dead->payload, size);
    *out = payload;
    *out_size = size;
    return 0;
}

int dead_letters_payload(struct dead_letters *letters, uint64_t number, unsigned char **out,
                         size_t *out_size)
{
    struct dead_message *dead, *before;
    int status = WEIR_EUNKNOWN;

    lock_acquire(&letters->lock);
    dead = find_locked(letters, number, &before);
    if (dead)
        status = copy_payload(dead, out, out_size);
    lock_release(&letters->lock);
    return status;
}

/* --- deleting ------------------------------------------------------------------------------- */

bool dead_letters_delete(struct dead_letters *letters, uint64_t number)
{
    struct dead_message *dead, *before;

    lock_acquire(&letters->lock);
    dead = find_locked(letters, number, &before);
    if (dead) {
        remove_locked(letters, before, dead);
        letters->deleted++;
    }
    lock_release(&letters->lock);
    return dead != NULL;
}

uint32_t dead_letters_delete_all(struct dead_letters *letters)
{
    uint32_t count = 0;

    lock_acquire(&letters->lock);
    for (; letters->first; count++)
        remove_locked(letters, NULL, letters->first);
    letters->deleted += count;
    lock_release(&letters->lock);
    return count;
}

/* --- sending again -------------------------------------------------------------------------- */

struct dead_message *dead_letters_take(struct dead_letters *letters)
{
    struct dead_message *oldest;

    lock_acquire(&letters->lock);
    oldest = letters->first;
    letters->first = letters->last = NULL;
    letters->count = 0;
    letters->bytes = 0;
    lock_release(&letters->lock);
    return oldest;
}

void dead_letters_put_back(struct dead_letters *letters, struct dead_message *oldest)
{
    struct dead_message *before = NULL;

    lock_acquire(&letters->lock);
    while (oldest) {
        struct dead_message *next = oldest->next;

        insert_locked(letters, before, oldest);
        before = oldest;
        oldest = next;
    }
    evict_locked(letters);
    lock_release(&letters->lock);
}

bool dead_letters_sent_again(struct dead_letters *letters, uint64_t record)
{
    struct dead_message *dead, *before = NULL;

    lock_acquire(&letters->lock);
    for (dead = letters->first; dead && dead->letter.record != record; dead = dead->next)
        before = dead;
    if (dead) {
        remove_locked(letters, before, dead);
        letters->replayed++;
    }
    lock_release(&letters->lock);
    return dead != NULL;
}

void dead_letters_replayed(struct dead_letters *letters, struct dead_message *dead)
{
    lock_acquire(&letters->lock);
    letters->replayed++;
    lock_release(&letters->lock);
    free(dead);
}
