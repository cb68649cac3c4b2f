/* SPDX-License-Identifier: MIT */
/*
 * `weir complete WORD...`: completes the last word of a command line. The completions of bash, zsh
 * and fish call it; no help lists it.
 *
 * Each line of the answer is one candidate, a tab and its explanation; or `:folders`; or `:files`
 * with the suffixes that fit, where no suffix means any file. Shells complete these two themselves.
 * All candidates begin with the word. Mistakes on the line give an empty answer, never an error.
 */
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "config/reader.h"
#include "host/command/control_client.h"
#include "host/plugin/loader.h"

#define TIMEOUT_S 1      /* a user waits at a prompt */
#define ARGUMENT_MAX 32u /* bytes of one word of a usage line */

/* The command line so far. */
struct line {
    const struct invocation *invocation;
    const struct command *command; /* the command of the line */
    /* the option whose argument is the last word; NULL: none */
    const struct command_option *option;
    const char *word;           /* the last one; may be empty */
    const char *control, *file; /* from the line: the host to ask */
    bool has_plugin_flag;       /* of `weir check`: its files are plugins */
    const char *first;          /* argument without options; NULL: the last word is the first */
    uint32_t position;          /* of the last word, counted without options */
};

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static void offer(const struct line *line, const char *candidate, const char *help)
{
    if (begins_with(candidate, line->word))
        fprintf(line->invocation->out, "%s\t%s\n", candidate, help);
}

/* --- commands and options --------------------------------------------------------------------- */

static void offer_commands(const struct line *line)
{
    const struct command *command;

    for (size_t i = 0; (command = command_at(i)); i++) {
        if (!command->internal)
            offer(line, command->name, command->summary);
    }
}

static void offer_options(const struct line *line)
{
    const struct command_option *option = line->command->options;
    char name[64];

    for (; option && option->name; option++) {
        (void)snprintf(name, sizeof name, "--%s", option->name);
        offer(line, name, option->help);
    }
    offer(line, "--help", "print this help");
}

/* --- names that a running host knows ---------------------------------------------------------- */

/* The text at `key` of each map in the list. */
static void offer_each(const struct line *line, const struct config_node *list, const char *key,
                       const char *help)
{
    for (size_t i = 0; list && list->kind == CONFIG_LIST && i < list->count; i++) {
        const struct config_node *name = config_find(list->pairs[i].value, key);

        if (name && name->kind == CONFIG_SCALAR)
            offer(line, name->text, help);
    }
}

/* The host's status as a tree, owned by the caller; NULL: no host answers. JSON is YAML, too. */
static struct config_tree *ask_status(const struct line *line)
{
    struct invocation quiet = *line->invocation;
    struct control_client client = {
        .invocation = &quiet, .control = line->control, .file = line->file, .json = true
    };
    struct config_tree *tree = NULL;
    struct report report;
    char *answer = NULL, *errors = NULL;
    size_t size = 0, errors_size = 0;
    int code = EX_SOFTWARE;

    quiet.out = open_memstream(&answer, &size);
    quiet.err = open_memstream(&errors, &errors_size);
    if (quiet.out && quiet.err)
        code = control_client_ask(&client, false, "/status", TIMEOUT_S);
    if (quiet.out)
        fclose(quiet.out);
    if (quiet.err)
        fclose(quiet.err);
    report_init(&report);
    if (code == EX_OK && config_read_text("status", answer, size, NULL, &report, &tree) != 0)
        tree = NULL;
    report_finish(&report);
    free(answer);
    free(errors);
    return tree;
}

static void offer_of_host(const struct line *line, bool with_sources)
{
    struct config_tree *tree = ask_status(line);

    if (!tree)
        return;
    offer_each(line, config_find(tree->root, "pools"), "path", "pool");
    if (with_sources)
        offer_each(line, config_find(tree->root, "sources"), "name", "source");
    config_tree_destroy(tree);
}

/* --- what words of a usage line stand for ----------------------------------------------------- */

static void offer_pools(const struct line *line)
{
    offer_of_host(line, false);
}

static void offer_sources(const struct line *line)
{
    struct config_tree *tree = ask_status(line);

    if (tree)
        offer_each(line, config_find(tree->root, "sources"), "name", "source");
    config_tree_destroy(tree);
}

/* The path of a socket for an option, of an actor for an argument. */
static void offer_path(const struct line *line)
{
    if (line->option)
        fputs(":files\n", line->invocation->out);
    else
        offer_of_host(line, true);
}

static void offer_files(const struct line *line)
{
    const char *files = line->command == &command_queue ? ":files\n"
                        : line->has_plugin_flag         ? ":files so\n"
                                                        : ":files yaml yml\n";

    fputs(files, line->invocation->out);
}

static void offer_folders(const struct line *line)
{
    fputs(":folders\n", line->invocation->out);
}

static void offer_actions(const struct line *line)
{
    static const char *const actions[] = { "list",   "dead",  "show",   "replay", "delete",
                                           "export", "stats", "backup", "check" };

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        offer(line, actions[i], "");
}

static void offer_states(const struct line *line)
{
    offer(line, "ready", "a take may have it at once");
    offer(line, "later", "waits for a time");
    offer(line, "dead", "waits for a replay");
}

static void offer_formats(const struct line *line)
{
    offer(line, "text", "for people");
    offer(line, "json", "for programs");
}

static void offer_plugins(const struct line *line)
{
    struct plugin_path path;
    const char *name;

    plugin_path_init(&path);
    if (plugin_path_add_defaults(&path) == WEIR_OK) {
        for (size_t i = 0; (name = plugin_path_name(&path, i)); i++)
            offer(line, name, "plugin");
    }
    plugin_path_finish(&path);
    fputs(":files so\n", line->invocation->out);
}

static void offer_behaviours_of(const struct line *line, const struct loaded *loaded)
{
    char name[2 * DESCRIPTOR_NAME_MAX + 2];

    for (size_t i = 0; i < loaded->descriptor.behaviour_count; i++) {
        const struct weir_behaviour *behaviour = &loaded->descriptor.behaviours[i];

        (void)snprintf(name, sizeof name, "%s.%s", loaded->descriptor.name, behaviour->name);
        offer(line, name, behaviour->summary ? behaviour->summary : "");
    }
}

static void offer_behaviours(const struct line *line)
{
    struct loader *loader = NULL;
    struct plugin_path path;
    const struct loaded *loaded;
    struct problem problem;
    const char *name;

    plugin_path_init(&path);
    if (plugin_path_add_defaults(&path) == WEIR_OK && loader_create(NULL, &loader) == WEIR_OK) {
        for (size_t i = 0; (name = plugin_path_name(&path, i)); i++) {
            if (loader_load_name(loader, &path, name, &loaded, &problem) == WEIR_OK)
                offer_behaviours_of(line, loaded);
        }
    }
    loader_destroy(loader);
    plugin_path_finish(&path);
}

static const struct {
    const char *word;
    void (*offer)(const struct line *line);
} kinds[] = {
    { "POOL", offer_pools },     { "PATH", offer_path },
    { "PLUGIN", offer_plugins }, { "FILE", offer_files },
    { "OLD", offer_files },      { "DIR", offer_folders },
    { "FORMAT", offer_formats }, { "BEHAVIOUR", offer_behaviours },
    { "ACTION", offer_actions }, { "STATE", offer_states },
    { "SOURCE", offer_sources },
};

/* A word in small letters is a literal, such as `plugin` of `weir new plugin NAME`. */
static void offer_kind(const struct line *line, const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].word, word) == 0)
            kinds[i].offer(line);
    }
    if (word[0] >= 'a' && word[0] <= 'z')
        offer(line, word, "");
}

/* One or several kinds: `POOL|SOURCE`. */
static void offer_argument(const struct line *line, const char *word)
{
    char kind[ARGUMENT_MAX];
    size_t size;

    for (; *word; word += size, word += *word == '|') {
        size = strcspn(word, "|");
        (void)snprintf(kind, sizeof kind, "%.*s", (int)size, word);
        offer_kind(line, kind);
    }
}

#define WAYS_SEPARATOR " | "

/* The word of a way for an argument, without brackets and dots; "" when there is none. A way is a
 * usage line, or a part of it between two separators. */
static void find_argument(const char *way, uint32_t position, char word[ARGUMENT_MAX])
{
    const char *end = strstr(way, WAYS_SEPARATOR);
    size_t length = 0;
    bool repeats = false;

    word[0] = '\0';
    for (way += strspn(way, " []"); *way && (!end || way < end); way += strspn(way, " []")) {
        length = strcspn(way, " []");
        repeats = length > 3 && strncmp(way + length - 3, "...", 3) == 0;
        (void)snprintf(word, ARGUMENT_MAX, "%.*s", (int)(length - (repeats ? 3 : 0)), way);
        if (position-- == 0)
            return;
        way += length;
    }
    if (!repeats)
        word[0] = '\0';
}

static void offer_arguments(const struct line *line)
{
    const char *way = line->command->arguments;
    const char *next = strstr(way, WAYS_SEPARATOR);
    const bool has_ways = next != NULL;
    char word[ARGUMENT_MAX];

    for (; way; way = next, next = next ? strstr(next, WAYS_SEPARATOR) : NULL) {
        if (next)
            next += strlen(WAYS_SEPARATOR);
        find_argument(way, 0, word);
        if (has_ways && line->first && strcmp(word, line->first) != 0)
            continue;
        find_argument(way, line->position, word);
        offer_argument(line, word);
    }
}

/* --- the words before the last ---------------------------------------------------------------- */

/* The option of a word such as `--file` or `-f`; NULL: none. */
static const struct command_option *find_option(const struct command *command, const char *word)
{
    const struct command_option *option = command->options;

    for (; option && option->name; option++) {
        bool is_long = begins_with(word, "--") && strcmp(word + 2, option->name) == 0;
        bool is_short = word[0] == '-' && word[1] == option->letter && !word[2];

        if (is_long || is_short)
            return option;
    }
    return NULL;
}

static void read_option_argument(struct line *line, const char *word)
{
    if (strcmp(line->option->name, "control") == 0)
        line->control = word;
    if (strcmp(line->option->name, "file") == 0)
        line->file = word;
    line->option = NULL;
}

static void read_word(struct line *line, const char *word)
{
    const struct command_option *option = find_option(line->command, word);

    if (line->option)
        read_option_argument(line, word);
    else if (option && option->argument)
        line->option = option;
    else if (option)
        line->has_plugin_flag |= strcmp(option->name, "plugin") == 0;
    else if (word[0] != '-' && line->position++ == 0)
        line->first = word;
}

/* --- the command ------------------------------------------------------------------------------ */

static void complete(struct line *line)
{
    if (line->option)
        offer_argument(line, line->option->argument);
    else if (line->word[0] == '-')
        offer_options(line);
    else
        offer_arguments(line);
}

static void complete_first(const struct line *line)
{
    if (line->word[0] != '-') {
        offer_commands(line);
        return;
    }
    offer(line, "--help", "print the commands");
    offer(line, "--version", "print the version");
}

/* `argv` is: complete, then the words of the line after `weir`, including their options. */
static int run(const struct invocation *invocation)
{
    int last = invocation->argc - 1;
    struct line line = { .invocation = invocation };

    if (last < 1)
        return command_usage_error(invocation, "takes the words of a command line");
    line.word = invocation->argv[last];
    if (last == 1) {
        complete_first(&line);
        return EX_OK;
    }
    if (strcmp(invocation->argv[1], "help") == 0) {
        offer_commands(&line);
        return EX_OK;
    }
    line.command = command_find(invocation->argv[1]);
    if (!line.command)
        return EX_OK;
    for (int i = 2; i < last; i++)
        read_word(&line, invocation->argv[i]);
    complete(&line);
    return EX_OK;
}

const struct command command_complete = {
    .name = "complete",
    .arguments = "WORD...",
    .summary = "print the completions of the last word of a command line",
    .internal = true,
    .run = run,
};
