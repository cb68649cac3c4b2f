/* SPDX-License-Identifier: MIT */
#include "variables.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/status.h>

#define OF_USER 3u /* home, and the name twice */
#define OF_USER_SIZE 16u
#define OF_MESSAGE 4u /* index, attempt, key, tag */
#define ALL "true"
#define NONE "false"

const char *const variables_words[] = { ALL, NONE, NULL };

/* Of sd_listen_fds(3), sd_notify(3), systemd.exec(5) and systemd.resource-control(5): they name
 * descriptors, sockets and folders that are for the host alone, or its process. */
static const char *const of_manager[] = {
    "CREDENTIALS_DIRECTORY", "FDSTORE",       "JOURNAL_STREAM",
    "LISTEN_FDNAMES",        "LISTEN_FDS",    "LISTEN_PID",
    "LISTEN_PIDFDID",        "MAINPID",       "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID",
    "WATCHDOG_PID",          "WATCHDOG_USEC",
};

/* --- which are inherited ---------------------------------------------------------------------- */

/* `item` is NAME=VALUE, or a name. */
static bool is_named(const char *item, const char *name)
{
    size_t size = strcspn(item, "=");

    return strlen(name) == size && memcmp(item, name, size) == 0;
}

static bool is_of_manager(const char *item)
{
    for (size_t i = 0; i < sizeof of_manager / sizeof *of_manager; i++) {
        if (is_named(item, of_manager[i]))
            return true;
    }
    return false;
}

static bool is_word(const struct weir_list *inherit, const char *word)
{
    return inherit->count == 1 && strcmp(inherit->items[0], word) == 0;
}

const char *variables_problem(const char *name, size_t count)
{
    bool is_a_word = strcmp(name, ALL) == 0 || strcmp(name, NONE) == 0;

    if (name[0] == '\0' || strchr(name, '=') || (is_a_word && count > 1))
        return "is no name of a variable";
    return is_of_manager(name) ? "is for the host alone" : NULL;
}

static bool is_inherited(const struct weir_list *inherit, const char *item)
{
    if (is_of_manager(item) || is_word(inherit, NONE))
        return false;
    if (is_word(inherit, ALL))
        return true;
    for (size_t i = 0; i < inherit->count; i++) {
        if (is_named(item, inherit->items[i]))
            return true;
    }
    return false;
}

/* --- all of them ------------------------------------------------------------------------------ */

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

/* Adds a text of its own. */
static bool add(struct variables *variables, size_t *count, const char *name, const char *value)
{
    if (asprintf(&variables->owned[*count], "%s=%s", name, value) < 0) {
        variables->owned[*count] = NULL;
        return false;
    }
    variables->items[*count] = variables->owned[*count];
    ++*count;
    return true;
}

static bool add_map(struct variables *variables, const struct weir_map *map, size_t *count)
{
    for (size_t i = 0; i < map->count; i++) {
        if (!add(variables, count, map->items[i].key, map->items[i].value))
            return false;
    }
    return true;
}

static bool add_of_user(struct variables *variables, const struct user *user, size_t *count)
{
    const struct {
        const char *name, *value;
    } rows[OF_USER] = { { "HOME", user->home }, { "USER", user->name }, { "LOGNAME", user->name } };
    size_t of_map = *count;

    for (size_t i = 0; i < OF_USER; i++) {
        char name[OF_USER_SIZE];

        (void)snprintf(name, sizeof name, "%s=", rows[i].name);
        if (!is_set(variables->items, of_map, name) &&
            !add(variables, count, rows[i].name, rows[i].value))
            return false;
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

static void add_of_host(struct variables *variables, size_t count, const struct weir_list *inherit)
{
    size_t own = count;

    for (char **item = environ; item && *item; item++) {
        if (!is_set(variables->items, own, *item) && is_inherited(inherit, *item))
            variables->items[count++] = *item;
    }
}

int variables_init(struct variables *variables, const struct weir_map *map,
                   const struct weir_list *inherit, const struct user *user, uint32_t index)
{
    static const struct weir_message nothing = { .attempt = 0 };
    size_t room = map->count + OF_USER + OF_MESSAGE + count_of_host() + 1, count = 0;

    *variables = (struct variables){ .items = calloc(room, sizeof(char *)) };
    variables->owned = calloc(map->count + OF_USER + 1, sizeof(char *));
    if (!variables->items || !variables->owned || !add_map(variables, map, &count) ||
        (user && !add_of_user(variables, user, &count))) {
        variables_finish(variables);
        return WEIR_ENOMEM;
    }
    (void)snprintf(variables->index, sizeof variables->index, "WEIR_INDEX=%" PRIu32, index);
    variables_set(variables, &nothing);
    count = add_of_message(variables, count);
    add_of_host(variables, count, inherit);
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
