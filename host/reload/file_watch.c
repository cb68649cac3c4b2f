/* SPDX-License-Identifier: MIT */
#include "host/reload/file_watch.h"

#include <stdlib.h>

#include <uv.h>
#include <weir/status.h>

#include "base/lock.h"
#include "host/reload/debounce.h"
#include "host/reload/watched_dirs.h"

#define COMPONENT "watch"
#define BACKSTOP_MS 2000 /* between two checks without a hint */

/* A watch of one directory; freed when libuv has closed it. */
struct hint {
    uv_fs_event_t event;
    struct hint *next;
};

struct file_watch {
    struct file_watch_setup setup; /* const */
    uv_timer_t timer;
    struct hint *hints;        /* the open ones */
    struct watched_dirs dirs;  /* the directories of `hints` */
    struct config_files files; /* empty = nothing is watched */
    struct debounce debounce;

    struct lock lock;
    struct config_files offered; /* lock */
    bool has_offer;              /* lock */
};

/* --- hints ---------------------------------------------------------------------------------- */

static void look(struct file_watch *watch);

static void on_timer(uv_timer_t *timer)
{
    look(timer->data);
}

static void on_hint(uv_fs_event_t *event, const char *name, int events, int status)
{
    (void)name;
    (void)events;
    (void)status;
    look(event->data);
}

static void free_hint(uv_handle_t *handle)
{
    free(handle); /* the handle is the hint's first member */
}

static void disarm(struct file_watch *watch)
{
    for (struct hint *hint = watch->hints, *next; hint; hint = next) {
        next = hint->next;
        uv_close((uv_handle_t *)&hint->event, free_hint);
    }
    watch->hints = NULL;
    watched_dirs_finish(&watch->dirs);
}

/* Opens a watch. False: there will be no hints of this directory. */
static bool arm_dir(struct file_watch *watch, const char *path)
{
    struct hint *hint = calloc(1, sizeof *hint);

    if (!hint)
        return false;
    if (uv_fs_event_init(watch->setup.loop, &hint->event) != 0) {
        free(hint);
        return false;
    }
    hint->event.data = watch;
    hint->next = watch->hints;
    watch->hints = hint;
    return uv_fs_event_start(&hint->event, on_hint, path, 0) == 0;
}

/* Opens watches for the present directories, unless they are open already. */
static void arm(struct file_watch *watch)
{
    struct watched_dirs dirs;
    uint32_t missing = 0;

    watched_dirs_init(&dirs);
    watched_dirs_add(&dirs, &watch->files);
    if (watched_dirs_equal(&dirs, &watch->dirs)) {
        watched_dirs_finish(&dirs);
        return;
    }
    disarm(watch);
    watch->dirs = dirs;
    for (uint32_t i = 0; i < dirs.count; i++)
        missing += !arm_dir(watch, dirs.dirs[i].path);
    log_event(watch->setup.sink, missing ? WEIR_LOG_WARNING : WEIR_LOG_INFO, COMPONENT,
              "watching the configuration", weir_uint("files", watch->files.count),
              weir_uint("directories", dirs.count), weir_uint("without_hints", missing),
              weir_str("effect", missing ? "a change is seen up to 2 s late"
                                         : "a change is applied when the files rest"));
}

/* --- checks --------------------------------------------------------------------------------- */

/* Opens the watches first, so that a change after the stamps gives a hint. */
static void look(struct file_watch *watch)
{
    uint64_t wait_ms = 0;

    if (watch->files.count == 0)
        return;
    arm(watch);
    if (debounce_look(&watch->debounce, config_files_stamp_now(&watch->files),
                      uv_now(watch->setup.loop), &wait_ms)) {
        log_event(watch->setup.sink, WEIR_LOG_INFO, COMPONENT, "the configuration has changed",
                  weir_str("effect", "reloading"));
        watch->setup.on_change(watch->setup.context);
    }
    (void)uv_timer_start(&watch->timer, on_timer, wait_ms ? wait_ms : BACKSTOP_MS, 0);
}

static void watch_nothing(struct file_watch *watch)
{
    if (watch->hints || watch->dirs.count)
        log_event(watch->setup.sink, WEIR_LOG_INFO, COMPONENT, "no longer watching");
    disarm(watch);
    (void)uv_timer_stop(&watch->timer);
}

void file_watch_collect(struct file_watch *watch)
{
    struct config_files files;
    bool has_offer;

    lock_acquire(&watch->lock);
    files = watch->offered;
    has_offer = watch->has_offer;
    watch->has_offer = false;
    config_files_init(&watch->offered);
    lock_release(&watch->lock);
    if (!has_offer)
        return;
    config_files_finish(&watch->files);
    watch->files = files;
    debounce_reset(&watch->debounce, config_files_stamp(&files));
    uv_update_time(watch->setup.loop);
    if (files.count)
        look(watch);
    else
        watch_nothing(watch);
}

void file_watch_offer(struct file_watch *watch, struct config_files *files)
{
    lock_acquire(&watch->lock);
    config_files_finish(&watch->offered);
    if (files) {
        watch->offered = *files;
        config_files_init(files);
    }
    watch->has_offer = true;
    lock_release(&watch->lock);
}

/* --- life ----------------------------------------------------------------------------------- */

int file_watch_create(const struct file_watch_setup *setup, struct file_watch **out)
{
    struct file_watch *watch = calloc(1, sizeof *watch);

    if (!watch)
        return WEIR_ENOMEM;
    watch->setup = *setup;
    if (uv_timer_init(setup->loop, &watch->timer) != 0) {
        free(watch);
        return WEIR_EUNSUPPORTED;
    }
    watch->timer.data = watch;
    lock_init(&watch->lock, LOCK_FILE_WATCH);
    *out = watch;
    return WEIR_OK;
}

static void free_watch(uv_handle_t *handle)
{
    struct file_watch *watch = handle->data;

    lock_finish(&watch->lock);
    free(watch);
}

void file_watch_destroy(struct file_watch *watch)
{
    if (!watch)
        return;
    disarm(watch);
    config_files_finish(&watch->files);
    config_files_finish(&watch->offered);
    uv_close((uv_handle_t *)&watch->timer, free_watch);
}
