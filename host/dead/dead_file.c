#include "host/dead/dead_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/lock.h"
#include "host/dead/dead_record.h"

#define COMPONENT "dead_letters"
#define AGAIN_MS 1000u

/* Records that are written together. */
struct batch {
    struct dead_text text;
    uint64_t count;
    uint64_t last; /* number of the last one */
};

struct dead_file {
    const struct log_sink *sink;
    uint64_t (*date_us)(void);
    struct runtime *runtime; /* const once the store is used */
    struct lock lock;
    pthread_cond_t filled;  /* something waits, or `changed` */
    pthread_cond_t changed; /* another file, a reopen, or the end */
    pthread_cond_t emptied;
    pthread_t thread; /* by the thread that ends it */
    bool started;     /* likewise */
    bool has_ended;   /* likewise */
    /* lock */
    bool ends;
    bool accepts;                     /* a file is in force */
    bool reopens;                     /* the path is to be opened again */
    bool has_next;                    /* `next` takes the place of the present file */
    struct dead_output *next;         /* owned */
    struct batch waiting;             /* owned */
    uint64_t number;                  /* of the last record that was appended */
    uint64_t size_max;                /* 0 = none */
    struct dead_file_figures figures; /* without `waiting` */
    bool loses;                       /* the log has it */
    _Atomic size_t pending; /* bytes of both batches; written under lock; a hint for others */
    /* the thread's own */
    struct dead_output *output; /* owned */
    struct batch writing;       /* owned; `count` is read under lock */
};

static void init_timed(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

int dead_file_create(const struct log_sink *sink, uint64_t (*date_us)(void), struct dead_file **out)
{
    struct dead_file *file = calloc(1, sizeof *file);

    if (!file)
        return WEIR_ENOMEM;
    file->sink = sink;
    file->date_us = date_us;
    lock_init(&file->lock, LOCK_DEAD_FILE);
    pthread_cond_init(&file->filled, NULL);
    init_timed(&file->changed);
    init_timed(&file->emptied);
    *out = file;
    return 0;
}

void dead_file_connect(struct dead_file *file, struct runtime *runtime)
{
    file->runtime = runtime;
}

/* --- appending ------------------------------------------------------------------------------ */

static void lose_locked(struct dead_file *file, uint64_t count)
{
    file->figures.lost += count;
    if (count > 0 && !file->loses)
        log_event(file->sink, WEIR_LOG_ERROR, COMPONENT, "dead letters are not stored",
                  weir_str("effect", "they are in memory only; see weir status"));
    file->loses |= count > 0;
}

static uint64_t append_locked(struct dead_file *file, const struct dead_record *record,
                              bool is_awaited)
{
    struct batch *batch = &file->waiting;
    size_t before = batch->text.size;

    if (!file->accepts)
        return 0;
    if ((!is_awaited &&
         atomic_load_explicit(&file->pending, memory_order_relaxed) >= DEAD_FILE_BUFFER) ||
        dead_record_write(&batch->text, record, file->date_us()) != 0) {
        lose_locked(file, 1);
        return 0;
    }
    if (before == 0)
        pthread_cond_signal(&file->filled);
    batch->count++;
    batch->last = ++file->number;
    /* Relaxed: a hint, and under the lock. */
    atomic_fetch_add_explicit(&file->pending, batch->text.size - before, memory_order_relaxed);
    return file->number;
}

static uint64_t append(void *context, const struct dead_record *record, bool is_awaited)
{
    struct dead_file *file = context;
    uint64_t number;

    lock_acquire(&file->lock);
    number = append_locked(file, record, is_awaited);
    lock_release(&file->lock);
    return number;
}

static bool is_full(void *context)
{
    struct dead_file *file = context;

    return atomic_load_explicit(&file->pending, memory_order_relaxed) >= DEAD_FILE_BUFFER;
}

struct dead_store dead_file_store(struct dead_file *file)
{
    return (struct dead_store){ .context = file, .append = append, .is_full = is_full };
}

/* --- the thread: another file --------------------------------------------------------------- */

static void log_opened(const struct dead_file *file, const struct dead_output *output)
{
    if (output->is_older)
        log_event(file->sink, WEIR_LOG_WARNING, COMPONENT,
                  "a file of version 1 was renamed, and a new file begins",
                  weir_str("path", output->path), weir_str("suffix", DEAD_FILE_OLDER));
    if (output->cut > 0)
        log_event(file->sink, WEIR_LOG_WARNING, COMPONENT, "incomplete end of the file was cut off",
                  weir_str("path", output->path), weir_uint("bytes", output->cut));
}

/* Takes the output. */
static void use_locked(struct dead_file *file, struct dead_output *output)
{
    dead_output_close(file->output);
    file->output = output;
    file->figures.size = output ? output->size : 0;
    file->figures.records = output ? output->records : 0;
}

/* Keeps the present file when the path cannot be opened. */
static void reopen_locked(struct dead_file *file)
{
    struct dead_output *output = NULL;
    char text[128];
    int error;

    file->reopens = false;
    if (!file->output || dead_output_has_its_path(file->output))
        return;
    lock_release(&file->lock);
    error = dead_output_open(file->output->path, &output);
    if (error == 0)
        log_opened(file, output);
    else
        log_event(file->sink, WEIR_LOG_ERROR, COMPONENT, "file cannot be opened again",
                  weir_str("path", file->output->path),
                  weir_str("reason", dead_output_reason(error, text, sizeof text)),
                  weir_str("effect", "keeping the file that is open"));
    lock_acquire(&file->lock);
    if (error == 0)
        use_locked(file, output);
}

/* Whether the change may happen now. A change to no file waits until the buffer is empty, as long
 * as the present file can be written. */
static bool is_time_for_next(const struct dead_file *file)
{
    return file->next || !file->output || file->figures.error != 0 ||
           file->writing.count + file->waiting.count == 0;
}

static void change_locked(struct dead_file *file)
{
    if (file->has_next && is_time_for_next(file)) {
        use_locked(file, file->next);
        file->next = NULL;
        file->has_next = file->reopens = false;
    }
    if (file->reopens)
        reopen_locked(file);
}

static bool is_changed_locked(const struct dead_file *file)
{
    return file->has_next || file->reopens || file->ends;
}

/* --- the thread: writing -------------------------------------------------------------------- */

static bool wait_until_locked(struct dead_file *file, const struct timespec *until)
{
    return lock_wait_until(&file->lock, &file->changed, until);
}

static struct timespec time_of_next_attempt(void)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += AGAIN_MS / 1000;
    return until;
}

static void pause_locked(struct dead_file *file)
{
    const struct timespec until = time_of_next_attempt();
    bool in_time = true;

    while (in_time && !is_changed_locked(file))
        in_time = wait_until_locked(file, &until);
}

/* Tries again until there is memory, or a free executor. A change ends one wait early, and not the
 * next ones. */
static void report_locked(struct dead_file *file, uint64_t last, bool is_stored)
{
    int status;

    do {
        const struct timespec until = time_of_next_attempt();

        lock_release(&file->lock);
        status = runtime_stored(file->runtime, last, is_stored);
        lock_acquire(&file->lock);
        if (status != 0)
            (void)wait_until_locked(file, &until);
    } while (status != 0);
}

/* The batch has ended, stored or not. */
static void end_batch_locked(struct dead_file *file, bool is_stored)
{
    struct batch *batch = &file->writing;

    if (is_stored)
        file->loses = false;
    else
        lose_locked(file, batch->count);
    report_locked(file, batch->last, is_stored);
    atomic_fetch_sub_explicit(&file->pending, batch->text.size, memory_order_relaxed);
    if (batch->text.capacity > 2 * (size_t)DEAD_FILE_BUFFER) {
        free(batch->text.bytes);
        batch->text = (struct dead_text){ .bytes = NULL };
    }
    batch->text.size = 0;
    batch->count = 0;
    if (file->waiting.text.size == 0)
        pthread_cond_broadcast(&file->emptied);
}

static void log_error_locked(struct dead_file *file, int error)
{
    char text[128];

    if (error != 0 && error != file->figures.error)
        log_event(file->sink, WEIR_LOG_ERROR, COMPONENT, "dead letters cannot be stored",
                  weir_str("path", file->output->path),
                  weir_str("reason", dead_output_reason(error, text, sizeof text)),
                  weir_str("effect", "positions of sources stay where they are until it can"));
    else if (error == 0 && file->figures.error != 0)
        log_event(file->sink, WEIR_LOG_INFO, COMPONENT, "dead letters are stored again",
                  weir_str("path", file->output->path));
    file->figures.error = error;
}

static int write_locked(struct dead_file *file)
{
    const struct batch *batch = &file->writing;
    int error = EFBIG;

    if (file->size_max == 0 || file->output->size < file->size_max) {
        lock_release(&file->lock);
        error = dead_output_append(file->output, batch->text.bytes, batch->text.size, batch->count);
        lock_acquire(&file->lock);
    }
    file->figures.size = file->output->size;
    file->figures.records = file->output->records;
    log_error_locked(file, error);
    return error;
}

static void store_locked(struct dead_file *file)
{
    int error;

    if (file->writing.count == 0) {
        const struct batch empty = file->writing;

        file->writing = file->waiting;
        file->waiting = empty;
    }
    error = file->output ? write_locked(file) : 0;
    if (error == 0)
        end_batch_locked(file, file->output != NULL);
    else if (file->ends)
        end_batch_locked(file, false);
    else
        pause_locked(file);
}

static void *run(void *argument)
{
    struct dead_file *file = argument;

    lock_acquire(&file->lock);
    for (;;) {
        change_locked(file);
        if (file->writing.count > 0 || file->waiting.count > 0)
            store_locked(file);
        else if (file->ends)
            break;
        else if (!is_changed_locked(file))
            lock_wait(&file->lock, &file->filled);
    }
    lock_release(&file->lock);
    return NULL;
}

static void wake_locked(struct dead_file *file)
{
    pthread_cond_signal(&file->filled);
    pthread_cond_signal(&file->changed);
}

/* --- settings ------------------------------------------------------------------------------- */

static bool is_present(const struct dead_file *file, const char *path)
{
    return file->figures.path && strcmp(file->figures.path, path) == 0;
}

/* False: there is no thread. */
static bool start(struct dead_file *file)
{
    bool started;

    lock_acquire(&file->lock);
    if (!file->started)
        file->started = pthread_create(&file->thread, NULL, run, file) == 0;
    started = file->started;
    lock_release(&file->lock);
    return started;
}

int dead_file_prepare(struct dead_file *file, const struct settings *settings,
                      struct report *report, struct dead_output **out_output)
{
    const struct settings_host *host = &settings->host;
    const char *path = host->dead_letters.file;
    char text[128];
    int error;

    *out_output = NULL;
    if (!path || is_present(file, path))
        return 0;
    if (!start(file))
        return WEIR_ENOMEM;
    error = dead_output_open(path, out_output);
    if (error == 0) {
        log_opened(file, *out_output);
        return 0;
    }
    report_add(report, written_mark(&host->written, "dead_letters.file"), "host.dead_letters.file",
               "%s: %s", path, dead_output_reason(error, text, sizeof text));
    return error == ENOMEM ? WEIR_ENOMEM : WEIR_EINVALID;
}

void dead_file_commit(struct dead_file *file, const struct settings *settings,
                      struct dead_output *output)
{
    const struct settings_dead_letters *wanted = &settings->host.dead_letters;

    lock_acquire(&file->lock);
    file->size_max = wanted->file_size;
    if (output || (!wanted->file && file->figures.path)) {
        dead_output_close(file->next);
        file->next = output;
        file->has_next = true;
        file->accepts = output != NULL;
        free(file->figures.path);
        file->figures.path = output ? strdup(output->path) : NULL;
    }
    wake_locked(file);
    lock_release(&file->lock);
}

void dead_file_reopen(struct dead_file *file)
{
    lock_acquire(&file->lock);
    file->reopens = file->started;
    wake_locked(file);
    lock_release(&file->lock);
}

/* --- the end, and figures ------------------------------------------------------------------- */

bool dead_file_flush(struct dead_file *file, uint32_t timeout_ms)
{
    struct timespec until;
    bool in_time = true, is_empty;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    lock_acquire(&file->lock);
    while (in_time && file->waiting.count + file->writing.count > 0)
        in_time = lock_wait_until(&file->lock, &file->emptied, &until);
    is_empty = file->waiting.count + file->writing.count == 0;
    lock_release(&file->lock);
    return is_empty;
}

void dead_file_end(struct dead_file *file)
{
    if (!file || file->has_ended)
        return;
    lock_acquire(&file->lock);
    file->ends = true;
    file->accepts = false;
    wake_locked(file);
    lock_release(&file->lock);
    if (file->started)
        pthread_join(file->thread, NULL);
    file->has_ended = true;
}

void dead_file_destroy(struct dead_file *file)
{
    if (!file)
        return;
    dead_file_end(file);
    dead_output_close(file->next);
    dead_output_close(file->output);
    free(file->figures.path);
    free(file->waiting.text.bytes);
    free(file->writing.text.bytes);
    pthread_cond_destroy(&file->emptied);
    pthread_cond_destroy(&file->changed);
    pthread_cond_destroy(&file->filled);
    lock_finish(&file->lock);
    free(file);
}

void dead_file_figures(struct dead_file *file, struct dead_file_figures *out)
{
    lock_acquire(&file->lock);
    *out = file->figures;
    out->path = file->figures.path ? strdup(file->figures.path) : NULL;
    out->waiting = file->waiting.count + file->writing.count;
    lock_release(&file->lock);
}
