/* SPDX-License-Identifier: MIT */
#include "host/log/log_limit.h"

#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

static void copy_cut(char *to, size_t size, const char *from)
{
    size_t length = from ? strnlen(from, size - 1) : 0;

    if (length)
        memcpy(to, from, length);
    to[length] = '\0';
}

/* Shortens `component` to the pool that it shares with `other`: up to a `#` or `/` in both. */
static void cut_to_common(char *component, const char *other)
{
    size_t end = 0;
    size_t i = 0;

    for (; component[i] && component[i] == other[i]; i++) {
        if (component[i] == '#' || component[i] == '/')
            end = i;
    }
    /* One may be a pool that contains the other. */
    if ((!component[i] && (!other[i] || other[i] == '#' || other[i] == '/')) ||
        (!other[i] && (component[i] == '#' || component[i] == '/')))
        end = i;
    component[end] = '\0';
}

static uint64_t hash_of(const struct log_line *line)
{
    uint64_t hash = weir_key(line->event, strlen(line->event)) + (uint64_t)line->level;

    return hash ? hash : 1;
}

static bool is_over(const struct log_kind *kind, uint64_t now_ns)
{
    return now_ns - kind->start_ns >= kind->window_s * NS_PER_S;
}

static void kind_begin(struct log_kind *kind, uint64_t hash, const struct log_line *line,
                       uint64_t now_ns)
{
    *kind = (struct log_kind){
        .hash = hash, .start_ns = now_ns, .window_s = 1, .level = line->level
    };
    copy_cut(kind->event, sizeof kind->event, line->event);
}

/* Starts the next window of a kind: a longer one when this window had lines to count. */
static void kind_go_on(struct log_kind *kind, uint64_t now_ns)
{
    if (kind->lines <= LOG_LIMIT_LINES)
        kind->window_s = 1;
    else if (kind->window_s < LOG_LIMIT_WINDOW_S_MAX)
        kind->window_s *= 2;
    kind->start_ns = now_ns;
    kind->lines = 0;
}

static void kind_report(struct log_kind *kind, struct log_kind *out_over)
{
    *out_over = *kind;
    kind->unreported = 0;
}

/* A free entry for a new kind; NULL: every kind's window is still open. */
static struct log_kind *find_free(struct log_limit *limit, uint64_t now_ns)
{
    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        struct log_kind *kind = &limit->kinds[i];

        if (!kind->hash || (is_over(kind, now_ns) && !kind->unreported))
            return kind;
    }
    return NULL;
}

static struct log_kind *find(struct log_limit *limit, const struct log_line *line, uint64_t now_ns)
{
    static const struct log_line others = { .level = WEIR_LOG_WARNING,
                                            .event = "lines of further kinds" };
    struct log_kind *last = &limit->kinds[LOG_LIMIT_KINDS];
    uint64_t hash = hash_of(line);
    struct log_kind *kind;

    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        if (limit->kinds[i].hash == hash)
            return &limit->kinds[i];
    }
    kind = find_free(limit, now_ns);
    if (kind)
        kind_begin(kind, hash, line, now_ns);
    else if (!last->hash)
        kind_begin(last, 1, &others, now_ns);
    return kind ? kind : last;
}

static void count(struct log_kind *kind, const char *component)
{
    if (kind->unreported == 0)
        copy_cut(kind->component, sizeof kind->component, component);
    else
        cut_to_common(kind->component, component ? component : "");
    kind->unreported++;
}

bool log_limit_admit(struct log_limit *limit, const struct log_line *line, uint64_t now_ns,
                     struct log_kind *out_over)
{
    struct log_kind *kind = find(limit, line, now_ns);

    if (is_over(kind, now_ns)) {
        kind_report(kind, out_over);
        kind_go_on(kind, now_ns);
    }
    kind->lines++;
    if (kind->lines <= LOG_LIMIT_LINES)
        return true;
    count(kind, line->component);
    return false;
}

size_t log_limit_take(struct log_limit *limit, size_t from, uint64_t now_ns, bool all,
                      struct log_kind *out_over)
{
    for (size_t i = from; i <= LOG_LIMIT_KINDS; i++) {
        struct log_kind *kind = &limit->kinds[i];
        bool over = is_over(kind, now_ns);

        if (!kind->unreported || !(all || over))
            continue;
        kind_report(kind, out_over);
        if (over)
            kind_go_on(kind, now_ns);
        return i + 1;
    }
    return LOG_LIMIT_END;
}
