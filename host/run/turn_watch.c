/* SPDX-License-Identifier: MIT */
#include "host/run/turn_watch.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/log/line.h"
#include "host/run/crash_watch.h"

#define NS_PER_MS 1000000u
#define FRAMES_OURS 2 /* the handler, and the kernel's frame below it */
#define WORD_SIZE SLOW_TURN_WORD
#define KEPT_TURNS 30u /* times the limit: then a message is kept for too long */
/* a thread that takes longer is in the kernel, where no signal reaches it */
#define ANSWER_NS 2000000000u
#define LASTS_MS 100u /* a turn is reported so much later than its limit, at most */
#define ASKED_MS 5u   /* one thread is asked after the other */

/* The owner of the probe. */
enum probe_state {
    PROBE_FREE,     /* the I/O thread's */
    PROBE_SENT,     /* the handler's */
    PROBE_ANSWERED, /* the I/O thread's again */
};

/* The record of the handler on the slow thread. It holds copies of strings: the turn may be over,
 * and its worker destroyed, when the record is read. */
struct probe {
    _Atomic int state;
    struct probe *next; /* in the list of probes that were given up */
    uint64_t sent_ns;
    bool found; /* a callback was running */
    uint32_t generation;
    uint32_t worker;
    char path[WORD_SIZE];
    char plugin[WORD_SIZE];
    char callback[WORD_SIZE];
    char tag[WORD_SIZE];
    int frame_count;
    void *frames[STACK_FRAMES_MAX];
};

struct turn_watch {
    struct turn_watch_setup setup; /* const */
    struct sigaction before;       /* const */
    _Atomic uint64_t limit_ns; /* advisory: a change is in effect from one of the next checks on */
    struct long_turns *turns;
    struct probe *probe;    /* NULL: memory was out */
    struct probe *given_up; /* a thread may still answer them */
    struct long_turn turn;  /* the turn that was probed */
    struct slow_turns *slow;
};

/* --- on the slow thread ---------------------------------------------------------------------- */

static void copy_word(char *to, const char *from)
{
    struct line line;

    line_init(&line, to, WORD_SIZE);
    line_text(&line, from ? from : "");
}

static void copy_turn(struct probe *probe, const struct turn_note *turn)
{
    copy_word(probe->path, turn->path);
    copy_word(probe->plugin, turn->plugin);
    copy_word(probe->callback, turn->callback);
    copy_word(probe->tag, turn->tag);
    probe->generation = turn->generation;
    probe->worker = turn->worker;
}

static void write_down(struct probe *probe)
{
    struct turn_note turn;

    probe->found = crash_watch_turn(&turn);
    if (!probe->found)
        return;
    copy_turn(probe, &turn);
    /* The first call of backtrace loads a library; turn_watch_create has made it. */
    probe->frame_count = backtrace(probe->frames, STACK_FRAMES_MAX);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct probe *probe = info->si_value.sival_ptr;
    int before = errno;

    (void)number;
    (void)context;
    /* A SIGURG of another sender is ignored. */
    if (info->si_code != SI_QUEUE || info->si_pid != getpid() || !probe)
        return;
    /* Acquire pairs with the release in probe_one: the I/O thread's former writes are visible. */
    if (atomic_load_explicit(&probe->state, memory_order_acquire) != PROBE_SENT)
        return;
    write_down(probe);
    /* Release pairs with the acquire in finish_probe: the record is visible there. */
    atomic_store_explicit(&probe->state, PROBE_ANSWERED, memory_order_release);
    errno = before;
}

/* --- on the I/O thread ----------------------------------------------------------------------- */

int turn_watch_create(const struct turn_watch_setup *setup, struct turn_watch **out)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    struct turn_watch *watch = calloc(1, sizeof *watch);

    if (!watch)
        return WEIR_ENOMEM;
    watch->setup = *setup;
    atomic_init(&watch->limit_ns, UINT64_MAX);
    watch->probe = calloc(1, sizeof *watch->probe);
    stack_prepare();
    sigemptyset(&action.sa_mask);
    if (!watch->probe || slow_turns_create(&watch->slow) != 0 ||
        long_turns_create(setup->runtime, &watch->turns) != 0 ||
        sigaction(SIGURG, &action, &watch->before) != 0) {
        int status = watch->turns ? WEIR_EINVALID : WEIR_ENOMEM;

        long_turns_destroy(watch->turns);
        slow_turns_destroy(watch->slow);
        free(watch->probe);
        free(watch);
        return status;
    }
    *out = watch;
    return 0;
}

void turn_watch_destroy(struct turn_watch *watch)
{
    if (!watch)
        return;
    sigaction(SIGURG, &watch->before, NULL);
    long_turns_destroy(watch->turns);
    slow_turns_destroy(watch->slow);
    while (watch->given_up) {
        struct probe *next = watch->given_up->next;

        free(watch->given_up);
        watch->given_up = next;
    }
    free(watch->probe);
    free(watch);
}

void turn_watch_set_limit(struct turn_watch *watch, uint64_t limit_ms)
{
    /* Relaxed: see the field. */
    atomic_store_explicit(&watch->limit_ns, limit_ms * NS_PER_MS, memory_order_relaxed);
    runtime_set_turn_warning(watch->setup.runtime, limit_ms, limit_ms * KEPT_TURNS * NS_PER_MS);
}

static void describe_stack(const struct probe *probe, const struct stack_names *names, char *text,
                           size_t size)
{
    int count = probe->frame_count - FRAMES_OURS;

    stack_describe(names, probe->frames + FRAMES_OURS, count, text, size);
}

static const char *effect(const struct turn_watch *watch)
{
    struct dispatcher_figures figures;

    dispatcher_look(watch->turn.dispatcher, &figures);
    return figures.spares ? "a spare thread works in the place of its thread"
                          : "its thread does nothing else until the callback returns";
}

/* For pages and answers, as long as the turn lasts. */
static void keep(struct turn_watch *watch, struct slow_turn *turn, uint64_t now_ns)
{
    turn->ms = (watch->turn.watched_ns + now_ns - watch->probe->sent_ns) / NS_PER_MS;
    copy_word(turn->dispatcher, watch->turn.name);
    slow_turns_add(watch->slow, &watch->turn.at, turn, now_ns);
}

/* `stack` is borrowed. */
static void report(struct turn_watch *watch, const struct probe *probe, const char *stack,
                   uint64_t now_ns)
{
    struct slow_turn turn = { .thread = watch->turn.kernel_id };

    copy_word(turn.callback, probe->callback);
    copy_word(turn.message, probe->tag);
    (void)snprintf(turn.stack, sizeof turn.stack, "%s", stack);
    keep(watch, &turn, now_ns);
    log_event(watch->setup.sink, WEIR_LOG_WARNING, probe->path, "turn takes long",
              weir_uint("ms", turn.ms), weir_str("plugin", probe->plugin),
              weir_uint("generation", probe->generation), weir_uint("worker", probe->worker),
              weir_str("message", turn.message), weir_str("callback", turn.callback),
              weir_int("thread", turn.thread), weir_str("stack", turn.stack),
              weir_str("effect", effect(watch)));
}

static void log_probe(struct turn_watch *watch, uint64_t now_ns)
{
    char stack[SLOW_TURN_STACK];

    describe_stack(watch->probe, &watch->setup.names, stack, sizeof stack);
    report(watch, watch->probe, stack, now_ns);
}

static void note_turn(void *context, const struct turn_note *turn)
{
    copy_turn(context, turn);
}

/* The thread does not take the signal: reports the turn without a stack; uses another probe. */
static void give_up(struct turn_watch *watch, uint64_t now_ns)
{
    struct probe *probe = watch->probe;
    struct probe seen = { 0 };

    copy_word(seen.path, watch->turn.name);
    (void)long_turns_read(&watch->turn, note_turn, &seen);
    report(watch, &seen, "not known: the thread waits in the kernel", now_ns);
    probe->next = watch->given_up;
    watch->given_up = probe;
    watch->probe = calloc(1, sizeof *watch->probe);
}

/* True when no probe is under way. */
static bool finish_probe(struct turn_watch *watch, uint64_t now_ns)
{
    struct probe *probe = watch->probe;
    /* Acquire pairs with the release in on_signal. */
    int state = atomic_load_explicit(&probe->state, memory_order_acquire);

    if (state == PROBE_SENT && now_ns - probe->sent_ns >= ANSWER_NS)
        give_up(watch, now_ns);
    else if (state == PROBE_SENT)
        return false;
    if (state == PROBE_ANSWERED && probe->found)
        log_probe(watch, now_ns);
    /* Relaxed: only this thread reads a free probe. */
    if (state == PROBE_ANSWERED)
        atomic_store_explicit(&probe->state, PROBE_FREE, memory_order_relaxed);
    return watch->probe != NULL;
}

/* Sends a probe to a thread whose turn takes long. */
static void probe_one(struct turn_watch *watch, uint64_t now_ns)
{
    struct probe *probe = watch->probe;
    uint64_t limit_ns = atomic_load_explicit(&watch->limit_ns, memory_order_relaxed);

    if (!long_turns_look(watch->turns, watch->setup.unwatched, now_ns, limit_ns, &watch->turn))
        return;
    probe->sent_ns = now_ns;
    /* Release: a signal is no synchronisation of C's. */
    atomic_store_explicit(&probe->state, PROBE_SENT, memory_order_release);
    if (!long_turns_signal(watch->turns, &watch->turn, SIGURG, probe))
        atomic_store_explicit(&probe->state, PROBE_FREE, memory_order_relaxed);
}

void turn_watch_tick(struct turn_watch *watch, uint64_t now_ms)
{
    uint64_t now_ns = now_ms * NS_PER_MS;

    if (watch->probe && finish_probe(watch, now_ns))
        probe_one(watch, now_ns);
}

uint64_t turn_watch_next_ms(const struct turn_watch *watch)
{
    /* Relaxed: only the handler changes it meanwhile, and the next tick sees that. */
    if (watch->probe &&
        atomic_load_explicit(&watch->probe->state, memory_order_relaxed) != PROBE_FREE)
        return ASKED_MS;
    return watch->probe && long_turns_last(watch->turns) ? LASTS_MS : UINT64_MAX;
}

bool turn_watch_find(struct turn_watch *watch, struct pool *pool, uint32_t index, weir_pid pid,
                     struct slow_turn *out)
{
    return watch && slow_turns_find(watch->slow, pool, index, pid, out);
}
