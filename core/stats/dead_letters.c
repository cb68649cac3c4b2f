#include "stats/dead_letters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dead_letters_init(struct dead_letters *letters, uint32_t capacity)
{
    *letters = (struct dead_letters){ .capacity = capacity };
    pthread_mutex_init(&letters->lock, NULL);
}

void dead_letters_finish(struct dead_letters *letters)
{
    free(letters->records);
    pthread_mutex_destroy(&letters->lock);
}

static struct dead_letter *next_record_locked(struct dead_letters *letters)
{
    if (!letters->records)
        letters->records = calloc(letters->capacity, sizeof *letters->records);
    if (!letters->records)
        return NULL;
    if (letters->count < letters->capacity)
        return &letters->records[(letters->first + letters->count++) % letters->capacity];
    letters->first = (letters->first + 1) % letters->capacity;
    return &letters->records[(letters->first + letters->capacity - 1) % letters->capacity];
}

void dead_letters_add(struct dead_letters *letters, const struct message *message,
                      enum dead_reason reason, const char *detail, uint64_t now_ns)
{
    struct dead_letter *record;

    pthread_mutex_lock(&letters->lock);
    letters->counts[reason]++;
    record = letters->capacity ? next_record_locked(letters) : NULL;
    if (record) {
        *record = (struct dead_letter){
            .reason = reason,
            .tag = message->public.tag,
            .size = message->public.size,
            .from = message->public.from,
            .attempt = message->public.attempt,
            .when_ns = now_ns,
        };
        (void)snprintf(record->detail, sizeof record->detail, "%s", detail ? detail : "");
    }
    pthread_mutex_unlock(&letters->lock);
}

void dead_letters_counts(struct dead_letters *letters, uint64_t out_counts[DEAD_REASONS])
{
    pthread_mutex_lock(&letters->lock);
    memcpy(out_counts, letters->counts, sizeof letters->counts);
    pthread_mutex_unlock(&letters->lock);
}

uint32_t dead_letters_read(struct dead_letters *letters, struct dead_letter *out, uint32_t max)
{
    uint32_t count;

    pthread_mutex_lock(&letters->lock);
    count = letters->count < max ? letters->count : max;
    for (uint32_t i = 0; i < count; i++)
        out[i] = letters->records[(letters->first + i) % letters->capacity];
    pthread_mutex_unlock(&letters->lock);
    return count;
}
