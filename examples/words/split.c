/* SPDX-License-Identifier: MIT */
/* The behaviour words.split: splits lines into groups of words. */
#include <stdlib.h>
#include <string.h>

#include <weir/messages/files.h>

#include "behaviours.h"
#include "words.h"

#define OUTPUT_GROUPS 0u
/* Before another try to get memory. */
#define NO_MEMORY_MS 10u
/* A line that was not counted makes the result wrong: the exit code of `weir run` shows it. */
#define EXIT_INCOMPLETE 1

struct split {
    const struct weir_tag *line_tag;
    const struct weir_tag *group_tag;
    char *line; /* owned; the current line in small letters */
    size_t capacity;
    uint64_t lines_done;
};

/* A word of the current line. */
struct word {
    const char *start;
    size_t size;
};

/* A message under construction. */
struct part {
    uint32_t count;
    uint32_t size;
    struct weir_message *message;
    char *end;
};

static int split_open(struct weir_self *self, const void *settings, void *memory)
{
    struct split *state = memory;

    (void)settings;
    state->line_tag = weir_tag(self, FILES_LINE_TAG);
    state->group_tag = weir_tag(self, WORDS_GROUP_TAG);
    return state->line_tag && state->group_tag ? 0 : WEIR_ENOMEM;
}

/* --- finding words ---------------------------------------------------------------------------- */

/* Letters are those of ASCII, and every byte of a letter beyond: UTF-8 stays in one piece. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
}

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Copies the line in small letters into the state's buffer. 0 or WEIR_ENOMEM. */
static int take_line(struct split *state, const struct files_line *line)
{
    const char *text = files_line_text(line);

    if (line->line_size >= state->capacity) {
        size_t capacity = (size_t)line->line_size + 1;
        char *larger = realloc(state->line, capacity);

        if (!larger)
            return WEIR_ENOMEM;
        state->line = larger;
        state->capacity = capacity;
    }
    for (size_t i = 0; i < line->line_size; i++)
        state->line[i] = small(text[i]);
    return 0;
}

/* The next word at or after `*at`, which moves past it. False: there is none. */
static bool next_word(const char **at, const char *end, struct word *word)
{
    const char *p = *at;

    while (p < end && !is_letter(*p))
        p++;
    word->start = p;
    while (p < end && is_letter(*p))
        p++;
    word->size = (size_t)(p - word->start);
    *at = p;
    return word->size > 0;
}

static uint32_t group_of(const struct word *word)
{
    return (uint32_t)(weir_key(word->start, word->size) % WORDS_GROUPS);
}

/* --- making messages -------------------------------------------------------------------------- */

static void measure(const struct split *state, size_t size, struct part *parts)
{
    const char *at = state->line;
    struct word word;

    while (next_word(&at, state->line + size, &word)) {
        struct part *part = &parts[group_of(&word)];

        part->count++;
        part->size += (uint32_t)word.size + 1;
    }
}

static int make_message(struct weir_self *self, const struct split *state, struct part *part,
                        uint32_t group, const struct weir_message *like, uint64_t number)
{
    struct words_group *payload;

    part->message = weir_message_new(self, state->group_tag, sizeof *payload + part->size);
    if (!part->message)
        return WEIR_ENOMEM;
    part->message->key = group + 1; /* 0 means no key */
    payload = part->message->data;
    payload->file = like->key;
    payload->line = number;
    payload->count = part->count;
    payload->size = part->size;
    part->end = (char *)(payload + 1);
    return 0;
}

static void free_messages(struct weir_self *self, struct part *parts)
{
    for (uint32_t i = 0; i < WORDS_GROUPS; i++)
        weir_message_free(self, parts[i].message);
}

/* Makes all messages of a line or none, so that a line can be handled again after a failure. */
static int make_messages(struct weir_self *self, const struct split *state, struct part *parts,
                         const struct weir_message *like, uint64_t number)
{
    for (uint32_t i = 0; i < WORDS_GROUPS; i++) {
        if (parts[i].count > 0 && make_message(self, state, &parts[i], i, like, number) < 0) {
            free_messages(self, parts);
            return WEIR_ENOMEM;
        }
    }
    return 0;
}

/* The payload is zeroed, so the NULs are there. */
static void fill(const struct split *state, size_t size, struct part *parts)
{
    const char *at = state->line;
    struct word word;

    while (next_word(&at, state->line + size, &word)) {
        struct part *part = &parts[group_of(&word)];

        memcpy(part->end, word.start, word.size);
        part->end += word.size + 1;
    }
}

/* --- sending them ----------------------------------------------------------------------------- */

/* With `when_full: wait` all are taken. A refused group is lost, and the verdict reports it. */
static int emit_all(struct weir_self *self, struct part *parts)
{
    int verdict = WEIR_DONE;

    for (uint32_t i = 0; i < WORDS_GROUPS; i++) {
        int status = parts[i].message ? weir_emit(self, OUTPUT_GROUPS, parts[i].message) : 0;

        if (status == 0)
            continue;
        weir_message_free(self, parts[i].message);
        weir_reason(self, "words refused: %s", weir_status_name(status));
        weir_exit_status(self, EXIT_INCOMPLETE);
        verdict = WEIR_REJECT;
    }
    return verdict;
}

static int retry(struct weir_self *self)
{
    weir_retry_after(self, NO_MEMORY_MS);
    weir_reason(self, "no memory for the words of the line");
    return WEIR_RETRY;
}

static int split_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct split *state = memory;
    struct part parts[WORDS_GROUPS] = { 0 };
    const struct files_line *line = NULL;

    if (message->tag == state->line_tag)
        line = files_line_get(message);
    if (!line) {
        weir_reason(self, "not a " FILES_LINE_TAG);
        return WEIR_REJECT;
    }
    if (take_line(state, line) < 0)
        return retry(self);
    measure(state, line->line_size, parts);
    if (make_messages(self, state, parts, message, line->number) < 0)
        return retry(self);
    fill(state, line->line_size, parts);
    weir_progress(self, "lines", ++state->lines_done, 0);
    return emit_all(self, parts);
}

static void split_close(struct weir_self *self, void *memory, int reason)
{
    struct split *state = memory;

    (void)self;
    (void)reason;
    free(state->line);
}

static const struct weir_output split_outputs[] = {
    { .name = "groups", .help = "words of one line, as words.group/1", .required = true },
    { 0 },
};

const struct weir_behaviour words_split = {
    .name = "split",
    .summary = "splits lines into words, grouped so that equal words have equal keys",
    .outputs = split_outputs,
    .state_size = sizeof(struct split),
    .open = split_open,
    .handle = split_handle,
    .close = split_close,
};
