/* SPDX-License-Identifier: MIT */
/* The behaviour words.report: adds the totals of the shards, and prints a table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "behaviours.h"
#include "table.h"
#include "words.h"

#define NO_MEMORY_MS 10u
#define EXIT_INCOMPLETE 1
/* Bytes of one print. */
#define TEXT_SIZE 4096u

struct report_settings {
    uint32_t top;
};

struct report {
    const struct report_settings *settings; /* borrowed until close */
    const struct weir_tag *totals_tag;
    struct table words;
    uint64_t *shards; /* owned; words that each shard counted */
    uint32_t shard_count;
    uint64_t unordered;
};

struct text {
    struct weir_self *self;
    size_t size;
    char bytes[TEXT_SIZE];
};

static int report_open(struct weir_self *self, const void *settings, void *memory)
{
    struct report *state = memory;

    state->settings = settings;
    state->totals_tag = weir_tag(self, WORDS_TOTALS_TAG);
    return state->totals_tag ? 0 : WEIR_ENOMEM;
}

/* --- adding up -------------------------------------------------------------------------------- */

static int reserve_shard(struct report *state, uint32_t shard)
{
    uint64_t *larger;

    if (shard < state->shard_count)
        return 0;
    larger = realloc(state->shards, ((size_t)shard + 1) * sizeof *larger);
    if (!larger)
        return WEIR_ENOMEM;
    memset(larger + state->shard_count, 0, (shard + 1 - state->shard_count) * sizeof *larger);
    state->shards = larger;
    state->shard_count = shard + 1;
    return 0;
}

/* False: the sizes of the entries are not those of the message. */
static bool add_entries(struct report *state, const struct words_totals *totals)
{
    const char *at = (const char *)(totals + 1);
    const char *end = at + totals->size;

    for (uint32_t i = 0; i < totals->entries; i++) {
        struct words_entry entry;

        if ((size_t)(end - at) < sizeof entry)
            return false;
        memcpy(&entry, at, sizeof entry);
        at += sizeof entry;
        if ((size_t)(end - at) < entry.size)
            return false;
        table_at(&state->words, at, entry.size)->value += entry.count;
        at += entry.size;
    }
    return at == end;
}

static int report_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct report *state = memory;
    const struct words_totals *totals = NULL;

    if (message->tag == state->totals_tag)
        totals = words_totals_get(message);
    if (!totals) {
        weir_reason(self, "not a " WORDS_TOTALS_TAG);
        return WEIR_REJECT;
    }
    if (reserve_shard(state, totals->shard) < 0 ||
        table_reserve(&state->words, totals->entries, totals->size) < 0) {
        weir_retry_after(self, NO_MEMORY_MS);
        weir_reason(self, "no memory for the totals");
        return WEIR_RETRY;
    }
    state->shards[totals->shard] += totals->words;
    state->unordered += totals->unordered;
    if (!add_entries(state, totals)) {
        weir_reason(self, "totals with wrong sizes");
        weir_exit_status(self, EXIT_INCOMPLETE);
        return WEIR_REJECT;
    }
    return WEIR_DONE;
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_rest(struct text *text)
{
    if (text->size > 0)
        weir_print(text->self, text->bytes, text->size);
    text->size = 0;
}

static void print_bytes(struct text *text, const char *bytes, size_t size)
{
    if (size > sizeof text->bytes - text->size)
        print_rest(text);
    if (size > sizeof text->bytes) {
        weir_print(text->self, bytes, size);
        return;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
}

/* As `uniq -c` does. */
static void print_word(struct text *text, const struct table_entry *entry)
{
    char number[24];
    int size = snprintf(number, sizeof number, "%7" PRIu64 " ", entry->value);

    print_bytes(text, number, (size_t)size);
    print_bytes(text, entry->bytes, entry->size);
    print_bytes(text, "\n", 1);
}

static void print_words(struct text *text, const struct report *state)
{
    const struct table_entry **entries = table_sorted(&state->words);
    size_t count = state->words.count;

    if (!entries) {
        weir_log(text->self, WEIR_LOG_ERROR, "no memory to sort the words");
        weir_exit_status(text->self, EXIT_INCOMPLETE);
        return;
    }
    if (state->settings->top > 0 && state->settings->top < count)
        count = state->settings->top;
    for (size_t i = 0; i < count; i++)
        print_word(text, entries[i]);
    free(entries);
}

static void print_totals(struct text *text, const struct report *state)
{
    uint64_t sum = 0;
    char line[128];
    int size;

    for (uint32_t i = 0; i < state->shard_count; i++) {
        size = snprintf(line, sizeof line, "# shard %" PRIu32 ": %" PRIu64 " words\n", i,
                        state->shards[i]);
        print_bytes(text, line, (size_t)size);
        sum += state->shards[i];
    }
    size = snprintf(line, sizeof line,
                    "# %" PRIu64 " words, %zu different; %" PRIu64 " groups out of order\n", sum,
                    state->words.count, state->unordered);
    print_bytes(text, line, (size_t)size);
}

static void report_close(struct weir_self *self, void *memory, int reason)
{
    struct report *state = memory;
    struct text text = { .self = self };

    (void)reason;
    print_words(&text, state);
    print_totals(&text, state);
    print_rest(&text);
    table_finish(&state->words);
    free(state->shards);
}

static const struct weir_option report_options[] = {
    WEIR_OPTION_U32(struct report_settings, top,
                    .help = "the words that are most frequent, so many; 0 = all", .fallback = "10"),
    { 0 },
};

const struct weir_behaviour words_report = {
    .name = "report",
    .summary = "adds up the counts of the shards, and prints them",
    .options = report_options,
    .settings_size = sizeof(struct report_settings),
    .state_size = sizeof(struct report),
    .open = report_open,
    .handle = report_handle,
    .close = report_close,
};
