/* SPDX-License-Identifier: MIT */
/*
 * command/running.h - one running host: its parts, and their callbacks.
 *
 * command_run.c makes the parts and ends them. The callbacks run on the I/O thread unless their
 * comment says otherwise.
 */
#ifndef HOST_COMMAND_RUNNING_H
#define HOST_COMMAND_RUNNING_H

#include "host/command/start_watch.h"
#include "host/dead/dead_file.h"
#include "host/log/logger.h"
#include "host/pages/control_routes.h"
#include "host/pages/outage.h"
#include "host/pages/stuck.h"
#include "host/pages/unserved.h"
#include "host/reload/configuration.h"
#include "host/reload/file_watch.h"
#include "host/reload/supervisor.h"
#include "host/run/cpu_watch.h"
#include "host/run/heartbeat.h"
#include "host/run/io.h"
#include "host/run/poll_set.h"
#include "host/run/printing.h"
#include "host/run/progress.h"
#include "host/run/turn_watch.h"

struct invocation;

/* One running host. */
struct host {
    const struct invocation *invocation;
    const char *file;
    bool allows_dead; /* --allow-dead: dead letters do not cause exit code 65 */
    bool debugs;      /* --debug: plugins are opened as they are */
    bool watches;     /* --watch: a change of a file or a plugin is a reload */
    struct configuration configuration;
    struct screen *screen;
    struct logger *logger;
    struct printing printing;
    struct dead_file *dead_file;
    struct progress_display *progress;
    struct runtime *runtime;
    struct assembly assembly;
    struct supervisor supervisor;
    struct control_jobs jobs;
    struct control_routes routes;
    struct start_watch start_watch; /* owns the listener until it is served */
    struct control *control;
    struct reserve reserve;
    uint64_t descriptors_ms; /* of the last look at descriptors */
    bool is_short;           /* of descriptors, at that look */
    struct io *io;
    struct poll_set *poll_set;
    struct turn_watch *turn_watch;
    struct file_watch *file_watch;
    struct config_files files; /* as they were at the first read */
    struct secrets secrets;    /* of the first read */
    struct cpu_watch cpu_watch;
    struct notify *notify;               /* NULL: no service manager */
    uint64_t tick_ms;                    /* between two beats while nothing takes long */
    struct heartbeat *heartbeat;         /* NULL: no beat is expected */
    struct stuck_progress progress_seen; /* at the last beat */
    struct unserved unserved;
    struct outage outage;
    uint64_t rests_since_ms; /* since when all threads sleep; 0 = one may be awake */
    bool unfinished;         /* ended before the sources were done */
    _Atomic bool finished;   /* by the supervisor */
    _Atomic bool drained;
};

/* The callbacks of the I/O thread. */
struct io_callbacks running_callbacks(struct host *host);

/* A watch for the number of CPUs that the process may use, with the present number. */
struct cpu_watch running_cpu_watch(struct host *host);

/* For heartbeat.h: no dispatcher stands still. */
bool running_may_beat(void *context);

/* True when a change of a file is a reload. */
bool running_watches(const struct host *host);

/* Reloads the file. `context` is the host, here and below. */
void running_reload(void *context);

/*
 * Wakes the I/O thread: a control job is done, an inspect is answered, a socket must be served, all
 * text is printed, or the first thread wakes after all slept. Any thread.
 */
void running_wake(void *context);

/* Every part has ended. Called on the supervisor's thread. */
void running_finish(void *context, bool drained);

/* A reload has read these files, and was carried out or refused. Called on the supervisor's
 * thread. */
void running_note_files(void *context, struct config_files *files);

void running_remove_socket(struct host *host);

/* Ends the process with this code without joining its threads, for callbacks that may never
 * return. */
void running_leave_threads_behind(struct host *host, int code);

#endif
