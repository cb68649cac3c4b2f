/* SPDX-License-Identifier: MIT */
#include "host/dead/dead_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/lock.h"
#include "host/dead/dead_marks.h"
#include "host/dead/dead_waiting.h"

#define COMPONENT "dead_letters"
#define AGAIN_MS 1000u
#define MARK_MS 1000u /* for one sync; the control socket waits as long */

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
    struct dead_waiting waiting;      /* the thread reads its `text` without the lock */
    struct dead_marks marks;          /* records that were sent again, and are not marked */
    uint64_t size_max;                /* 0 = none */
    int error;                        /* an errno of the last write; 0: it succeeded */
    struct dead_file_figures figures; /* without `waiting` and `error` */
    /* written by the thread, under lock; its file is the thread's own */
    struct dead_output *output; /* owned */
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
    if (getrandom(&file->waiting.run, sizeof file->waiting.run, 0) < 0)
        file->waiting.run = date_us(); /* it only has to differ from run to run */
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

/* `owner` NULL: unknown. */
static void lose_locked(struct dead_file *file, struct dead_owner *owner, uint64_t count)
{
    file->figures.lost += count;
    if (!owner || !owner->loses)
        log_event(file->sink, WEIR_LOG_ERROR, COMPONENT, "dead letters are not stored",
                  weir_str("pool", owner ? owner->name : ""),
                  weir_str("effect", "they are in memory only; see weir status"));
    if (owner)
        owner->loses = true;
}

/* Where the next record will be written. */
static struct dead_place place_locked(const struct dead_file *file)
{
    return (struct dead_place){ file->has_next ? file->next : file->output, file->size_max };
}

static uint64_t append_locked(struct dead_file *file, const struct dead_record *record,
                              bool is_awaited)
{
    const struct dead_place place = place_locked(file);
    struct dead_owner *owner;
    uint64_t number = 0;

    if (!file->accepts)
        return 0;
    owner = dead_waiting_owner(&file->waiting, record->path);
    if (owner)
        number = dead_waiting_add(&file->waiting, owner, record, file->date_us(), is_awaited,
                                  &place, DEAD_FILE_BUFFER);
    if (number == 0)
        lose_locked(file, owner, 1);
    else if (owner->batch.count == 1)
        pthread_cond_signal(&file->filled);
    return number;
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

static bool is_full(void *context, const char *path)
{
    struct dead_file *file = context;
    bool is_full;

    lock_acquire(&file->lock);
    is_full = dead_waiting_is_full(&file->waiting, path, DEAD_FILE_BUFFER);
    lock_release(&file->lock);
    return is_full;
}

static void sent_again(void *context, uint64_t number)
{
    struct dead_file *file = context;

    lock_acquire(&file->lock);
    if (!dead_waiting_mark(&file->waiting, number))
        (void)dead_marks_add(&file->marks, number);
    lock_release(&file->lock);
}

struct dead_store dead_file_store(struct dead_file *file)
{
    return (struct dead_store){
        .context = file, .append = append, .is_full = is_full, .sent_again = sent_again
    };
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
    char text[512];
    int error;

    file->reopens = false;
    if (!file->output || dead_output_has_its_path(file->output))
        return;
    lock_release(&file->lock);
    error = dead_output_open(file->output->path, &output);
    if (error == 0)
        log_opened(file, output);
    else
        log_event(
            file->sink, WEIR_LOG_ERROR, COMPONENT, "file cannot be opened again",
            weir_str("path", file->output->path),
            weir_str("reason", dead_output_reason(file->output->path, error, text, sizeof text)),
            weir_str("effect", "keeping the file that is open"));
    lock_acquire(&file->lock);
    if (error == 0)
        use_locked(file, output);
}

/* Whether the change may happen now. A change to no file waits until all is written, as long as the
 * present file can be written. */
static bool is_time_for_next(const struct dead_file *file)
{
    return file->next || !file->output || file->error != 0 || !dead_waiting_is_busy(&file->waiting);
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

static void end_part_locked(struct dead_file *file, size_t index, bool is_stored)
{
    struct dead_owner *owner = &file->waiting.owners[index];
    const struct dead_part part = owner->writing;

    if (!is_stored)
        lose_locked(file, owner, part.count);
    else if (dead_shares_add(&file->output->shares, owner->name, part.size) == 0)
        owner->loses = false;
    report_locked(file, dead_waiting_end_part(&file->waiting, index), is_stored);
}

/* The text has ended, stored or not. */
static void end_text_locked(struct dead_file *file, bool is_stored)
{
    struct dead_waiting *waiting = &file->waiting;

    for (size_t i = 0; i < waiting->owner_count; i++)
        if (waiting->owners[i].writing.count > 0)
            end_part_locked(file, i, is_stored);
    dead_waiting_end(waiting);
}

static void log_error_locked(struct dead_file *file, int error, const char *pool)
{
    char text[512];

    log_event(file->sink, WEIR_LOG_ERROR, COMPONENT, "dead letters cannot be stored",
              weir_str("path", file->output->path), weir_str("pool", pool),
              weir_str("reason", dead_output_reason(file->output->path, error, text, sizeof text)),
              weir_str("effect", "positions of sources stay where they are until it can"));
}

static void log_stored_locked(struct dead_file *file, const char *pool)
{
    log_event(file->sink, WEIR_LOG_INFO, COMPONENT, "dead letters are stored again",
              weir_str("path", file->output->path), weir_str("pool", pool));
}

/* Logs owners whose share is used up, and those that may go on. */
static void log_held_locked(struct dead_file *file)
{
    for (size_t i = 0; i < file->waiting.owner_count; i++) {
        struct dead_owner *owner = &file->waiting.owners[i];

        if (file->output && owner->is_held && !owner->is_held_logged)
            log_error_locked(file, EFBIG, owner->name);
        else if (file->output && !owner->is_held && owner->is_held_logged)
            log_stored_locked(file, owner->name);
        owner->is_held_logged = owner->is_held;
    }
}

/* Creates the deleted file, and writes there. 0 or an errno. */
static int write_again_locked(struct dead_file *file)
{
    const struct dead_waiting *waiting = &file->waiting;
    struct dead_output *output = NULL;
    int error;

    lock_release(&file->lock);
    error = dead_output_open(file->output->path, &output);
    if (error == 0) {
        log_opened(file, output);
        log_event(file->sink, WEIR_LOG_WARNING, COMPONENT, "file was deleted, and is created again",
                  weir_str("path", output->path));
        error = dead_output_append(output, waiting->text.bytes, waiting->text.size,
                                   waiting->writing_count);
    }
    lock_acquire(&file->lock);
    if (output)
        use_locked(file, output);
    return error;
}

static int write_locked(struct dead_file *file)
{
    const struct dead_waiting *waiting = &file->waiting;
    int error;

    lock_release(&file->lock);
    error = dead_output_append(file->output, waiting->text.bytes, waiting->text.size,
                               waiting->writing_count);
    lock_acquire(&file->lock);
    if (error == ESTALE)
        error = write_again_locked(file);
    file->figures.size = file->output->size;
    file->figures.records = file->output->records;
    if (error != 0 && error != file->error)
        log_error_locked(file, error, "");
    else if (error == 0 && file->error != 0)
        log_stored_locked(file, "");
    file->error = error;
    return error;
}

/* Writes the text. */
static void store_locked(struct dead_file *file)
{
    const int error = file->output ? write_locked(file) : 0;

    if (error == 0)
        end_text_locked(file, file->output != NULL);
    else if (file->ends)
        end_text_locked(file, false);
    else
        pause_locked(file);
}

/* Makes the text, when there is none that could not be written. */
static void gather_locked(struct dead_file *file)
{
    const struct dead_place place = { file->output, file->size_max };
    int status = 0;

    if (file->waiting.writing_count == 0)
        status = dead_waiting_gather(&file->waiting, &place);
    log_held_locked(file);
    if (status != 0 && file->waiting.writing_count == 0)
        pause_locked(file);
    if (!dead_waiting_is_busy(&file->waiting))
        pthread_cond_broadcast(&file->emptied);
}

/* The host ends: what is held is not stored. */
static void give_up_held_locked(struct dead_file *file)
{
    (void)dead_waiting_gather_all(&file->waiting);
    end_text_locked(file, false);
}

static void *run(void *argument)
{
    struct dead_file *file = argument;

    lock_acquire(&file->lock);
    for (;;) {
        change_locked(file);
        gather_locked(file);
        if (file->waiting.writing_count > 0)
            store_locked(file);
        else if (file->ends)
            break;
        else if (!is_changed_locked(file) && !dead_waiting_is_busy(&file->waiting))
            lock_wait(&file->lock, &file->filled);
    }
    give_up_held_locked(file);
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
    char text[512];
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
               "%s: %s", path, dead_output_reason(path, error, text, sizeof text));
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
    while (in_time && dead_waiting_is_busy(&file->waiting))
        in_time = lock_wait_until(&file->lock, &file->emptied, &until);
    is_empty = file->waiting.count == 0 && !dead_waiting_is_busy(&file->waiting);
    lock_release(&file->lock);
    return is_empty;
}

void dead_file_mark(struct dead_file *file)
{
    struct dead_marks marks;
    char *path;

    (void)dead_file_flush(file, MARK_MS); /* records that are being written */
    lock_acquire(&file->lock);
    marks = file->marks;
    file->marks = (struct dead_marks){ .count = 0 };
    path = file->figures.path ? strdup(file->figures.path) : NULL;
    lock_release(&file->lock);
    if (marks.count > 0 && path)
        dead_marks_apply(&marks, file->waiting.run, path);
    if (marks.left > 0)
        log_event(file->sink, WEIR_LOG_WARNING, COMPONENT,
                  "records of dead letters that were sent again are not marked",
                  weir_str("path", path ? path : ""), weir_uint("records", marks.left),
                  weir_str("effect", "a replay of their file sends them once more"));
    dead_marks_finish(&marks);
    free(path);
}

bool dead_file_id_is_own(const struct dead_file *file, const struct dead_id *id)
{
    return file->waiting.run == id->run;
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
    dead_waiting_finish(&file->waiting);
    dead_marks_finish(&file->marks);
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
    out->waiting = file->waiting.count;
    out->error = file->error;
    if (out->error == 0 && dead_waiting_has_held(&file->waiting))
        out->error = EFBIG;
    lock_release(&file->lock);
}
