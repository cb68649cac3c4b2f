/* SPDX-License-Identifier: MIT */
/*
 * reload/file_watch.h - calls back when a file of the configuration has changed and come to rest.
 *
 * The kernel's notice about a directory is only a hint to look; the files' stamps decide whether
 * there is a change. A look every two seconds replaces hints that never arrive: from a network file
 * system, or because the kernel has no watches left.
 *
 * Life: file_watch_create .. file_watch_destroy, before the loop's owner runs it a last time.
 * file_watch_offer: any thread, then wake the I/O thread for file_watch_collect; the rest: only on
 * that thread.
 */
#ifndef HOST_RELOAD_FILE_WATCH_H
#define HOST_RELOAD_FILE_WATCH_H

#include "base/log.h"
#include "config/files.h"

struct uv_loop_s;
struct file_watch;

struct file_watch_setup {
    struct uv_loop_s *loop;
    const struct log_sink *sink;
    void (*on_change)(void *context); /* the files rest, and differ from those offered */
    void *context;
};

/* Watches nothing yet. WEIR_ENOMEM, WEIR_EUNSUPPORTED. */
int file_watch_create(const struct file_watch_setup *setup, struct file_watch **out);
/* NULL is allowed. */
void file_watch_destroy(struct file_watch *watch);

/*
 * Watches these files from now on, in place of the earlier ones; NULL = none. A change after their
 * stamps were taken counts. Takes the content of `files`. Any thread; never blocks for long; takes
 * effect with the next file_watch_collect.
 */
void file_watch_offer(struct file_watch *watch, struct config_files *files);
void file_watch_collect(struct file_watch *watch);

#endif
