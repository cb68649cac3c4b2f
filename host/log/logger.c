/* SPDX-License-Identifier: MIT */
#include "host/log/logger.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/lock.h"

struct logger {
    struct log_sink sink;      /* const */
    struct screen *screen;     /* const */
    struct clock clock;        /* const */
    uint64_t (*date_us)(void); /* const */
    bool journal;              /* const */
    bool terminal, colour;     /* const */
    atomic_int level;          /* by logger_set_level; advisory: a race costs or adds one line */
    atomic_int most;           /* as `level`: the most verbose of `level` and `levels` */
    atomic_int format;         /* as `level` */
    atomic_long zone_s;        /* seconds east of UTC, by the last line in LOG_TEXT; advisory */
    atomic_uint_fast64_t lost; /* lines, since the last line that was written */
    struct lock lock;
    struct log_limit limit;    /* lock */
    struct log_levels *levels; /* lock: owned; NULL = no pool has one of its own */
    struct secrets secrets;    /* lock */
};

static void logger_line(void *context, const struct log_line *line);
static void conceal_text(void *context, char *text, size_t size);

uint64_t logger_date_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

bool logger_is_journal(int descriptor, const char *journal_stream)
{
    uintmax_t device, inode;
    struct stat status;

    if (!journal_stream || sscanf(journal_stream, "%" SCNuMAX ":%" SCNuMAX, &device, &inode) != 2)
        return false;
    return fstat(descriptor, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

struct logger *logger_create(const struct logger_setup *setup)
{
    struct logger *logger = calloc(1, sizeof *logger);

    if (!logger)
        return NULL;
    logger->sink = (struct log_sink){ .write = logger_line,
                                      .conceal = conceal_text,
                                      .context = logger };
    logger->screen = setup->screen;
    logger->clock = setup->clock;
    logger->date_us = setup->date_us;
    logger->journal = setup->style.journal;
    logger->terminal = setup->terminal;
    logger->colour = setup->style.colour;
    atomic_init(&logger->level, (int)setup->level);
    atomic_init(&logger->most, (int)setup->level);
    atomic_init(&logger->format, (int)setup->style.format);
    atomic_init(&logger->zone_s, setup->style.zone_s);
    atomic_init(&logger->lost, 0);
    lock_init(&logger->lock, LOCK_LOGGER);
    return logger;
}

struct log_style logger_style(const struct logger *logger)
{
    /* Relaxed: the format is one number that orders nothing else. */
    int format = atomic_load_explicit(&logger->format, memory_order_relaxed);

    if (format == LOG_AUTO)
        format = logger->terminal ? LOG_TEXT : LOG_LOGFMT;
    return (
        struct log_style){ .format = (enum log_format)format,
                           .journal = logger->journal,
                           .colour = logger->colour,
                           .zone_s = atomic_load_explicit(&logger->zone_s, memory_order_relaxed) };
}

/* The offset may change, as at the end of summer time. localtime_r is not safe in a signal handler,
 * which uses that of the last line. */
static void note_zone(struct logger *logger, uint64_t date_us)
{
    time_t seconds = (time_t)(date_us / 1000000);
    struct tm date;

    if (localtime_r(&seconds, &date))
        atomic_store_explicit(&logger->zone_s, date.tm_gmtoff, memory_order_relaxed);
}

static int write_line(struct logger *logger, const struct log_line *line)
{
    char text[LOG_LINE_MAX + 1];
    struct log_style style = logger_style(logger);
    uint64_t date_us = logger->date_us();
    size_t size;

    if (style.format == LOG_TEXT) {
        note_zone(logger, date_us);
        style = logger_style(logger);
    }
    size = log_line_write(text, &style, date_us, line);
    size = logger_conceal(logger, text, size - 1, sizeof text - 1); /* without its newline */
    text[size++] = '\n';
    return screen_log(logger->screen, text, size);
}

/* Relaxed throughout: the counter orders nothing; the exchange lets one thread report each loss. */
static void log_lost(struct logger *logger)
{
    uint64_t lost = atomic_exchange_explicit(&logger->lost, 0, memory_order_relaxed);
    struct weir_field fields[] = { weir_uint("lost", lost), weir_str(NULL, NULL) };
    struct log_line line = { .level = WEIR_LOG_WARNING,
                             .component = "log",
                             .event = "lines lost, their reader was too slow",
                             .fields = fields };

    if (lost && write_line(logger, &line) != WEIR_OK)
        atomic_fetch_add_explicit(&logger->lost, lost, memory_order_relaxed);
}

static void write_or_count(struct logger *logger, const struct log_line *line)
{
    if (write_line(logger, line) != WEIR_OK)
        atomic_fetch_add_explicit(&logger->lost, 1, memory_order_relaxed);
    else if (atomic_load_explicit(&logger->lost, memory_order_relaxed))
        log_lost(logger);
}

static void log_repeated(struct logger *logger, const struct log_kind *kind)
{
    struct weir_field fields[] = { weir_uint("repeated", kind->unreported), weir_str(NULL, NULL) };
    struct log_line line = { .level = kind->level,
                             .component = kind->component[0] ? kind->component : "log",
                             .event = kind->event,
                             .fields = fields };

    if (kind->unreported)
        write_or_count(logger, &line);
}

/* The level of the line's pool, or of the host. */
static int level_of_locked(const struct logger *logger, const struct log_line *line)
{
    /* Relaxed: see the field. */
    int level = atomic_load_explicit(&logger->level, memory_order_relaxed);

    return logger->levels ? log_levels_find(logger->levels, line->component, level) : level;
}

static void logger_line(void *context, const struct log_line *line)
{
    struct logger *logger = context;
    struct log_kind over = { .unreported = 0 };
    bool admitted;

    /* Relaxed: see the field. A line that no level admits takes no lock. */
    if ((int)line->level > atomic_load_explicit(&logger->most, memory_order_relaxed))
        return;
    lock_acquire(&logger->lock);
    admitted = (int)line->level <= level_of_locked(logger, line) &&
               (line->is_answer ||
                log_limit_admit(&logger->limit, line, clock_now_ns(&logger->clock), &over));
    lock_release(&logger->lock);
    log_repeated(logger, &over);
    if (admitted)
        write_or_count(logger, line);
}

static size_t take(struct logger *logger, size_t from, bool all, struct log_kind *out_over)
{
    size_t next;

    lock_acquire(&logger->lock);
    next = log_limit_take(&logger->limit, from, clock_now_ns(&logger->clock), all, out_over);
    lock_release(&logger->lock);
    return next;
}

static void log_all_repeated(struct logger *logger, bool all)
{
    struct log_kind over;

    for (size_t next = take(logger, 0, all, &over); next != LOG_LIMIT_END;
         next = take(logger, next, all, &over))
        log_repeated(logger, &over);
}

int logger_hide(struct logger *logger, const struct secrets *secrets)
{
    int status;

    lock_acquire(&logger->lock);
    status = secrets_add_all(&logger->secrets, secrets);
    lock_release(&logger->lock);
    return status;
}

bool logger_hides(struct logger *logger)
{
    bool hides;

    lock_acquire(&logger->lock);
    hides = secrets_has_any(&logger->secrets);
    lock_release(&logger->lock);
    return hides;
}

size_t logger_conceal(struct logger *logger, char *text, size_t length, size_t size)
{
    lock_acquire(&logger->lock);
    length = secrets_hide(&logger->secrets, text, length, size);
    lock_release(&logger->lock);
    return length;
}

bool logger_try_conceal(struct logger *logger, char *text, size_t size, char *copy)
{
    if (!lock_try(&logger->lock))
        return false;
    (void)secrets_hide_by(&logger->secrets, text, strlen(text), size, copy);
    lock_release(&logger->lock);
    return true;
}

static void conceal_text(void *context, char *text, size_t size)
{
    (void)logger_conceal(context, text, strlen(text), size);
}

void logger_tick(struct logger *logger)
{
    log_all_repeated(logger, false);
    /* Relaxed: see log_lost. */
    if (atomic_load_explicit(&logger->lost, memory_order_relaxed))
        log_lost(logger);
}

void logger_flush(struct logger *logger)
{
    log_all_repeated(logger, true);
}

void logger_destroy(struct logger *logger)
{
    if (!logger)
        return;
    log_all_repeated(logger, true);
    log_levels_destroy(logger->levels);
    secrets_finish(&logger->secrets);
    lock_finish(&logger->lock);
    free(logger);
}

const struct log_sink *logger_sink(struct logger *logger)
{
    return &logger->sink;
}

/* The lock keeps two setters from mixing their results. */
static void set_most_locked(struct logger *logger)
{
    /* Relaxed, both: see the fields. */
    int most = atomic_load_explicit(&logger->level, memory_order_relaxed);

    if (logger->levels && log_levels_most(logger->levels) > most)
        most = log_levels_most(logger->levels);
    atomic_store_explicit(&logger->most, most, memory_order_relaxed);
}

void logger_set_level(struct logger *logger, enum weir_log_level level)
{
    lock_acquire(&logger->lock);
    /* Relaxed: see the field. */
    atomic_store_explicit(&logger->level, (int)level, memory_order_relaxed);
    set_most_locked(logger);
    lock_release(&logger->lock);
}

void logger_set_levels(struct logger *logger, struct log_levels *levels)
{
    struct log_levels *old;

    lock_acquire(&logger->lock);
    old = logger->levels;
    logger->levels = levels;
    set_most_locked(logger);
    lock_release(&logger->lock);
    log_levels_destroy(old);
}

void logger_set_format(struct logger *logger, enum log_format format)
{
    /* Relaxed: see the field. */
    atomic_store_explicit(&logger->format, (int)format, memory_order_relaxed);
}
