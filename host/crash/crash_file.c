/* SPDX-License-Identifier: MIT */
#include "host/crash/crash_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weir/settling.h>

#include "host/log/line.h"
#include "host/log/logger.h"

#define LINE_SIZE 512           /* a path, a label and 60 bytes */
#define RESERVED_SIZE 4096      /* bytes of the disk that a start reserves for the next line */
#define READ_SIZE_MAX (1 << 20) /* the lines that a start keeps are less */
#define IDENTITY_DIGITS 16
#define HEAD_SIZE (sizeof CRASH_FILE_FIRST_LINE - 1)
#define OPENS_MAX 100 /* of a file that others replace meanwhile */
#define MEMORY_PROBED ((size_t)16 * 1024 * 1024)

/* A message of a pool, or of the copies of a pool of a template. */
struct entry {
    uint64_t identity;
    uint32_t crashes;
    char path[PLACE_PATH_MAX]; /* of its last crash, as the label */
    char label[WEIR_LABEL_SIZE];
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

/* Without so much memory, whatever was in hand might have been another message. */
static bool is_memory_out(void)
{
    void *memory = mmap(NULL, MEMORY_PROBED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        -1, 0);

    if (memory == MAP_FAILED)
        return true;
    (void)munmap(memory, MEMORY_PROBED);
    return false;
}

void crash_file_blame(const char *cause, const struct crash_note *note)
{
    char text[LINE_SIZE], label[WEIR_LABEL_SIZE];
    struct line line;
    ssize_t ignored;

    if (crashes.descriptor < 0 || !note || !note->inside || note->identity == 0 || !note->pool ||
        getpid() != crashes.process || is_memory_out())
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
    last_words_label(note, label);
    add_label(&line, label);
    line_put(&line, '\n');
    ignored = write(crashes.descriptor, text, line.used);
    (void)ignored;
}

/* --- reading --------------------------------------------------------------------------------- */

/* The lines of a file behind its first one; the last ones of a large file. */
struct text {
    char *bytes; /* owned */
    char *first; /* of the lines that a start keeps */
    char *end;   /* of the last whole line */
    size_t lines;
    off_t file_end; /* where `end` is in the file */
    bool is_large;  /* the file has lines before those */
};

static int read_part(int descriptor, char *bytes, size_t size, off_t from)
{
    size_t done = 0;

    while (done < size) {
        ssize_t got = pread(descriptor, bytes + done, size - done, from + (off_t)done);

        if (got == 0)
            return EIO; /* nobody else shortens it */
        if (got < 0 && errno != EINTR)
            return errno;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* Whether a file of that size begins as one of crashes; what is shorter than the first line may be
 * of a disk that was full. EINVAL: it does not. */
static int check_head(int descriptor, off_t size)
{
    const size_t known = size < (off_t)HEAD_SIZE ? (size_t)size : HEAD_SIZE;
    char head[HEAD_SIZE];
    int error = read_part(descriptor, head, known, 0);

    return error != 0 ? error : memcmp(head, CRASH_FILE_FIRST_LINE, known) != 0 ? EINVAL : 0;
}

/* Behind the next end of a line; `end`: there is none. */
static char *behind_line(char *from, char *end)
{
    char *found = memchr(from, '\n', (size_t)(end - from));

    return found ? found + 1 : end;
}

static void find_lines(struct text *text, char *end)
{
    char *line_end = text->is_large ? behind_line(text->bytes, end) : text->bytes;

    text->first = line_end;
    text->end = line_end;
    for (; (line_end = memchr(line_end, '\n', (size_t)(end - line_end))); text->lines++)
        text->end = ++line_end;
    for (; text->lines > CRASH_FILE_LINES_MAX; text->lines--) {
        text->first = behind_line(text->first, text->end);
        text->is_large = true;
    }
}

static int read_all(int descriptor, struct text *out)
{
    off_t size = lseek(descriptor, 0, SEEK_END), from = HEAD_SIZE;
    size_t count;
    int error = size < 0 ? errno : check_head(descriptor, size);

    if (error != 0)
        return error;
    out->is_large = size > from + READ_SIZE_MAX;
    if (out->is_large)
        from = size - READ_SIZE_MAX;
    count = size > from ? (size_t)(size - from) : 0;
    out->bytes = malloc(count + 1);
    if (!out->bytes)
        return ENOMEM;
    error = read_part(descriptor, out->bytes, count, from);
    if (error != 0)
        return error;
    find_lines(out, out->bytes + count);
    out->file_end = size < from ? 0 : from + (out->end - out->bytes);
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

static bool is_number(const char *text, size_t size)
{
    size_t digits = strspn(text, "0123456789");

    return size > 0 && digits >= size;
}

/* Whether two paths are one, or those of copies of a pool of a template, whose members have numbers
 * as names. */
static bool is_same_pool(const char *a, const char *b)
{
    for (bool is_top = true;; is_top = false) {
        const size_t of_a = strcspn(a, "/"), of_b = strcspn(b, "/");

        if ((of_a != of_b || memcmp(a, b, of_a) != 0) &&
            (is_top || !is_number(a, of_a) || !is_number(b, of_b)))
            return false;
        if (!a[of_a] || !b[of_b])
            return a[of_a] == b[of_b];
        a += of_a + 1;
        b += of_b + 1;
    }
}

static struct entry *find(uint64_t identity, const char *path)
{
    for (size_t i = 0; i < crashes.count; i++)
        if (crashes.entries[i].identity == identity && is_same_pool(crashes.entries[i].path, path))
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
    }
    entry->crashes++;
    (void)snprintf(entry->path, sizeof entry->path, "%s", path);
    (void)snprintf(entry->label, sizeof entry->label, "%s", rest ? rest : "");
}

/* Changes the text: its lines become strings. A line begins behind its last NUL: after a loss of
 * power a part of a file may be NULs. */
static int count_lines(struct text *text)
{
    char *next;

    crashes.entries = calloc(text->lines + 1, sizeof *crashes.entries);
    if (!crashes.entries)
        return ENOMEM;
    for (char *line = text->first; line < text->end; line = next) {
        char *nul;

        next = behind_line(line, text->end);
        next[-1] = '\0';
        nul = memrchr(line, '\0', (size_t)(next - 1 - line));
        count_line(nul ? nul + 1 : line);
    }
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

/* Whether the name is still that of the open file. */
static bool is_still(const char *path, int descriptor)
{
    struct stat open_one, named;

    return fstat(descriptor, &open_one) == 0 && lstat(path, &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

/* EAGAIN: another file has the name meanwhile. */
static int open_once(const char *path, int *out_descriptor)
{
    int error = weir_settling_check(path);
    int descriptor;

    if (error != 0)
        return error;
    descriptor = open(path,
                      O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                      S_IRUSR | S_IWUSR);
    if (descriptor < 0)
        return errno;
    error = weir_settling_check_open_(descriptor);
    if (error == 0 && flock(descriptor, LOCK_EX | LOCK_NB) < 0)
        error = errno == EWOULDBLOCK ? EBUSY : errno;
    if (error == 0 && !is_still(path, descriptor))
        error = EAGAIN;
    if (error == 0)
        *out_descriptor = descriptor;
    else
        (void)close(descriptor);
    return error;
}

/* Opens a file of this user, and locks it. Returns 0 or an errno, EBUSY: another host has it. A
 * host that replaces it between the open and the lock leaves us with the old one: we try
 * again. */
static int open_locked(const char *path, int *out_descriptor)
{
    int error = EAGAIN;

    for (int i = 0; error == EAGAIN && i < OPENS_MAX; i++)
        error = open_once(path, out_descriptor);
    return error == EAGAIN ? EBUSY : error;
}

/* Replaces the file by its first line and the lines that are kept. */
static int replace(const char *path, const struct text *text)
{
    char *beside = weir_settling_beside_(path, ".new");
    int descriptor = -1;
    int error = beside ? open_locked(beside, &descriptor) : ENOMEM;

    if (error == 0 && ftruncate(descriptor, 0) < 0)
        error = errno;
    if (error == 0)
        error = write_all(descriptor, CRASH_FILE_FIRST_LINE, HEAD_SIZE);
    if (error == 0)
        error = write_all(descriptor, text->first, (size_t)(text->end - text->first));
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

/* Cuts what is no whole line off: the next line begins behind a line end. */
static int mend(const char *path, const struct text *text)
{
    if (text->is_large)
        return replace(path, text);
    if (ftruncate(crashes.descriptor, text->file_end) < 0)
        return errno;
    return text->file_end == 0 ? write_all(crashes.descriptor, CRASH_FILE_FIRST_LINE, HEAD_SIZE)
                               : 0;
}

static int begin(const char *path, struct text *text)
{
    int error = read_all(crashes.descriptor, text);
    off_t end;

    if (error == 0)
        error = mend(path, text);
    if (error != 0)
        return error;
    /* Where the file system cannot, a crash on a full disk is not counted. */
    end = lseek(crashes.descriptor, 0, SEEK_END);
    (void)fallocate(crashes.descriptor, FALLOC_FL_KEEP_SIZE, end, RESERVED_SIZE);
    return count_lines(text);
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
    for (uint32_t i = 0; i < settings->pool_count; i++) {
        const struct settings_pool *pool = &settings->pools[i];

        if (pool->quarantine > 0 && entry->crashes >= pool->quarantine &&
            is_same_pool(pool->path, entry->path))
            return true;
    }
    return false;
}

/* The crashes of a message in all pools; 0: an entry before this one has counted them. */
static uint32_t all_crashes_of(const struct settings *settings, size_t entry, bool *out_refused)
{
    const uint64_t identity = crashes.entries[entry].identity;
    uint32_t count = 0;

    *out_refused = false;
    for (size_t i = 0; i < crashes.count; i++) {
        if (crashes.entries[i].identity != identity)
            continue;
        if (i < entry)
            return 0;
        count += crashes.entries[i].crashes;
        *out_refused = *out_refused || is_refused(settings, &crashes.entries[i]);
    }
    return count;
}

static void name_frequent(const struct settings *settings, const struct log_sink *sink)
{
    for (size_t i = 0; i < crashes.count; i++) {
        const struct entry *entry = &crashes.entries[i];
        bool refused;
        uint32_t count = all_crashes_of(settings, i, &refused);

        if (count >= CRASH_FILE_NAMED)
            log_answer(sink, WEIR_LOG_WARNING, entry->path, "a message has crashed the host often",
                       weir_str("label", entry->label), weir_uint("crashes", count),
                       weir_str("effect", refused ? "it is dead when it comes again"
                                                  : "it is handled again: see quarantine"));
    }
}

int crash_file_open(const struct settings *settings, const struct log_sink *sink,
                    struct report *report)
{
    const char *path = settings->host.crash_file;
    struct text text = { .lines = 0 };
    char reason[512];
    int error;

    if (!path)
        return 0;
    error = open_locked(path, &crashes.descriptor);
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

        if (entry->crashes < times || !is_same_pool(entry->path, path))
            continue;
        if (!found && !(found = calloc(crashes.count, sizeof *found)))
            return WEIR_ENOMEM;
        found[count++] = (struct poison){ entry->identity, entry->crashes };
    }
    *out = found;
    *out_count = count;
    return 0;
}
