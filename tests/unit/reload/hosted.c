/* SPDX-License-Identifier: MIT */
#include "unit/reload/hosted.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CUnit/CUnit.h>
#include <uv.h>

#include "actor/send.h"
#include "host/apply/apply.h"
#include "host/reload/control_change.h"
#include "host/reload/supported.h"
#include "host/run/closing.h"
#include "host/run/turn_watch.h"
#include "unit/reload/fault.h"
#include "unit/support/wait_limit.h"

#define LOOK_MS 1 /* at most, between two checks */

/* --- parts ---------------------------------------------------------------------------------- */

static void follow_the_supervisor(struct executor *executor)
{
    struct dispatcher *dispatcher = executor->dispatcher;

    lock_acquire(&dispatcher->lock); /* the name may change meanwhile */
    if (strcmp(dispatcher->name, SUPERVISOR_DISPATCHER) == 0)
        fault_follow();
    lock_release(&dispatcher->lock);
}

static void on_finished(void *context, bool drained)
{
    struct hosted *hosted = context;

    (void)drained;
    atomic_store(&hosted->has_ended, true);
    runtime_notice(hosted->runtime);
}

static void on_answer(void *context)
{
    struct hosted *hosted = context;

    atomic_fetch_add(&hosted->answers, 1);
    runtime_notice(hosted->runtime);
}

static void make_voice(struct hosted *hosted)
{
    struct logger_setup setup = { .clock = clock_monotonic(), .date_us = logger_date_us };

    hosted->nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    CU_ASSERT_FATAL(hosted->nowhere >= 0);
    hosted->screen = screen_create(hosted->nowhere, hosted->nowhere);
    CU_ASSERT_PTR_NOT_NULL_FATAL(hosted->screen);
    setup.screen = hosted->screen;
    hosted->logger = logger_create(&setup);
    CU_ASSERT_PTR_NOT_NULL_FATAL(hosted->logger);
}

static void start_assembly(struct hosted *hosted, const char *file)
{
    struct settings *settings;
    struct report report;
    int status;

    report_init(&report);
    status = configuration_read(&hosted->configuration, file, NULL, &report, &settings);
    if (status == 0)
        status = apply_from_nothing(&hosted->assembly, settings, &report);
    report_print(&report, stderr);
    report_finish(&report);
    CU_ASSERT_EQUAL_FATAL(status, 0);
}

/* Never called: the socket only listens, as a host's does. */
static void make_turn_watch(struct hosted *hosted)
{
    struct turn_watch_setup setup = { .runtime = hosted->runtime,
                                      .sink = logger_sink(hosted->logger),
                                      .unwatched = SUPERVISOR_DISPATCHER };

    CU_ASSERT_EQUAL_FATAL(turn_watch_create(&setup, &hosted->turn_watch), 0);
}

static void make_control(struct hosted *hosted)
{
    const char *path = hosted->assembly.shared->settings->host.control;
    struct io_callbacks none = { .context = NULL };
    struct control_setup setup = { .context = NULL };
    struct control_change first;
    struct control_socket socket;

    CU_ASSERT_EQUAL_FATAL(io_create(&none, 0, NULL, &hosted->io), 0);
    setup.loop = io_loop(hosted->io);
    CU_ASSERT_EQUAL_FATAL(control_create(&setup, &hosted->control), 0);
    if (!path)
        return;
    CU_ASSERT_EQUAL_FATAL(control_socket_listen(path, NULL, NULL, &socket), 0);
    first = (struct control_change){ .control = hosted->control };
    CU_ASSERT_EQUAL_FATAL(control_listener_create(&socket, &first.made), 0);
    control_change_commit(&first);
    CU_ASSERT_EQUAL_FATAL(control_collect(hosted->control), 0);
}

void hosted_start(struct hosted *hosted, const char *file, const char *program)
{
    struct runtime_options options = { .clock = clock_monotonic(),
                                       .thread_start = follow_the_supervisor };

    memset(hosted, 0, sizeof *hosted);
    make_voice(hosted);
    CU_ASSERT_EQUAL_FATAL(configuration_init(&hosted->configuration, program), 0);
    options.log = *logger_sink(hosted->logger);
    CU_ASSERT_EQUAL_FATAL(runtime_create(&options, &hosted->runtime), 0);
    assembly_init(&hosted->assembly, hosted->runtime);
    control_jobs_init(&hosted->jobs, on_answer, hosted);
    start_assembly(hosted, file);
    make_turn_watch(hosted);
    make_control(hosted);
    hosted->supervisor = (struct supervisor){
        .assembly = &hosted->assembly,
        .configuration = &hosted->configuration,
        .logger = hosted->logger,
        .turn_watch = hosted->turn_watch,
        .file = file,
        .on_finished = on_finished,
        .control = hosted->control,
        .context = hosted,
        .jobs = &hosted->jobs,
    };
    CU_ASSERT_EQUAL_FATAL(supervisor_start(&hosted->supervisor), 0);
    assembly_go(&hosted->assembly);
}

static bool has_ended(void *context)
{
    return atomic_load(&((struct hosted *)context)->has_ended);
}

void hosted_stop(struct hosted *hosted)
{
    supervisor_finish(&hosted->supervisor);
    CU_ASSERT_TRUE_FATAL(hosted_wait(hosted, has_ended, hosted));
    (void)runtime_stop(hosted->runtime);
    turn_watch_destroy(hosted->turn_watch);
    supervisor_destroy(&hosted->supervisor);
    assembly_finish(&hosted->assembly);
    runtime_destroy(hosted->runtime);
    control_jobs_finish(&hosted->jobs);
    control_destroy(hosted->control);
    io_destroy(hosted->io);
    logger_destroy(hosted->logger);
    screen_destroy(hosted->screen);
    configuration_finish(&hosted->configuration);
    (void)close(hosted->nowhere);
}

/* --- calls ---------------------------------------------------------------------------------- */

bool hosted_wait(struct hosted *hosted, bool (*done)(void *context), void *context)
{
    struct clock clock = clock_monotonic();
    uint64_t deadline_ns = clock_now_ns(&clock) + wait_limit_ms() * UINT64_C(1000000);
    bool is_done;

    do /* not all that is waited for gives notice */
        is_done = runtime_wait(hosted->runtime, done, context, LOOK_MS);
    while (!is_done && clock_now_ns(&clock) < deadline_ns);
    return is_done;
}

static bool is_answered(void *context)
{
    return atomic_load(&((struct hosted *)context)->answers) > 0;
}

void hosted_reload(struct hosted *hosted, struct hosted_answer *out)
{
    struct control_job *job = control_job_create(CONTROL_JOB_RELOAD, NULL, NULL);

    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    job->wants_text = true;
    atomic_store(&hosted->answers, 0);
    supervisor_ask(&hosted->supervisor, job);
    CU_ASSERT_TRUE_FATAL(hosted_wait(hosted, is_answered, hosted));
    job = control_jobs_collect(&hosted->jobs);
    CU_ASSERT_PTR_NOT_NULL_FATAL(job);
    out->status = job->status;
    (void)snprintf(out->text, sizeof out->text, "%s", job->text ? job->text : "");
    control_job_destroy(job);
    CU_ASSERT_EQUAL(control_collect(hosted->control), 0);
    (void)uv_run(io_loop(hosted->io), UV_RUN_NOWAIT); /* the former listener is closed */
}

struct pool *hosted_pool(struct hosted *hosted, const char *path)
{
    uint32_t index = settings_find_pool(hosted->assembly.shared->settings, path);

    return index == SETTINGS_NONE ? NULL : hosted->assembly.pools[index];
}

int hosted_send(struct hosted *hosted, const char *path)
{
    struct pool *pool = hosted_pool(hosted, path);
    const struct weir_tag *tag = tag_table_get(&hosted->runtime->tags, "test.reload/1");
    struct executor *executor = runtime_enter(hosted->runtime);
    struct message *message;
    int status;

    CU_ASSERT_FATAL(pool && tag && executor);
    message = message_create(&executor->cache, tag, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(message);
    status = send_message(hosted->runtime, executor, pool->pid, WEIR_NORMAL, message);
    if (status != 0)
        message_destroy(&executor->cache, message);
    runtime_leave(executor);
    return status;
}
