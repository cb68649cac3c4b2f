/* SPDX-License-Identifier: MIT */
#include "statuses.h"

#include <stdlib.h>
#include <string.h>

#define STATUS_MIN 100u

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* `404` or `5xx`: the first status, and how many. */
static bool read_range(const char *word, unsigned *out_first, unsigned *out_count)
{
    bool is_class = strlen(word) == 3 && is_digit(word[0]) && strcmp(word + 1, "xx") == 0;

    if (strlen(word) != 3 || !is_digit(word[0]) ||
        (!is_class && (!is_digit(word[1]) || !is_digit(word[2]))))
        return false;
    *out_first = (unsigned)(word[0] - '0') * 100;
    *out_count = is_class ? 100 : 1;
    if (!is_class)
        *out_first += (unsigned)(word[1] - '0') * 10 + (unsigned)(word[2] - '0');
    return *out_first >= STATUS_MIN && *out_first < STATUS_MAX;
}

static bool read_word(struct statuses *statuses, const char *word)
{
    unsigned first, count;

    if (strcmp(word, "error") == 0)
        statuses->has_error = true;
    else if (strcmp(word, "timeout") == 0)
        statuses->has_timeout = true;
    else if (!read_range(word, &first, &count))
        return false;
    else
        memset(statuses->codes + first, true, count * sizeof statuses->codes[0]);
    return true;
}

const char *statuses_read(struct statuses *statuses, const struct weir_list *words)
{
    memset(statuses, 0, sizeof *statuses);
    for (size_t i = 0; i < words->count; i++)
        if (!read_word(statuses, words->items[i]))
            return words->items[i];
    return NULL;
}

bool statuses_have(const struct statuses *statuses, long code)
{
    return code >= 0 && code < (long)STATUS_MAX && statuses->codes[code];
}

bool statuses_meet(const struct statuses *statuses, const struct statuses *other)
{
    for (size_t i = 0; i < STATUS_MAX; i++)
        if (statuses->codes[i] && other->codes[i])
            return true;
    return (statuses->has_error && other->has_error) ||
           (statuses->has_timeout && other->has_timeout);
}
