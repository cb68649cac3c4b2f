/* SPDX-License-Identifier: MIT */
#include "host/command/dead_letter_export.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/plural.h"
#include "base/text.h"
#include "config/json.h"

#define NUMBER_SIZE 32

/* A running export. */
struct exporting {
    const struct dead_letter_export *export;
    int folder;
    uint64_t last; /* number of the last dead letter that was read */
    uint64_t exported, left;
    int code; /* of the first failure */
};

static int report_failure(const struct dead_letter_export *export, int code, const char *name,
                          int error)
{
    fprintf(export->client->invocation->err, "weir dead: %s%s%s: %s\n", export->folder,
            name ? "/" : "", name ? name : "", strerror(error));
    return code;
}

/* --- requests ------------------------------------------------------------------------------- */

/* Requests `query` of the pool's dead letters. */
static int fetch(const struct dead_letter_export *export, const char *query, struct answer *out)
{
    char *target = control_client_target("/letter/", export->pool, query);
    int code = EX_SOFTWARE;

    *out = (struct answer){ .status = 0 };
    if (target)
        code = control_client_fetch(export->client, false, target, CONTROL_CLIENT_TIMEOUT_S, out);
    free(target);
    return code;
}

static int fetch_payload(const struct dead_letter_export *export, uint64_t number,
                         struct answer *out)
{
    char query[NUMBER_SIZE + 16];

    (void)snprintf(query, sizeof query, "?number=%" PRIu64, number);
    return fetch(export, query, out);
}

/* --- a file --------------------------------------------------------------------------------- */

static void make_name(const char *pool, uint64_t number, char name[DEAD_LETTER_EXPORT_NAME])
{
    (void)snprintf(name, DEAD_LETTER_EXPORT_NAME, "%s-%" PRIu64 ".payload", pool, number);
    for (char *at = name; *at; at++)
        if (*at == '/')
            *at = '.';
}

/* 0 or an errno. */
static int write_all(int descriptor, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, text, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        text += written;
        size -= (size_t)written;
    }
    return 0;
}

/* 0 or an errno; removes an incomplete file. */
static int write_file(int folder, const char *name, const char *bytes, size_t size)
{
    int descriptor = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            S_IRUSR | S_IWUSR);
    int error;

    if (descriptor < 0)
        return errno;
    error = write_all(descriptor, bytes, size);
    if (close(descriptor) != 0 && error == 0)
        error = errno;
    if (error != 0)
        (void)unlinkat(folder, name, 0);
    return error;
}

int dead_letter_export_write(int folder, const char *pool, uint64_t number, const char *bytes,
                             size_t size, char out_name[DEAD_LETTER_EXPORT_NAME])
{
    make_name(pool, number, out_name);
    return write_file(folder, out_name, bytes, size);
}

/* --- one after the other -------------------------------------------------------------------- */

static int export_one(const struct exporting *exporting, uint64_t number)
{
    struct answer answer;
    char name[DEAD_LETTER_EXPORT_NAME];
    int code = fetch_payload(exporting->export, number, &answer);
    int error = 0;

    if (code == EX_OK)
        error = dead_letter_export_write(exporting->folder, exporting->export->pool, number,
                                         answer.text, answer.size, name);
    if (error != 0)
        code = report_failure(exporting->export, EX_CANTCREAT, name, error);
    exchange_finish(&answer);
    return code;
}

/* True: go on with the next one. */
static bool count_one(struct exporting *exporting, uint64_t number)
{
    int code = export_one(exporting, number);

    exporting->last = number;
    if (code == EX_OK) {
        exporting->exported++;
        return true;
    }
    exporting->left++;
    if (exporting->code == EX_OK)
        exporting->code = code;
    return code == EX_NOINPUT || code == EX_DATAERR || code == EX_CANTCREAT;
}

/* Exports the numbers of an answer, one on each line. False: the end. */
static bool export_lines(struct exporting *exporting, char *lines)
{
    char *rest = lines;
    char *line;
    uint64_t number;
    bool any = false;

    while (rest && (line = strsep(&rest, "\n"))) {
        if (text_parse_u64(line, &number) != TEXT_OK)
            continue;
        any = true;
        if (!count_one(exporting, number))
            return false;
    }
    return any;
}

static void export_all(struct exporting *exporting)
{
    struct answer answer;
    char query[NUMBER_SIZE + 16];
    bool more = true;
    int code;

    while (more) {
        (void)snprintf(query, sizeof query, "?after=%" PRIu64, exporting->last);
        code = fetch(exporting->export, query, &answer);
        if (code != EX_OK)
            exporting->code = code;
        more = code == EX_OK && export_lines(exporting, answer.text);
        exchange_finish(&answer);
    }
}

static void export_numbers(struct exporting *exporting)
{
    for (uint32_t i = 0; i < exporting->export->count; i++)
        if (!count_one(exporting, exporting->export->numbers[i]))
            return;
}

/* --- the result ----------------------------------------------------------------------------- */

static void print_result(const struct exporting *exporting)
{
    const struct dead_letter_export *export = exporting->export;
    FILE *out = export->client->invocation->out;
    struct json json;

    if (!export->client->json) {
        fprintf(out, "%s: %" PRIu64 " dead %s exported to %s", export->pool, exporting->exported,
                plural(exporting->exported, "letter", "letters"), export->folder);
        if (exporting->left)
            fprintf(out, ", %" PRIu64 " not", exporting->left);
        fputc('\n', out);
        return;
    }
    json_init(&json, out);
    json_begin_object(&json, NULL);
    json_text(&json, "path", export->pool);
    json_unsigned(&json, "exported", exporting->exported);
    json_unsigned(&json, "left", exporting->left);
    json_end(&json);
    json_finish(&json);
}

static int export_to_folder(const struct dead_letter_export *export)
{
    struct exporting exporting = { .export = export, .code = EX_OK };

    if (mkdir(export->folder, S_IRWXU) != 0 && errno != EEXIST)
        return report_failure(export, EX_CANTCREAT, NULL, errno);
    exporting.folder = open(export->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (exporting.folder < 0)
        return report_failure(export, EX_CANTCREAT, NULL, errno);
    if (export->count > 0)
        export_numbers(&exporting);
    else
        export_all(&exporting);
    close(exporting.folder);
    if (exporting.code == EX_OK || exporting.exported + exporting.left > 0)
        print_result(&exporting);
    return exporting.code;
}

static int print_one(const struct dead_letter_export *export)
{
    struct answer answer;
    int code = fetch_payload(export, export->numbers[0], &answer);

    if (code == EX_OK)
        (void)fwrite(answer.text, 1, answer.size, export->client->invocation->out);
    exchange_finish(&answer);
    return code;
}

int dead_letter_export_run(const struct dead_letter_export *export)
{
    return strcmp(export->folder, "-") == 0 ? print_one(export) : export_to_folder(export);
}
