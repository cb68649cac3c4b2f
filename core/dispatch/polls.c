/* SPDX-License-Identifier: MIT */
#include "dispatch/polls.h"

#include <stdbool.h>
#include <stdlib.h>

#include "message/message.h"

#define POLLS_FIRST 16 /* entries; doubled when needed, up to one for each descriptor */

void polls_init(struct polls *polls)
{
    *polls = (struct polls){ 0 };
    lock_init(&polls->lock, LOCK_POLLS);
}

void polls_finish(struct polls *polls, struct cache *cache)
{
    for (uint32_t i = 0; i < polls->count; i++)
        message_destroy(cache, polls->entries[i].message);
    free(polls->entries);
    lock_finish(&polls->lock);
}

static bool grow_locked(struct polls *polls)
{
    uint32_t count = polls->count ? polls->count * 2 : POLLS_FIRST;
    struct poll *entries = realloc(polls->entries, count * sizeof *entries);

    if (!entries)
        return false;
    for (uint32_t i = count; i > polls->count; i--) {
        entries[i - 1] = (struct poll){ .next_free = polls->first_free };
        polls->first_free = i;
    }
    polls->entries = entries;
    polls->count = count;
    return true;
}

int polls_add(struct polls *polls, weir_pid pid, struct message *message, uint64_t *out_token)
{
    int status = WEIR_ENOMEM;

    lock_acquire(&polls->lock);
    if (polls->first_free || grow_locked(polls)) {
        uint32_t number = polls->first_free;
        struct poll *entry = &polls->entries[number - 1];

        polls->first_free = entry->next_free;
        entry->serial++;
        entry->pid = pid;
        entry->message = message;
        *out_token = (uint64_t)entry->serial << 32 | number;
        message->reference = *out_token;
        status = 0;
    }
    lock_release(&polls->lock);
    return status;
}

/* The entry of a token that was not taken. */
static struct poll *find_locked(struct polls *polls, uint64_t token)
{
    uint32_t number = (uint32_t)token;
    struct poll *entry;

    if (number == 0 || number > polls->count)
        return NULL;
    entry = &polls->entries[number - 1];
    return entry->message && entry->serial == token >> 32 ? entry : NULL;
}

struct message *polls_take(struct polls *polls, uint64_t token, weir_pid *out_pid)
{
    struct message *message = NULL;
    struct poll *entry;

    lock_acquire(&polls->lock);
    entry = find_locked(polls, token);
    if (entry) {
        message = entry->message;
        *out_pid = entry->pid;
        entry->message = NULL;
        entry->next_free = polls->first_free;
        polls->first_free = (uint32_t)token;
    }
    lock_release(&polls->lock);
    return message;
}
