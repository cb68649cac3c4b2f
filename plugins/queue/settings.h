/* SPDX-License-Identifier: MIT */
/*
 * settings.h - the options of both behaviours, and the behaviours.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <weir/plugin.h>

#define WINDOW_MAX 1000u
#define QUEUE_NAME_MAX 128u /* bytes of the name of a queue */

enum queue_sync {
    QUEUE_SYNC_FULL,   /* a power failure loses nothing */
    QUEUE_SYNC_NORMAL, /* the end of the process loses nothing */
};

enum queue_id {
    QUEUE_ID_RUN,     /* of the run of the host, and a number */
    QUEUE_ID_CONTENT, /* tag and payload */
};

struct queue_settings {
    const char *file;
    const char *queue;
    uint32_t sync; /* enum queue_sync */
    uint32_t window;
    /* queue.put */
    uint32_t limit;     /* pieces */
    uint64_t bytes;     /* of payload */
    uint64_t min_free;  /* bytes of the file system */
    uint64_t piece_max; /* bytes */
    uint32_t id;        /* enum queue_id */
    uint64_t unique;    /* milliseconds */
    uint64_t after;     /* milliseconds */
    int64_t priority;
    uint64_t aging; /* milliseconds for a priority of 1 */
    /* queue.take */
    uint32_t attempts;
    uint64_t backoff; /* milliseconds */
    uint64_t backoff_max;
};

/* The rows that both behaviours have. */
#define SETTINGS_OF_BOTH                                                                           \
    WEIR_OPTION_STRING(struct queue_settings, file, .required = true, .writes = true,              \
                       .help = "of a local file system; made with mode 0600"),                     \
        WEIR_OPTION_STRING(struct queue_settings, queue, .required = true, .meets = true,          \
                           .help = "its name: a file has any number of queues"),                   \
        WEIR_OPTION_ENUM(struct queue_settings, sync, .fallback = "full",                          \
                         .choices = settings_syncs,                                                \
                         .help = "normal: survives the process, not a power failure")

extern const char *const settings_syncs[], *const settings_ids[];
extern const struct weir_behaviour queue_put, queue_take;

/* Checks what both behaviours have. */
void settings_check(const struct queue_settings *settings, struct weir_report *report);

#endif
