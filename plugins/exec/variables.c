#include "variables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/status.h>

#define OF_MESSAGE 4u /* index, attempt, key, tag */

/* True when `text` sets the same variable as one of the first `count` items. */
static bool is_set(char *const *items, size_t count, const char *text)
{
    size_t size = strcspn(text, "=") + 1;

    for (size_t i = 0; i < count; i++) {
        if (strncmp(items[i], text, size) == 0)
            return true;
    }
    return false;
}

static size_t count_of_host(void)
{
    size_t count = 0;

    while (environ && environ[count])
        count++;
    return count;
}

static bool copy_map(struct variables *variables, const struct weir_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        if (asprintf(&variables->owned[i], "%s=%s", map->items[i].key, map->items[i].value) < 0) {
            variables->owned[i] = NULL;
            return false;
        }
        variables->items[i] = variables->owned[i];
    }
    return true;
}

static size_t add_of_message(struct variables *variables, size_t count)
{
    char *own[OF_MESSAGE] = { variables->index, variables->attempt, variables->key,
                              variables->tag };

    for (size_t i = 0; i < OF_MESSAGE; i++)
        variables->items[count++] = own[i];
    return count;
}

static void add_of_host(struct variables *variables, size_t count)
{
    size_t own = count;

    for (char **item = environ; item && *item; item++) {
        if (!is_set(variables->items, own, *item))
            variables->items[count++] = *item;
    }
}

int variables_init(struct variables *variables, const struct weir_map *map, bool inherit,
                   uint32_t index)
{
    static const struct weir_message nothing = { .attempt = 0 };
    size_t count = map->count + OF_MESSAGE + (inherit ? count_of_host() : 0);

    *variables = (struct variables){ .items = calloc(count + 1, sizeof(char *)) };
    variables->owned = calloc(map->count + 1, sizeof(char *));
    if (!variables->items || !variables->owned || !copy_map(variables, map)) {
        variables_finish(variables);
        return WEIR_ENOMEM;
    }
    (void)snprintf(variables->index, sizeof variables->index, "WEIR_INDEX=%" PRIu32, index);
    variables_set(variables, &nothing);
    count = add_of_message(variables, map->count);
    if (inherit)
        add_of_host(variables, count);
    return 0;
}

void variables_finish(struct variables *variables)
{
    for (char **text = variables->owned; text && *text; text++)
        free(*text);
    free(variables->owned);
    free(variables->items);
    variables->owned = variables->items = NULL;
}

void variables_set(struct variables *variables, const struct weir_message *message)
{
    (void)snprintf(variables->attempt, sizeof variables->attempt, "WEIR_ATTEMPT=%u",
                   message->attempt);
    (void)snprintf(variables->key, sizeof variables->key, "WEIR_KEY=%" PRIu64, message->key);
    (void)snprintf(variables->tag, sizeof variables->tag, "WEIR_TAG=%s",
                   message->tag ? message->tag->name : "");
}
