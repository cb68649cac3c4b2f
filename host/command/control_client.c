/* SPDX-License-Identifier: MIT */
#include "host/command/control_client.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>

#include <weir/printable.h>

#include "config/reader.h"
#include "host/control/http.h"
#include "host/reload/configuration.h"

int control_client_take(struct control_client *client, char letter, const char *argument)
{
    switch (letter) {
    case 'c':
        client->control = argument;
        return COMMAND_GO_ON;
    case 'f':
        client->file = argument;
        return COMMAND_GO_ON;
    default:
        client->json = strcmp(argument, "json") == 0;
        if (client->json || strcmp(argument, "text") == 0)
            return COMMAND_GO_ON;
        return command_usage_error(client->invocation, "--output is text or json, not %s",
                                   argument);
    }
}

static int take(void *context, char letter, const char *argument)
{
    return control_client_take(context, letter, argument);
}

int control_client_parse(struct control_client *client, int *out_first)
{
    return command_parse(client->invocation, take, client, out_first);
}

WEIR_PRINTF(3, 4)
static int fail(const struct control_client *client, int code, const char *format, ...)
{
    FILE *err = client->invocation->err;
    va_list arguments;

    fprintf(err, "weir %s: ", client->invocation->command->name);
    va_start(arguments, format);
    vfprintf(err, format, arguments);
    va_end(arguments);
    fputc('\n', err);
    return code;
}

/* --- where ---------------------------------------------------------------------------------- */

/* The socket of the file, owned by the caller; NULL: none, or the file is wrong. */
static char *path_in_file(const struct control_client *client, const char *file, int *out_code)
{
    struct config_tree *tree;
    const struct config_node *node;
    struct report report;
    char *path = NULL;
    int status;

    report_init(&report);
    status = config_read_file(file, NULL, &report, &tree);
    if (status != 0) {
        report_print(&report, client->invocation->err);
        *out_code = configuration_exit_code(status);
    } else {
        node = config_find(config_find(tree->root, "host"), "control");
        if (node && node->kind == CONFIG_SCALAR)
            path = strdup(node->text);
        else
            *out_code = fail(client, EX_CONFIG,
                             "%s has no host.control: the host has no socket for commands", file);
        config_tree_destroy(tree);
    }
    report_finish(&report);
    return path;
}

char *control_client_find(const struct control_client *client, int *out_code)
{
    const char *variable = getenv(CONTROL_VARIABLE);

    if (client->control)
        return strdup(client->control);
    if (!client->file && variable && variable[0])
        return strdup(variable);
    if (client->file || client->fallback)
        return path_in_file(client, client->file ? client->file : client->fallback, out_code);
    *out_code = fail(client, EX_USAGE,
                     "which host? Give its socket by --control or $" CONTROL_VARIABLE
                     ", or its file by --file");
    return NULL;
}

/* --- requests ------------------------------------------------------------------------------- */

/* The owner of the socket, else of its folder: a user without rights sees only that one. */
static bool find_owner(const char *path, uid_t *out)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    struct stat information;
    bool found = lstat(path, &information) == 0 || (folder && stat(folder, &information) == 0);

    free(folder);
    if (found)
        *out = information.st_uid;
    return found;
}

/* Says who may ask a host that refuses this user. */
static void print_owner(const struct control_client *client, const char *path)
{
    const struct passwd *entry;
    uid_t owner;

    if (!find_owner(path, &owner))
        return;
    entry = getpwuid(owner); /* a command has one thread */
    if (entry)
        (void)fail(client, EX_NOPERM,
                   "ask as user %s, or as root, for example by sudo; a group gives no right to ask",
                   entry->pw_name);
}

static int report_no_right(const struct control_client *client, const char *path, int error)
{
    (void)fail(client, EX_NOPERM, "%s: %s: only the host's own user and root may ask it", path,
               strerror(error));
    print_owner(client, path);
    return EX_NOPERM;
}

/* Reports why the host did not answer. Returns the exit code. */
static int report_not_open(const struct control_client *client, const char *path,
                           const struct answer *answer, int error)
{
    if (error == EPERM && answer->stranger)
        return fail(client, EX_NOPERM,
                    "%s: the host there belongs to user %u, who is not root, not you and not the "
                    "owner of its folder",
                    path, (unsigned)answer->stranger);
    if (error == EACCES || error == EPERM)
        return report_no_right(client, path, error);
    if (error == EAGAIN)
        return fail(client, EX_TEMPFAIL,
                    "%s: the host does not accept a connection; it may be stopped", path);
    return fail(client, EX_UNAVAILABLE, "no host answers at %s: %s", path,
                error == ENAMETOOLONG ? "longer than a socket's path may be" : strerror(error));
}

static int code_of(unsigned status)
{
    switch (status) {
    case HTTP_STATUS_OK:
    case HTTP_STATUS_NO_CONTENT:
        return EX_OK;
    case HTTP_STATUS_BAD_REQUEST:
        return EX_USAGE;
    case HTTP_STATUS_FORBIDDEN:
        return EX_NOPERM;
    case HTTP_STATUS_NOT_FOUND:
        return EX_NOINPUT;
    case HTTP_STATUS_CONFLICT:
        return EX_DATAERR;
    case HTTP_STATUS_UNPROCESSABLE_ENTITY:
        return EX_CONFIG;
    case HTTP_STATUS_SERVICE_UNAVAILABLE:
    case HTTP_STATUS_REQUEST_TIMEOUT:
    case HTTP_STATUS_GATEWAY_TIMEOUT:
        return EX_TEMPFAIL;
    case HTTP_STATUS_PAYLOAD_TOO_LARGE:
        return EX_DATAERR;
    case HTTP_STATUS_BAD_GATEWAY:
        return COMMAND_FAILED;
    default:
        return EX_PROTOCOL;
    }
}

/* The length of a colour sequence, `ESC [ two digits m` or `ESC [ 0 m`, which the host writes on
 * request; 0: there is none. */
static size_t colour_length(const char *text, size_t size)
{
    static const char *const colours[] = { "\033[0m", "\033[31m", "\033[32m", "\033[33m" };

    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++) {
        size_t length = strlen(colours[i]);

        if (length <= size && memcmp(text, colours[i], length) == 0)
            return length;
    }
    return 0;
}

/* Counts the bytes that are printed unchanged. */
static size_t plain_length(const struct control_client *client, const char *text, size_t size)
{
    if (*text == '\n' || *text == '\t')
        return 1;
    if (*text == '\033' && client->invocation->colour)
        return colour_length(text, size);
    return weir_printable(text, size);
}

void control_client_print(const struct control_client *client, const char *text, size_t size,
                          FILE *stream)
{
    while (size > 0) {
        size_t length = plain_length(client, text, size);
        unsigned char byte = (unsigned char)*text;

        if (length > 0)
            (void)fwrite(text, 1, length, stream);
        else if (!client->json)
            fprintf(stream, "\\x%02x", byte);
        else
            fprintf(stream, "\\u%04x", byte < 0x80 ? byte : 0xfffdu);
        text += length ? length : 1;
        size -= length ? length : 1;
    }
}

static int code_of_answer(const struct control_client *client, const struct answer *answer)
{
    if (!answer->status)
        return fail(client, EX_TEMPFAIL,
                    "the host did not answer; it may have ended, or be stopped or busy");
    return code_of(answer->status);
}

int control_client_run(const struct control_client *client, const struct exchange *exchange,
                       struct answer *out)
{
    int status = exchange_run(exchange, out);

    return status == 0 ? code_of_answer(client, out)
                       : report_not_open(client, exchange->path, out, -status);
}

static int fetch_from(const struct control_client *client, const struct exchange *exchange,
                      struct answer *out)
{
    int code = control_client_run(client, exchange, out);

    if (code != EX_OK)
        control_client_print(client, out->text, out->size, client->invocation->err);
    if (out->status == HTTP_STATUS_FORBIDDEN)
        print_owner(client, exchange->path);
    return code;
}

int control_client_fetch(const struct control_client *client, bool is_post, const char *target,
                         uint32_t timeout_s, struct answer *out)
{
    struct exchange exchange = {
        .target = target, .is_post = is_post, .wants_json = client->json, .timeout_s = timeout_s
    };
    int code = EX_SOFTWARE;
    char *path;

    *out = (struct answer){ .status = 0 };
    path = control_client_find(client, &code);
    if (!path)
        return code;
    exchange.path = path;
    code = fetch_from(client, &exchange, out);
    free(path);
    return code;
}

int control_client_ask(const struct control_client *client, bool is_post, const char *target,
                       uint32_t timeout_s)
{
    struct answer answer;
    int code = control_client_fetch(client, is_post, target, timeout_s, &answer);

    if (code == EX_OK)
        control_client_print(client, answer.text, answer.size, client->invocation->out);
    exchange_finish(&answer);
    return code;
}

char *control_client_target(const char *before, const char *path, const char *after)
{
    char *target = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&target, &size);

    if (!stream)
        return NULL;
    fputs(before, stream);
    http_write_escaped(stream, path);
    fputs(after, stream);
    if (fclose(stream) == 0)
        return target;
    free(target);
    return NULL;
}

int control_client_ask_of(const struct control_client *client, bool is_post, const char *before,
                          const char *path, const char *after)
{
    char *target = control_client_target(before, path, after);
    int code = EX_SOFTWARE;

    if (target)
        code = control_client_ask(client, is_post, target, CONTROL_CLIENT_TIMEOUT_S);
    free(target);
    return code;
}
