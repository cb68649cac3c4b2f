/* SPDX-License-Identifier: MIT */
#include "host/crash/crash.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <weir/status.h>

#include "host/crash/crash_file.h"
#include "host/log/line.h"
#include "weir_core.h"

#define STACK_SIZE ((size_t)64 * 1024) /* the handler needs 2 KiB; AVX-512 state another 3 */
#define STACK_SIZE_LOGGED 1024
#define TIMEOUT_S 2
#define GUARD_SIZE ((size_t)64 * 1024) /* at least a page, of any page size */

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

#define SIGNALS_COUNT (sizeof signals / sizeof signals[0])

/* A signal handler gets no argument of ours, so this state is global. Written by crash_install. */
static struct {
    struct crash_setup setup;
    struct sigaction before[SIGNALS_COUNT];
    struct stack_names names;
    _Atomic bool has_names; /* release: the names are there */
    atomic_flag reporting;  /* taken by the first thread to fault */
} crash = { .reporting = ATOMIC_FLAG_INIT };

static const struct crash_note *current(void)
{
    return crash.setup.current ? crash.setup.current() : NULL;
}

static void write_address(struct line *line, const void *address)
{
    line_text(line, "0x");
    for (size_t shift = sizeof(uintptr_t) * 8; shift > 0; shift -= 8)
        line_hex(line, (unsigned char)((uintptr_t)address >> (shift - 8)));
}

/* A signal that a program sends (si_code <= 0) has no address. */
static bool is_no_state(const siginfo_t *info)
{
    const uintptr_t address = (uintptr_t)info->si_addr;

    return info->si_code > 0 && address >= NO_STATE_BEGIN && address < NO_STATE_END;
}

bool crash_is_sent(const siginfo_t *info)
{
    return info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
}

bool crash_is_own_fault(int number, const siginfo_t *info)
{
    if (crash_is_sent(info))
        return info->si_pid == getpid();
    if (info->si_code <= 0) /* of a timer, for instance */
        return false;
    return number != SIGBUS || (info->si_code != BUS_MCEERR_AR && info->si_code != BUS_MCEERR_AO);
}

static void blame(int number, const siginfo_t *info)
{
    char name[LAST_WORDS_SIGNAL];

    if (crash_is_own_fault(number, info))
        crash_file_blame(last_words_signal(number, name), current());
}

static void report_signal(int number, const siginfo_t *info)
{
    char address[32], name[LAST_WORDS_SIGNAL];
    struct line line;
    struct weir_field fields[] = { weir_str("signal", last_words_signal(number, name)),
                                   weir_str("address", address), weir_str(NULL, NULL),
                                   weir_str(NULL, NULL) };

    line_init(&line, address, sizeof address);
    write_address(&line, info->si_addr);
    if (number == SIGABRT) /* which is about no address */
        fields[1] = weir_str(NULL, NULL);
    else if (is_no_state(info))
        fields[2] = weir_str("hint", "a state of no size is used: see state_size");
    last_words_write("crash", fields, current(), crash.setup.effect);
}

/* The place where the signal came, of a machine that is known here; else NULL. */
static const void *place_of(const ucontext_t *machine)
{
#if defined __x86_64__
    return (const void *)machine->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (const void *)machine->uc_mcontext.pc;
#else
    (void)machine;
    return NULL;
#endif
}

/* From now on SIGALRM ends the process when something takes too long: a disk that does not answer,
 * a lock of the dynamic linker that is held. */
static void limit_time(void)
{
    sigset_t alarms;

    (void)signal(SIGALRM, SIG_DFL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    (void)pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    (void)alarm(TIMEOUT_S);
}

/* The kernel ends the process for a fault in here. */
static void report_stack(const ucontext_t *machine)
{
    const struct crash_note *note = current();
    const void *place = place_of(machine);
    void *frames[STACK_FRAMES_MAX];
    char text[STACK_SIZE_LOGGED];
    int count, first = 0;

    count = backtrace(frames, STACK_FRAMES_MAX);
    while (first < count && frames[first] != place)
        first++;
    if (first == count)
        return;
    stack_describe(&crash.names, frames + first, count - first, text, sizeof text);
    last_words_write_stack(note ? note->pool : NULL, text);
}

/* What the former handler raises ends the process, as a fault in it does. */
static void call_former(int number, siginfo_t *info, void *context)
{
    struct sigaction standard = { .sa_handler = SIG_DFL };
    const struct sigaction *former = crash.before;

    sigemptyset(&standard.sa_mask);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        (void)sigaction(signals[i], &standard, NULL);
        if (signals[i] == number)
            former = &crash.before[i];
    }
    if (former->sa_flags & SA_SIGINFO)
        former->sa_sigaction(number, info, context);
    else if (former->sa_handler != SIG_DFL && former->sa_handler != SIG_IGN)
        former->sa_handler(number);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    static _Thread_local bool has_begun;

    /* All our signals are blocked in here, so a fault in the handler ends the process at once. But
     * abort() unblocks its own. */
    if (has_begun) {
        (void)signal(number, SIG_DFL);
        raise(number);
        return;
    }
    has_begun = true;
    /* Another thread must not end the process before the first one has written its report. */
    while (atomic_flag_test_and_set(&crash.reporting))
        pause();
    limit_time();
    if (crash.setup.first)
        crash.setup.first();
    blame(number, info);
    report_signal(number, info);
    /* Acquire pairs with the release in crash_name_functions. */
    if (atomic_load_explicit(&crash.has_names, memory_order_acquire))
        report_stack(context);
    (void)alarm(0);
    call_former(number, info, context);
    /* Pending until this handler returns; then it ends the process, with a core as configured. */
    raise(number);
}

int crash_install(const struct crash_setup *setup)
{
    struct sigaction action = { .sa_sigaction = on_signal,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

    crash.setup = *setup;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS_COUNT; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        if (sigaction(signals[i], &action, &crash.before[i]) != 0)
            return WEIR_EINVALID;
    }
    return WEIR_OK;
}

void crash_name_functions(const struct stack_names *names)
{
    stack_prepare();
    crash.names = *names;
    atomic_store_explicit(&crash.has_names, true, memory_order_release);
}

void crash_uninstall(void)
{
    atomic_store_explicit(&crash.has_names, false, memory_order_relaxed);
    for (size_t i = 0; i < SIGNALS_COUNT; i++)
        sigaction(signals[i], &crash.before[i], NULL);
    crash.setup = (struct crash_setup){ .current = NULL };
}

int crash_thread_begin(struct crash_stack *out_stack)
{
    stack_t stack = { .ss_size = STACK_SIZE };
    stack_t present;
    char *memory;

    out_stack->memory = NULL;
    if (sigaltstack(NULL, &present) == 0 && !(present.ss_flags & SS_DISABLE))
        return WEIR_OK;
    memory = mmap(NULL, GUARD_SIZE + STACK_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return WEIR_ENOMEM;
    stack.ss_sp = memory + GUARD_SIZE;
    if (mprotect(memory, GUARD_SIZE, PROT_NONE) != 0 || sigaltstack(&stack, NULL) != 0) {
        munmap(memory, GUARD_SIZE + STACK_SIZE);
        return WEIR_ENOMEM;
    }
    out_stack->memory = memory;
    return WEIR_OK;
}

void crash_thread_end(struct crash_stack *stack)
{
    stack_t none = { .ss_flags = SS_DISABLE };

    if (!stack->memory || sigaltstack(&none, NULL) != 0)
        return;
    munmap(stack->memory, GUARD_SIZE + STACK_SIZE);
    stack->memory = NULL;
}
