/* SPDX-License-Identifier: MIT */
#include "host/run/crash_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <weir/settling.h>

#include "host/log/line.h"
#include "host/log/logger.h"

#define LINE_SIZE 512           /* a path, a label and 60 bytes */
#define RESERVED_SIZE 4096      /* bytes of the disk that a start reserves for the next line */
#define FILE_SIZE_MAX (1 << 24) /* a start leaves less than 1 MiB */
#define IDENTITY_DIGITS 16

/* A message of a pool. */
struct entry {
    uint64_t identity;
    uint32_t crashes;
    char path[PLACE_PATH_MAX];
    char label[WEIR_LABEL_SIZE]; /* of its last crash */
};

/* Written at the start; read then, and by the threads of a reload, and in signal handlers. */
static struct {
    int descriptor; /* owned; -1: none */
    pid_t process;
    struct entry *entries; /* owned */
    size_t count;
} crashes = { .descriptor = -1 };

/* --- the crash ------------------------------------------------------------------------------ */

static void add_identity(struct line *line, uint64_t identity)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        line_hex(line, (unsigned char)(identity >> shift));
}

/* Without line ends and other control characters. */
static void add_label(struct line *line, const char *label)
{
    for (; *label; label++)
        line_put(line, (unsigned char)*label < ' ' || *label == 0x7F ? '?' : *label);
}

void crash_file_blame(const char *cause, const struct crash_note *note)
{
    char text[LINE_SIZE];
    struct line line;
    ssize_t ignored;

    if (crashes.descriptor < 0 || !note || !note->inside || note->identity == 0 || !note->pool ||
        getpid() != crashes.process)
        return;
    line_init(&line, text, sizeof text);
    line_unsigned(&line, logger_date_us() / 1000000u);
    line_put(&line, ' ');
    line_text(&line, cause);
    line_put(&line, ' ');
    add_identity(&line, note->identity);
    line_put(&line, ' ');
    line_text(&line, note->pool);
    line_put(&line, ' ');
    add_label(&line, note->label ? note->label : "");
    line_put(&line, '\n');
    ignored = write(crashes.descriptor, text, line.used);
    (void)ignored;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The text of a file as lines. */
struct text {
    char *bytes; /* owned */
    size_t size; /* up to the end of the last whole line */
    size_t lines;
};

static int read_all(int descriptor, struct text *out)
{
    off_t size = lseek(descriptor, 0, SEEK_END);
    ssize_t got;

    if (size < 0)
        return errno;
    if (size > FILE_SIZE_MAX)
        return EFBIG;
    out->bytes = calloc(1, (size_t)size + 1);
    if (!out->bytes)
        return ENOMEM;
    while ((off_t)out->size < size &&
           (got = pread(descriptor, out->bytes + out->size, (size_t)size - out->size,
                        (off_t)out->size)) != 0) {
        if (got < 0 && errno != EINTR)
            return errno;
        out->size += got > 0 ? (size_t)got : 0;
    }
    while (out->size > 0 && out->bytes[out->size - 1] != '\n')
        out->size--;
    for (size_t i = 0; i < out->size; i++)
        out->lines += out->bytes[i] == '\n';
    return 0;
}

/* The next word of a line; NULL: there is none. */
static char *take_word(char **rest)
{
    char *word = strsep(rest, " ");

    return word && *word ? word : NULL;
}

static bool parse_identity(const char *word, uint64_t *out)
{
    if (!word || strlen(word) != IDENTITY_DIGITS ||
        strspn(word, "0123456789abcdef") != IDENTITY_DIGITS)
        return false;
    *out = strtoull(word, NULL, 16);
    return *out != 0;
}

static struct entry *find(uint64_t identity, const char *path)
{
    for (size_t i = 0; i < crashes.count; i++)
        if (crashes.entries[i].identity == identity && strcmp(crashes.entries[i].path, path) == 0)
            return &crashes.entries[i];
    return NULL;
}

/* Counts a line; one that is no line of this file is passed over. The entries have room. */
static void count_line(char *line)
{
    char *rest = line, *word, *path;
    uint64_t identity;
    struct entry *entry;

    (void)take_word(&rest); /* the time */
    (void)take_word(&rest); /* the cause */
    word = take_word(&rest);
    path = take_word(&rest);
    if (!parse_identity(word, &identity) || !path || strlen(path) >= PLACE_PATH_MAX)
        return;
    entry = find(identity, path);
    if (!entry) {
        entry = &crashes.entries[crashes.count++];
        entry->identity = identity;
        memcpy(entry->path, path, strlen(path));
    }
    entry->crashes++;
    (void)snprintf(entry->label, sizeof entry->label, "%s", rest ? rest : "");
}

/* Changes the text: its lines become strings. `first` is the first line that counts. */
static int count_lines(struct text *text, char *first)
{
    char *rest = first, *line;

    crashes.entries = calloc(text->lines + 1, sizeof *crashes.entries);
    if (!crashes.entries)
        return ENOMEM;
    text->bytes[text->size ? text->size - 1 : 0] = '\0';
    while ((line = strsep(&rest, "\n")))
        count_line(line);
    return 0;
}

/* --- opening --------------------------------------------------------------------------------- */

static int write_all(int descriptor, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(descriptor, bytes, size);

        if (written < 0 && errno != EINTR)
            return errno;
        bytes += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* Opens a file of this user, and locks it. Returns 0 or an errno, EBUSY: another host has it. */
static int open_locked(const char *path, int flags, int *out_descriptor)
{
    int error = weir_settling_check(path);
    int descriptor;

    if (error != 0)
        return error;
    descriptor = open(
        path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags,
        S_IRUSR | S_IWUSR);
    if (descriptor < 0)
        return errno;
    error = weir_settling_check_open_(descriptor);
    if (error == 0 && flock(descriptor, LOCK_EX | LOCK_NB) < 0)
        error = errno == EWOULDBLOCK ? EBUSY : errno;
    if (error == 0)
        *out_descriptor = descriptor;
    else
        (void)close(descriptor);
    return error;
}

/* Replaces the file by its first line and the lines from `first` on. */
static int replace(const char *path, const char *first, const struct text *text)
{
    char *beside = weir_settling_beside_(path, ".new");
    int descriptor = -1;
    int error = beside ? open_locked(beside, O_TRUNC, &descriptor) : ENOMEM;

    if (error == 0)
        error = write_all(descriptor, CRASH_FILE_FIRST_LINE, strlen(CRASH_FILE_FIRST_LINE));
    if (error == 0)
        error = write_all(descriptor, first, (size_t)(text->bytes + text->size - first));
    if (error == 0 && (fsync(descriptor) < 0 || rename(beside, path) < 0))
        error = errno;
    free(beside);
    if (error != 0) {
        if (descriptor >= 0)
            (void)close(descriptor);
        return error;
    }
    (void)close(crashes.descriptor);
    crashes.descriptor = descriptor;
    return 0;
}

/* The first line that a start keeps. */
static char *first_kept(const struct text *text)
{
    char *line = text->bytes + (text->size ? strlen(CRASH_FILE_FIRST_LINE) : 0);

    for (size_t lines = text->lines; lines > CRASH_FILE_LINES_MAX + 1; lines--)
        line = strchr(line, '\n') + 1;
    return line;
}

static int begin(const char *path, struct text *text)
{
    const size_t head = strlen(CRASH_FILE_FIRST_LINE);
    int error = read_all(crashes.descriptor, text);
    char *first;

    if (error != 0)
        return error;
    if (text->size > 0 && strncmp(text->bytes, CRASH_FILE_FIRST_LINE, head) != 0)
        return EINVAL;
    first = first_kept(text);
    if (ftruncate(crashes.descriptor, (off_t)text->size) < 0) /* half a line */
        error = errno;
    else if (text->size == 0)
        error = write_all(crashes.descriptor, CRASH_FILE_FIRST_LINE, head);
    else if (first > text->bytes + head)
        error = replace(path, first, text);
    /* Where the file system cannot, a crash on a full disk is not counted. */
    if (error == 0)
        (void)fallocate(crashes.descriptor, FALLOC_FL_KEEP_SIZE, (off_t)text->size, RESERVED_SIZE);
    return error ? error : count_lines(text, first);
}

static const char *reason_of(const char *path, int error, char *text, size_t size)
{
    switch (error) {
    case EBUSY:
        return "another host has it";
    case EINVAL:
        return "it is no file of crashes";
    default:
        return weir_settling_reason(path, error, text, size);
    }
}

/* --- life ------------------------------------------------------------------------------------ */

static bool is_refused(const struct settings *settings, const struct entry *entry)
{
    const uint32_t index = settings_find_pool(settings, entry->path);
    const uint32_t times = index == SETTINGS_NONE ? 0 : settings->pools[index].quarantine;

    return times > 0 && entry->crashes >= times;
}

static void name_frequent(const struct settings *settings, const struct log_sink *sink)
{
    for (size_t i = 0; i < crashes.count; i++) {
        const struct entry *entry = &crashes.entries[i];

        if (entry->crashes >= CRASH_FILE_NAMED)
            log_answer(sink, WEIR_LOG_WARNING, entry->path, "a message has crashed the host often",
                       weir_str("label", entry->label), weir_uint("crashes", entry->crashes),
                       weir_str("effect", is_refused(settings, entry)
                                              ? "it is dead when it comes again"
                                              : "it is handled again: see quarantine"));
    }
}

int crash_file_open(const struct settings *settings, const struct log_sink *sink,
                    struct report *report)
{
    const char *path = settings->host.crash_file;
    struct text text = { .size = 0 };
    char reason[512];
    int error;

    if (!path)
        return 0;
    error = open_locked(path, 0, &crashes.descriptor);
    if (error == 0)
        error = begin(path, &text);
    free(text.bytes);
    if (error == 0) {
        crashes.process = getpid();
        name_frequent(settings, sink);
        return 0;
    }
    crash_file_close();
    report_add(report, written_mark(&settings->host.written, "crash_file"), "host.crash_file",
               "%s: %s", path, reason_of(path, error, reason, sizeof reason));
    return error == ENOMEM ? WEIR_ENOMEM : WEIR_EINVALID;
}

void crash_file_close(void)
{
    if (crashes.descriptor >= 0)
        (void)close(crashes.descriptor);
    crashes.descriptor = -1;
    free(crashes.entries);
    crashes.entries = NULL;
    crashes.count = 0;
}

int crash_file_poison(const char *path, uint32_t times, struct poison **out, uint32_t *out_count)
{
    struct poison *found = NULL;
    uint32_t count = 0;

    for (size_t i = 0; times > 0 && i < crashes.count; i++) {
        const struct entry *entry = &crashes.entries[i];

        if (entry->crashes < times || strcmp(entry->path, path) != 0)
            continue;
        if (!found && !(found = calloc(crashes.count, sizeof *found)))
            return WEIR_ENOMEM;
        found[count++] = (struct poison){ entry->identity, entry->crashes };
    }
    *out = found;
    *out_count = count;
    return 0;
}
