/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <stdlib.h>
#include <string.h>

#define CODE_MAX 255ul
#define CODE_DIGITS 3u

static bool read_code(struct outcome *outcome, const char *word)
{
    size_t digits = strspn(word, "0123456789");
    unsigned long code;

    if (digits == 0 || digits > CODE_DIGITS || word[digits])
        return false;
    code = strtoul(word, NULL, 10);
    if (code > CODE_MAX)
        return false;
    outcome->codes[code] = true;
    return true;
}

static bool read_word(struct outcome *outcome, const char *word)
{
    if (strcmp(word, "signal") == 0)
        outcome->by_signal = true;
    else if (strcmp(word, "timeout") == 0)
        outcome->by_timeout = true;
    else
        return read_code(outcome, word);
    return true;
}

const char *outcome_read(struct outcome *outcome, const struct weir_list *words)
{
    *outcome = (struct outcome){ .by_signal = false };
    for (size_t i = 0; i < words->count; i++) {
        if (!read_word(outcome, words->items[i]))
            return words->items[i];
    }
    return NULL;
}

bool outcome_meets(const struct outcome *outcome, const struct outcome *other)
{
    for (size_t i = 0; i <= CODE_MAX; i++) {
        if (outcome->codes[i] && other->codes[i])
            return true;
    }
    return (outcome->by_signal && other->by_signal) || (outcome->by_timeout && other->by_timeout);
}
