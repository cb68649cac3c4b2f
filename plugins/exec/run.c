/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../files/files.h"
#include "exec.h"
#include "job.h"
#include "outcome.h"
#include "program.h"

#define OUTPUT_OUT 0u

/* A look at whether the result is still wanted. */
#define LOOK_MS 1000u
/* Before another try to send the output, or to start a command. */
#define AGAIN_MS 100u
#define START_AGAIN_MS 250u
/* Descriptors that a command needs while it starts, and while it runs: its input, two pipes, two of
 * its lifeline, one for its end, and what moves past the numbers of the child. */
#define STARTING_DESCRIPTORS 12u
#define RUNNING_DESCRIPTORS 5u
/* `handle` waits so long for a command that is expected to be brief: most small programs end within
 * a millisecond, also when each CPU runs two of them. */
#define BRIEF_MS 2
/* Fits into every pipe, so that a command that writes as much does not wait for a reader. */
#define BRIEF_OUTPUT_MAX PIPE_BUF
#define REASON_SIZE 48u /* of an end, with a NUL */

enum input_choice {
    INPUT_AUTO,
    INPUT_PAYLOAD,
    INPUT_NONE,
};

struct run_settings {
    struct program_settings program; /* the first: PROGRAM_OPTIONS */
    uint32_t input;                  /* enum input_choice */
    uint64_t timeout;
    uint64_t grace;
    struct weir_list done;
    struct weir_list retry;
    uint64_t retry_after;
    uint64_t output_max;
    uint32_t log_lines;
};

/*
 *      handle        time-out, not wanted,        grace is over
 * IDLE ------> RUNNING ----------------> STOPPING --------------> KILLED
 *  ^              |                         |                        |
 *  |              | the process has ended   |                        |
 *  |              v                         v                        v
 *  +------------ (settled) <----------------+------------------------+
 *  |              |
 *  +---- SENDING <+  the output is not accepted yet
 */
enum phase {
    IDLE,
    RUNNING,
    STOPPING,
    KILLED,
    SENDING,
};

struct run {
    const struct run_settings *settings; /* borrowed until close */
    const struct weir_tag *line;
    const struct weir_tag *tag; /* of the output */
    struct program program;
    struct outcome done, retry;
    bool has_input;

    struct job job;
    enum phase phase;
    const struct weir_message *kept; /* in any phase but IDLE */
    const char *cause;               /* why it is stopped; static */
    bool timed_out;
    bool is_brief;     /* expected of the next command, since the last one was */
    uint64_t began;    /* of the command: weir_now_ms */
    uint64_t deadline; /* RUNNING: of the time-out, 0 = none; STOPPING: of the grace */
    uint64_t timer;    /* 0 = none */

    uint64_t count_done;
    uint64_t count_failed;
    uint64_t count_timeouts;
};

/* --- opening ---------------------------------------------------------------------------------- */

static int run_open(struct weir_self *self, const void *settings, void *memory)
{
    struct run *state = memory;
    int status;

    state->settings = settings;
    state->line = weir_tag(self, FILES_LINE_TAG);
    state->tag = weir_tag(self, EXEC_OUTPUT_TAG);
    (void)outcome_read(&state->done, &state->settings->done);
    (void)outcome_read(&state->retry, &state->settings->retry);
    job_init(&state->job, state->settings->output_max, state->settings->log_lines);
    status = state->line && state->tag
                 ? program_open(self, &state->settings->program, &state->program)
                 : WEIR_ENOMEM;
    state->has_input = state->settings->input == INPUT_PAYLOAD ||
                       (state->settings->input == INPUT_AUTO &&
                        !state->program.command.takes_payload);
    return status;
}

/* --- stopping a command ----------------------------------------------------------------------- */

static void look(struct weir_self *self, void *memory, void *context);

/* Looks again in `delay_ms`, or earlier. Without memory for the timer the command ends now. */
static void look_after(struct weir_self *self, struct run *state, uint64_t delay_ms)
{
    if (weir_after(self, delay_ms, look, NULL, &state->timer) == 0)
        return;
    state->timer = 0;
    if (state->phase == RUNNING || state->phase == STOPPING) {
        state->cause = "no memory for a timer";
        state->phase = KILLED;
        child_signal(&state->job.child, SIGKILL);
    }
}

static uint64_t time_to_look(struct weir_self *self, const struct run *state)
{
    uint64_t now = weir_now_ms(self);
    uint64_t left = state->deadline > now ? state->deadline - now : 1;

    return state->deadline && left < LOOK_MS ? left : LOOK_MS;
}

/* A process that is stopped (SIGSTOP) gets the signal when it continues. */
static void stop(struct weir_self *self, struct run *state, const char *cause)
{
    state->cause = cause;
    state->phase = STOPPING;
    state->deadline = weir_now_ms(self) + state->settings->grace;
    child_signal(&state->job.child, SIGTERM);
    child_signal(&state->job.child, SIGCONT);
}

static bool is_over(struct weir_self *self, const struct run *state)
{
    return state->deadline && weir_now_ms(self) >= state->deadline;
}

static void look_at_running(struct weir_self *self, struct run *state)
{
    if (is_over(self, state)) {
        state->timed_out = true;
        state->count_timeouts++;
        stop(self, state, "time-out");
    } else if (!weir_is_wanted(self, state->kept)) {
        stop(self, state, "the result is not wanted any more");
    }
}

static void settle(struct weir_self *self, const struct weir_message *kept, int verdict);
static int deliver(struct weir_self *self, struct run *state);

static void look(struct weir_self *self, void *memory, void *context)
{
    struct run *state = memory;
    const struct weir_message *kept = state->kept;

    (void)context;
    state->timer = 0;
    if (state->phase == RUNNING) {
        look_at_running(self, state);
    } else if (state->phase == STOPPING && is_over(self, state)) {
        state->phase = KILLED;
        child_signal(&state->job.child, SIGKILL);
    } else if (state->phase == SENDING) {
        settle(self, kept, deliver(self, state));
        return;
    }
    if (state->phase == RUNNING || state->phase == STOPPING)
        look_after(self, state, time_to_look(self, state));
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* The message is in hand no more. Returns the verdict. */
static int conclude(struct weir_self *self, struct run *state, int verdict)
{
    state->kept = NULL;
    state->phase = IDLE;
    state->count_done += verdict == WEIR_DONE;
    state->count_failed += verdict != WEIR_DONE;
    weir_progress(self, "commands", state->count_done, 0);
    if (verdict == WEIR_RETRY)
        weir_retry_after(self, state->settings->retry_after);
    return verdict;
}

/* Returns owned; NULL when memory is out. */
static struct weir_message *make_output(struct weir_self *self, const struct run *state)
{
    struct weir_message *message = weir_message_new(self, state->tag, state->job.size);

    if (!message)
        return NULL;
    message->key = state->kept->key;
    if (state->job.size > 0)
        memcpy(message->data, state->job.text, state->job.size);
    return message;
}

/* The origin of the message in hand waits for the output, too. */
static int emit(struct weir_self *self, const struct run *state, struct weir_message *output)
{
    int status = weir_join(self, output, state->kept);

    return status == 0 ? weir_emit(self, OUTPUT_OUT, output) : status;
}

/* 0 also when the request has ended. */
static int send_output(struct weir_self *self, struct run *state)
{
    bool is_request = state->kept->kind == WEIR_REQUEST;
    struct weir_message *message;
    int status;

    if (!is_request && state->job.size == 0)
        return 0;
    message = make_output(self, state);
    if (!message)
        return WEIR_ENOMEM;
    status = is_request ? weir_reply(self, state->kept, message) : emit(self, state, message);
    if (status == 0)
        return 0;
    weir_message_free(self, message);
    return is_request && status != WEIR_ENOMEM ? 0 : status;
}

/* The command is done, and is not run again because its output has no room: the output waits, and
 * the verdict is WEIR_KEEP. */
static int deliver(struct weir_self *self, struct run *state)
{
    int status = send_output(self, state);

    if (status == 0)
        return conclude(self, state, WEIR_DONE);
    state->phase = SENDING;
    if (status == WEIR_EFULL || status == WEIR_ENOMEM)
        look_after(self, state, AGAIN_MS);
    if (state->timer)
        return WEIR_KEEP;
    weir_reason(self, "output: %s", weir_status_text(status));
    return conclude(self, state, WEIR_REJECT);
}

/* The host limits the lines of standard error; this event has a limit of its own. */
static void report(struct weir_self *self, const struct run *state, const char *reason)
{
    weir_reason(self, "%s", reason);
    if (state->job.words.lines > 1 && state->job.words.limit > 0)
        weir_log(self, WEIR_LOG_WARNING, "command failed", weir_str("reason", reason),
                 words_said(&state->job.words));
}

static int conclude_stopped(struct weir_self *self, struct run *state)
{
    bool again = state->timed_out && state->retry.by_timeout;

    report(self, state, state->cause);
    return conclude(self, state, again ? WEIR_RETRY : WEIR_REJECT);
}

/* 0 stands for an end that something else in the program has taken note of. */
static const char *signal_name(int number)
{
    const char *name = sigabbrev_np(number);

    return name ? name : "?";
}

static int conclude_ended(struct weir_self *self, struct run *state, const struct child_end *end)
{
    bool done = end->by_signal ? state->done.by_signal : state->done.codes[end->number & 0xff];
    bool again = end->by_signal ? state->retry.by_signal : state->retry.codes[end->number & 0xff];
    char reason[REASON_SIZE];

    if (done)
        return deliver(self, state);
    if (end->by_signal)
        (void)snprintf(reason, sizeof reason, "signal %d (%s)", end->number,
                       signal_name(end->number));
    else
        (void)snprintf(reason, sizeof reason, "exit code %d", end->number);
    report(self, state, reason);
    return conclude(self, state, again ? WEIR_RETRY : WEIR_REJECT);
}

static void spoil(struct weir_self *self, struct run *state)
{
    if (state->phase == RUNNING)
        stop(self, state,
             state->job.too_large ? "more output than output_max" : "no memory for the output");
}

static void cancel_timer(struct weir_self *self, struct run *state)
{
    if (state->timer)
        (void)weir_cancel_timer(self, state->timer);
    state->timer = 0;
}

/* The process has ended. Returns the verdict. */
static int end_run(struct weir_self *self, struct run *state, const struct child_end *how)
{
    job_end(self, &state->job);
    (void)weir_set_descriptors(self, 0);
    cancel_timer(self, state);
    state->is_brief = weir_now_ms(self) - state->began <= BRIEF_MS &&
                      state->job.size <= BRIEF_OUTPUT_MAX;
    if (state->phase == RUNNING && (state->job.too_large || state->job.no_memory))
        spoil(self, state);
    if (state->phase == RUNNING)
        return conclude_ended(self, state, how);
    return conclude_stopped(self, state);
}

/* Settles the message unless it still waits. */
static void settle(struct weir_self *self, const struct weir_message *kept, int verdict)
{
    if (verdict != WEIR_KEEP)
        (void)weir_settle(self, kept, verdict);
}

/* --- watches ---------------------------------------------------------------------------------- */

static void on_output(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness);
static void on_errors(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness);

static void on_ended(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness);

static const struct job_calls calls = { on_ended, on_output, on_errors };

static void on_output(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness)
{
    struct run *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    if (!job_on_output(self, &state->job, &calls))
        spoil(self, state);
}

static void on_errors(struct weir_self *self, void *memory, void *context, int descriptor,
                      int readiness)
{
    struct run *state = memory;

    (void)context;
    (void)descriptor;
    (void)readiness;
    job_on_errors(self, &state->job, &calls);
}

static void on_ended(struct weir_self *self, void *memory, void *context, int descriptor,
                     int readiness)
{
    struct run *state = memory;
    const struct weir_message *kept = state->kept;
    struct child_end how;

    (void)context;
    (void)descriptor;
    (void)readiness;
    if (job_on_ended(self, &state->job, &calls, &how))
        settle(self, kept, end_run(self, state, &how));
}

/* --- a message -------------------------------------------------------------------------------- */

static int start(struct weir_self *self, struct run *state, const struct weir_message *message,
                 const char *payload, size_t size)
{
    char **arguments = command_fill(&state->program.command, payload, size);
    int error;

    if (!arguments)
        return ENOMEM;
    if (weir_set_descriptors(self, STARTING_DESCRIPTORS) != 0) {
        free(arguments);
        return EMFILE;
    }
    variables_set(&state->program.variables, message);
    error = job_start(self, &state->job, &state->program.plan, arguments, payload, size,
                      state->has_input);
    free(arguments);
    (void)weir_set_descriptors(self, error == 0 ? RUNNING_DESCRIPTORS : 0);
    return error;
}

/* The command was not started. `open` reports a program that is missing, and the like. */
static int refuse(struct weir_self *self, int error)
{
    char text[128];

    weir_reason(self, "not started: %s", strerror_r(error, text, sizeof text));
    weir_retry_after(self, START_AGAIN_MS);
    if (weir_is_short(error))
        return WEIR_POSTPONE;
    return error == E2BIG ? WEIR_REJECT : WEIR_FAIL;
}

/* A watched command costs two more changes of threads. */
static bool wait_if_brief(const struct run *state, struct child_end *out_how)
{
    bool waits = state->is_brief && (!state->deadline || state->settings->timeout > BRIEF_MS);

    return waits && job_wait(&state->job, BRIEF_MS, out_how);
}

/* The command runs. Returns the verdict. */
static int go_on(struct weir_self *self, struct run *state)
{
    struct child_end how;
    int error;

    if (wait_if_brief(state, &how))
        return end_run(self, state, &how);
    error = job_watch(self, &state->job, &calls);
    if (error != 0) {
        state->kept = NULL;
        state->phase = IDLE;
        (void)weir_set_descriptors(self, 0);
        return refuse(self, error);
    }
    look_after(self, state, time_to_look(self, state));
    return WEIR_KEEP;
}

static int run_handle(struct weir_self *self, void *memory, const struct weir_message *message)
{
    struct run *state = memory;
    size_t size;
    const char *payload = files_text(message, state->line, &size);
    int error;

    if (state->program.command.takes_payload && size > 0 && memchr(payload, 0, size)) {
        weir_reason(self, "a NUL cannot stand in an argument");
        return WEIR_REJECT;
    }
    error = start(self, state, message, payload, size);
    if (error != 0)
        return refuse(self, error);
    state->phase = RUNNING;
    state->kept = message;
    state->cause = "";
    state->timed_out = false;
    state->began = weir_now_ms(self);
    state->deadline = state->settings->timeout ? state->began + state->settings->timeout : 0;
    return go_on(self, state);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void run_inspect(struct weir_self *self, void *memory, struct weir_inspection *out)
{
    const struct run *state = memory;
    bool runs = state->job.child.process > 0;

    weir_inspect_add(out, "process", "%lld", (long long)state->job.child.process);
    weir_inspect_add(out, "running_ms", "%llu",
                     (unsigned long long)(runs ? weir_now_ms(self) - state->began : 0));
    weir_inspect_add(out, "commands_done", "%llu", (unsigned long long)state->count_done);
    weir_inspect_add(out, "commands_failed", "%llu", (unsigned long long)state->count_failed);
    weir_inspect_add(out, "timeouts", "%llu", (unsigned long long)state->count_timeouts);
    weir_inspect_add(out, "error_lines", "%llu", (unsigned long long)state->job.words.total);
}

static void run_close(struct weir_self *self, void *memory, int reason)
{
    struct run *state = memory;
    long long process = state->job.child.process;

    (void)reason;
    if (!job_finish(self, &state->job))
        weir_log(self, WEIR_LOG_ERROR, "command does not end", weir_int("process", process));
    program_close(&state->program);
}

static void check_ends(const struct run_settings *settings, struct weir_report *report)
{
    struct outcome done, retry;
    const char *wrong_done = outcome_read(&done, &settings->done);
    const char *wrong_retry = outcome_read(&retry, &settings->retry);

    if (wrong_done)
        weir_report_error(report, "done", "%s is not 0..255 or signal", wrong_done);
    if (wrong_retry)
        weir_report_error(report, "retry", "%s is not 0..255, signal or timeout", wrong_retry);
    if (done.by_timeout)
        weir_report_error(report, "done", "a command that was stopped is not done");
    if (outcome_meets(&done, &retry))
        weir_report_error(report, "retry", "an end is in `done`, too");
}

static void run_check(const void *memory, struct weir_report *report)
{
    const struct run_settings *settings = memory;
    const char *first = settings->program.command.items[0];

    program_check(&settings->program, report);
    if (settings->program.shell && command_has_mark(first))
        weir_report_error(report, "command",
                          "a text for the shell takes the payload as \"$1\": give \"{}\" as the "
                          "second word");
    else if (command_has_mark(first))
        weir_report_error(report, "command", "the payload cannot be the program");
    check_ends(settings, report);
}

/* --- tables ----------------------------------------------------------------------------------- */

/* In the order of enum input_choice. */
static const char *const input_choices[] = { "auto", "payload", "none", NULL };

static const struct weir_option options[] = {
    WEIR_OPTION_LIST(struct program_settings, command, .required = true, .min = 1, .max = 1000,
                     .help = "program and arguments; {} in an argument is the payload"),
    WEIR_OPTION_ENUM(struct run_settings, input, .fallback = "auto", .choices = input_choices,
                     .help = "standard input; auto: the payload, or nothing if an argument has "
                             "it"),
    WEIR_OPTION_DURATION(struct run_settings, timeout, .fallback = "0s",
                         .help = "stop a command that runs longer; 0s: never"),
    WEIR_OPTION_DURATION(struct run_settings, grace, .fallback = "5s", .min = 1, .max = 3600000,
                         .help = "between TERM and KILL when a command is stopped"),
    WEIR_OPTION_LIST(struct run_settings, done, .fallback = "0", .max = 257,
                     .help = "exit codes, or `signal`, after which the message is done"),
    WEIR_OPTION_LIST(struct run_settings, retry, .fallback = "75", .max = 258,
                     .help = "exit codes, `signal` or `timeout`, after which it is tried again; "
                             "any other end rejects it"),
    WEIR_OPTION_DURATION(struct run_settings, retry_after, .fallback = "1s",
                         .help = "before it is tried again"),
    WEIR_OPTION_SIZE(struct run_settings, output_max, .fallback = "1MiB", .max = 1 << 30,
                     .help = "stop a command that prints more"),
    WEIR_OPTION_U32(struct run_settings, log_lines, .fallback = "20",
                    .help = "lines of standard error that are logged for each message"),
    PROGRAM_OPTIONS,
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out",
      .help = "the output of each command, as exec.output/1; not for requests",
      .expected = true },
    { 0 },
};

const struct weir_behaviour exec_run = {
    .name = "run",
    .summary = "runs a command for each message",
    .options = options,
    .outputs = outputs,
    .settings_size = sizeof(struct run_settings),
    .state_size = sizeof(struct run),
    .flags = WEIR_BLOCKING,
    .check = run_check,
    .open = run_open,
    .handle = run_handle,
    .inspect = run_inspect,
    .close = run_close,
};
