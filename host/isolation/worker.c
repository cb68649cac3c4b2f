/* SPDX-License-Identifier: MIT */
#include "host/isolation/worker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/isolation/dialogue.h"
#include "host/isolation/settings_image.h"
#include "host/isolation/worker_ahead.h"
#include "host/isolation/worker_crash.h"
#include "host/isolation/worker_messages.h"
#include "host/isolation/worker_pending.h"
#include "host/isolation/worker_table.h"
#include "host/plugin/shared_object.h"

/* --- start ------------------------------------------------------------------------------------ */

/* SIGKILL reaches the group when the host closes the other end, and when it ends. */
static bool hold_lifeline(void)
{
    struct pollfd line = { .fd = DIALOGUE_LIFELINE };
    int flags = fcntl(DIALOGUE_LIFELINE, F_GETFL);

    return flags >= 0 && fcntl(DIALOGUE_LIFELINE, F_SETSIG, SIGKILL) == 0 &&
           fcntl(DIALOGUE_LIFELINE, F_SETOWN, -getpgrp()) == 0 &&
           fcntl(DIALOGUE_LIFELINE, F_SETFL, flags | O_ASYNC) == 0 && poll(&line, 1, 0) == 0;
}

/* What the plugin starts gets none of our descriptors. */
static bool close_on_exec(void)
{
    for (int i = DIALOGUE_BELL; i < DIALOGUE_FIRST_FREE; i++)
        if (fcntl(i, F_SETFD, FD_CLOEXEC) != 0)
            return false;
    return getpgrp() == getpid();
}

static int begin(struct worker *worker)
{
    struct segment *segment;

    if (!close_on_exec() || !hold_lifeline())
        return WEIR_ENOTALLOWED;
    segment = segment_map(DIALOGUE_SEGMENT);
    if (!segment)
        return WEIR_ENOTALLOWED;
    return channel_begin(&worker->channel, segment, false, DIALOGUE_BELL);
}

static int return_value(struct worker *worker, int result)
{
    parcel_clear(&worker->out);
    parcel_number(&worker->out, (uint64_t)(int64_t)result);
    return channel_send(&worker->channel, DIALOGUE_RETURN, 0, &worker->out);
}

/* --- callbacks -------------------------------------------------------------------------------- */

/* The file itself, where a debugger finds it, if the host has opened that and no copy of it. Not
 * /proc/self: a debugger opens the name in its own process, where that descriptor may be a pipe
 * that it then reads for ever. */
static void name_image(const char *file, char *out, size_t size)
{
    struct stat named, given;

    if (stat(file, &named) == 0 && fstat(DIALOGUE_IMAGE, &given) == 0 &&
        named.st_dev == given.st_dev && named.st_ino == given.st_ino)
        (void)snprintf(out, size, "%s", file);
    else
        (void)snprintf(out, size, "/proc/%ld/fd/%d", (long)getpid(), DIALOGUE_IMAGE);
}

static int open_plugin(struct worker *worker, struct worker_code *code)
{
    static struct descriptor descriptor; /* until the process ends */
    struct problem problem;
    char image[PATH_MAX];
    int status;

    name_image(code->file, image, sizeof image);
    status = shared_object_look(image, code->file, &descriptor, &problem);
    if (status != WEIR_OK)
        weir_log(&worker->self, WEIR_LOG_ERROR, problem.text);
    if (status == WEIR_OK)
        worker->behaviour = descriptor_find(&descriptor, code->behaviour, &problem);
    if (status == WEIR_OK && !worker->behaviour)
        return WEIR_EUNKNOWN;
    if (status != WEIR_OK)
        return status;
    code->worker = worker;
    code->descriptor = &descriptor;
    code->image = image;
    code->behaviour = worker->behaviour->name;
    worker_crash_name(code);
    return WEIR_OK;
}

/* Its texts stay until the process ends. */
static void unpack_list(struct unparcel *from, struct weir_list *out)
{
    uint64_t count = unparcel_number(from);
    const char **items = from->wrong ? NULL : calloc(count + 1, sizeof *items);

    for (uint64_t i = 0; items && i < count; i++)
        items[i] = strdup(unparcel_text(from));
    from->wrong = from->wrong || !items;
    *out = (struct weir_list){ items, items ? count : 0 };
}

static void unpack_sandbox(struct unparcel *from, struct sandbox *out)
{
    out->on = unparcel_number(from);
    out->strict = unparcel_number(from);
    out->network = unparcel_number(from);
    unpack_list(from, &out->read);
    unpack_list(from, &out->write);
}

/* Landlock bounds the thread that calls it, and those that it starts. */
static bool has_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    uint32_t count = 0;

    if (!tasks)
        return true; /* nobody knows */
    while (readdir(tasks))
        count++;
    (void)closedir(tasks);
    return count > 3; /* itself, `.` and `..` */
}

static int enter_sandbox(struct worker *worker)
{
    char why[256] =
        "sandbox: the plugin has started threads in `open`, whose files are not bounded, or "
        "/proc does not say so";
    int error = 0;

    if (!worker->sandbox.on)
        return WEIR_OK;
    if (has_threads() && worker->sandbox.strict)
        error = EPERM;
    else if (has_threads())
        weir_log(&worker->self, WEIR_LOG_WARNING, why);
    if (error == 0)
        error = sandbox_enter(&worker->sandbox, why, sizeof why);
    if (error == 0)
        return WEIR_OK;
    weir_reason(&worker->self, "%s", why);
    weir_log(&worker->self, WEIR_LOG_ERROR, "no sandbox", weir_str("why", why),
             weir_str("error", strerror(error)));
    return WEIR_ENOTALLOWED;
}

/* Reads the frame of DIALOGUE_OPEN. */
static int load(struct worker *worker, struct unparcel *from)
{
    struct worker_code code;
    int status;

    code.file = unparcel_text(from);
    code.behaviour = unparcel_text(from);
    code.generation = (uint32_t)unparcel_number(from);
    code.format = (enum log_format)unparcel_number(from);
    worker->pid = unparcel_number(from);
    worker->path = strdup(unparcel_text(from));
    worker->index = (uint32_t)unparcel_number(from);
    worker->pool = unparcel_number(from);
    unpack_sandbox(from, &worker->sandbox);
    if (from->wrong || !worker->path)
        return WEIR_ENOMEM;
    status = open_plugin(worker, &code);
    if (status == WEIR_OK)
        worker->settings = settings_image_unpack(worker->behaviour, from);
    return status;
}

static int do_open(struct worker *worker, struct unparcel *from)
{
    size_t size = (size_t)(from->end - from->at);
    char *bytes = malloc(size + 1), *state;
    struct unparcel copy;
    int status;

    if (!bytes)
        return WEIR_ENOMEM;
    /* The calls of a plugin that is loaded use the same channel. */
    memcpy(bytes, from->at, size);
    copy = unparcel_of(bytes, size);
    status = load(worker, &copy);
    free(bytes);
    if (status != WEIR_OK)
        return status;
    state = worker->settings ? aligned_alloc(16, (worker->behaviour->state_size + 31) & ~15u)
                             : NULL;
    if (!state)
        return WEIR_ENOMEM;
    memset(state, 0, worker->behaviour->state_size + 1);
    worker->state = state;
    if (worker->behaviour->open)
        status = worker->behaviour->open(&worker->self, worker->settings, worker->state);
    return status < 0 ? status : enter_sandbox(worker);
}

static int do_flush(struct worker *worker)
{
    int verdict = worker->behaviour->flush ? worker->behaviour->flush(&worker->self, worker->state)
                                           : WEIR_KEEP;

    while (verdict == WEIR_DONE && worker->gathered) {
        struct worker_message *message = worker->gathered;

        worker_part_gathered(worker, message);
        worker_free_message(message);
    }
    return verdict;
}

static void do_reconfigure(struct worker *worker, struct unparcel *from)
{
    void *settings = settings_image_unpack(worker->behaviour, from);

    /* The former settings stay: a plugin may have kept a text of them. */
    if (!settings || !worker->behaviour->reconfigure)
        return;
    worker->settings = settings;
    worker->behaviour->reconfigure(&worker->self, worker->state, settings);
}

static void do_tick(struct worker *worker, struct unparcel *from)
{
    struct worker_pending *pending = worker_take_pending(worker, unparcel_number(from));
    bool again = pending && pending->again;

    if (pending)
        pending->tick(&worker->self, worker->state, pending->context);
    if (!again) /* `tick` may have cancelled one that comes again */
        free(pending);
}

static void do_then(struct worker *worker, struct unparcel *from)
{
    struct worker_pending *pending = worker_take_pending(worker, unparcel_number(from));
    struct weir_reply reply = { .reference = unparcel_number(from) };
    struct worker_message *message;
    char *detail;
    bool has_message;

    reply.status = (int)(int64_t)unparcel_number(from);
    detail = strdup(unparcel_text(from));
    has_message = unparcel_number(from);
    message = worker_unpack_message(worker, from);
    reply.message = has_message && message ? &message->public : NULL;
    if (has_message && !message)
        reply.status = WEIR_ENOMEM;
    reply.detail = detail ? detail : "";
    if (pending)
        pending->then(&worker->self, worker->state, pending->context, &reply);
    free(pending);
    worker_free_message(message);
    free(detail);
}

static void do_inspect(struct worker *worker)
{
    struct worker_inspection inspection;

    worker_begin_inspection(worker, &inspection);
    if (worker->behaviour->inspect)
        worker->behaviour->inspect(&worker->self, worker->state, &inspection.public);
}

static int do_rest(struct worker *worker, struct channel_frame *frame)
{
    const struct weir_behaviour *behaviour = worker->behaviour;

    if (frame->kind == DIALOGUE_CLOSE && behaviour->close)
        behaviour->close(&worker->self, worker->state, (int)unparcel_number(&frame->content));
    else if (frame->kind == DIALOGUE_REOPEN && behaviour->reopen)
        behaviour->reopen(&worker->self, worker->state);
    else if (frame->kind == DIALOGUE_LEAVE && behaviour->leave)
        return behaviour->leave(&worker->self, worker->state);
    return frame->kind == DIALOGUE_LEAVE ? WEIR_END : 0;
}

static int carry_out(struct worker *worker, struct channel_frame *frame)
{
    switch (frame->kind) {
    case DIALOGUE_OPEN:
        return do_open(worker, &frame->content);
    case DIALOGUE_RECONFIGURE:
        do_reconfigure(worker, &frame->content);
        return 0;
    case DIALOGUE_FLUSH:
        return do_flush(worker);
    case DIALOGUE_TICK:
        do_tick(worker, &frame->content);
        return 0;
    case DIALOGUE_THEN:
        do_then(worker, &frame->content);
        return 0;
    case DIALOGUE_INSPECT:
        do_inspect(worker);
        return 0;
    default:
        return do_rest(worker, frame);
    }
}

/* Messages that were given ahead come before what follows them in the channel. */
static int run_next(struct worker *worker)
{
    struct channel_frame frame = { 0 };
    int status, result;

    if (worker->ahead_count > 0)
        return worker_run_ahead(worker);
    status = channel_receive(&worker->channel, &frame);
    if (status == WEIR_ENOMEM && frame.kind == DIALOGUE_HANDLE)
        return worker_lacks_memory(worker, frame.number);
    if (status != WEIR_OK)
        return status;
    if (frame.kind != DIALOGUE_OPEN && !worker->behaviour)
        return WEIR_ENOTALLOWED;
    if (frame.kind == DIALOGUE_HANDLE)
        return worker_run_message(worker, frame.number, &frame.content);
    worker_crash_note((int)frame.kind);
    result = carry_out(worker, &frame);
    worker_crash_note(0);
    return return_value(worker, result);
}

int worker_run(void)
{
    struct worker *worker = calloc(1, sizeof *worker);
    int status = worker ? begin(worker) : WEIR_ENOMEM;

    if (status != WEIR_OK) {
        free(worker);
        return WEIR_ENOTALLOWED;
    }
    worker_fill_host(&worker->host);
    worker->self.host = &worker->host;
    worker_crash_begin();
    while (status == WEIR_OK)
        status = run_next(worker);
    return WEIR_OK;
}
