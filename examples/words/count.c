/* SPDX-License-Identifier: MIT */
/* The behaviour words.count: a shard. It counts groups of words, and emits its totals when it
 * closes. */
#include <string.h>

#include "behaviours.h"
#include "table.h"
#include "words.h"

#define OUTPUT_TOTALS 0u
/* Large, so that a shard's totals fit into the 256 messages that may wait at an output. */
#define PART_SIZE (1u << 20)
#define NO_MEMORY_MS 10u
#define EXIT_INCOMPLETE 1

struct count {
    const struct weir_tag *group_tag;
    const struct weir_tag *totals_tag;
    struct table words; /* word -> how often */
    struct table files; /* key of a file -> its last line so far */
    uint64_t counted;
    uint64_t unordered;
};

static int count_open(struct weir_self *self, const void *settings, void *memory)
{
    struct count *state = memory;

    (void)settings;
    state->group_tag = weir_tag(self, WORDS_GROUP_TAG);
    state->totals_tag = weir_tag(self, WORDS_TOTALS_TAG);
    return state->group_tag && state->totals_tag ? 0 : WEIR_ENOMEM;
}

/* --- counting --------------------------------------------------------------------------------- */

/*
 * Checks the order: the pool `split` routes by file, so the lines of a file come from one of its
 * workers, and messages of one sender arrive in order.
 */
static void look_at_order(struct count *state, const struct words_group *group)
{
    struct table_entry *last = table_at(&state->files, &group->file, sizeof group->file);

    if (group->line < last->value)
        state->unordered++;
    else
        last->value = group->line;
}

static void count_words(struct count *state, const struct words_group *group)
{
    const char *word = (const char *)(group + 1);
    const char *end = word + group->size;

    while (word < end) {
        size_t size = strlen(word);

        table_at(&state->words, word, size)->value++;
        state->counted++;
        word += size + 1;
    }
}

static int count_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct count *state = memory;
    const struct words_group *group = NULL;

    if (message->tag == state->group_tag)
        group = words_group_get(message);
    if (!group) {
        weir_reason(self, "not a " WORDS_GROUP_TAG);
        return WEIR_REJECT;
    }
    /* Makes everything that can fail first, so that a message that comes again was not counted. */
    if (table_reserve(&state->words, group->size, group->size) < 0 ||
        table_reserve(&state->files, 1, sizeof group->file) < 0) {
        weir_retry_after(self, NO_MEMORY_MS);
        weir_reason(self, "no memory for the words");
        return WEIR_RETRY;
    }
    look_at_order(state, group);
    count_words(state, group);
    weir_progress(self, "words", state->counted, 0);
    return WEIR_DONE;
}

/* --- results ---------------------------------------------------------------------------------- */

/* Measures the entries from slot `*index` on that fit into one part; `*index` moves past them. */
static size_t measure_part(const struct table *table, size_t *index, uint32_t *out_entries)
{
    size_t size = 0;

    *out_entries = 0;
    for (; *index < table->slot_count && size < PART_SIZE; (*index)++) {
        if (!table->slots[*index].bytes)
            continue;
        size += sizeof(struct words_entry) + table->slots[*index].size;
        (*out_entries)++;
    }
    return size;
}

static void fill_part(const struct table *table, size_t first, size_t end, char *at)
{
    for (size_t i = first; i < end; i++) {
        const struct table_entry *from = &table->slots[i];
        struct words_entry entry = { from->value, from->size };

        if (!from->bytes)
            continue;
        memcpy(at, &entry, sizeof entry);
        memcpy(at + sizeof entry, from->bytes, from->size);
        at += sizeof entry + from->size;
    }
}

static int emit_part(struct weir_self *self, const struct count *state, size_t *index)
{
    const size_t first = *index;
    struct words_totals *totals;
    struct weir_message *message;
    uint32_t entries;
    size_t size = measure_part(&state->words, index, &entries);
    int status;

    message = weir_message_new(self, state->totals_tag, sizeof *totals + size);
    if (!message)
        return WEIR_ENOMEM;
    totals = message->data;
    totals->words = first == 0 ? state->counted : 0;
    totals->unordered = first == 0 ? state->unordered : 0;
    totals->shard = weir_index(self);
    totals->entries = entries;
    totals->size = size;
    fill_part(&state->words, first, *index, (char *)(totals + 1));
    status = weir_emit(self, OUTPUT_TOTALS, message);
    if (status < 0)
        weir_message_free(self, message);
    return status;
}

/* At its end, also when the pool shrinks, a shard emits its totals. */
static void count_close(struct weir_self *self, void *memory, int reason)
{
    struct count *state = memory;
    size_t index = 0;
    int status;

    (void)reason;
    do
        status = emit_part(self, state, &index);
    while (status == 0 && index < state->words.slot_count);
    if (status < 0) {
        weir_log(self, WEIR_LOG_ERROR, "totals lost", weir_str("reason", weir_status_text(status)));
        weir_exit_status(self, EXIT_INCOMPLETE);
    }
    table_finish(&state->words);
    table_finish(&state->files);
}

static const struct weir_output count_outputs[] = {
    { .name = "totals", .help = "the counts of the shard, as words.totals/1", .required = true },
    { 0 },
};

const struct weir_behaviour words_count = {
    .name = "count",
    .summary = "one shard: counts the words of its messages, and sends the totals when it closes",
    .outputs = count_outputs,
    .state_size = sizeof(struct count),
    .open = count_open,
    .handle = count_handle,
    .close = count_close,
};
