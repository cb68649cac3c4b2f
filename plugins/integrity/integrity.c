/* SPDX-License-Identifier: MIT */
/*
 * integrity - compares files with the checksums of a package database.
 *
 * It receives lines of lists, and emits a result for each at the output of its verdict.
 */
#include "integrity.h"

#include <stdlib.h>
#include <string.h>

#include <weir/plugin.h>

#include "../files/files.h"
#include "verify.h"

#define LIST_SUFFIX ".md5sums"
/* A line that cannot be parsed leaves a file unchecked: the exit code of `weir run` shows it. */
#define EXIT_INCOMPLETE 1
/* Before a file is checked again that descriptors or memory were short for. */
#define SHORTAGE_MS 100u
/* Before another try to emit a result at a full `reject` output. */
#define NO_ROOM_MS 20u

struct settings {
    const char *root;
};

struct md5 {
    struct verifier verifier;
    struct checksum_line line; /* of the current message: too large for a stack */
    const struct weir_tag *line_tag;
    const struct weir_tag *result_tag;
    const char *root; /* borrowed from the settings until close */
    size_t root_size; /* without trailing slashes: 0 for `/` */
    uint64_t files_done;
    uint64_t bytes_done;
};

struct text {
    const char *start;
    size_t size;
};

static void md5_check(const void *settings, struct weir_report *report)
{
    const struct settings *wanted = settings;

    if (wanted->root[0] != '/')
        weir_report_error(report, "root", "must be an absolute path, got `%s`", wanted->root);
}

static size_t size_without_slashes(const char *path)
{
    size_t size = strlen(path);

    while (size > 0 && path[size - 1] == '/')
        size--;
    return size;
}

static int md5_open(struct weir_self *self, const void *settings, void *memory)
{
    const struct settings *wanted = settings;
    struct md5 *state = memory;
    const char *why;
    int status;

    state->root = wanted->root;
    state->root_size = size_without_slashes(wanted->root);
    state->line_tag = weir_tag(self, FILES_LINE_TAG);
    state->result_tag = weir_tag(self, INTEGRITY_RESULT_TAG);
    if (!state->line_tag || !state->result_tag)
        return WEIR_ENOMEM;
    status = verifier_init(&state->verifier, wanted->root, &why);
    if (status < 0)
        weir_reason(self, "%s", why);
    return status;
}

/* --- the result ------------------------------------------------------------------------------- */

/* `/var/lib/dpkg/info/libc6:amd64.md5sums` belongs to `libc6:amd64`. */
static struct text package_of(const struct files_line *line)
{
    const char *name = files_line_name(line);
    const char *slash = memrchr(name, '/', line->name_size);
    const size_t suffix_size = sizeof LIST_SUFFIX - 1;
    struct text package = { name, line->name_size };

    if (slash) {
        package.size -= (size_t)(slash + 1 - name);
        package.start = slash + 1;
    }
    if (package.size > suffix_size &&
        memcmp(package.start + package.size - suffix_size, LIST_SUFFIX, suffix_size) == 0)
        package.size -= suffix_size;
    return package;
}

static char *append(char *at, const char *text, size_t size)
{
    memcpy(at, text, size);
    return at + size;
}

/* Returns owned; NULL when memory is out. The payload is zeroed, so both NULs are there. */
static struct weir_message *make_result(struct weir_self *self, const struct md5 *state,
                                        const struct files_line *line,
                                        const struct verified *verified)
{
    struct text package = package_of(line);
    size_t path_size = state->root_size + 1 + state->line.path_size;
    size_t size = sizeof(struct integrity_result) + package.size + path_size + 2;
    struct weir_message *message = weir_message_new(self, state->result_tag, size);
    struct integrity_result *result;
    char *at;

    if (!message)
        return NULL;
    result = message->data;
    result->verdict = (uint32_t)verified->verdict;
    result->error = verified->error;
    result->bytes = verified->bytes;
    result->package_size = (uint32_t)package.size;
    result->path_size = (uint32_t)path_size;
    at = append((char *)(result + 1), package.start, package.size) + 1;
    at = append(at, state->root, state->root_size);
    *at++ = '/';
    (void)append(at, state->line.path, state->line.path_size);
    return message;
}

/* --- the work --------------------------------------------------------------------------------- */

static int postpone(struct weir_self *self, const char *why)
{
    weir_retry_after(self, SHORTAGE_MS);
    weir_reason(self, "%s", why);
    return WEIR_POSTPONE;
}

static int emit_result(struct weir_self *self, struct md5 *state, const struct files_line *line,
                       const struct verified *verified)
{
    struct weir_message *result = make_result(self, state, line, verified);
    int status;

    if (!result)
        return postpone(self, "no memory for the result");
    status = weir_emit(self, (uint32_t)verified->verdict, result);
    if (status == 0)
        return WEIR_DONE;
    weir_message_free(self, result);
    if (status == WEIR_EFULL) {
        weir_retry_after(self, NO_ROOM_MS);
        weir_reason(self, "no room for the result");
        return WEIR_RETRY;
    }
    weir_reason(self, "result refused: %s", weir_status_name(status));
    return WEIR_REJECT;
}

static void count(struct weir_self *self, struct md5 *state, const struct verified *verified)
{
    state->files_done++;
    state->bytes_done += verified->bytes;
    weir_progress(self, "files", state->files_done, 0);
    weir_progress(self, "bytes", state->bytes_done, 0);
}

static int reject_line(struct weir_self *self, const struct files_line *line, const char *why)
{
    weir_log(self, WEIR_LOG_WARNING, "line not understood; its file is not checked",
             weir_str("path", files_line_name(line)), weir_uint("line", line->number),
             weir_str("reason", why));
    weir_exit_status(self, EXIT_INCOMPLETE);
    weir_reason(self, "%s", why);
    return WEIR_REJECT;
}

static int handle_line(struct weir_self *self, struct md5 *state, const struct files_line *line)
{
    struct verified verified;
    const char *why = checksum_line_parse(files_line_text(line), line->line_size, &state->line);
    int verdict;

    if (why)
        return reject_line(self, line, why);
    verifier_check(&state->verifier, &state->line, &verified);
    if (weir_fault_of(verified.error) == WEIR_FAULT_SHORTAGE)
        return postpone(self, "descriptors or memory are short");
    verdict = emit_result(self, state, line, &verified);
    if (verdict == WEIR_DONE)
        count(self, state, &verified);
    return verdict;
}

static int md5_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct md5 *known = state;
    const struct files_line *line = NULL;

    if (message->tag == known->line_tag)
        line = files_line_get(message);
    if (!line) {
        weir_reason(self, "not a " FILES_LINE_TAG);
        return WEIR_REJECT;
    }
    if (checksum_line_is_blank(files_line_text(line), line->line_size))
        return WEIR_DONE;
    return handle_line(self, state, line);
}

static void md5_close(struct weir_self *self, void *memory, int reason)
{
    struct md5 *state = memory;

    (void)self;
    (void)reason;
    verifier_finish(&state->verifier);
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, root, .fallback = "/",
                       .help = "directory that the paths in the lists are relative to"),
    { 0 },
};

/* In the order of enum integrity_verdict. */
static const struct weir_output outputs[] = {
    { .name = "ok", .help = "files that are as the list says, as integrity.result/1" },
    { .name = "changed", .help = "files with another checksum", .expected = true },
    { .name = "missing", .help = "files that are not there", .expected = true },
    { .name = "unreadable",
      .help = "files that could not be read: no permission, not a file, an error",
      .expected = true },
    { 0 },
};

static const struct weir_behaviour behaviours[] = {
    {
        .name = "md5",
        .summary = "compares files with a list of MD5 sums, as md5sum -c and debsums do",
        .options = options,
        .outputs = outputs,
        .settings_size = sizeof(struct settings),
        .state_size = sizeof(struct md5),
        .flags = WEIR_BLOCKING,
        .check = md5_check,
        .open = md5_open,
        .handle = md5_handle,
        .close = md5_close,
    },
    { 0 },
};

WEIR_PLUGIN("integrity", "1.0.0", behaviours);
