/* SPDX-License-Identifier: MIT */
#include "host/crash/last_words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/log/line.h"
#include "host/log/logger.h"

#define CODE_SIZE 512  /* of a copy of crash_note.code */
#define FIELDS_MAX 16u /* four, three of the code, five of the note, the effect, the end */

/* Written by last_words_begin and last_words_end. */
static struct {
    int descriptor;
    bool is_terminal; /* a progress line may be there, which the line must not continue */
    struct logger *logger;
} voice = { .descriptor = -1 };

struct words {
    struct weir_field fields[FIELDS_MAX];
    size_t count;
    char code[CODE_SIZE];
    char label[WEIR_LABEL_SIZE];
};

const char *last_words_signal(int number, char out[LAST_WORDS_SIGNAL])
{
    const char *name = sigabbrev_np(number);
    struct line line;

    line_init(&line, out, LAST_WORDS_SIGNAL);
    line_text(&line, "SIG");
    line_text(&line, name ? name : "?");
    return out;
}

void last_words_begin(int descriptor, struct logger *logger)
{
    voice.descriptor = descriptor;
    voice.is_terminal = isatty(descriptor);
    voice.logger = logger;
}

void last_words_end(void)
{
    voice.logger = NULL;
}

/* Without a label when nobody can know now what it hides. */
void last_words_label(const struct crash_note *note, char out[WEIR_LABEL_SIZE])
{
    size_t size = note->label ? strnlen(note->label, WEIR_LABEL_SIZE - 1) : 0;
    char copy[WEIR_LABEL_SIZE];

    memcpy(out, note->label ? note->label : "", size);
    out[size] = '\0';
    if (voice.logger && !logger_try_conceal(voice.logger, out, WEIR_LABEL_SIZE, copy))
        out[0] = '\0';
}

static void add(struct words *words, struct weir_field field)
{
    words->fields[words->count++] = field;
}

static void add_text(struct words *words, const char *key, const char *text)
{
    if (text && text[0])
        add(words, weir_str(key, text));
}

static void add_word(struct words *words, const char *key, const char *word)
{
    if (word[0] && word[strspn(word, "0123456789")] == '\0')
        add(words, weir_uint(key, strtoull(word, NULL, 10)));
    else
        add_text(words, key, word);
}

/* Each `key=value` of the code is a field. */
static void add_code(struct words *words, const char *code)
{
    size_t size = code ? strnlen(code, CODE_SIZE - 1) : 0;
    char *rest = NULL;

    memcpy(words->code, code ? code : "", size);
    words->code[size] = '\0';
    for (char *pair = strtok_r(words->code, " ", &rest); pair && words->count < FIELDS_MAX - 7;
         pair = strtok_r(NULL, " ", &rest)) {
        char *sign = strchr(pair, '=');

        if (!sign)
            continue;
        *sign = '\0';
        add_word(words, pair, sign + 1);
    }
}

static void add_note(struct words *words, const struct crash_note *note)
{
    add(words, weir_str("in", !note            ? "no callback"
                              : !note->inside  ? "no callback, after this one"
                              : note->callback ? note->callback
                                               : "a callback"));
    if (!note)
        return;
    add_code(words, note->code);
    add(words, weir_uint("worker", note->worker));
    add_text(words, "message", note->tag);
    last_words_label(note, words->label);
    add_text(words, "label", words->label);
    if (note->attempt != 0)
        add(words, weir_uint("attempt", note->attempt));
}

static void write_line(struct words *words, const char *component, const char *event)
{
    struct log_style style = voice.logger ? logger_style(voice.logger)
                                          : (struct log_style){ .format = LOG_LOGFMT };
    struct log_line line = { .level = WEIR_LOG_ERROR,
                             .component = component ? component : "host",
                             .event = event,
                             .fields = words->fields };
    char text[LOG_LINE_MAX + 2] = "\n";
    size_t size;
    ssize_t ignored;

    add(words, weir_str(NULL, NULL));
    size = log_line_write(text + 1, &style, logger_date_us(), &line);
    ignored = voice.is_terminal ? write(voice.descriptor, text, size + 1)
                                : write(voice.descriptor, text + 1, size);
    (void)ignored;
}

void last_words_write(const char *event, const struct weir_field *fields,
                      const struct crash_note *note, const char *effect)
{
    struct words words = { .count = 0 };

    for (; fields->key; fields++)
        add(&words, *fields);
    add_note(&words, note);
    add_text(&words, "effect", effect);
    write_line(&words, note ? note->pool : NULL, event);
}

void last_words_write_stack(const char *pool, const char *stack)
{
    struct words words = { .count = 0 };

    add_text(&words, "stack", stack);
    write_line(&words, pool, "stack of the crash");
}
