/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <string.h>

void words_begin(struct words *words)
{
    words->lines = 0;
    words->size = 0;
    words->last[0] = '\0';
}

static void end_line(struct weir_self *self, struct words *words, long long process)
{
    words->lines++;
    words->total++;
    words->line[words->size] = '\0';
    if (words->lines <= words->limit)
        weir_log(self, WEIR_LOG_INFO, words->event, weir_int("process", process),
                 weir_str("line", words->line));
    if (words->line[strspn(words->line, " \t\r")])
        memcpy(words->last, words->line, words->size + 1);
    words->size = 0;
}

static void add_part(struct words *words, const char *text, size_t size)
{
    size_t room = WORDS_LINE_MAX - words->size;

    if (size > room)
        size = room;
    /* A NUL would end the text of the log line. */
    for (size_t i = 0; i < size; i++)
        words->line[words->size + i] = text[i] ? text[i] : ' ';
    words->size += size;
}

void words_add(struct weir_self *self, struct words *words, long long process, const char *text,
               size_t size)
{
    const char *end;

    while ((end = memchr(text, '\n', size))) {
        size_t length = (size_t)(end - text);

        add_part(words, text, length);
        end_line(self, words, process);
        text += length + 1;
        size -= length + 1;
    }
    add_part(words, text, size);
}

static void count_more(struct weir_self *self, const struct words *words, long long process)
{
    if (words->lines > words->limit && words->limit > 0)
        weir_log(self, WEIR_LOG_INFO, words->event, weir_int("process", process),
                 weir_uint("more_lines", words->lines - words->limit));
}

void words_next(struct weir_self *self, struct words *words, long long process)
{
    count_more(self, words, process);
    words->lines = 0;
    words->last[0] = '\0';
}

void words_end(struct weir_self *self, struct words *words, long long process)
{
    if (words->size > 0)
        end_line(self, words, process);
    count_more(self, words, process);
}

struct weir_field words_said(const struct words *words)
{
    return words->last[0] ? weir_str("said", words->last) : (struct weir_field){ .key = NULL };
}
