/* SPDX-License-Identifier: MIT */
/*
 * reload/supervisor.h - the actor that reloads and ends the host.
 *
 * It runs on a dispatcher of its own, with one thread, where it may wait: for plugins to load,
 * workers to open, pools to drain. Requests are messages to it. All requests during a reload
 * together cause one more reload, which reads the newest file.
 *
 * Life: supervisor_start after apply_from_nothing .. supervisor_destroy. Requests: any
 * thread outside the runtime; they never block.
 */
#ifndef HOST_RELOAD_SUPERVISOR_H
#define HOST_RELOAD_SUPERVISOR_H

#include "host/control/control.h"
#include "host/dead/dead_file.h"
#include "host/log/logger.h"
#include "host/reload/configuration.h"
#include "host/reload/control_job.h"
#include "host/reload/drain_steps.h"
#include "host/run/assembly.h"
#include "host/run/notify.h"

struct supervisor {
    struct assembly *assembly;           /* const */
    struct configuration *configuration; /* its thread, after the start */
    uint32_t kept_logged;          /* its thread: old versions of plugins, at the last reload */
    struct logger *logger;         /* const */
    struct turn_watch *turn_watch; /* const */
    const char *file;              /* const */
    const struct notify *notify;   /* const; NULL: no service manager */
    void (*on_finished)(void *context, bool drained); /* const; on its thread */
    /* const; on its thread, after each reload: the files that were read. May take them; NULL: not
     * needed */
    void (*on_read)(void *context, struct config_files *files);
    /* const; NULL: this host serves no socket, and host.control is not read */
    struct control *control;
    struct reserve *reserve;     /* const; lent to reloads and to the end; NULL: none */
    struct dead_file *dead_file; /* const; NULL: host.dead_letters.file is not read */
    void (*on_control)(
        void *context);           /* const; on its thread: another socket may have to be served */
    void *context;                /* const */
    struct control_jobs *jobs;    /* const; NULL: no control socket */
    struct control_job *answered; /* its thread: the jobs of the present reload */
    uint64_t began_ns;            /* its thread: the present reload */
    struct drain_steps drains;    /* its thread */
    struct standalone *actor;     /* const */
    _Atomic bool reload_wanted;   /* a reload message is on its way */
    _Atomic bool finish_wanted;
    _Atomic bool plan_wanted;
    _Atomic bool restart_wanted;
    _Atomic bool cpus_wanted;
    /* written by its thread, read by all: reloads carried out, empty ones, too */
    _Atomic uint64_t accepted;
    _Atomic uint64_t refused;  /* as `accepted` */
    _Atomic bool last_refused; /* as `accepted` */
};

/* Fills in the rest of a supervisor whose fields up to `jobs` are set. WEIR_ENOMEM. */
int supervisor_start(struct supervisor *supervisor);

/* After the runtime has stopped, and before it is destroyed; also after a start that failed. */
void supervisor_destroy(struct supervisor *supervisor);

/* Tells the service manager that the start is complete. Before the first request. */
void supervisor_notify_ready(const struct supervisor *supervisor);

void supervisor_reload(struct supervisor *supervisor);
void supervisor_finish(struct supervisor *supervisor);
/* The number of effective CPUs has changed: adapts `threads: auto`. */
void supervisor_follow_cpus(struct supervisor *supervisor);

/* Takes a job and sends a request for it. */
void supervisor_ask(struct supervisor *supervisor, struct control_job *job);

#endif
