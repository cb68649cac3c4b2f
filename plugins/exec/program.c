/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void program_check(const struct program_settings *settings, struct weir_report *report)
{
    if (settings->command.items[0][0] == '\0')
        weir_report_error(report, "command", "the first word is empty");
    if (settings->directory && settings->directory[0] == '\0')
        weir_report_error(report, "directory", "is empty");
    for (size_t i = 0; i < settings->environment.count; i++) {
        const char *name = settings->environment.items[i].key;

        if (name[0] == '\0' || strchr(name, '='))
            weir_report_error(report, "environment", "`%s` is no name of a variable", name);
    }
    if (settings->user && geteuid() != 0)
        weir_report_error(report, "user", "only a host of root can run commands as another user");
    for (size_t i = 0; i < settings->inherit.count; i++) {
        const char *name = settings->inherit.items[i];
        const char *problem = variables_problem(name, settings->inherit.count);

        if (problem)
            weir_report_error(report, "inherit", "`%s` %s", name, problem);
    }
}

static struct command_limits limits_of(const struct program_settings *settings)
{
    return (struct command_limits){
        .cpu_ms = settings->cpu,
        .memory = settings->memory,
        .file_size = settings->file_size,
        .files = settings->files,
        .processes = settings->processes,
    };
}

/* The reason may be cut; the log has the whole path. */
static int report_program(struct weir_self *self, const char *path, int error)
{
    char text[128];
    const char *reason = strerror_r(error, text, sizeof text);

    weir_log(self, WEIR_LOG_ERROR, "command cannot be run", weir_str("path", path),
             weir_str("reason", reason));
    weir_reason(self, "%s: %s", path, reason);
    return WEIR_EINVALID;
}

static int report_directory(struct weir_self *self, const char *path, int error)
{
    char text[128];
    const char *reason = strerror_r(error, text, sizeof text);

    weir_log(self, WEIR_LOG_ERROR, "working directory cannot be used", weir_str("path", path),
             weir_str("reason", reason));
    weir_reason(self, "directory %s: %s", path, reason);
    return WEIR_EINVALID;
}

/* 0 or an errno. */
static int why_not_enter(const char *path)
{
    struct stat about;

    if (stat(path, &about) < 0)
        return errno;
    if (!S_ISDIR(about.st_mode))
        return ENOTDIR;
    return access(path, X_OK) < 0 ? errno : 0;
}

static int find_user(struct weir_self *self, const char *name, struct user *user)
{
    int error = name ? user_find(user, name) : 0;
    char text[128];

    if (error == 0 || error == ENOMEM)
        return error == 0 ? 0 : WEIR_ENOMEM;
    weir_reason(self, "user %s: %s", name,
                error == ENOENT ? "is unknown" : strerror_r(error, text, sizeof text));
    return WEIR_EINVALID;
}

static int find(struct weir_self *self, const struct program_settings *settings,
                const struct user *user, struct command *command)
{
    struct command_setting setting = { limits_of(settings), user };
    const char *missing = "";
    int error = settings->directory ? why_not_enter(settings->directory) : 0;

    if (error != 0)
        return report_directory(self, settings->directory, error);
    error = command_init(command, &settings->command, settings->shell, &setting, &missing);
    if (error == 0)
        return 0;
    return error == ENOMEM ? WEIR_ENOMEM : report_program(self, missing, error);
}

int program_open(struct weir_self *self, const struct program_settings *settings,
                 struct program *program)
{
    const struct user *user = settings->user ? &program->user : NULL;
    int status;

    *program = (struct program){ .plan = { .program = NULL } };
    status = find_user(self, settings->user, &program->user);
    if (status == 0)
        status = find(self, settings, user, &program->command);
    if (status == 0)
        status = variables_init(&program->variables, &settings->environment, &settings->inherit,
                                user, weir_index(self));
    if (status < 0)
        program_close(program);
    program->plan = (struct child_plan){ program->command.program, settings->directory,
                                         program->variables.items };
    return status;
}

void program_close(struct program *program)
{
    user_finish(&program->user);
    variables_finish(&program->variables);
    command_finish(&program->command);
}
