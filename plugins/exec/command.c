/* SPDX-License-Identifier: MIT */
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
#define CHANGER "setpriv"
/* Words that come before those of the file: prlimit, five limits, --; setpriv, three, --; sh,
 * -c. */
#define WORDS_BEFORE_MAX 15u
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

static bool add_option(struct command *command, const char *name, const char *value)
{
    char *word;

    return asprintf(&word, "--%s=%s", name, value) >= 0 && add(command, word);
}

/* Its own groups take the place of those of the host. */
static bool add_user(struct command *command, const char *changer, const struct user *user)
{
    return add(command, strdup(changer)) && add_option(command, "reuid", user->number) &&
           add_option(command, "regid", user->group) &&
           add_option(command, "groups", user->groups) && add(command, strdup("--"));
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

struct paths {
    char *program; /* owned, as all of them: that of the file, or the shell */
    char *changer; /* NULL: not needed */
    char *limiter; /* NULL: not needed */
};

static int find_path(const char *name, char **out_path, const char **out_missing)
{
    int error = 0;

    *out_missing = name;
    *out_path = find_program(name, &error);
    if (*out_path)
        return 0;
    return error != 0 ? error : ENOENT;
}

static int find_paths(struct paths *paths, const char *program,
                      const struct command_setting *setting, const char **out_missing)
{
    int error = find_path(program, &paths->program, out_missing);

    if (error == 0 && setting->user)
        error = find_path(CHANGER, &paths->changer, out_missing);
    if (error == 0 && is_limited(&setting->limits))
        error = find_path(LIMITER, &paths->limiter, out_missing);
    return error;
}

/* Each program runs the next one. */
static bool fill_template(struct command *command, const struct weir_list *words, bool shell,
                          const struct command_setting *setting, const struct paths *paths)
{
    const char *first = paths->limiter ? paths->limiter
                                       : (paths->changer ? paths->changer : paths->program);

    command->words = calloc(WORDS_BEFORE_MAX + words->count + 1, sizeof *command->words);
    command->program = strdup(first);
    if (!command->words || !command->program)
        return false;
    if (paths->limiter && !add_limits(command, &setting->limits))
        return false;
    if (paths->changer && !add_user(command, paths->changer, setting->user))
        return false;
    return add_program(command, strdup(paths->program), words, shell) &&
           add_words(command, words, 1);
}

int command_init(struct command *command, const struct weir_list *words, bool shell,
                 const struct command_setting *setting, const char **out_missing)
{
    struct paths paths = { NULL, NULL, NULL };
    int error = find_paths(&paths, shell ? SHELL : words->items[0], setting, out_missing);

    *command = (struct command){ .program = NULL };
    if (error == 0 && !fill_template(command, words, shell, setting, &paths))
        error = ENOMEM;
    free(paths.program);
    free(paths.changer);
    free(paths.limiter);
    if (error != 0)
        command_finish(command);
    return error;
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
