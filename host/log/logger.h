/* SPDX-License-Identifier: MIT */
/*
 * log/logger.h - the sink of all log lines: standard error, with a limit for repeated lines.
 *
 * Ten lines of a kind (one event of any component) are written in a second; the rest are counted,
 * and one line reports their number (`repeated=N`), after a second at first, then less and less
 * often: log_limit.h. Answers to the operator (reload, host, ledger) have no limit. Lines that a
 * slow reader of standard error does not take are counted, too (`lost=N`): logging never blocks a
 * worker for long.
 *
 * Life: logger_create .. logger_destroy. logger_sink, logger_set_* and writing to the sink: any
 * thread. logger_tick: any thread, about once a second. Lock rank: before screen.h's.
 */
#ifndef HOST_LOG_LOGGER_H
#define HOST_LOG_LOGGER_H

#include "base/clock.h"
#include "base/log.h"
#include "base/secrets.h"
#include "host/log/log_levels.h"
#include "host/log/log_limit.h"
#include "host/log/log_line.h"
#include "host/log/screen.h"

struct logger;

struct logger_setup {
    struct screen *screen; /* borrowed until logger_destroy */
    struct clock clock;    /* for the limit; the date comes from date_us */
    uint64_t (*date_us)(void);
    struct log_style style; /* its format may be LOG_AUTO */
    bool terminal;          /* standard error is one */
    enum weir_log_level level;
};

/* Returns owned; NULL when memory is out. */
struct logger *logger_create(const struct logger_setup *setup);
/* Writes the last counts. No thread may use the sink any more. NULL is allowed. */
void logger_destroy(struct logger *logger);

/* Borrowed until logger_destroy. */
const struct log_sink *logger_sink(struct logger *logger);

/* How its next line is formatted. Safe in a signal handler. */
struct log_style logger_style(const struct logger *logger);

/* Lines below this level are dropped from now on. */
void logger_set_level(struct logger *logger, enum weir_log_level level);
/* Gives pools levels of their own from now on. Takes them; NULL = no pool has one. */
void logger_set_levels(struct logger *logger, struct log_levels *levels);
void logger_set_format(struct logger *logger, enum log_format format);

/* Lines, and what logger_conceal gets, no longer show these values. WEIR_ENOMEM: some of them. */
int logger_hide(struct logger *logger, const struct secrets *secrets);
/* False: there are none. */
bool logger_hides(struct logger *logger);
/* Hides them in a text, as secrets_hide does. */
size_t logger_conceal(struct logger *logger, char *text, size_t length, size_t size);
/* Likewise, in a signal handler, with memory of `size` bytes for a copy. False: a thread changes or
 * uses the values just now, and the text is as before. */
bool logger_try_conceal(struct logger *logger, char *text, size_t size, char *copy);

/* Writes the `repeated=N` lines of the windows that are over. */
void logger_tick(struct logger *logger);
/* Writes those of open windows, too: before the last line of the host, or when the next tick may be
 * far off. */
void logger_flush(struct logger *logger);

/* Microseconds since 1970 by the machine's clock, for logger_setup. */
uint64_t logger_date_us(void);

/* True when `descriptor` is the journal's, according to JOURNAL_STREAM (`device:inode`, or
 * NULL). */
bool logger_is_journal(int descriptor, const char *journal_stream);

#endif
