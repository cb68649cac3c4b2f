/*
 * reload/file_watch.h - tells when a file of the configuration has changed and come to rest.
 *
 * The kernel's word that something happened in a directory is a hint to look; whether there is a
 * change the files' stamps tell. A look every two seconds stands in for hints that never come: from
 * a network's file system, or because the kernel has no more watches to give.
 *
 * Life: file_watch_create .. file_watch_destroy, before the loop's owner runs it a last time.
 * file_watch_offer: any thread, then wake the I/O thread for file_watch_collect; the rest: that
 * thread alone.
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
    void (*on_change)(void *context); /* they rest, and are not what was offered */
    void *context;
};

/* Watches nothing yet. WEIR_ENOMEM, WEIR_EUNSUPPORTED. */
int file_watch_create(const struct file_watch_setup *setup, struct file_watch **out);
/* NULL is allowed. */
void file_watch_destroy(struct file_watch *watch);

/*
 * These are watched from now on, instead of others; NULL = nothing is. A change since their stamps
 * were taken counts. Takes what is in `files`, which is empty then. Any thread; never blocks for
 * long; does nothing before the next file_watch_collect.
 */
void file_watch_offer(struct file_watch *watch, struct config_files *files);
void file_watch_collect(struct file_watch *watch);

#endif
