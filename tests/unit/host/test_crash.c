/*
 * Goal: a crash signal is logged in one line with the running worker, and then ends the process as
 * it would without us.
 * Method: children that crash, each in its way; their output comes through a pipe.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run/crash.h"
#include "suite.h"
#include <weir/status.h>

static const struct crash_note note = {
    .pool = "images/small",
    .label = "plugin=thumb/1.4.0 generation=2 behaviour=scale",
    .worker = 3,
    .tag = "thumb.image/1",
    .inside = true,
};

static const struct crash_note *note_of_worker(void)
{
    return &note;
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

/* The output of a child that did `fall`. Returns its wait status. */
static const char *words_of(const struct crash_note *(*current)(void), void (*fall)(void),
                            int *out_status)
{
    static char text[4096];
    struct rlimit no_core = { 0, 0 };
    int ends[2];
    ssize_t size;
    pid_t child;

    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct crash_stack stack;

        setrlimit(RLIMIT_CORE, &no_core);
        if (crash_install(current, ends[1]) != WEIR_OK || crash_thread_begin(&stack) != WEIR_OK)
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

static void fall_by_segv(void)
{
    raise(SIGSEGV);
}

static void fall_by_abort(void)
{
    abort();
}

static void test_crash_of_a_worker_names_it(void)
{
    int status;
    const char *words = words_of(note_of_worker, fall_by_segv, &status);

    CU_ASSERT_EQUAL(strncmp(words, "weir: crash signal=SIGSEGV address=0x", 37), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(words, " pool=images/small plugin=thumb/1.4.0 generation=2 "
                                         "behaviour=scale worker=3 message=thumb.image/1; the "
                                         "host ends\n"));
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void test_crash_of_the_host_says_so(void)
{
    int status;
    const char *words = words_of(no_note, fall_by_abort, &status);

    CU_ASSERT_STRING_EQUAL(words, "weir: crash signal=SIGABRT in the host itself; the host ends\n");
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    (void)words_of(NULL, fall_by_abort, &status);
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_crash_of_the_host_names_the_last_callback(void)
{
    int status;
    const char *words = words_of(somebody_before, fall_by_abort, &status);

    CU_ASSERT_STRING_EQUAL(words, "weir: crash signal=SIGABRT in the host itself, after a callback "
                                  "of pool=images/small plugin=thumb/1.4.0 generation=2 "
                                  "behaviour=scale worker=3 message=thumb.image/1; the host "
                                  "ends\n");
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
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
        { "crash of the host says so", test_crash_of_the_host_says_so },
        { "the last callback is named", test_crash_of_the_host_names_the_last_callback },
        { "thread stack is given and taken", test_thread_stack_is_given_and_taken },
        CU_TEST_INFO_NULL,
    };

    return suite_run("crash", tests);
}
