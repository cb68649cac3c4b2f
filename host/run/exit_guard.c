/* SPDX-License-Identifier: MIT */
#include "host/run/exit_guard.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weir/status.h>

#include "host/crash/crash.h"
#include "host/crash/crash_file.h"
#include "host/run/crash_watch.h"

#define HANDLERS_MORE 8 /* for the first thread, and those that plugins start themselves */
#define EFFECT "the host ends with 70"
#define TIMEOUT_MS 5000 /* time for the I/O thread to write some lines */

/* Signals that end a process and that no user sends to a host on purpose. The crash handler and the
 * I/O thread handle the others. */
static const int signals[] = { SIGALRM, SIGVTALRM, SIGPROF, SIGIO,    SIGXCPU,
                               SIGPWR,  SIGTRAP,   SIGSYS,  SIGSTKFLT };

#define SIGNALS_COUNT (sizeof signals / sizeof signals[0])

static struct {
    atomic_bool armed;
    pid_t process; /* const from begin to end, as the next three */
    pthread_t owner;
    pthread_key_t key; /* each of our threads has a value there until it ends */
    struct sigaction before[SIGNALS_COUNT];
    _Atomic(void (*)(void *)) wake; /* written by the owner, behind `context` */
    void *context;
    _Atomic uint32_t threads;  /* the host's threads */
    _Atomic uint32_t handlers; /* that are registered; never fewer than threads */
    atomic_flag reporting;     /* taken by the first thread */
    atomic_bool asked;
} guard = { .reporting = ATOMIC_FLAG_INIT };

/* --- the end --------------------------------------------------------------------------------- */

/* Other threads run on: one of them is to end the process. */
static void wait_for_the_end(void)
{
    (void)poll(NULL, 0, TIMEOUT_MS);
}

/* Does not return. */
static void end_process(void)
{
    /* Acquire pairs with the release in exit_guard_set_wake: the context is there. */
    void (*wake)(void *) = atomic_load_explicit(&guard.wake, memory_order_acquire);

    /* Release pairs with the acquire in exit_guard_is_asked. */
    atomic_store_explicit(&guard.asked, true, memory_order_release);
    if (wake && !pthread_equal(pthread_self(), guard.owner)) {
        wake(guard.context);
        wait_for_the_end();
    }
    _exit(EXIT_GUARD_CODE);
}

/* True for the first thread, which writes the report; the others wait. */
static bool is_first(void)
{
    if (!atomic_flag_test_and_set(&guard.reporting))
        return true;
    for (;;)
        wait_for_the_end();
}

/* Acquire pairs with the release in exit_guard_begin. A forked child may end as it likes. */
static bool is_armed(void)
{
    return atomic_load_explicit(&guard.armed, memory_order_acquire) && getpid() == guard.process;
}

/* `cause` NULL: no message is to blame. */
static void report(const char *event, const char *cause, const struct weir_field *fields)
{
    const struct crash_note *note = crash_watch_current();

    if (cause)
        crash_file_blame(cause, note);
    last_words_write(event, fields, note, EFFECT);
    end_process();
}

static void on_exit_call(int code, void *unused)
{
    struct weir_field fields[] = { weir_int("code", code), weir_str(NULL, NULL) };

    (void)unused;
    if (is_armed() && is_first())
        report("exit was called", "exit", fields);
}

static void on_quick_exit(void)
{
    on_exit_call(0, NULL);
}

static void on_thread_end(void *unused)
{
    struct weir_field none = weir_str(NULL, NULL);

    (void)unused;
    if (is_armed() && is_first())
        report("a thread of the host was ended", "thread_end", &none);
}

/* A limit, a timer or a power supply has nothing to do with the message in hand. */
static bool is_of_message(int number, const siginfo_t *info)
{
    return (number == SIGTRAP || number == SIGSYS || number == SIGSTKFLT) &&
           crash_is_own_fault(number, info);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    char name[LAST_WORDS_SIGNAL];
    struct weir_field fields[] = { weir_str("signal", last_words_signal(number, name)),
                                   weir_int("sender", info->si_pid), weir_str(NULL, NULL) };

    (void)context;
    if (!is_armed() || !is_first())
        return;
    if (crash_is_sent(info) && info->si_pid != guard.process) {
        last_words_write("a signal came from another process", fields, NULL, EFFECT);
        end_process();
    }
    fields[1] = weir_str(NULL, NULL);
    report("a signal was raised", is_of_message(number, info) ? name : NULL, fields);
}

/* --- life ------------------------------------------------------------------------------------ */

/* A signal that has a handler already, a profiler's for instance, keeps it. */
static void install_signals(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };

    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        sigaction(signals[i], NULL, &guard.before[i]);
        if (guard.before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

static void uninstall_signals(void)
{
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        if (guard.before[i].sa_handler == SIG_DFL)
            sigaction(signals[i], &guard.before[i], NULL);
    }
}

/* `exit` takes each handler off its list before it calls it. So each thread that calls `exit` while
 * the first one waits in its handler needs one more handler; without it, that thread ends the
 * process. */
static bool register_handlers(uint32_t wanted)
{
    /* Relaxed: the thread that raises the count registers the handler; the count orders nothing
     * else. */
    uint32_t count = atomic_load_explicit(&guard.handlers, memory_order_relaxed);

    while (count < wanted) {
        if (!atomic_compare_exchange_weak_explicit(&guard.handlers, &count, count + 1,
                                                   memory_order_relaxed, memory_order_relaxed))
            continue;
        if (on_exit(on_exit_call, NULL) != 0 || at_quick_exit(on_quick_exit) != 0)
            return false;
        count++;
    }
    return true;
}

int exit_guard_begin(void)
{
    if (pthread_key_create(&guard.key, on_thread_end) != 0)
        return WEIR_ENOMEM;
    if (!register_handlers(HANDLERS_MORE)) {
        pthread_key_delete(guard.key);
        return WEIR_ENOMEM;
    }
    guard.process = getpid();
    guard.owner = pthread_self();
    install_signals();
    /* Release pairs with the acquire in is_armed: all fields are set. */
    atomic_store_explicit(&guard.armed, true, memory_order_release);
    return WEIR_OK;
}

void exit_guard_end(void)
{
    /* An exchange, so that a call without a begin does nothing. */
    if (!atomic_exchange_explicit(&guard.armed, false, memory_order_acq_rel))
        return;
    uninstall_signals();
    pthread_key_delete(guard.key);
    atomic_store_explicit(&guard.wake, NULL, memory_order_release);
}

void exit_guard_set_wake(void (*wake)(void *context), void *context)
{
    guard.context = context;
    atomic_store_explicit(&guard.wake, wake, memory_order_release);
}

bool exit_guard_is_asked(void)
{
    return atomic_load_explicit(&guard.asked, memory_order_acquire);
}

void exit_guard_thread_start(struct executor *executor)
{
    /* Relaxed: see register_handlers. When memory is out, a second thread may end the process
     * unreported. */
    uint32_t threads = atomic_fetch_add_explicit(&guard.threads, 1, memory_order_relaxed) + 1;

    (void)register_handlers(threads + HANDLERS_MORE);
    crash_watch_thread_start(executor);
    (void)pthread_setspecific(guard.key, &guard);
}

void exit_guard_thread_end(struct executor *executor)
{
    (void)pthread_setspecific(guard.key, NULL);
    atomic_fetch_sub_explicit(&guard.threads, 1, memory_order_relaxed);
    crash_watch_thread_end(executor);
}
