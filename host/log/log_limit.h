/*
 * log/log_limit.h - limits the log lines of one kind.
 *
 * Lines of one event and level are one kind, whatever their component: 512 workers that fail say
 * one thing. Ten lines of a kind are written in its window of one second; the rest are counted,
 * and one line tells how many when the window is over. A kind that had lines to count gets a
 * window twice as long next, up to LOG_LIMIT_WINDOW_S_MAX; one that had none begins with a second.
 * There are LOG_LIMIT_KINDS kinds at a time; lines of further ones are one kind together.
 *
 * Pure: the clock and the lock are the caller's. Life: zeros.
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
    uint32_t lines;  /* of this window */
    uint64_t untold; /* of these, and not told yet */
    enum weir_log_level level;
    char component[LOG_LIMIT_NAME_SIZE]; /* what the counted ones have in common; may be empty */
    char event[LOG_LIMIT_EVENT_SIZE];
};

struct log_limit {
    struct log_kind kinds[LOG_LIMIT_KINDS + 1]; /* the last one is for all others */
};

/*
 * True when the line may be written. When `out_over->untold` is not 0 then, that is to be told
 * first.
 */
bool log_limit_admit(struct log_limit *limit, const struct log_line *line, uint64_t now_ns,
                     struct log_kind *out_over);

/*
 * Takes what one kind, from number `from` on, has counted in a window that is over, or in any when
 * `all`. Returns where to go on; LOG_LIMIT_END: there is none.
 */
size_t log_limit_take(struct log_limit *limit, size_t from, uint64_t now_ns, bool all,
                      struct log_kind *out_over);

#define LOG_LIMIT_END SIZE_MAX

#endif
