/* SPDX-License-Identifier: MIT */
/*
 * weir-queue - the program behind `weir queue`: see call.h.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "view.h"

enum position {
    POSITION_ACTION = 1,
    POSITION_FILE,
    POSITION_FORMAT,
    POSITION_STATE,
    POSITION_QUEUE,
    POSITION_ALL,
    POSITION_ARGUMENTS,
};

static const struct {
    const char *name;
    int (*run)(const struct call *call);
} actions[] = {
    { "list", call_list },     { "show", call_show },     { "dead", call_dead },
    { "replay", call_replay }, { "delete", call_delete }, { "export", call_export },
    { "stats", call_stats },   { "backup", call_backup }, { "check", call_check },
};

int call_fail(const struct call *call, int code, const char *format, ...)
{
    va_list arguments;

    (void)fflush(stdout);
    (void)fprintf(stderr, "weir queue: %s: ", call->file);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    return code;
}

int call_exit_code(int error)
{
    switch (error) {
    case -EINVAL:
        return EX_DATAERR;
    case -ENOENT:
    case -ENOTDIR:
        return EX_NOINPUT;
    case -EACCES:
    case -EPERM:
    case -EROFS:
        return EX_NOPERM;
    case -EAGAIN:
        return EX_TEMPFAIL;
    case -ENOMEM:
        return EX_SOFTWARE;
    default:
        return EX_IOERR;
    }
}

int call_flush(const struct call *call)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EX_OK;
    return call_fail(call, EX_IOERR, "standard output could not be written");
}

int call_numbers(const struct call *call, int64_t ids[ORDER_IDS_MAX])
{
    if (call->count > (int)ORDER_IDS_MAX)
        return call_fail(call, EX_USAGE, "takes at most %u numbers", ORDER_IDS_MAX);
    for (int i = 0; i < call->count; i++) {
        const char *text = call->arguments[i];
        char *end;

        errno = 0;
        ids[i] = strtoll(text, &end, 10);
        if (errno != 0 || end == text || *end || ids[i] <= 0 || text[0] < '0' || text[0] > '9')
            return call_fail(call, EX_USAGE, "%s is not the number of a piece", text);
    }
    return 0;
}

static const char *given(const char *argument)
{
    return strcmp(argument, "-") == 0 ? NULL : argument;
}

static int state_of(const char *argument)
{
    for (int i = 0; i < STORE_STATES; i++)
        if (strcmp(argument, view_states[i]) == 0)
            return i;
    return -1;
}

/* Files that root makes beside that of another user would keep this user out. */
static int become_owner(const struct call *call, const struct stat *about)
{
    if (geteuid() != 0 || about->st_uid == 0)
        return 0;
    if (setegid(about->st_gid) == 0 && seteuid(about->st_uid) == 0)
        return 0;
    return call_fail(call, EX_NOPERM, "its owner cannot be assumed: %s", strerror(errno));
}

static bool changes(const struct call *call)
{
    return strcmp(call->action, "replay") == 0 || strcmp(call->action, "delete") == 0;
}

static int look_at_file(const struct call *call)
{
    char reason[PLACE_REASON_SIZE];
    struct stat about;
    int code, error;

    if (lstat(call->file, &about) < 0)
        return call_fail(call, call_exit_code(-errno), "%s", strerror(errno));
    code = changes(call) ? become_owner(call, &about) : 0;
    if (code != 0)
        return code;
    error = place_check(call->file, reason);
    return error == 0 ? 0 : call_fail(call, call_exit_code(error), "%s", reason);
}

int main(int argc, char **argv)
{
    struct call call;
    int code;

    (void)signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write that fails */

    if (argc < POSITION_ARGUMENTS) {
        (void)fputs("weir-queue is started by `weir queue`. Try `weir queue --help`.\n", stderr);
        return EX_USAGE;
    }
    call = (struct call){ .action = argv[POSITION_ACTION],
                          .file = argv[POSITION_FILE],
                          .is_json = strcmp(argv[POSITION_FORMAT], "json") == 0,
                          .state = state_of(argv[POSITION_STATE]),
                          .queue = given(argv[POSITION_QUEUE]),
                          .is_all = given(argv[POSITION_ALL]) != NULL,
                          .arguments = argv + POSITION_ARGUMENTS,
                          .count = argc - POSITION_ARGUMENTS };
    code = look_at_file(&call);
    for (size_t i = 0; code == 0 && i < sizeof actions / sizeof *actions; i++)
        if (strcmp(call.action, actions[i].name) == 0)
            return actions[i].run(&call);
    return code == 0 ? EX_USAGE : code;
}
