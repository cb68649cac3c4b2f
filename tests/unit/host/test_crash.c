/* SPDX-License-Identifier: MIT */
/*
 * Goal: a crash signal is logged in one line with the running worker, in the format of the log, and
 * then ends the process as it would without us.
 * Method: children that crash, each in its way; their output comes through a pipe.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/crash/crash.h"
#include "host/log/logger.h"
#include "suite.h"
#include "weir_core.h"
#include <weir/status.h>

static const struct crash_note note = {
    .pool = "images/small",
    .code = "plugin=thumb/1.4.0 generation=2 behaviour=scale",
    .worker = 3,
    .tag = "thumb.image/1",
    .label = "in box:12",
    .attempt = 2,
    .callback = "handle",
    .inside = true,
};

static const struct crash_note *note_of_worker(void)
{
    return &note;
}

/* As the C library does when it finds ruined memory. */
static const struct crash_note *abort_in_the_handler(void)
{
    abort();
}

static const struct crash_note *somebody_before(void)
{
    static struct crash_note over;

    over = note;
    over.inside = false;
    return &over;
}

static const struct crash_note *no_note(void)
{
    return NULL;
}

static void (*former)(int number); /* NULL: none */

/* In the child. A sanitizer's handler has a test of its own. */
static void set_former(void)
{
    (void)signal(SIGSEGV, former ? former : SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
}

/* The output of a child that did `fall`. Returns its wait status. */
static const char *words_by(struct logger *logger, const struct crash_note *(*current)(void),
                            void (*fall)(void), int *out_status)
{
    static char text[4096];
    struct rlimit no_core = { 0, 0 };
    const struct crash_setup setup = { .current = current, .effect = "the host ends" };
    int ends[2];
    ssize_t size;
    pid_t child;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct crash_stack stack;

        setrlimit(RLIMIT_CORE, &no_core);
        set_former();
        last_words_begin(ends[1], logger);
        if (crash_install(&setup) != WEIR_OK || crash_thread_begin(&stack) != WEIR_OK)
            _exit(99);
        fall();
        _exit(98);
    }
    close(ends[1]);
    size = read(ends[0], text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    close(ends[0]);
    CU_ASSERT_EQUAL(waitpid(child, out_status, 0), child);
    return text;
}

/* Without the time. */
static const char *words_of(const struct crash_note *(*current)(void), void (*fall)(void),
                            int *out_status)
{
    return strchr(words_by(NULL, current, fall, out_status), ' ') + 1;
}

static void fall_by_segv(void)
{
    raise(SIGSEGV);
}

static void fall_by_state(void)
{
    _Atomic uint64_t *state = (_Atomic uint64_t *)NO_STATE_BEGIN;

    atomic_fetch_add(&state[2], 1);
}

static void fall_by_abort(void)
{
    abort();
}

static void test_crash_of_a_worker_names_it(void)
{
    int status;
    const char *words = words_of(note_of_worker, fall_by_segv, &status);

    const char *address = " address=0x";
    const char *after = strstr(words, address);

    CU_ASSERT_EQUAL(strncmp(words,
                            "level=error component=images/small event=\"crash\" "
                            "signal=SIGSEGV address=0x",
                            74),
                    0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(after);
    CU_ASSERT_STRING_EQUAL(after + strlen(address) + 16,
                           " in=handle plugin=thumb/1.4.0 generation=2 behaviour=scale "
                           "worker=3 message=thumb.image/1 label=\"in box:12\" attempt=2 "
                           "effect=\"the host ends\"\n");
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* promise B142: not by the time-out of the handler. */
static void test_crash_of_the_handler_ends_the_process(void)
{
    int status;

    (void)words_by(NULL, abort_in_the_handler, fall_by_segv, &status);
    CU_ASSERT_TRUE(WIFSIGNALED(status));
    CU_ASSERT_EQUAL(WTERMSIG(status), SIGABRT);
}

/* promise B62 */
static void test_use_of_a_state_without_size_is_named(void)
{
    static const char hint[] = "hint=\"a state of no size is used: see state_size\" in=";
    int status;

    CU_ASSERT_PTR_NOT_NULL(strstr(words_of(note_of_worker, fall_by_state, &status), hint));
    CU_ASSERT_TRUE(WIFSIGNALED(status));
    CU_ASSERT_PTR_NULL(strstr(words_of(note_of_worker, fall_by_segv, &status), "hint="));
}

static void test_crash_of_the_host_says_so(void)
{
    int status;
    const char *words = words_of(no_note, fall_by_abort, &status);

    CU_ASSERT_STRING_EQUAL(words, "level=error component=host event=\"crash\" signal=SIGABRT "
                                  "in=\"no callback\" effect=\"the host ends\"\n");
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    (void)words_of(NULL, fall_by_abort, &status);
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_crash_of_the_host_names_the_last_callback(void)
{
    int status;
    const char *words = words_of(somebody_before, fall_by_abort, &status);

    CU_ASSERT_STRING_EQUAL(words, "level=error component=images/small event=\"crash\" "
                                  "signal=SIGABRT in=\"no callback, after this one\" "
                                  "plugin=thumb/1.4.0 generation=2 behaviour=scale worker=3 "
                                  "message=thumb.image/1 label=\"in box:12\" attempt=2 "
                                  "effect=\"the host ends\"\n");
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_line_has_the_format_of_the_log(void)
{
    struct logger_setup setup = { .clock = clock_monotonic(),
                                  .date_us = logger_date_us,
                                  .style = { .format = LOG_JSON } };
    struct logger *logger = logger_create(&setup);
    const char *words;
    int status;

    CU_ASSERT_PTR_NOT_NULL_FATAL(logger);
    words = words_by(logger, note_of_worker, fall_by_abort, &status);
    CU_ASSERT_EQUAL(strncmp(words, "{\"ts\":\"20", 9), 0);
    CU_ASSERT_STRING_EQUAL(strchr(words, ',') + 1,
                           "\"level\":\"error\",\"component\":\"images/small\","
                           "\"event\":\"crash\",\"signal\":\"SIGABRT\",\"in\":\"handle\","
                           "\"plugin\":\"thumb/1.4.0\",\"generation\":2,"
                           "\"behaviour\":\"scale\",\"worker\":3,\"message\":\"thumb.image/1\","
                           "\"label\":\"in box:12\",\"attempt\":2,"
                           "\"effect\":\"the host ends\"}\n");
    logger_destroy(logger);
}

static void end_as_a_sanitizer(int number)
{
    (void)number;
    (void)signal(SIGSEGV, SIG_DFL);
    abort();
}

static void end_by_exit(int number)
{
    _exit(number == SIGSEGV ? 42 : 41);
}

/* promise B142 */
static void test_handler_that_was_there_before_is_called(void)
{
    int status;

    former = end_by_exit;
    CU_ASSERT_PTR_NOT_NULL(strstr(words_of(note_of_worker, fall_by_segv, &status), "crash"));
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    former = end_as_a_sanitizer;
    (void)words_of(note_of_worker, fall_by_segv, &status);
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    former = NULL;
}

static void test_thread_stack_is_given_and_taken(void)
{
    struct crash_stack first, second;
    stack_t before, now;

    CU_ASSERT_EQUAL(sigaltstack(NULL, &before), 0);
    CU_ASSERT_EQUAL(crash_thread_begin(&first), WEIR_OK);
    CU_ASSERT_EQUAL(crash_thread_begin(&second), WEIR_OK);
    CU_ASSERT_PTR_NULL(second.memory);
    CU_ASSERT_EQUAL(sigaltstack(NULL, &now), 0);
    CU_ASSERT_EQUAL(now.ss_flags & SS_DISABLE, 0);
    crash_thread_end(&second);
    crash_thread_end(&first);
    CU_ASSERT_EQUAL(sigaltstack(NULL, &now), 0);
    CU_ASSERT_EQUAL(now.ss_flags & SS_DISABLE, before.ss_flags & SS_DISABLE);
}

int main(void)
{
    CU_TestInfo tests[] = {
        { "crash of a worker names it", test_crash_of_a_worker_names_it },
        { "a state without size", test_use_of_a_state_without_size_is_named },
        { "crash of the host says so", test_crash_of_the_host_says_so },
        { "the last callback is named", test_crash_of_the_host_names_the_last_callback },
        { "the line has the format of the log", test_line_has_the_format_of_the_log },
        { "crash of the handler", test_crash_of_the_handler_ends_the_process },
        { "former handler", test_handler_that_was_there_before_is_called },
        { "thread stack is given and taken", test_thread_stack_is_given_and_taken },
        CU_TEST_INFO_NULL,
    };

    return suite_run("crash", tests);
}
