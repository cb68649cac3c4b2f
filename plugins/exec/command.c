#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "{}"
#define MARK_SIZE 2u
#define SHELL "/bin/sh"
#define LIMITER "prlimit"
/* Words that come before those of the file: prlimit, five limits, --; sh, -c. */
#define WORDS_BEFORE_MAX 10u
#define MS_PER_S 1000u
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

bool command_has_mark(const char *word)
{
    return strstr(word, MARK) != NULL;
}

/* --- finding a program ------------------------------------------------------------------------ */

/* Returns owned: the absolute path of a name with a slash, which counts from the present
 * directory. */
static char *absolute(const char *name)
{
    char *here, *path = NULL;

    if (name[0] == '/')
        return strdup(name);
    here = getcwd(NULL, 0);
    if (here && asprintf(&path, "%s/%s", here, name) < 0)
        path = NULL;
    free(here);
    return path;
}

/* 0 or an errno. A folder may be searched, which access reports as permission to run it. */
static int why_not_run(const char *path)
{
    struct stat about;

    if (stat(path, &about) < 0)
        return errno;
    if (S_ISDIR(about.st_mode))
        return EISDIR;
    return access(path, X_OK) < 0 ? errno : 0;
}

/* As execvp does. Returns owned; NULL and an errno: a file that may not be run is reported rather
 * than one that is not there. */
static char *find_in_path(const char *name, int *out_error)
{
    const char *folder = getenv("PATH");

    *out_error = ENOENT;
    for (folder = folder ? folder : DEFAULT_PATH; folder;) {
        const char *end = strchrnul(folder, ':');
        char *path;
        int error;

        if (asprintf(&path, "%.*s/%s", (int)(end - folder), folder, name) < 0) {
            *out_error = ENOMEM;
            return NULL;
        }
        error = end > folder ? why_not_run(path) : ENOENT;
        if (error == 0)
            return path;
        if (error == EACCES || error == EISDIR)
            *out_error = error;
        free(path);
        folder = *end ? end + 1 : NULL;
    }
    return NULL;
}

static char *find_program(const char *name, int *out_error)
{
    char *path;

    if (!strchr(name, '/'))
        return find_in_path(name, out_error);
    path = absolute(name);
    *out_error = path ? why_not_run(path) : ENOMEM;
    if (*out_error != 0) {
        free(path);
        path = NULL;
    }
    return path;
}

/* --- the template ----------------------------------------------------------------------------- */

/* Adds a word; takes it. False for NULL: memory was out. */
static bool add(struct command *command, char *word)
{
    command->words[command->count] = word;
    command->count += word != NULL;
    return word != NULL;
}

static bool add_limit(struct command *command, const char *name, uint64_t value)
{
    char *word;

    if (value == 0)
        return true;
    if (asprintf(&word, "--%s=%llu", name, (unsigned long long)value) < 0)
        return false;
    return add(command, word);
}

/* The process gets SIGXCPU at the limit and SIGKILL a second later. */
static bool add_cpu_limit(struct command *command, uint64_t cpu_ms)
{
    unsigned long long seconds = (cpu_ms + MS_PER_S - 1) / MS_PER_S;
    char *word;

    if (seconds == 0)
        return true;
    if (asprintf(&word, "--cpu=%llu:%llu", seconds, seconds + 1) < 0)
        return false;
    return add(command, word);
}

static bool add_limits(struct command *command, const struct command_limits *limits)
{
    return add(command, strdup(LIMITER)) && add_cpu_limit(command, limits->cpu_ms) &&
           add_limit(command, "as", limits->memory) &&
           add_limit(command, "fsize", limits->file_size) &&
           add_limit(command, "nofile", limits->files) &&
           add_limit(command, "nproc", limits->processes) && add(command, strdup("--"));
}

static bool is_limited(const struct command_limits *limits)
{
    return limits->cpu_ms || limits->memory || limits->file_size || limits->files ||
           limits->processes;
}

/* The rest of the words of the file, as they are. */
static bool add_words(struct command *command, const struct weir_list *words, size_t from)
{
    for (size_t i = from; i < words->count; i++) {
        if (!add(command, strdup(words->items[i])))
            return false;
        command->takes_payload |= command_has_mark(words->items[i]);
    }
    return true;
}

/* `program` is the first word of the command, without the limits. Takes it. */
static bool add_program(struct command *command, char *program, const struct weir_list *words,
                        bool shell)
{
    if (!add(command, program))
        return false;
    if (!shell)
        return true;
    return add(command, strdup("-c")) && add(command, strdup(words->items[0])) &&
           add(command, strdup("sh"));
}

static int find_programs(struct command *command, const char *name, bool limited, char **out_first,
                         const char **out_missing)
{
    int error = 0;

    *out_missing = name;
    *out_first = find_program(name, &error);
    if (!*out_first)
        return error != 0 ? error : ENOENT;
    *out_missing = LIMITER;
    command->program = limited ? find_program(LIMITER, &error) : strdup(*out_first);
    if (command->program)
        return 0;
    free(*out_first);
    return error != 0 ? error : ENOMEM;
}

int command_init(struct command *command, const struct weir_list *words, bool shell,
                 const struct command_limits *limits, const char **out_missing)
{
    bool limited = is_limited(limits), complete;
    char *first;
    int error;

    *command = (struct command){ .program = NULL };
    error = find_programs(command, shell ? SHELL : words->items[0], limited, &first, out_missing);
    if (error != 0)
        return error;
    command->words = calloc(WORDS_BEFORE_MAX + words->count + 1, sizeof *command->words);
    if (!command->words || (limited && !add_limits(command, limits))) {
        free(first);
        command_finish(command);
        return ENOMEM;
    }
    complete = add_program(command, first, words, shell) && add_words(command, words, 1);
    if (complete)
        return 0;
    command_finish(command);
    return ENOMEM;
}

void command_finish(struct command *command)
{
    for (char **word = command->words; word && *word; word++)
        free(*word);
    free(command->words);
    free(command->program);
    *command = (struct command){ .program = NULL };
}

/* --- one payload ------------------------------------------------------------------------------ */

/* Bytes of a word with the payload in it, and its NUL. */
static size_t filled_size(const char *word, size_t size)
{
    size_t total = strlen(word) + 1;

    for (const char *mark = strstr(word, MARK); mark; mark = strstr(mark + MARK_SIZE, MARK))
        total = total - MARK_SIZE + size;
    return total;
}

/* Returns the end of the written text. */
static char *fill(char *to, const char *word, const char *payload, size_t size)
{
    const char *mark;

    while ((mark = strstr(word, MARK))) {
        to = mempcpy(to, word, (size_t)(mark - word));
        if (size > 0)
            to = mempcpy(to, payload, size);
        word = mark + MARK_SIZE;
    }
    return stpcpy(to, word) + 1;
}

char **command_fill(const struct command *command, const char *payload, size_t size)
{
    size_t total = (command->count + 1) * sizeof(char *);
    char **arguments;
    char *to;

    for (size_t i = 0; i < command->count; i++)
        total += filled_size(command->words[i], size);
    arguments = malloc(total);
    if (!arguments)
        return NULL;
    to = (char *)(arguments + command->count + 1);
    for (size_t i = 0; i < command->count; i++) {
        arguments[i] = to;
        to = fill(to, command->words[i], payload, size);
    }
    arguments[command->count] = NULL;
    return arguments;
}
