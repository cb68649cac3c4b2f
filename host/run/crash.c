#include "host/run/crash.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weir/status.h>

#include "host/log/line.h"

#define STACK_SIZE ((size_t)64 * 1024) /* the handler needs 2 KiB; AVX-512 state another 3 */
#define GUARD_SIZE ((size_t)64 * 1024) /* at least a page, of any page size */
#define WORDS_SIZE 1024

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

#define SIGNALS_COUNT (sizeof signals / sizeof signals[0])

/* A signal handler gets no argument of ours, so this state is global. Written by crash_install. */
static struct {
    const struct crash_note *(*current)(void);
    int descriptor;
    bool terminal; /* a progress line may be there, which the report must not continue */
    struct sigaction before[SIGNALS_COUNT];
    atomic_flag reporting; /* taken by the first thread to fault */
} crash = { .descriptor = -1, .reporting = ATOMIC_FLAG_INIT };

static const char *signal_name(int number)
{
    switch (number) {
    case SIGSEGV:
        return "SIGSEGV";
    case SIGBUS:
        return "SIGBUS";
    case SIGILL:
        return "SIGILL";
    case SIGFPE:
        return "SIGFPE";
    default:
        return "SIGABRT";
    }
}

static void add_pair(struct line *line, const char *key, const char *value)
{
    if (!value)
        return;
    line_text(line, key);
    line_text(line, value);
}

void crash_describe(struct line *line, const struct crash_note *note)
{
    add_pair(line, " pool=", note->pool);
    add_pair(line, " ", note->label);
    line_text(line, " worker=");
    line_unsigned(line, note->worker);
    add_pair(line, " message=", note->tag);
}

static void add_address(struct line *line, const void *address)
{
    line_text(line, " address=0x");
    for (size_t shift = sizeof(uintptr_t) * 8; shift > 0; shift -= 8)
        line_hex(line, (unsigned char)((uintptr_t)address >> (shift - 8)));
}

static void report_signal(int number, const siginfo_t *info)
{
    char words[WORDS_SIZE];
    struct line line;
    const struct crash_note *note = crash.current ? crash.current() : NULL;
    ssize_t ignored;

    line_init(&line, words, sizeof words - 1);
    if (crash.terminal)
        line_put(&line, '\n');
    line_text(&line, "weir: crash signal=");
    line_text(&line, signal_name(number));
    if (number != SIGABRT)
        add_address(&line, info->si_addr);
    if (!note || !note->inside)
        line_text(&line, " in the host itself");
    if (note && !note->inside)
        line_text(&line, ", after a callback of");
    if (note)
        crash_describe(&line, note);
    line_text(&line, "; the host ends");
    line.size++; /* kept free for the newline */
    line_put(&line, '\n');
    ignored = write(crash.descriptor, words, line.used);
    (void)ignored;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct sigaction standard = { .sa_handler = SIG_DFL };

    (void)context;
    /*
     * All our signals are blocked in here, so a fault in the handler ends the process at once, and
     * a second caller is another thread. It must not end the process before the first thread has
     * written its report.
     */
    while (atomic_flag_test_and_set(&crash.reporting))
        pause();
    report_signal(number, info);
    sigemptyset(&standard.sa_mask);
    sigaction(number, &standard, NULL);
    /* Pending until this handler returns; then it ends the process, with a core as configured. */
    raise(number);
}

int crash_install(const struct crash_note *(*current)(void), int descriptor)
{
    struct sigaction action = { .sa_sigaction = on_signal,
                                .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };

    crash.current = current;
    crash.descriptor = descriptor;
    crash.terminal = isatty(descriptor);
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS_COUNT; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (size_t i = 0; i < SIGNALS_COUNT; i++) {
        if (sigaction(signals[i], &action, &crash.before[i]) != 0)
            return WEIR_EINVALID;
    }
    return WEIR_OK;
}

void crash_uninstall(void)
{
    for (size_t i = 0; i < SIGNALS_COUNT; i++)
        sigaction(signals[i], &crash.before[i], NULL);
    crash.current = NULL;
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
