/* SPDX-License-Identifier: MIT */
/*
 * log/log_limit.h - limits the log lines of one kind.
 *
 * Lines of one event and level are one kind, whatever their component: 512 failing workers report
 * one fact. A kind writes ten lines in a window of one second. Further lines are counted, and one
 * line reports their number at the end of the window. A kind with counted lines gets a window twice
 * as long next, up to LOG_LIMIT_WINDOW_S_MAX; without counted lines the next window has one second.
 * There are LOG_LIMIT_KINDS kinds at a time; lines of further kinds are limited together as one
 * kind.
 *
 * Pure: the caller supplies the clock and the lock. Life: zeros.
 */
#ifndef HOST_LOG_LOG_LIMIT_H
#define HOST_LOG_LOG_LIMIT_H

#include "base/log.h"

#define LOG_LIMIT_LINES 10        /* of a kind in its window */
#define LOG_LIMIT_KINDS 64        /* a host has some forty events; plugins have theirs */
#define LOG_LIMIT_WINDOW_S_MAX 64 /* a repeating line is reported about once a minute */
#define LOG_LIMIT_NAME_SIZE 64
#define LOG_LIMIT_EVENT_SIZE 128

/* One kind of lines. */
struct log_kind {
    uint64_t hash; /* 0 = free */
    uint64_t start_ns;
    uint32_t window_s;
    uint32_t lines;      /* written or counted in this window */
    uint64_t unreported; /* counted and not reported yet */
    enum weir_log_level level;
    /* the common part of the counted lines' components; may be empty */
    char component[LOG_LIMIT_NAME_SIZE];
    char event[LOG_LIMIT_EVENT_SIZE];
};

struct log_limit {
    struct log_kind kinds[LOG_LIMIT_KINDS + 1]; /* the last entry is for all further kinds */
};

/*
 * True when the line may be written. If `out_over->unreported` is not 0 then, report that number
 * first.
 */
bool log_limit_admit(struct log_limit *limit, const struct log_line *line, uint64_t now_ns,
                     struct log_kind *out_over);

/*
 * Takes the count of one kind, from number `from` on, whose window is over; with `all`, of any
 * kind. Returns the number to continue from; LOG_LIMIT_END: there is none.
 */
size_t log_limit_take(struct log_limit *limit, size_t from, uint64_t now_ns, bool all,
                      struct log_kind *out_over);

#define LOG_LIMIT_END SIZE_MAX

#endif
